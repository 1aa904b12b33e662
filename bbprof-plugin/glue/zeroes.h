// Zeroes that code generation does not know for such, for addresses in loops (LoopRegisters::zero). For each piece of assembly with
// operands, instruction selection reads the names of all registers, and code is written by a parser of its own; so an addition that
// nobody else makes stands for each while instructions are selected.
#ifndef BBPROF_ZEROES_H
#define BBPROF_ZEROES_H

#include "llvm/IR/LLVMContext.h"

#include <optional>

namespace llvm {
class MachineInstr;
class Module;
class TargetInstrInfo;
} // namespace llvm

namespace bbprof {

class Zeroes {
public:
  // For each (LoopRegisters::isZero) an addition of this scope. From then on the module is for this process alone.
  static void standIn(llvm::Module &M, llvm::SyncScope::ID Scope);

  // Whether this addition of the scope is one of these.
  static bool isStandIn(const llvm::MachineInstr &Addition);

  // The zero in place of the addition, which is no more.
  void take(llvm::MachineInstr &Addition, const llvm::TargetInstrInfo &Instructions);

private:
  // What makes a zero, once it is found among the instructions.
  std::optional<unsigned> Exclusive;
};

} // namespace bbprof

#endif
