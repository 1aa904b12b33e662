// The pipeline that asks no plugin: ThinLTO's part behind the link, without optimisation.
#ifndef BBPROF_UNASKED_H
#define BBPROF_UNASKED_H

#include "llvm_compat.h"

#include "llvm/IR/PassManager.h"

#include <functional>
#include <memory>

namespace bbprof {

// Runs a pass at the end of that pipeline, which has no extension point (buildThinLTODefaultPipeline, PassBuilderPipelines.cpp), so
// that code which was optimised before the link is not left out. `IsAsked` becomes true where a pipeline has one.
void runWhereUnasked(llvm::PassBuilder &PB, std::shared_ptr<const bool> IsAsked,
                     std::function<void(llvm::Module &, llvm::ModuleAnalysisManager &)> Run);

} // namespace bbprof

#endif
