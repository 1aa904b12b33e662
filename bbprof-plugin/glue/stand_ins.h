// Numbers that stand for counters' addresses while instructions are selected, and for the zeroes in some of these. Of the address
// of a thread-local variable, selection makes seven nodes, which it looks at several times over; of a number in the segment %fs it
// makes one. And for each piece of assembly it reads the names of all registers, and code is written by a parser of its own.
#ifndef BBPROF_STAND_INS_H
#define BBPROF_STAND_INS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/LLVMContext.h"

#include <optional>

namespace llvm {
class Constant;
class MachineInstr;
class Module;
class TargetInstrInfo;
} // namespace llvm

namespace bbprof {

class StandIns {
public:
  // In all additions of this scope whose addresses are constants of the executable's thread-local memory, and for zeroes
  // (LoopRegisters::isZero). From then on the module is for this process alone, whose code generation takes each number back:
  // elsewhere it would be an address in the thread's own block.
  void put(llvm::Module &M, llvm::SyncScope::ID Scope);

  // Whether this addition of the scope stands for a zero.
  static bool isZero(const llvm::MachineInstr &Addition);

  // The zero in place of the addition, which is no more.
  void takeZero(llvm::MachineInstr &Addition, const llvm::TargetInstrInfo &Instructions);

  // The address in place of this addition's number, or nullptr if it has none.
  llvm::Constant *take(llvm::MachineInstr &Addition, const llvm::TargetInstrInfo &Instructions) const;

private:
  llvm::DenseMap<llvm::Constant *, llvm::Constant *> NumberOf;
  llvm::SmallVector<llvm::Constant *, 0> Addresses;
  // What makes a zero, once it is found among the instructions.
  std::optional<unsigned> Exclusive;
};

// The instruction that LLVM calls by this name, if it has one; a look through all of them.
std::optional<unsigned> opcodeOf(llvm::StringRef Name, const llvm::TargetInstrInfo &Instructions);

} // namespace bbprof

#endif
