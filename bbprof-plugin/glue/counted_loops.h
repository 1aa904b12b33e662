// Loops whose turns are known in front of them.
#ifndef BBPROF_COUNTED_LOOPS_H
#define BBPROF_COUNTED_LOOPS_H

#include "llvm_compat.h"

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Loop;
class SCEV;
}

namespace bbprof {

// A loop that goes back exactly Turns times whenever it is entered, unless the process ends in it.
struct CountedLoop {
  llvm::BasicBlock *Latch;
  unsigned Slot; // of the latch's terminator: the way back
  llvm::BasicBlock *Before;
  unsigned BeforeSlot; // of the terminator in front of the loop: the way in
  const llvm::SCEV *Turns;
  unsigned Instructions; // estimated, that work out Turns
};

// Whether somebody may look at counters in the middle of the loop.
bool canBeWatched(const llvm::Loop &L);

llvm::SmallVector<CountedLoop, 4> countedLoops(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

// Works out the turns in front of the loop, in a block that leads nowhere else, and gives the value and the instruction before
// which it is known. Only before anything else changes the function.
std::pair<llvm::Value *, llvm::Instruction *> makeTurns(const CountedLoop &Counted, llvm::IntegerType *Word, llvm::FunctionAnalysisManager &FAM);

} // namespace bbprof

#endif
