// The path register of one function: a variable in memory while code is put in, then turned into SSA values.
#ifndef BBPROF_PATH_REGISTER_H
#define BBPROF_PATH_REGISTER_H

#include "plan_abi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace bbprof {

class PathRegister {
public:
  PathRegister(llvm::Function &F, llvm::IntegerType *Word);

  // Does the step before an instruction. Counters are for the caller: returns the position of the one to
  // increment, or null. With Came, a word that is 1 when control took the step's edge and 0 otherwise: what the
  // step does then has no effect, and the caller increments by it.
  llvm::Value *step(llvm::Instruction *Before, const BbprofPathStep &Step, uint64_t FirstCounter, llvm::Value *Came);

  // Turns the variable into values. Nothing may be put in afterwards.
  void promote();

private:
  llvm::Value *opaque(llvm::IRBuilder<> &Builder, llvm::Value *Constant);

  llvm::Function &F;
  llvm::IntegerType *Word;
  llvm::AllocaInst *Variable;
};

} // namespace bbprof

#endif
