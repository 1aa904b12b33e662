// See unlock.h.
#include "unlock.h"
#include "llvm_compat.h"
#include "set_aside.h"
#include "target_names.h"
#include "zeroes.h"

#include "llvm/TargetParser/Triple.h"

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/StackProtector.h"
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

// The scope of increments, in a module that has any. Most have none.
std::optional<SyncScope::ID> scopeIn(const Module &M) {
  SmallVector<StringRef, 8> Scopes;
  M.getContext().getSyncScopeNames(Scopes);
  auto Known = find(Scopes, OneInstruction);
  if (Known == Scopes.end() || !canUnlock(Triple(M.getTargetTriple())))
    return std::nullopt;
  return static_cast<SyncScope::ID>(Known - Scopes.begin());
}

// What both passes know.
class AsidePass : public ImmutablePass {
public:
  static char ID;
  AsidePass() : ImmutablePass(ID) {}

  StringRef getPassName() const override { return "bbprof counters that are aside"; }

  SetAside Counters;
};

char AsidePass::ID = 0;
RegisterPass<AsidePass> RegisteredAside("bbprof-aside", "bbprof counters that are aside");

// The last pass in front of instruction selection.
class SetAsidePass : public FunctionPass {
public:
  static char ID;
  SetAsidePass() : FunctionPass(ID) {}

  StringRef getPassName() const override { return "bbprof counters set aside"; }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.addRequired<AsidePass>();
    Usage.setPreservesAll();
  }

  bool doInitialization(Module &M) override {
    Scope = scopeIn(M);
    return false;
  }

  bool runOnFunction(Function &F) override { return Scope && getAnalysis<AsidePass>().Counters.put(F, *Scope); }

private:
  std::optional<SyncScope::ID> Scope;
};

char SetAsidePass::ID = 0;
RegisterPass<SetAsidePass> RegisteredSetAside("bbprof-set-aside", "bbprof counters set aside");

// The first pass behind it. LOCK_INC64m -> INC64m, and so on: the same operands, and no lock. Other threads are
// told nothing, so scheduling may pass what follows by it.
class UnlockPass : public MachineFunctionPass {
public:
  static char ID;
  UnlockPass() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override { return "bbprof counters without a lock"; }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.addRequired<AsidePass>();
    Usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(Usage);
  }

  bool doInitialization(Module &M) override {
    MachineFunctionPass::doInitialization(M);
    Scope = scopeIn(M);
    if (!Scope)
      return false;
    Zeroes::standIn(M, *Scope);
    return true;
  }

  bool runOnMachineFunction(MachineFunction &MF) override {
    if (!Scope)
      return false;
    const TargetInstrInfo &Instructions = *MF.getSubtarget().getInstrInfo();
    bool Changed = getAnalysis<AsidePass>().Counters.takeBack(MF);
    for (MachineBasicBlock &Block : MF)
      for (MachineInstr &I : make_early_inc_range(Block))
        if (any_of(I.memoperands(), [&](const MachineMemOperand *Operand) { return Operand->isAtomic() && Operand->getSyncScopeID() == *Scope; }))
          Changed |= unlock(MF, I, Instructions);
    return Changed;
  }

private:
  bool unlock(MachineFunction &MF, MachineInstr &I, const TargetInstrInfo &Instructions) {
    if (Zeroes::isStandIn(I)) {
      MadeZeroes.take(I, Instructions);
      return true;
    }
    std::optional<unsigned> Opcode = unlocked(I.getOpcode(), Instructions);
    if (!Opcode)
      return false;
    I.setDesc(Instructions.get(*Opcode));
    MachineMemOperand &Atomic = **I.memoperands_begin();
    auto Flags = MachineMemOperand::MOLoad | MachineMemOperand::MOStore;
    I.setMemRefs(MF, {MF.getMachineMemOperand(Atomic.getPointerInfo(), Flags, Atomic.getMemoryType(), Atomic.getAlign())});
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
  std::optional<SyncScope::ID> Scope;
  Zeroes MadeZeroes;
};

char UnlockPass::ID = 0;
RegisterPass<UnlockPass> Registered("bbprof-unlock", "bbprof counters without a lock");

} // namespace

bool canUnlock(const Triple &Target) { return Target.getArch() == Triple::x86_64; }

void unlockCounters() {
  static RegisterTargetPassConfigCallback Callback([](TargetMachine &, PassManagerBase &, TargetPassConfig *Passes) {
    Passes->insertPass(&StackProtector::ID, &SetAsidePass::ID);
    Passes->insertPass(&FinalizeISelID, &UnlockPass::ID);
  });
}

#else

bool canUnlock(const Triple &) { return false; }

void unlockCounters() {}

#endif

} // namespace bbprof
