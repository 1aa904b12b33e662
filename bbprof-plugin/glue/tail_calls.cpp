// See tail_calls.h.
#include "tail_calls.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace bbprof {

// The block's return, if the block does nothing but choose what to return.
static ReturnInst *onlyReturn(BasicBlock &Block) {
  auto *Return = dyn_cast<ReturnInst>(Block.getTerminator());
  if (!Return)
    return nullptr;
  const Value *Returned = Return->getReturnValue();
  for (const Instruction &I : Block)
    if (&I != Return && !I.isDebugOrPseudoInst() && (!isa<PHINode>(I) || &I != Returned))
      return nullptr;
  return Return;
}

// The call at the end of a block that jumps to the return, with nothing in between.
static CallInst *lastTailCall(BasicBlock &From) {
  const auto *Jump = dyn_cast<BranchInst>(From.getTerminator());
  if (!Jump || Jump->isConditional())
    return nullptr;
  Instruction *Last = From.getTerminator()->getPrevNode();
  while (Last && Last->isDebugOrPseudoInst())
    Last = Last->getPrevNode();
  auto *Call = dyn_cast_or_null<CallInst>(Last);
  return Call && Call->isTailCall() && !Call->isInlineAsm() && !isa<IntrinsicInst>(Call) ? Call : nullptr;
}

// The return's value is widened by whoever made it: by the callee, if by anyone.
static bool widensAlike(const Function &F, const CallInst &Call) {
  for (Attribute::AttrKind Kind : {Attribute::ZExt, Attribute::SExt})
    if (F.hasRetAttribute(Kind) != Call.hasRetAttr(Kind))
      return false;
  return true;
}

static bool returnsCall(const ReturnInst &Return, const BasicBlock &From, const CallInst &Call) {
  const Value *Returned = Return.getReturnValue();
  if (!Returned || isa<UndefValue>(Returned))
    return Call.use_empty();
  const auto *Chosen = dyn_cast<PHINode>(Returned);
  if (!Chosen || Chosen->getParent() != Return.getParent())
    return false;
  const Value *FromHere = Chosen->getIncomingValueForBlock(&From);
  return FromHere == &Call ? Call.hasOneUse() && widensAlike(*Return.getFunction(), Call) : isa<UndefValue>(FromHere) && Call.use_empty();
}

SmallVector<SharedReturn, 4> sharedReturns(Function &F) {
  SmallVector<SharedReturn, 4> Found;
  if (F.getFnAttribute("disable-tail-calls").getValueAsBool())
    return Found;
  for (BasicBlock &Block : F)
    if (ReturnInst *Return = onlyReturn(Block))
      for (BasicBlock *From : predecessors(&Block))
        if (CallInst *Call = lastTailCall(*From); Call && returnsCall(*Return, *From, *Call))
          Found.push_back({Call, &Block});
  return Found;
}

void returnBehind(ArrayRef<SharedReturn> Calls) {
  for (const SharedReturn &Shared : Calls) {
    FoldReturnIntoUncondBranch(cast<ReturnInst>(Shared.Returning->getTerminator()), Shared.Returning, Shared.Call->getParent());
    if (pred_empty(Shared.Returning) && !Shared.Returning->hasAddressTaken())
      Shared.Returning->eraseFromParent();
  }
}

} // namespace bbprof
