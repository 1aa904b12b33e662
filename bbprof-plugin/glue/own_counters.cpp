// See own_counters.h. On x86-64 that is four instructions: load from the GOT where the thread's distance is, take the
// array's address, add the distance, jump if the sum is negative.
#include "own_counters.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace bbprof {

// What the runtime returns makes the sum the address of the thread's own. For code generation that is no call: a function
// that calls nothing else in most of its own calls needs no frame in them. Nor does it change the stack, below whose end
// the function, or one that it is inlined into later, may keep what is its own, and where unwinding has to find the
// function's caller: the runtime gets in a register where to go on.
static Value *addFetched(IRBuilder<> &Builder, Value *Sum, Value *ThreadBlock, bool Optimized) {
  // ThinLTO, into which unoptimised code may come, takes declarations for those of other images (FunctionImportUtils.cpp).
  bool IsFar = Builder.GetInsertBlock()->getModule()->getCodeModel() == CodeModel::Large || !Optimized;
  std::string Code = std::string("leaq 1f(%rip), %r11\n\tjmp") + (IsFar ? "q *$1" : " ${1:P}") + "\n1:\taddq %rax, $0";
  std::string Constraints = std::string("=r,") + (IsFar ? "r" : "i") + ",0,~{rax},~{r11},~{flags},~{memory}";
  auto *Signature = FunctionType::get(Sum->getType(), {ThreadBlock->getType(), Sum->getType()}, false);
  auto *Add = InlineAsm::get(Signature, Code, Constraints, true);
  CallInst *New = Builder.CreateCall(Add, {ThreadBlock, Sum}, "bbprof.counters");
  New->setDoesNotThrow();
  return New;
}

// The same address as one that counts from the array: so code generation sees that it is none of the stack's, and makes a frame
// only where the function needs one. The mask, which masks nothing, keeps it from computing the address anew for each increment.
static Value *withinArray(IRBuilder<> &Builder, Value *Address, Value *Array) {
  Type *Word = Builder.getInt64Ty();
  Value *Delta = Builder.CreateSub(Builder.CreatePtrToInt(Address, Word), Builder.CreatePtrToInt(Array, Word));
  Value *Same = Builder.CreatePtrAdd(Array, Delta);
  return Builder.CreateIntrinsic(Intrinsic::ptrmask, {Same->getType(), Word}, {Same, ConstantInt::getAllOnesValue(Word)}, {}, "bbprof.counters");
}

OwnCounters findOwnCounters(BasicBlock &Entry, GlobalVariable &Array, uint32_t Counter, ModuleData &Data, bool Optimized) {
  Function &F = *Entry.getParent();
  BasicBlock *Rest = Entry.splitBasicBlock(Entry.getFirstNonPHIOrDbgOrAlloca(), "bbprof.rest");
  Entry.getTerminator()->eraseFromParent();
  BasicBlock *Slow = BasicBlock::Create(F.getContext(), "bbprof.thread", &F, Rest);

  IRBuilder<> Builder(&Entry);
  Type *Word = Builder.getInt64Ty();
  LoadInst *Known = Builder.CreateAlignedLoad(Word, Data.delta(), Align(8), "bbprof.delta");
  leaveUnsanitized(*Known);
  // Of a number that is cast code generation makes no constant, and what is used below,
  // too, it does not take apart to add the number last.
  Value *Distance = Builder.Insert(CastInst::Create(Instruction::BitCast, ConstantInt::get(Word, 8 * uint64_t(Counter)), Word));
  Value *OfArray = Builder.CreatePtrAdd(&Array, Distance);
  Value *Own = Builder.CreatePtrAdd(OfArray, Known, "bbprof.counters");
  Value *Missing = Builder.CreateICmpSLT(Builder.CreatePtrToInt(Own, Word), ConstantInt::get(Word, 0));
  Builder.CreateCondBr(Missing, Slow, Rest, MDBuilder(F.getContext()).createUnlikelyBranchWeights());

  Builder.SetInsertPoint(Slow);
  Value *New = addFetched(Builder, Own, Data.threadBlock(), Optimized);
  Builder.CreateBr(Rest);

  PHINode *Base = PHINode::Create(Own->getType(), 2, "bbprof.counters", Rest->begin());
  Base->addIncoming(Own, &Entry);
  Base->addIncoming(New, Slow);
  Instruction *Behind = &*Rest->getFirstInsertionPt();
  Builder.SetInsertPoint(Behind);
  return {Optimized ? withinArray(Builder, Base, OfArray) : Base, Behind};
}

} // namespace bbprof
