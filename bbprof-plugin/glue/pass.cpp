// The pass, and where in the pipeline it runs: exactly once per function, at the end of optimisation.
//
// - Without LTO: OptimizerLast, phase None. All functions are instrumented.
// - Before LTO, -O0: OptimizerLast, a pre-link phase. All are instrumented: no later call is certain, and rustc says None there.
// - Before LTO, optimised: OptimizerLast, a pre-link phase. All are tagged: they belong to what was selected.
// - In LTO: OptimizerLast, phase ThinLTOPostLink, or FullLinkTimeOptimizationLast; unasked in ThinLTO that does not optimise. Those
//   that are tagged are instrumented; code of others, which LTO pulls in, is not.
//
// Functions carry "bbprof-done" from then on. What goes into LTO says which plugin it is to be linked with.
#include "apply.h"
#include "dispatches.h"
#include "flatten.h"
#include "handed_counters.h"
#include "module_data.h"
#include "own_lines.h"
#include "returns.h"
#include "unasked.h"
#include "unlock.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"

#include <dlfcn.h>
#include <memory>

using namespace llvm;

namespace {

class TagPass : public PassInfoMixin<TagPass> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    for (Function &F : M)
      if (!F.isDeclaration())
        F.addFnAttr(bbprof::TagAttribute);
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

// Names this plugin in bitcode, for the shim, which has the linker load it.
class NamePluginPass : public PassInfoMixin<NamePluginPass> {
public:
  explicit NamePluginPass(std::string Path) : Path(std::move(Path)) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    // Strings of metadata stand in bitcode byte by byte, one behind the other.
    auto *Text = MDString::get(M.getContext(), (Twine(PluginMark) + Path + "\n").str());
    M.getOrInsertNamedMetadata("bbprof.plugin")->addOperand(MDNode::get(M.getContext(), Text));
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  static constexpr const char *PluginMark = "__bbprof_plugin=";
  std::string Path;
};

using Symbols = std::shared_ptr<bbprof::Symbols>;
using Crates = std::shared_ptr<bbprof::Crates>;

class NoteCratesPass : public PassInfoMixin<NoteCratesPass> {
public:
  explicit NoteCratesPass(Crates Tagged) : Tagged(std::move(Tagged)) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    bbprof::noteCrates(M, *Tagged);
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  Crates Tagged;
};

class NoteSymbolsPass : public PassInfoMixin<NoteSymbolsPass> {
public:
  explicit NoteSymbolsPass(Symbols Noted) : Noted(std::move(Noted)) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    bbprof::noteSymbols(M, *Noted);
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  Symbols Noted;
};

class InstrumentPass : public PassInfoMixin<InstrumentPass> {
public:
  InstrumentPass(Symbols Noted, Crates Tagged, bool OnlyTagged, OptimizationLevel Level)
      : Noted(std::move(Noted)), Tagged(std::move(Tagged)), OnlyTagged(OnlyTagged), Optimized(Level != OptimizationLevel::O0) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    bbprof::dropOwnScripts(M);
    bbprof::shareAgain(M);
    bbprof::doubtReturns(M);
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    if (Optimized && bbprof_hands_counters(bbprof::isForLibraries(M)))
      bbprof::makeParameters(M, FAM, OnlyTagged);
    bbprof::FlatModule Flat(M, FAM, *Noted, *Tagged, bbprof_wants_ir() != 0, OnlyTagged, Optimized);
    if (Flat.numFunctions() != 0)
      instrument(M, Flat, FAM);
    bbprof::dropOwnLines(M);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }

private:
  void instrument(Module &M, bbprof::FlatModule &Flat, FunctionAnalysisManager &FAM) {
    const BbprofModulePlan *Plan = bbprof_plan_module(&Flat.view());
    if (Plan->error.size_bytes != 0)
      M.getContext().emitError("bbprof: " + StringRef(Plan->error.data, Plan->error.size_bytes));
    else
      bbprof::applyPlan(M, Flat, *Plan, FAM, Optimized);
    bbprof_free_plan(Plan);
  }

