// See unasked.h.
#include "unasked.h"

#include "llvm/ADT/Any.h"
#include "llvm/IR/PassInstrumentation.h"

using namespace llvm;

namespace bbprof {

// What it does last.
static constexpr const char *LastPass = "GlobalDCEPass";

void runWhereUnasked(PassBuilder &PB, std::shared_ptr<const bool> IsAsked, std::function<void(Module &, ModuleAnalysisManager &)> Run) {
  PassInstrumentationCallbacks *Callbacks = PB.getPassInstrumentationCallbacks();
  if (!Callbacks)
    return;
  auto Analyses = std::make_shared<ModuleAnalysisManager *>(nullptr);
  PB.registerAnalysisRegistrationCallback([Analyses](ModuleAnalysisManager &MAM) { *Analyses = &MAM; });
  Callbacks->registerAfterPassCallback([IsAsked, Analyses, Run](StringRef Pass, Any IR, const PreservedAnalyses &) {
    const auto *Known = any_cast<const Module *>(&IR);
    if (*IsAsked || !*Analyses || !Known || Pass != LastPass)
      return;
    // Callbacks are to look on. This one comes between two passes, when nobody else holds anything of the module.
    Module &M = const_cast<Module &>(**Known);
    Run(M, **Analyses);
    (*Analyses)->invalidate(M, PreservedAnalyses::none());
  });
}

} // namespace bbprof
