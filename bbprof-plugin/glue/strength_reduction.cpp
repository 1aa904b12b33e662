// See strength_reduction.h.
#include "strength_reduction.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"

using namespace llvm;

namespace bbprof {

// LoopSimplify merges blocks that do nothing but decide to leave a loop: not those that read memory.
static SmallVector<Instruction *, 8> keepExits(const LoopInfo &Loops) {
  SmallVector<Instruction *, 8> Reads;
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<BasicBlock *, 8> Exiting;
    L->getExitingBlocks(Exiting);
    for (BasicBlock *Block : Exiting)
      if (auto *Branch = dyn_cast<BranchInst>(Block->getTerminator()); Branch && Block->getSinglePredecessor()) {
        Type *Byte = Type::getInt8Ty(Block->getContext());
        Reads.push_back(new LoadInst(Byte, PoisonValue::get(PointerType::get(Block->getContext(), 0)), "", false, Align(1), Branch->getIterator()));
      }
  }
  return Reads;
}

void reduceStrength(const FlatFunction &Flat, FunctionAnalysisManager &FAM) {
  Function &F = *Flat.IR;
  FAM.invalidate(F, PreservedAnalyses::none());
  const LoopInfo &Loops = FAM.getResult<LoopAnalysis>(F);
  const DominatorTree &Dominators = FAM.getResult<DominatorTreeAnalysis>(F);
  // What is never executed is cut off from loops.
  if (any_of(F, [&](const BasicBlock &Block) { return !Dominators.isReachableFromEntry(&Block); }))
    return;
  SmallVector<Instruction *, 8> Reads = keepExits(Loops);
  createFunctionToLoopPassAdaptor(LoopStrengthReducePass()).run(F, FAM);
  for (Instruction *Read : Reads)
    Read->eraseFromParent();
  FAM.invalidate(F, PreservedAnalyses::none());
}

} // namespace bbprof
