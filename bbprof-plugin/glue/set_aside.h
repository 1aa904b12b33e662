// Increments that instruction selection does not see. Of the address of a thread-local variable, selection makes seven nodes, which
// it looks at several times over, and where nothing is optimised, an addition bars all that is in front of it in its block from a
// shorter way (FastISel). So while instructions are selected, a mark stands for it: a piece of assembly, with an operand only where
// the amount is not a constant. A mark leaves the flags alone; the instruction that takes its place changes them, and may have to
// go elsewhere for it.
#ifndef BBPROF_SET_ASIDE_H
#define BBPROF_SET_ASIDE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"

#include <optional>

namespace llvm {
class AtomicRMWInst;
class Function;
class GlobalVariable;
class InlineAsm;
class MachineFunction;
class MachineInstr;
class TargetSubtargetInfo;
} // namespace llvm

namespace bbprof {

// Of one function after the other.
class SetAside {
public:
  // In place of each addition of this scope whose address is a constant of the executable's thread-local memory, a mark. The
  // function may no longer change until its instructions are selected.
  bool put(llvm::Function &F, llvm::SyncScope::ID Scope);

  // The instructions in place of the marks.
  bool takeBack(llvm::MachineFunction &MF);

private:
  struct Increment {
    const llvm::GlobalVariable *Array;
    int64_t Offset;
    // None where the mark has it.
    std::optional<int64_t> Amount;
  };
  // Of the target, by their names.
  struct Numbers {
    unsigned Inc, AddConstant, AddRegister;
    unsigned Flags, ThreadSegment;
    unsigned ThreadOffset;
  };

  void putMark(llvm::AtomicRMWInst &Addition, const llvm::GlobalVariable &Array);
  void put(const llvm::MachineInstr &Mark, llvm::MachineInstr &Before, const llvm::TargetSubtargetInfo &Target);
  bool isIncSlow(const llvm::MachineFunction &MF);

  const llvm::Function *Current = nullptr;
  // By the numbers that are in the marks.
  llvm::SmallVector<Increment, 0> Increments;
  // Without an operand, by the same; for all functions.
  llvm::SmallVector<llvm::InlineAsm *, 0> Marks;

  std::optional<Numbers> Known;
  // Functions have few.
  const llvm::TargetSubtargetInfo *LastTarget = nullptr;
  bool IsLastSlow = false;
};

} // namespace bbprof

#endif
