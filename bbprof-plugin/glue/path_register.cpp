// See path_register.h.
#include "path_register.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace bbprof {

PathRegister::PathRegister(Function &F, IntegerType *Word)
    : F(F), Word(Word),
      Variable(new AllocaInst(Word, F.getDataLayout().getAllocaAddrSpace(), "bbprof.path", F.getEntryBlock().begin())) {}

Value *PathRegister::step(Instruction *Before, const BbprofPathStep &Step, uint64_t FirstCounter, Value *Came) {
  IRBuilder<> Builder(Before);
  Builder.SetCurrentDebugLocation(DebugLoc());
  auto Constant = [&](uint64_t Number) { return ConstantInt::get(Word, Number); };
  auto Register = [&] { return Builder.CreateLoad(Word, Variable); };
  auto IfCame = [&](Value *Then, Value *Else) -> Value * {
    return Came ? Builder.CreateSelect(Builder.CreateICmpNE(Came, Constant(0)), Then, Else) : Then;
  };
  switch (Step.what) {
  case BBPROF_PATH_SET:
    Builder.CreateStore(Came ? IfCame(Constant(Step.value), Register()) : Constant(Step.value), Variable);
    return nullptr;
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
