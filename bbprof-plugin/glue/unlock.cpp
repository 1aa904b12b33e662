// See unlock.h.
#include "unlock.h"
#include "llvm_compat.h"
#include "stand_ins.h"

#include "llvm/TargetParser/Triple.h"

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/LLVMContext.h"
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

  bool doInitialization(Module &M) override {
    MachineFunctionPass::doInitialization(M);
    // Most modules have none.
    SmallVector<StringRef, 8> Scopes;
    M.getContext().getSyncScopeNames(Scopes);
    auto Known = find(Scopes, OneInstruction);
    if (Known == Scopes.end() || !canUnlock(Triple(M.getTargetTriple())))
      return false;
    Scope = static_cast<SyncScope::ID>(Known - Scopes.begin());
    Numbers.put(M, *Scope);
    return true;
  }

  bool runOnMachineFunction(MachineFunction &MF) override {
    if (!Scope)
      return false;
    const TargetInstrInfo &Instructions = *MF.getSubtarget().getInstrInfo();
    bool Changed = false;
    for (MachineBasicBlock &Block : MF)
      for (MachineInstr &I : make_early_inc_range(Block))
        if (any_of(I.memoperands(), [&](const MachineMemOperand *Operand) { return Operand->isAtomic() && Operand->getSyncScopeID() == *Scope; }))
          Changed |= unlock(MF, I, Instructions);
    return Changed;
  }

private:
  bool unlock(MachineFunction &MF, MachineInstr &I, const TargetInstrInfo &Instructions) {
    if (StandIns::isZero(I)) {
      Numbers.takeZero(I, Instructions);
      return true;
    }
    const Constant *Address = Numbers.take(I, Instructions);
    std::optional<unsigned> Opcode = unlocked(I.getOpcode(), Instructions);
    if (!Opcode)
      return Address != nullptr;
    I.setDesc(Instructions.get(*Opcode));
    MachineMemOperand &Atomic = **I.memoperands_begin();
    auto Place = Address ? MachinePointerInfo(Address) : Atomic.getPointerInfo();
    auto Flags = MachineMemOperand::MOLoad | MachineMemOperand::MOStore;
    I.setMemRefs(MF, {MF.getMachineMemOperand(Place, Flags, Atomic.getMemoryType(), Atomic.getAlign())});
    return true;
  }

  // The opcode without a lock of one that has it. Nearly all additions have the same.
  std::optional<unsigned> unlocked(unsigned Locked, const TargetInstrInfo &Instructions) {
    auto [Known, New] = Unlocked.try_emplace(Locked);
    if (StringRef Name = Instructions.getName(Locked); New && Name.consume_front("LOCK_"))
      Known->second = opcodeOf(Name, Instructions);
    return Known->second;
  }

  DenseMap<unsigned, std::optional<unsigned>> Unlocked;
  // In modules that have increments.
  std::optional<SyncScope::ID> Scope;
  StandIns Numbers;
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
