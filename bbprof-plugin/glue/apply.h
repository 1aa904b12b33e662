// Applies a plan to the IR.
#ifndef BBPROF_APPLY_H
#define BBPROF_APPLY_H

#include "flatten.h"

namespace bbprof {

void applyPlan(llvm::Module &M, FlatModule &Flat, const BbprofModulePlan &Plan, llvm::FunctionAnalysisManager &FAM, bool Optimized);

} // namespace bbprof

#endif
