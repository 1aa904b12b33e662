// Loops get the variables that code generation would give them without counters.
#ifndef BBPROF_STRENGTH_REDUCTION_H
#define BBPROF_STRENGTH_REDUCTION_H

#include "flatten.h"

namespace bbprof {

// LLVM's strength reduction, which code generation begins with, decides otherwise about a loop where a counter stands
// on its way back: so it is done in front of counters, too. The view's blocks stay, with their calls; its edges lead
// where they led, or to new blocks that lead on. Other instructions may be gone. For functions with loops.
void reduceStrength(const FlatFunction &Flat, llvm::FunctionAnalysisManager &FAM);

} // namespace bbprof

#endif
