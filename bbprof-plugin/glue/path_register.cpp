// See path_register.h.
#include "path_register.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace bbprof {

PathRegister::PathRegister(Function &F, IntegerType *Word)
    : F(F), Word(Word),
      Variable(new AllocaInst(Word, F.getDataLayout().getAllocaAddrSpace(), "bbprof.path", F.getEntryBlock().begin())) {}

// A constant that code generation sees made here and nowhere else.
Value *PathRegister::opaque(IRBuilder<> &Builder, Value *Constant) {
  auto *Nothing = InlineAsm::get(FunctionType::get(Word, {Word}, false), "", "=r,0", false);
  return Builder.CreateCall(Nothing, {Constant});
}

Value *PathRegister::step(Instruction *Before, const BbprofPathStep &Step, uint64_t FirstCounter, Value *Came) {
  IRBuilder<> Builder(Before);
  Builder.SetCurrentDebugLocation(DebugLoc());
  auto Constant = [&](uint64_t Number) { return ConstantInt::get(Word, Number); };
  auto Register = [&] { return Builder.CreateLoad(Word, Variable); };
  auto IfCame = [&](Value *Then, Value *Else) -> Value * {
    return Came ? Builder.CreateSelect(Builder.CreateICmpNE(Came, Constant(0)), Then, Else) : Then;
  };
  switch (Step.what) {
  case BBPROF_PATH_SET: {
    Value *New = Constant(Step.value);
    // The block of a split edge would be empty else, and its constant be made in the block before it, which may be far hotter.
    if (Step.place.kind == BBPROF_PLACE_SPLIT)
      New = opaque(Builder, New);
    Builder.CreateStore(Came ? IfCame(New, Register()) : New, Variable);
    return nullptr;
  }
  case BBPROF_PATH_ADD: {
    Value *Old = Register();
    Builder.CreateStore(IfCame(Builder.CreateAdd(Old, Constant(Step.value)), Old), Variable);
    return nullptr;
  }
  case BBPROF_PATH_COUNT_AT:
    return IfCame(Constant(FirstCounter + Step.value), Constant(FirstCounter));
  default:
    return IfCame(Builder.CreateAdd(Register(), Constant(FirstCounter + Step.value)), Constant(FirstCounter));
  }
}

void PathRegister::promote() {
  DominatorTree Tree(F);
  PromoteMemToReg({Variable}, Tree);
}

} // namespace bbprof
