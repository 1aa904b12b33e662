// In code for shared libraries, the address of the thread's own counters, handed on: functions that nothing but direct calls of
// their module enter get it as one more parameter, in the register that Swift's `self` has (X86CallingConv.td: r13). It is one of
// those that a callee keeps, so what hands on its own moves nothing, and nobody has to find the counters anew.
#ifndef BBPROF_HANDED_COUNTERS_H
#define BBPROF_HANDED_COUNTERS_H

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace bbprof {

// Gives such functions the parameter, and their calls nothing for it yet. A call that ends its function as a jump would need a
// frame, if that function was not handed the same; then neither is.
// With OnlyTagged, functions without the tag are none of ours (see FlatModule).
void makeParameters(llvm::Module &M, llvm::FunctionAnalysisManager &FAM, bool OnlyTagged);

// The parameter of a function that has it.
llvm::Argument *handedTo(llvm::Function &F);

// Whether a function hands it on.
bool handsOn(const llvm::Function &F);

} // namespace bbprof

#endif
