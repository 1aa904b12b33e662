// Calls that LLVM trusts to return, though a signal handler may jump out of them.
#ifndef BBPROF_RETURNS_H
#define BBPROF_RETURNS_H

#include "llvm/IR/Module.h"

namespace bbprof {

// Takes that trust from `setitimer` and `mktime`, the functions of C beside allocators (which the runtime knows by their system
// calls) that LLVM trusts (inferNonMandatoryLibFuncAttrs, BuildLibCalls.cpp) and that make system calls, out of which a handler
// jumps; and from what calls them, of which LLVM inferred it. Such calls end their block then.
void doubtReturns(llvm::Module &M);

} // namespace bbprof

#endif