  Symbols Noted;
  Crates Tagged;
  bool OnlyTagged;
  bool Optimized;
};

bool isPreLink(ThinOrFullLTOPhase Phase) {
  return Phase == ThinOrFullLTOPhase::ThinLTOPreLink || Phase == ThinOrFullLTOPhase::FullLTOPreLink;
}

void optimizerLast(ModulePassManager &MPM, OptimizationLevel Level, ThinOrFullLTOPhase Phase, const Symbols &Noted, const Crates &Tagged) {
  if (isPreLink(Phase) && Level != OptimizationLevel::O0)
    MPM.addPass(TagPass());
  else
    MPM.addPass(InstrumentPass(Noted, Tagged, Phase == ThinOrFullLTOPhase::ThinLTOPostLink, Level));
}

// A plugin for one LLVM in a compiler built on another would crash in ways that explain nothing.
void refuseOtherLLVM() {
  using GetVersion = void (*)(unsigned *, unsigned *, unsigned *);
  auto Get = reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  if (!Get)
    return;
  unsigned Major = 0, Minor = 0, Patch = 0;
  Get(&Major, &Minor, &Patch);
  if (Major != LLVM_VERSION_MAJOR)
    report_fatal_error(Twine("bbprof: this plugin is built for LLVM ") + Twine(LLVM_VERSION_MAJOR) + ", the compiler uses LLVM " +
                           Twine(Major) + "; run 'bbprof doctor'",
                       false);
}

void registerPasses(PassBuilder &PB) {
  refuseOtherLLVM();
  Dl_info Self;
  const char *Path = dladdr(reinterpret_cast<void *>(&registerPasses), &Self) ? Self.dli_fname : "";
  if (const char *Message = bbprof_load_options(Path))
    report_fatal_error(Message, false);
  bbprof::unlockCounters();
  bbprof::repeatDispatches();
  auto Noted = std::make_shared<bbprof::Symbols>();
  auto Tagged = std::make_shared<bbprof::Crates>();
  auto IsAsked = std::make_shared<bool>(false);
  PB.registerPipelineStartEPCallback([Noted](ModulePassManager &MPM, OptimizationLevel) { MPM.addPass(NoteSymbolsPass(Noted)); });
  PB.registerPipelineEarlySimplificationEPCallback([Tagged](ModulePassManager &MPM, OptimizationLevel, ThinOrFullLTOPhase Phase) {
    if (Phase == ThinOrFullLTOPhase::ThinLTOPostLink)
      MPM.addPass(NoteCratesPass(Tagged));
  });
  PB.registerFullLinkTimeOptimizationEarlyEPCallback(
      [Tagged](ModulePassManager &MPM, OptimizationLevel) { MPM.addPass(NoteCratesPass(Tagged)); });
  std::string Name = Path;
  PB.registerOptimizerLastEPCallback(
      [Noted, Tagged, IsAsked, Name](ModulePassManager &MPM, OptimizationLevel Level, ThinOrFullLTOPhase Phase) {
        *IsAsked = true;
        optimizerLast(MPM, Level, Phase, Noted, Tagged);
        if (isPreLink(Phase))
          MPM.addPass(NamePluginPass(Name));
      });
  PB.registerFullLinkTimeOptimizationLastEPCallback([Noted, Tagged, IsAsked](ModulePassManager &MPM, OptimizationLevel Level) {
    *IsAsked = true;
    MPM.addPass(InstrumentPass(Noted, Tagged, true, Level));
  });
  bbprof::runWhereUnasked(PB, IsAsked, [Noted, Tagged](Module &M, ModuleAnalysisManager &MAM) {
    bbprof::noteCrates(M, *Tagged);
    InstrumentPass(Noted, Tagged, true, OptimizationLevel::O0).run(M, MAM);
  });
}

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "bbprof", BBPROF_VERSION, registerPasses};
}
