// See own_lines.h.
#include "own_lines.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace bbprof {

static bool isOwn(const DICompileUnit *Unit) { return Unit->getEmissionKind() == DICompileUnit::DebugDirectivesOnly; }

void dropOwnScripts(Module &M) {
  GlobalVariable *Script = M.getNamedGlobal("__rustc_debug_gdb_scripts_section__");
  if (!Script || none_of(M.debug_compile_units(), isOwn))
    return;
  for (User *User : make_early_inc_range(Script->users()))
    if (auto *Load = dyn_cast<LoadInst>(User); Load && Load->use_empty())
      Load->eraseFromParent();
  if (Script->use_empty())
    Script->eraseFromParent();
}

void dropOwnLines(Module &M) {
  auto Units = M.debug_compile_units();
  if (none_of(Units, isOwn))
    return;
  if (all_of(Units, isOwn)) {
    StripDebugInfo(M);
    return;
  }
  // Link-time optimisation has brought in units that were compiled with debug information.
  for (Function &F : M)
    if (const DISubprogram *Subprogram = F.getSubprogram(); Subprogram && Subprogram->getUnit() && isOwn(Subprogram->getUnit()))
      stripDebugInfo(F);
}

} // namespace bbprof
