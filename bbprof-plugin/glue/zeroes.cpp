// See zeroes.h.
#include "zeroes.h"
#include "llvm_compat.h"
#include "loop_registers.h"
#include "target_names.h"

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace bbprof {

// Where X86ISelLowering.cpp has what is relative to %fs (X86AS::FS).
static constexpr unsigned ThreadSegment = 257;

// Where nobody adds anything.
static constexpr int64_t StandInAddress = 1 << 30;

// An addition is an instruction that returns a register and changes flags, as what makes the zero does.
void Zeroes::standIn(Module &M, SyncScope::ID Scope) {
  SmallVector<CallInst *, 8> Found;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && LoopRegisters::isZero(*Call))
        Found.push_back(Call);
  auto *Address = ConstantExpr::getIntToPtr(ConstantInt::get(Type::getInt64Ty(M.getContext()), StandInAddress),
                                            PointerType::get(M.getContext(), ThreadSegment));
  for (CallInst *Zero : Found) {
    auto *One = ConstantInt::get(Zero->getType(), 1);
    auto *Addition =
        new AtomicRMWInst(AtomicRMWInst::Add, Address, One, Align(8), AtomicOrdering::Monotonic, Scope, Zero->getIterator());
    Zero->replaceAllUsesWith(Addition);
    Zero->eraseFromParent();
  }
}

bool Zeroes::isStandIn(const MachineInstr &Addition) { return (*Addition.memoperands_begin())->getAddrSpace() == ThreadSegment; }

void Zeroes::take(MachineInstr &Addition, const TargetInstrInfo &Instructions) {
  MachineBasicBlock &Block = *Addition.getParent();
  MachineRegisterInfo &Registers = Block.getParent()->getRegInfo();
  // One that nothing needs has none.
  if (Register Zero = Addition.getOperand(0).isDef() ? Addition.getOperand(0).getReg() : Register()) {
    if (!Exclusive)
      Exclusive = neededOpcode("MOV32r0", Instructions);
    const MCInstrDesc &Xor = Instructions.get(*Exclusive);
    Register Half = Registers.createVirtualRegister(Instructions.getRegClass(Xor, 0));
    BuildMI(Block, Addition, DebugLoc(), Xor, Half);
    BuildMI(Block, Addition, DebugLoc(), Instructions.get(TargetOpcode::SUBREG_TO_REG), Zero)
        .addImm(0)
        .addReg(Half, RegState::Kill)
        .addImm(neededPart("sub_32bit", *Registers.getTargetRegisterInfo()));
  }
  Addition.eraseFromParent();
}

} // namespace bbprof

#endif
