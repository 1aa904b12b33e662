// The code of a loop's turn, repeated: what each turn adds can then be added by the last of several.
#ifndef BBPROF_UNROLLED_LOOPS_H
#define BBPROF_UNROLLED_LOOPS_H

#include "llvm_compat.h"

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Loop;
}

namespace bbprof {

// Whether its code may be repeated, and whether that hardly changes what else there is to do in it.
bool canUnroll(const llvm::Loop &L, llvm::FunctionAnalysisManager &FAM);

struct Unrolling {
  llvm::BasicBlock *Header;
  unsigned Turns;
  // Afterwards: the block that goes back to the header; null if none does.
  llvm::BasicBlock *Latch;
};

// Repeats the turns of loops of one function, whose control flow may have changed since the analyses saw it, so that so many follow
// each other. A loop that LLVM cannot unroll stays as it is.
void unrollLoops(llvm::MutableArrayRef<Unrolling> Unrollings, llvm::FunctionAnalysisManager &FAM);

} // namespace bbprof

#endif
