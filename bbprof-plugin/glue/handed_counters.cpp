// See handed_counters.h.
#include "handed_counters.h"
#include "flatten.h"
#include "skipped.h"
#include "tail_calls.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace bbprof {

static const char *const HandedAttribute = "bbprof-handed";

static bool returnsTwice(const CallInst &Call) {
  return Call.hasFnAttr(Attribute::ReturnsTwice) || Call.getIntrinsicID() == Intrinsic::eh_sjlj_setjmp;
}

using Functions = SmallPtrSet<const Function *, 32>;

// Those whose counters are the module's own.
static Functions ofModule(const Module &M, bool OnlyTagged) {
  Skipped Skips(M);
  Functions Found;
  for (const Function &F : M)
    if (!F.isDeclaration() && !F.hasComdat() && !F.hasOptNone() && !F.hasFnAttribute(DoneAttribute) &&
        (!OnlyTagged || F.hasFnAttribute(TagAttribute)) && !Skips.reason(F))
      Found.insert(&F);
  return Found;
}

// Its parameters stand in the places that they have without one more, and its calls can be told.
static bool canBeHanded(const Function &F, const Functions &Ours) {
  if (!F.hasLocalLinkage() || !Ours.contains(&F) || F.isVarArg() || F.use_empty() || F.isUsedByMetadata() ||
      (F.getCallingConv() != CallingConv::C && F.getCallingConv() != CallingConv::Fast))
    return false;
  for (const Argument &A : F.args())
    if (A.hasSwiftSelfAttr() || A.hasSwiftErrorAttr() || A.hasAttribute(Attribute::SwiftAsync) || A.hasInAllocaAttr() || A.hasPreallocatedAttr())
      return false;
  for (const Instruction &I : instructions(F))
    if (const auto *Call = dyn_cast<CallInst>(&I); Call && (Call->isMustTailCall() || returnsTwice(*Call)))
      return false;
  return all_of(F.uses(), [&](const Use &Used) {
    const auto *Call = dyn_cast<CallBase>(Used.getUser());
    return Call && Call->isCallee(&Used) && Call->getFunctionType() == F.getFunctionType() && Call->getCallingConv() == F.getCallingConv() &&
           !Call->isMustTailCall() && Ours.contains(Call->getFunction());
  });
}

// Those that jump to one of these at their end are among them, too.
static void leaveOutJumps(SmallSetVector<Function *, 16> &Handed) {
  DenseMap<Function *, SharedReturns> Returns;
  auto IsJump = [&](CallInst &Call) {
    if (!Call.isTailCall())
      return false;
    auto [Known, New] = Returns.try_emplace(Call.getFunction());
    if (New)
      Known->second = SharedReturns(*Call.getFunction());
    return endsInTailCall(Call) || Known->second.hasCall(Call);
  };
  auto IsLeft = [&](Function *F) {
    return any_of(F->users(), [&](User *Used) {
      auto *Call = dyn_cast<CallInst>(Used);
      return Call && !Handed.contains(Call->getFunction()) && IsJump(*Call);
    });
  };
  while (Handed.remove_if(IsLeft))
    ;
}

static void addArgument(CallBase &Call, Function &New) {
  SmallVector<Value *, 8> Arguments(Call.args());
  Arguments.push_back(PoisonValue::get(New.getArg(New.arg_size() - 1)->getType()));
  SmallVector<OperandBundleDef, 1> Bundles;
  Call.getOperandBundlesAsDefs(Bundles);
  CallBase *Made;
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call)) {
    Made = InvokeInst::Create(&New, Invoke->getNormalDest(), Invoke->getUnwindDest(), Arguments, Bundles, "", Call.getIterator());
  } else {
    auto *Plain = CallInst::Create(&New, Arguments, Bundles, "", Call.getIterator());
    Plain->setTailCallKind(cast<CallInst>(Call).getTailCallKind());
    Made = Plain;
  }
  Made->setCallingConv(Call.getCallingConv());
  Made->setAttributes(Call.getAttributes());
  Made->addParamAttr(Made->arg_size() - 1, Attribute::SwiftSelf);
  Made->copyMetadata(Call);
  if (isa<FPMathOperator>(Made))
    Made->copyFastMathFlags(&Call);
  Call.replaceAllUsesWith(Made);
  Made->takeName(&Call);
  Call.eraseFromParent();
}

static void addParameter(Function &F, FunctionAnalysisManager &FAM) {
  FunctionType *Type = F.getFunctionType();
  SmallVector<llvm::Type *, 8> Parameters(Type->params());
  Parameters.push_back(PointerType::get(F.getContext(), 0));
  auto *New = Function::Create(FunctionType::get(Type->getReturnType(), Parameters, false), F.getLinkage(), F.getAddressSpace());
  New->copyAttributesFrom(&F);
  New->addParamAttr(Type->getNumParams(), Attribute::SwiftSelf);
  New->addFnAttr(HandedAttribute);
  F.getParent()->getFunctionList().insert(F.getIterator(), New);
  FAM.clear(F, F.getName());
  New->takeName(&F);
  New->splice(New->begin(), &F);
  for (auto [Old, Moved] : zip(F.args(), New->args())) {
    Old.replaceAllUsesWith(&Moved);
    Moved.takeName(&Old);
  }
  New->copyMetadata(&F, 0);
  F.clearMetadata();
  for (User *Used : make_early_inc_range(F.users()))
    addArgument(cast<CallBase>(*Used), *New);
  F.eraseFromParent();
}

void makeParameters(Module &M, FunctionAnalysisManager &FAM, bool OnlyTagged) {
  Functions Ours = ofModule(M, OnlyTagged);
  SmallSetVector<Function *, 16> Handed;
  for (Function &F : M)
    if (canBeHanded(F, Ours))
      Handed.insert(&F);
  leaveOutJumps(Handed);
  for (Function *F : Handed)
    addParameter(*F, FAM);
}

Argument *handedTo(Function &F) { return F.hasFnAttribute(HandedAttribute) ? F.getArg(F.arg_size() - 1) : nullptr; }

bool handsOn(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    return Call && Call->getCalledFunction() && Call->getCalledFunction()->hasFnAttribute(HandedAttribute);
  });
}

} // namespace bbprof
