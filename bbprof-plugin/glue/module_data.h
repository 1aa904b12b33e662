// What an instrumented module carries for the linker shim and the runtime.
#ifndef BBPROF_MODULE_DATA_H
#define BBPROF_MODULE_DATA_H

#include "llvm_compat.h"
#include "plan_abi.h"

namespace bbprof {

class ModuleData {
public:
  // Makes the counter arrays of the plan.
  ModuleData(llvm::Module &M, const BbprofModulePlan &Plan, bool Optimized);

  // A counter array of the plan; null: it has no counters.
  llvm::GlobalVariable *array(uint32_t Position) const { return Arrays[Position]; }

  // How far the thread's own counters are from those of the array.
  llvm::GlobalVariable *delta();

  // The runtime's function that gives a thread its own counters.
  llvm::Function *threadBlock();

  // The runtime's function that counts paths in hash tables; where it is not linked, an empty one of the module.
  llvm::FunctionCallee countPath();

  // Makes marker and manifest, when all else is in the module.
  void close();

private:
  llvm::GlobalVariable *makeHiddenWeak(llvm::Type *ValueType, llvm::StringRef Name, llvm::GlobalValue::ThreadLocalMode Mode,
                                       llvm::StringRef Section);
  llvm::GlobalVariable *makeArray(const BbprofArray &Array);
  void keepWhole(llvm::GlobalValue &Made);
  void makeMarker();
  void makeManifest();

  llvm::Module &M;
  const BbprofModulePlan &Plan;
  bool Optimized;
  llvm::IntegerType *Word;
  llvm::SmallVector<llvm::GlobalVariable *, 16> Arrays;
};

// Sanitizers that run after us leave this access to counters alone.
void leaveUnsanitized(llvm::Instruction &Access);

// Fat LTO makes everything the program's own (Internalize.cpp), also counters of code that was instrumented before it, being
// unoptimised, and what these are reached by.
void shareAgain(llvm::Module &M);

} // namespace bbprof

#endif
