// Where a thread's own counters are, in code for shared libraries.
#ifndef BBPROF_OWN_COUNTERS_H
#define BBPROF_OWN_COUNTERS_H

#include "module_data.h"

namespace bbprof {

struct OwnCounters {
  // The thread's own copy of the counter that was asked for.
  llvm::Value *Base;
  // The first instruction that knows it, in the rest of the entry.
  llvm::Instruction *Behind;
};

// Finds the calling thread's copy of an array's counter, once per call, in front of all that the entry does but static allocas.
// How far the thread's counters are from the array's is added to the address of this one; where the thread has none yet, the
// sum says so: it is negative, as no address of a program is.
OwnCounters findOwnCounters(llvm::BasicBlock &Entry, llvm::GlobalVariable &Array, uint32_t Counter, ModuleData &Data, bool Optimized);

} // namespace bbprof

#endif
