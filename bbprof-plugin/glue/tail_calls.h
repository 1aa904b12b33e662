// Tail calls that become ones only when code is generated.
#ifndef BBPROF_TAIL_CALLS_H
#define BBPROF_TAIL_CALLS_H

#include "llvm/IR/Function.h"

namespace bbprof {

// Gives each call marked as a tail call, whose value a block shared with others returns, a return of its own. LLVM does the same right
// before it selects instructions (CodeGenPrepare, dupRetToEnableTailCallOpts), but no longer where a counter stands behind the call:
// then the call would need a frame, and the code would not be the program's. Whether anything changed.
bool returnBehindTailCalls(llvm::Function &F);

} // namespace bbprof

#endif
