// The pass, and where in the pipeline it runs: exactly once per function, at the end of optimisation.
//
//   no LTO                     OptimizerLast, phase None          instrument all before LTO, -O0            OptimizerLast, pre-link
//   phase      instrument all: no later call is certain, and rustc says None there before LTO, optimised      OptimizerLast,
//   pre-link phase      tag all functions: they belong to the selected crates after (Thin)LTO            OptimizerLast, ThinLTO
//   post-link,  instrument the tagged ones; code of other crates that LTO
//                              or FullLinkTimeOptimizationLast    pulls in is not tagged
//
// Functions carry "bbprof-done" from then on.
#include "apply.h"
#include "flatten.h"
#include "module_data.h"
#include "own_lines.h"
#include "unlock.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"

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
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
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

void optimizerLast(ModulePassManager &MPM, OptimizationLevel Level, ThinOrFullLTOPhase Phase, const Symbols &Noted, const Crates &Tagged) {
  bool PreLink = Phase == ThinOrFullLTOPhase::ThinLTOPreLink || Phase == ThinOrFullLTOPhase::FullLTOPreLink;
  if (PreLink && Level != OptimizationLevel::O0)
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
  auto Noted = std::make_shared<bbprof::Symbols>();
  auto Tagged = std::make_shared<bbprof::Crates>();
  PB.registerPipelineStartEPCallback([Noted](ModulePassManager &MPM, OptimizationLevel) { MPM.addPass(NoteSymbolsPass(Noted)); });
  PB.registerPipelineEarlySimplificationEPCallback([Tagged](ModulePassManager &MPM, OptimizationLevel, ThinOrFullLTOPhase Phase) {
    if (Phase == ThinOrFullLTOPhase::ThinLTOPostLink)
      MPM.addPass(NoteCratesPass(Tagged));
  });
  PB.registerFullLinkTimeOptimizationEarlyEPCallback(
      [Tagged](ModulePassManager &MPM, OptimizationLevel) { MPM.addPass(NoteCratesPass(Tagged)); });
  PB.registerOptimizerLastEPCallback([Noted, Tagged](ModulePassManager &MPM, OptimizationLevel Level, ThinOrFullLTOPhase Phase) {
    optimizerLast(MPM, Level, Phase, Noted, Tagged);
  });
  PB.registerFullLinkTimeOptimizationLastEPCallback(
      [Noted, Tagged](ModulePassManager &MPM, OptimizationLevel Level) { MPM.addPass(InstrumentPass(Noted, Tagged, true, Level)); });
}

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "bbprof", BBPROF_VERSION, registerPasses};
}
