// See skipped.h.
#include "skipped.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace bbprof {

// The resolvers of ifuncs, and the module's own functions that nobody but these calls.
static SmallPtrSet<const Function *, 8> resolversAndHelpers(const Module &M) {
  SmallPtrSet<const Function *, 8> Found;
  SmallVector<const Function *, 8> Pending;
  auto Take = [&](const Function *F) {
    if (F && Found.insert(F).second)
      Pending.push_back(F);
  };
  for (const GlobalIFunc &Chosen : M.ifuncs())
    Take(Chosen.getResolverFunction());
  auto IsCallByThese = [&](const Use &U) {
    const auto *Call = dyn_cast<CallBase>(U.getUser());
    return Call && Call->isCallee(&U) && Found.contains(Call->getFunction());
  };
  while (!Pending.empty())
    for (const Instruction &I : instructions(*Pending.pop_back_val()))
      if (const auto *Call = dyn_cast<CallBase>(&I))
        if (const Function *Callee = Call->getCalledFunction(); Callee && Callee->hasLocalLinkage() && all_of(Callee->uses(), IsCallByThese))
          Take(Callee);
  return Found;
}

Skipped::Skipped(const Module &M) : ForIFuncs(resolversAndHelpers(M)) {}

const char *Skipped::reason(const Function &F) const {
  if (F.hasFnAttribute(Attribute::Naked))
    return "naked: no room for a counter";
  if (F.hasFnAttribute(Attribute::NoProfile) || F.hasFnAttribute(Attribute::SkipProfile))
    return "marked noprofile";
  if (F.hasAvailableExternallyLinkage())
    return "available_externally: another module holds the code that runs";
  if (ForIFuncs.contains(&F))
    return "resolver of an ifunc, or called by resolvers alone: it runs before its thread has storage for counters";
  if (F.isPresplitCoroutine())
    return "coroutine that was not split";
  for (const BasicBlock &Block : F)
    if (Block.isEHPad() && !Block.isLandingPad())
      return "funclet exception handling is not supported";
  return nullptr;
}

} // namespace bbprof
