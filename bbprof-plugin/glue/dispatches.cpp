// See dispatches.h.
#include "dispatches.h"
#include "llvm_compat.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/CodeGen/MachineBranchProbabilityInfo.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TailDuplicator.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#endif

#include <atomic>

using namespace llvm;

namespace bbprof {

static const char *const RepeatAttribute = "bbprof-repeat-dispatches";

// Hardly any process compiles such functions, and for all functions a pass that changes some has the loops and dominators found
// anew behind it.
static std::atomic<bool> AnyMarked = false;

void markDispatches(Function &F) {
  if (none_of(F, [](const BasicBlock &Block) { return isa<IndirectBrInst>(Block.getTerminator()); }))
    return;
  F.addFnAttr(RepeatAttribute);
  AnyMarked = true;
}

#if LLVM_VERSION_MAJOR >= 22

namespace {

class DispatchesPass : public MachineFunctionPass {
public:
  static char ID;
  DispatchesPass() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override { return "bbprof repeated dispatches"; }

  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.addRequired<MachineBranchProbabilityInfoWrapperPass>();
    MachineFunctionPass::getAnalysisUsage(Usage);
  }

  bool runOnMachineFunction(MachineFunction &MF) override {
    if (!MF.getFunction().hasFnAttribute(RepeatAttribute))
      return false;
    SmallVector<MachineBasicBlock *, 2> Dispatches;
    for (MachineBasicBlock &Block : MF)
      if (!Block.empty() && Block.terminatorIsComputedGotoWithSuccessors())
        Dispatches.push_back(&Block);
    TailDuplicator Duplicator;
    Duplicator.initMF(MF, false, &getAnalysis<MachineBranchProbabilityInfoWrapperPass>().getMBPI(), nullptr, nullptr, false);
    bool Changed = false;
    for (MachineBasicBlock *Dispatch : Dispatches)
      if (Duplicator.shouldTailDuplicate(false, *Dispatch))
        Changed |= Duplicator.tailDuplicateAndUpdate(false, Dispatch, nullptr);
    return Changed;
  }
};

char DispatchesPass::ID = 0;
RegisterPass<DispatchesPass> RegisteredDispatches("bbprof-dispatches", "bbprof repeated dispatches");

} // namespace

void repeatDispatches() {
  // Behind the prologue, as BranchFolder comes next.
  static RegisterTargetPassConfigCallback Callback([](TargetMachine &, PassManagerBase &, TargetPassConfig *Passes) {
    if (AnyMarked)
      Passes->insertPass(&PrologEpilogCodeInserterID, &DispatchesPass::ID);
  });
}

#else

void repeatDispatches() {}

#endif

} // namespace bbprof
