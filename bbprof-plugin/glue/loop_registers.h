// Registers for the counters of a loop while it runs, or in their addresses.
#ifndef BBPROF_LOOP_REGISTERS_H
#define BBPROF_LOOP_REGISTERS_H

#include "llvm_compat.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

namespace llvm {
class Loop;
}

namespace bbprof {

// A loop in which nobody can look at counters: those that are counted in it stand in variables of the function,
// which become registers, and are added to memory where it is left. Or they stay in memory, and a variable stands in
// their addresses: that may be for some of the blocks of a loop.
class LoopRegisters {
public:
  // Whether the loop ends, and only by edges that can be split.
  static bool canFlush(const llvm::Loop &L);

  LoopRegisters(llvm::IntegerType *Word, llvm::BasicBlock *Header) : Word(Word), Header(Header) { add(Header); }

  // A block of the loop, or one that was made on an edge of it.
  void add(llvm::BasicBlock *Block) { Blocks.insert(Block); }
  bool contains(const llvm::BasicBlock *Block) const { return Blocks.contains(const_cast<llvm::BasicBlock *>(Block)); }
  void count(llvm::Instruction *Before, uint32_t Counter);
  // A zero that code generation does not know for one, for an address in the loop; null where addresses have registers anyway.
  llvm::Value *zero(llvm::Instruction *Before);
  // Whether this call makes that zero.
  static bool isZero(const llvm::CallInst &Call);
  // Zeroes in front of the loop; behind it, Flush(Before, Counter, Number) adds.
  void close(llvm::function_ref<void(llvm::Instruction *, uint32_t, llvm::Value *)> Flush);
  // Makes registers of the variables of all these loops of one function, which are closed.
  static void promote(llvm::ArrayRef<LoopRegisters> Loops);

private:
  struct Register {
    uint32_t Counter;
    llvm::AllocaInst *Variable;
  };

  void makeZero(llvm::Instruction *Before) const;
  llvm::SmallVector<llvm::Instruction *, 2> entries() const;
  llvm::SmallVector<llvm::BasicBlock *, 4> exits() const;

  llvm::IntegerType *Word;
  llvm::BasicBlock *Header;
  llvm::SmallSetVector<llvm::BasicBlock *, 8> Blocks;
  llvm::SmallVector<Register, 3> Registers;
  llvm::AllocaInst *Zero = nullptr;
};

} // namespace bbprof

#endif
