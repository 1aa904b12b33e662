// Increments that instruction selection does not see. Of an addition to a thread-local variable, selection makes nine nodes, which
// it looks at several times over, and where nothing is optimised, the addition bars all that is in front of it in its block from a
// shorter way (FastISel). So while instructions are selected, a mark stands for it: a piece of assembly, with an operand only where
// the amount is not a constant. A mark leaves the flags alone; the instruction that takes its place changes them, and may have to
// go elsewhere for it.
#ifndef BBPROF_SET_ASIDE_H
#define BBPROF_SET_ASIDE_H

#include "llvm/IR/LLVMContext.h"

#include <optional>

namespace llvm {
class Function;
class MachineFunction;
class MachineInstr;
class TargetSubtargetInfo;
} // namespace llvm

namespace bbprof {

// In place of each addition of this scope whose address is a constant of the executable's thread-local memory, a mark. The function
// may no longer change until its instructions are selected.
bool setAside(llvm::Function &F, llvm::SyncScope::ID Scope);

// The instructions in place of the marks.
class SetAside {
public:
  bool takeBack(llvm::MachineFunction &MF);

private:
  // Of the target, by their names.
  struct Numbers {
    unsigned Inc, AddConstant, AddRegister;
    unsigned Flags, ThreadSegment;
    unsigned ThreadOffset;
  };

  void put(llvm::MachineInstr &Mark, llvm::MachineInstr &Before, const llvm::TargetSubtargetInfo &Target);
  bool isIncSlow(const llvm::MachineFunction &MF);

  std::optional<Numbers> Known;
  // Functions have few.
  const llvm::TargetSubtargetInfo *LastTarget = nullptr;
  bool IsLastSlow = false;
};

} // namespace bbprof

#endif
