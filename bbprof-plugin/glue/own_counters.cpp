// See own_counters.h. On x86-64 that is four instructions: load from the GOT where the thread's distance is, take the array's address, add the
// distance, jump if the sum is negative.
#include "own_counters.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace bbprof {

static bool calls(Function &F) {
  return any_of(instructions(F), [](Instruction &I) { return isa<CallBase>(I) && (!isa<IntrinsicInst>(I) || isa<MemIntrinsic>(I)); });
}

// What the runtime returns makes the sum the address of the thread's own.
static Value *addFetched(IRBuilder<> &Builder, Value *Sum, FunctionCallee ThreadBlock) {
  CallInst *Fetched = Builder.CreateCall(ThreadBlock);
  Fetched->setCallingConv(CallingConv::PreserveAll);
  Fetched->setDoesNotThrow();
  if (DISubprogram *Subprogram = Builder.GetInsertBlock()->getParent()->getSubprogram())
    Fetched->setDebugLoc(DILocation::get(Sum->getContext(), 0, 0, Subprogram));
  return Builder.CreatePtrAdd(Sum, Fetched, "bbprof.counters");
}

// For a function that calls nothing else, and would have a frame for this call in each of its own calls. Below the stack's end is the red zone; the
// runtime aligns the stack itself.
static Value *addFetchedWithoutFrame(IRBuilder<> &Builder, Value *Sum, Value *ThreadBlock) {
  auto *Signature = FunctionType::get(Sum->getType(), {ThreadBlock->getType(), Sum->getType()}, false);
  StringRef Code = "leaq -128(%rsp), %rsp\n\tcallq ${1:P}\n\tleaq 128(%rsp), %rsp\n\taddq %rax, $0";
  auto *Add = InlineAsm::get(Signature, Code, "=r,i,0,~{rax},~{flags},~{memory}", true);
  CallInst *New = Builder.CreateCall(Add, {ThreadBlock, Sum}, "bbprof.counters");
  New->setDoesNotThrow();
  return New;
}

// The same address as one that counts from the array: so code generation sees that it is none of the stack's, and makes a frame only where the
// runtime is called. The mask, which masks nothing, keeps it from computing the address anew for each increment.
static Value *withinArray(IRBuilder<> &Builder, Value *Address, Value *Array) {
  Type *Word = Builder.getInt64Ty();
  Value *Delta = Builder.CreateSub(Builder.CreatePtrToInt(Address, Word), Builder.CreatePtrToInt(Array, Word));
  Value *Same = Builder.CreatePtrAdd(Array, Delta);
  return Builder.CreateIntrinsic(Intrinsic::ptrmask, {Same->getType(), Word}, {Same, ConstantInt::getAllOnesValue(Word)}, {}, "bbprof.counters");
}

OwnCounters findOwnCounters(BasicBlock &Entry, GlobalVariable &Array, uint32_t Counter, ModuleData &Data, bool Optimized) {
  Function &F = *Entry.getParent();
  bool NeedsFrame = calls(F) || F.getParent()->getCodeModel() == CodeModel::Large;
  BasicBlock *Rest = Entry.splitBasicBlock(Entry.getFirstNonPHIOrDbgOrAlloca(), "bbprof.rest");
  Entry.getTerminator()->eraseFromParent();
  BasicBlock *Slow = BasicBlock::Create(F.getContext(), "bbprof.thread", &F, Rest);

  IRBuilder<> Builder(&Entry);
  Type *Word = Builder.getInt64Ty();
  LoadInst *Known = Builder.CreateAlignedLoad(Word, Data.delta(), Align(8), "bbprof.delta");
  leaveUnsanitized(*Known);
  // Of a number that is cast code generation makes no constant, and what is used below, too, it does not take apart to add the number last.
  Value *Distance = Builder.Insert(CastInst::Create(Instruction::BitCast, ConstantInt::get(Word, 8 * uint64_t(Counter)), Word));
  Value *OfArray = Builder.CreatePtrAdd(&Array, Distance);
  Value *Own = Builder.CreatePtrAdd(OfArray, Known, "bbprof.counters");
  Value *Missing = Builder.CreateICmpSLT(Builder.CreatePtrToInt(Own, Word), ConstantInt::get(Word, 0));
  Builder.CreateCondBr(Missing, Slow, Rest, MDBuilder(F.getContext()).createUnlikelyBranchWeights());

  Builder.SetInsertPoint(Slow);
  FunctionCallee ThreadBlock = Data.threadBlock();
  Value *New = NeedsFrame ? addFetched(Builder, Own, ThreadBlock) : addFetchedWithoutFrame(Builder, Own, ThreadBlock.getCallee());
  Builder.CreateBr(Rest);

  PHINode *Base = PHINode::Create(Own->getType(), 2, "bbprof.counters", Rest->begin());
  Base->addIncoming(Own, &Entry);
  Base->addIncoming(New, Slow);
  Instruction *Behind = &*Rest->getFirstInsertionPt();
  Builder.SetInsertPoint(Behind);
  return {Optimized ? withinArray(Builder, Base, OfArray) : Base, Behind};
}

} // namespace bbprof
