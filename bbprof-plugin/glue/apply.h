// Applies a plan to the IR: counter arrays, increments, manifest.
#ifndef BBPROF_APPLY_H
#define BBPROF_APPLY_H

#include "flatten.h"

namespace bbprof {

// Fat LTO makes everything the program's own (Internalize.cpp), also counters of code that was instrumented before it, being unoptimised.
void shareAgain(llvm::Module &M);

void applyPlan(llvm::Module &M, FlatModule &Flat, const BbprofModulePlan &Plan, llvm::FunctionAnalysisManager &FAM, bool Optimized);

} // namespace bbprof

#endif
