// Registers for the counters of a loop while it runs, or in their addresses.
#ifndef BBPROF_LOOP_REGISTERS_H
#define BBPROF_LOOP_REGISTERS_H

#include "llvm_compat.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

namespace llvm {
class DominatorTree;
class Loop;
}

namespace bbprof {

// A loop in which nobody can look at counters: those that are counted in it stand in variables of the function,
// which become registers, and are added to memory where it is left, and once in several turns if it is unrolled. Or they
// stay in memory, and a variable stands in their addresses: that may be for some of the blocks of a loop.
class LoopRegisters {
public:
  // Adds a number to a counter.
  using Addition = llvm::function_ref<void(llvm::Instruction *Before, uint32_t Counter, llvm::Value *Number)>;

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
  // The loop is to be unrolled: its counters are added to once in so many turns.
  void unroll(unsigned Number) { Turns = Number; }
  // Zeroes in front of the loop, additions where it is left.
  void close();
  // Unrolls those of these loops of one function that are to be; all are closed.
  static void unroll(llvm::MutableArrayRef<LoopRegisters> Loops, llvm::FunctionAnalysisManager &FAM);
  // Makes registers of the variables of all these loops of one function, and adds.
  static void promote(llvm::ArrayRef<LoopRegisters> Loops, Addition Add);

private:
  struct Register {
    uint32_t Counter;
    llvm::AllocaInst *Variable;
  };
  // What stands in a variable is added to the counter where this holds it.
  struct Added {
    uint32_t Counter;
    llvm::FreezeInst *Number;
  };

  void makeZero(llvm::Instruction *Before) const;
  void reset(llvm::Instruction *Before) const;
  void addAt(llvm::Instruction *Before);
  llvm::Instruction *lastOfTurns(llvm::BasicBlock &Latch, const llvm::DominatorTree &Tree) const;
  llvm::SmallVector<llvm::Instruction *, 2> entries() const;
  llvm::SmallVector<llvm::BasicBlock *, 4> exits() const;

  llvm::IntegerType *Word;
  llvm::BasicBlock *Header;
  llvm::SmallSetVector<llvm::BasicBlock *, 8> Blocks;
  llvm::SmallVector<Register, 3> Registers;
  llvm::SmallVector<Added, 4> Additions;
  unsigned Turns = 0;
  // Where an unrolled loop is left, and control comes from nowhere else.
  llvm::SmallVector<llvm::BasicBlock *, 4> Exits;
  llvm::AllocaInst *Zero = nullptr;
};

} // namespace bbprof

#endif
