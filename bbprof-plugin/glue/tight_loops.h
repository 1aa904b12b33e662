// Loops that may turn without a call, and so as fast as increments of one counter can follow each other, or faster.
#ifndef BBPROF_TIGHT_LOOPS_H
#define BBPROF_TIGHT_LOOPS_H

#include "llvm_compat.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace bbprof {

struct TightLoop {
  llvm::BasicBlock *Header;
  // Through which it turns, neither by calls nor by loops in it.
  llvm::SmallSetVector<llvm::BasicBlock *, 8> Blocks;
  unsigned Instructions; // of all these blocks, without phis
  unsigned Shortest;     // of the shortest turn
  bool TakesChunks;
  // Nobody can look at counters while it runs; these are all of its blocks, and all of its exits can be split.
  bool IsQuiet;
};

std::vector<TightLoop> tightLoops(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace bbprof

#endif
