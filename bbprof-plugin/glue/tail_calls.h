// Tail calls: their activation is gone when the callee runs, so nothing is counted behind them.
#ifndef BBPROF_TAIL_CALLS_H
#define BBPROF_TAIL_CALLS_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

namespace bbprof {

// Is this marked as a tail call, and does its block return what it returns, with nothing
// in between that keeps LLVM from making a jump of it?
bool endsInTailCall(const llvm::CallInst &Call);

// A call marked as a tail call, whose value, if any, is returned by a block that it shares with others. LLVM gives
// such a call a return of its own right before it selects instructions (CodeGenPrepare, dupRetToEnableTailCallOpts),
// but not where a counter stands behind the call: then the call would need a frame, and the code would not be the
// program's. So what is counted behind it is counted in front of it.
struct SharedReturn {
  llvm::CallInst *Call;
  llvm::BasicBlock *Returning;
};

// Those of a function, of which a switch may have thousands.
class SharedReturns {
public:
  SharedReturns() = default;
  explicit SharedReturns(llvm::Function &F);

  bool hasCall(const llvm::CallBase &Call) const { return Calls.contains(&Call); }
  bool hasReturning(const llvm::BasicBlock *Block) const { return Returning.contains(Block); }

  // In their order, those that a block returns for.
  template <typename DoFn> void forEachOf(const llvm::BasicBlock *Block, DoFn Do) const {
    if (hasReturning(Block))
      for (const SharedReturn &Shared : All)
        if (Shared.Returning == Block)
          Do(Shared.Call);
  }

  // Where a block that ends in such a call may count: in front of the call, but for what stands there already.
  llvm::Instruction *placeFor(llvm::Instruction *Before) const;

  // Gives each of these calls its own return, when all counters are in place.
  void returnBehind() const;

private:
  llvm::SmallVector<SharedReturn, 4> All;
  llvm::SmallPtrSet<const llvm::CallBase *, 4> Calls;
  llvm::SmallPtrSet<const llvm::BasicBlock *, 4> Returning;
};

} // namespace bbprof

#endif
