// See unlock.h.
#include "unlock.h"
#include "llvm_compat.h"

#include "llvm/TargetParser/Triple.h"

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#endif

using namespace llvm;

namespace bbprof {

#if LLVM_VERSION_MAJOR >= 22

namespace {

// LOCK_INC64m -> INC64m, and so on: the same operands, and no lock. Other threads are
// told nothing, so scheduling may pass what follows by it.
class UnlockPass : public MachineFunctionPass {
public:
  static char ID;
  UnlockPass() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override { return "bbprof counters without a lock"; }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(Usage);
  }

  bool runOnMachineFunction(MachineFunction &MF) override {
    // Most modules have none.
    SmallVector<StringRef, 8> Scopes;
    MF.getFunction().getContext().getSyncScopeNames(Scopes);
    auto Scope = static_cast<SyncScope::ID>(find(Scopes, OneInstruction) - Scopes.begin());
    if (Scope == Scopes.size())
      return false;
    const TargetInstrInfo &Instructions = *MF.getSubtarget().getInstrInfo();
    bool Changed = false;
    for (MachineBasicBlock &Block : MF)
      for (MachineInstr &I : Block)
        if (any_of(I.memoperands(), [&](const MachineMemOperand *Operand) { return Operand->isAtomic() && Operand->getSyncScopeID() == Scope; }))
          Changed |= unlock(MF, I, Instructions);
    return Changed;
  }

private:
  bool unlock(MachineFunction &MF, MachineInstr &I, const TargetInstrInfo &Instructions) {
    if (Unlocked.empty())
      read(Instructions);
    auto Known = Unlocked.find(I.getOpcode());
    if (Known == Unlocked.end())
      return false;
    I.setDesc(Instructions.get(Known->second));
    I.setMemRefs(MF, {ofOneThread(MF, **I.memoperands_begin())});
    return true;
  }

  static MachineMemOperand *ofOneThread(MachineFunction &MF, const MachineMemOperand &Atomic) {
    auto Flags = MachineMemOperand::MOLoad | MachineMemOperand::MOStore;
    return MF.getMachineMemOperand(Atomic.getPointerInfo(), Flags, Atomic.getMemoryType(), Atomic.getAlign());
  }

  void read(const TargetInstrInfo &Instructions) {
    StringMap<unsigned> Locked;
    for (unsigned Opcode = 0; Opcode < Instructions.getNumOpcodes(); ++Opcode)
      if (StringRef Name = Instructions.getName(Opcode); Name.consume_front("LOCK_"))
        Locked[Name] = Opcode;
    for (unsigned Opcode = 0; Opcode < Instructions.getNumOpcodes(); ++Opcode)
      if (auto Known = Locked.find(Instructions.getName(Opcode)); Known != Locked.end())
        Unlocked[Known->second] = Opcode;
  }

  // The opcode without a lock, by the one that has it.
  DenseMap<unsigned, unsigned> Unlocked;
};

char UnlockPass::ID = 0;
RegisterPass<UnlockPass> Registered("bbprof-unlock", "bbprof counters without a lock");

} // namespace

bool canUnlock(const Triple &Target) { return Target.getArch() == Triple::x86_64; }

void unlockCounters() {
  static RegisterTargetPassConfigCallback Callback([](TargetMachine &, PassManagerBase &, TargetPassConfig *Passes) {
    Passes->insertPass(&FinalizeISelID, &UnlockPass::ID);
  });
}

#else

bool canUnlock(const Triple &) { return false; }

void unlockCounters() {}

#endif

} // namespace bbprof
