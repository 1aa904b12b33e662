// See stand_ins.h.
#include "stand_ins.h"
#include "loop_registers.h"
#include "llvm_compat.h"

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace bbprof {

// Where X86ISelLowering.cpp has what is relative to %fs (X86AS::FS).
static constexpr unsigned ThreadSegment = 257;

// Of the operands of an X86 instruction that changes memory: base, scale, index, displacement, segment (X86BaseInfo.h).
static constexpr unsigned Displacement = 3;

// The numbers begin where no displacement is that anyone else makes. The first is a zero's.
static constexpr int64_t First = 1 << 30;

static Constant *number(LLVMContext &Context, size_t Position) {
  auto *Bare = ConstantInt::get(Type::getInt64Ty(Context), First + 8 * static_cast<int64_t>(Position));
  return ConstantExpr::getIntToPtr(Bare, PointerType::get(Context, ThreadSegment));
}

static bool isOfThisExecutable(const Constant &Address) {
  const auto *Array = dyn_cast<GlobalVariable>(Address.stripInBoundsConstantOffsets());
  return Array && Array->getThreadLocalMode() == GlobalVariable::LocalExecTLSModel;
}

// An addition is an instruction that returns a register and changes flags, as what makes the zero does.
static void putZero(CallInst &Zero, SyncScope::ID Scope) {
  auto *One = ConstantInt::get(Zero.getType(), 1);
  auto *Addition = new AtomicRMWInst(AtomicRMWInst::Add, number(Zero.getContext(), 0), One, Align(8), AtomicOrdering::Monotonic, Scope,
                                     Zero.getIterator());
  Zero.replaceAllUsesWith(Addition);
  Zero.eraseFromParent();
}

void StandIns::put(Module &M, SyncScope::ID Scope) {
  Addresses.push_back(nullptr);
  SmallVector<CallInst *, 8> Zeroes;
  auto Put = [&](AtomicRMWInst &Addition) {
    auto *Address = dyn_cast<Constant>(Addition.getPointerOperand());
    // Of an addition of nothing, code generation makes a load.
    if (Addition.getSyncScopeID() != Scope || !Address || !isOfThisExecutable(*Address) || match(Addition.getValOperand(), m_Zero()))
      return;
    Constant *&Number = NumberOf[Address];
    if (!Number) {
      Number = number(M.getContext(), Addresses.size());
      Addresses.push_back(Address);
    }
    Addition.setOperand(AtomicRMWInst::getPointerOperandIndex(), Number);
    // Each look for metadata takes time where there is any, and sanitizers are done.
    Addition.setMetadata(LLVMContext::MD_nosanitize, nullptr);
  };
  for (Function &F : M)
    if (!F.hasFnAttribute("indirect-tls-seg-refs"))
      for (Instruction &I : instructions(F))
        if (auto *Addition = dyn_cast<AtomicRMWInst>(&I))
          Put(*Addition);
        else if (auto *Call = dyn_cast<CallInst>(&I); Call && LoopRegisters::isZero(*Call))
          Zeroes.push_back(Call);
  for (CallInst *Zero : Zeroes)
    putZero(*Zero, Scope);
}

// Which number stands for this addition's address, if one does.
static std::optional<int64_t> positionOf(const MachineInstr &Addition) {
  const MachineMemOperand &Place = **Addition.memoperands_begin();
  if (Place.getAddrSpace() != ThreadSegment)
    return std::nullopt;
  const auto *Bare = cast<ConstantInt>(cast<ConstantExpr>(Place.getValue())->getOperand(0));
  return (Bare->getSExtValue() - First) / 8;
}

bool StandIns::isZero(const MachineInstr &Addition) { return positionOf(Addition) == 0; }

std::optional<unsigned> opcodeOf(StringRef Name, const TargetInstrInfo &Instructions) {
  for (unsigned Opcode = 0; Opcode < Instructions.getNumOpcodes(); ++Opcode)
    if (Instructions.getName(Opcode) == Name)
      return Opcode;
  return std::nullopt;
}

static unsigned low32(const TargetRegisterInfo &Registers) {
  for (unsigned Index = 1; Index < Registers.getNumSubRegIndices(); ++Index)
    if (StringRef(Registers.getSubRegIndexName(Index)) == "sub_32bit")
      return Index;
  report_fatal_error("bbprof: LLVM has no low halves of registers (sub_32bit)");
}

void StandIns::takeZero(MachineInstr &Addition, const TargetInstrInfo &Instructions) {
  MachineBasicBlock &Block = *Addition.getParent();
  MachineRegisterInfo &Registers = Block.getParent()->getRegInfo();
  // One that nothing needs has none.
  if (Register Zero = Addition.getOperand(0).isDef() ? Addition.getOperand(0).getReg() : Register()) {
    if (!Exclusive)
      Exclusive = opcodeOf("MOV32r0", Instructions);
    if (!Exclusive)
      report_fatal_error("bbprof: LLVM has no instruction MOV32r0");
    const MCInstrDesc &Xor = Instructions.get(*Exclusive);
    Register Half = Registers.createVirtualRegister(Instructions.getRegClass(Xor, 0));
    BuildMI(Block, Addition, DebugLoc(), Xor, Half);
    BuildMI(Block, Addition, DebugLoc(), Instructions.get(TargetOpcode::SUBREG_TO_REG), Zero)
        .addImm(0)
        .addReg(Half, RegState::Kill)
        .addImm(low32(*Registers.getTargetRegisterInfo()));
  }
  Addition.eraseFromParent();
}

static unsigned flagOfThreadOffsets(const TargetInstrInfo &Instructions) {
  for (auto [Flag, Name] : Instructions.getSerializableDirectMachineOperandTargetFlags())
    if (StringRef(Name) == "x86-tpoff")
      return Flag;
  report_fatal_error("bbprof: LLVM has no offsets from the thread's own block (x86-tpoff)");
}

Constant *StandIns::take(MachineInstr &Addition, const TargetInstrInfo &Instructions) const {
  std::optional<int64_t> Position = positionOf(Addition);
  if (!Position)
    return nullptr;
  MachineOperand &Number = Addition.getOperand(Displacement);
  if (!Number.isImm() || Number.getImm() != First + 8 * *Position)
    report_fatal_error("bbprof: code generation has made " + Instructions.getName(Addition.getOpcode()) +
                       " of a counter's increment, and not with the counter's address; please report this");
  Constant *Address = Addresses[*Position];
  int64_t Offset = 0;
  const auto *Array = cast<GlobalVariable>(GetPointerBaseWithConstantOffset(Address, Offset, Addition.getMF()->getDataLayout()));
  Number.ChangeToGA(Array, Offset, flagOfThreadOffsets(Instructions));
  return Address;
}

} // namespace bbprof

#endif
