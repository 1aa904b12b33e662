// See tail_calls.h.
#include "tail_calls.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace bbprof {

// What may stand between a tail call and the return (LLVM's isInTailCallPosition).
static bool isNothing(const Instruction &I) {
  if (I.isDebugOrPseudoInst())
    return true;
  if (const auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
    switch (Intrinsic->getIntrinsicID()) {
    case Intrinsic::lifetime_end:
    case Intrinsic::assume:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::fake_use:
      return true;
    default:
      break;
    }
  return !I.mayHaveSideEffects() && !I.mayReadFromMemory() && !I.isTerminator() && isSafeToSpeculativelyExecute(&I);
}

// Where a value comes from by steps that are no code (LLVM's returnTypeIsEligibleForTailCall).
static const Value *withoutSteps(const Value *Returned, const Function &F) {
  bool MayCut = !F.hasRetAttribute(Attribute::ZExt) && !F.hasRetAttribute(Attribute::SExt);
  for (;;) {
    const auto *Cast = dyn_cast<CastInst>(Returned);
    const auto *Address = dyn_cast<GetElementPtrInst>(Returned);
    if (Cast && (Cast->isNoopCast(F.getDataLayout()) || (MayCut && isa<TruncInst>(Cast))))
      Returned = Cast->getOperand(0);
    else if (Address && Address->hasAllZeroIndices())
      Returned = Address->getPointerOperand();
    else
      return Returned;
  }
}

bool endsInTailCall(const CallInst &Call) {
  if (!Call.isTailCall() || Call.isMustTailCall())
    return Call.isMustTailCall();
  const Instruction *Next = Call.getNextNode();
  while (isNothing(*Next))
    Next = Next->getNextNode();
  const auto *Return = dyn_cast<ReturnInst>(Next);
  if (!Return)
    return false;
  const Value *Returned = Return->getReturnValue();
  if (!Returned || isa<UndefValue>(Returned))
    return true;
  const Value *From = withoutSteps(Returned, *Call.getFunction());
  return From == &Call || From == Call.getReturnedArgOperand();
}

// What may also stand before a return that LLVM gives to each of those that share it (dupRetToEnableTailCallOpts).
static bool isEndOfLifetime(const Instruction &I) {
  const auto *Intrinsic = dyn_cast<IntrinsicInst>(&I);
  return I.isDebugOrPseudoInst() || (Intrinsic && Intrinsic->getIntrinsicID() == Intrinsic::lifetime_end);
}

// The block's return, if the block does nothing but choose what to return.
static ReturnInst *onlyReturn(BasicBlock &Block) {
  auto *Return = dyn_cast<ReturnInst>(Block.getTerminator());
  if (!Return)
    return nullptr;
  const Value *Returned = Return->getReturnValue();
  for (const Instruction &I : Block)
    if (&I != Return && !isEndOfLifetime(I) && (!isa<PHINode>(I) || &I != Returned))
      return nullptr;
  return Return;
}

// The call at the end of a block that jumps to the return, with nothing in between.
static CallInst *lastTailCall(BasicBlock &From) {
  const auto *Jump = dyn_cast<BranchInst>(From.getTerminator());
  if (!Jump || Jump->isConditional())
    return nullptr;
  Instruction *Last = From.getTerminator()->getPrevNode();
  while (Last && isNothing(*Last))
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

// Is this, but for one user, used for nothing but assumptions? They are gone before calls become jumps.
static bool isAssumedBeside(const Value &Used, const User *One) {
  return all_of(Used.users(), [&](const User *By) {
    return By == One || isa<AssumeInst>(By) || (isa<CmpInst, CastInst, BinaryOperator>(By) && isAssumedBeside(*By, nullptr));
  });
}

static bool returnsCall(const ReturnInst &Return, const BasicBlock &From, const CallInst &Call) {
  const Value *Returned = Return.getReturnValue();
  if (!Returned || isa<UndefValue>(Returned))
    return Call.use_empty();
  const auto *Chosen = dyn_cast<PHINode>(Returned);
  if (!Chosen || Chosen->getParent() != Return.getParent())
    return false;
  const Value *FromHere = Chosen->getIncomingValueForBlock(&From);
  return FromHere == &Call ? isAssumedBeside(Call, Chosen) && widensAlike(*Return.getFunction(), Call) : isa<UndefValue>(FromHere) && Call.use_empty();
}

SharedReturns::SharedReturns(Function &F) {
  if (F.getFnAttribute("disable-tail-calls").getValueAsBool())
    return;
  for (BasicBlock &Block : F)
    if (ReturnInst *Return = onlyReturn(Block))
      for (BasicBlock *From : predecessors(&Block))
        if (CallInst *Call = lastTailCall(*From); Call && returnsCall(*Return, *From, *Call)) {
          All.push_back({Call, &Block});
          Calls.insert(Call);
          Returning.insert(&Block);
        }
}

Instruction *SharedReturns::placeFor(Instruction *Before) const {
  if (All.empty() || !Before->isTerminator())
    return Before;
  for (Instruction *Last = Before->getPrevNode(); Last; Last = Last->getPrevNode())
    if (const auto *Call = dyn_cast<CallBase>(Last); Call && hasCall(*Call))
      return Last;
  return Before;
}

void SharedReturns::returnBehind() const {
  for (const SharedReturn &Shared : All) {
    FoldReturnIntoUncondBranch(cast<ReturnInst>(Shared.Returning->getTerminator()), Shared.Returning, Shared.Call->getParent());
    if (pred_empty(Shared.Returning) && !Shared.Returning->hasAddressTaken())
      Shared.Returning->eraseFromParent();
  }
}

} // namespace bbprof
