// Loops that may turn without a call, and so as fast as increments of one counter can follow each other, or faster.
#ifndef BBPROF_TIGHT_LOOPS_H
#define BBPROF_TIGHT_LOOPS_H

#include "llvm_compat.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace bbprof {

struct TightLoop {
  static constexpr unsigned None = ~0u;

  llvm::BasicBlock *Header;
  // Through which it turns, neither by calls nor by loops in it; of a quiet one all.
  llvm::SmallSetVector<llvm::BasicBlock *, 8> Blocks;
  unsigned Instructions; // of all these blocks, without phis
  unsigned Shortest;     // of the shortest turn; None: of a quiet loop with others in it
  bool TakesChunks;
  // Nobody can look at counters while it runs, and all of its exits can be split.
  bool IsQuiet;
  bool CanUnroll; // it is quiet, and has no loops in it
};

// Outer loops in front of those in them. One that is quiet comes as a whole, and once more without what is in the loops in it.
std::vector<TightLoop> tightLoops(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace bbprof

#endif
