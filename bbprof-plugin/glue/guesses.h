// What LLVM guesses of branches, where more is known.
#ifndef BBPROF_GUESSES_H
#define BBPROF_GUESSES_H

#include "llvm/Analysis/BranchProbabilityInfo.h"

namespace bbprof {

// A pointer that is loaded and compared with the address of a global says of what type an object is: mostly of the one that the
// code is for. LLVM takes equal pointers for unlikely (BranchProbabilityInfo.cpp; Ball and Larus, "Branch Prediction for Free",
// 1993). Whether anything changed.
bool guessTypes(const llvm::Function &F, llvm::BranchProbabilityInfo &Probabilities);

} // namespace bbprof

#endif
