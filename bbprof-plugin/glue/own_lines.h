// Debug information that is there for bbprof alone.
#ifndef BBPROF_OWN_LINES_H
#define BBPROF_OWN_LINES_H

#include "llvm_compat.h"

namespace bbprof {

// Takes away the name of a script for debuggers, and its load in main, which rustc adds wherever there is debug information. To be
// called before the module is flattened: nobody asked for that load.
void dropOwnScripts(llvm::Module &M);

// Forgets the lines that nobody but bbprof asked for, once they stand in the manifest: neither objects nor programs carry line
// tables that they would not have without bbprof. The drivers ask for lines as directives alone (-gline-directives-only), which
// makes the same lines in the IR as line tables do and marks the compile unit; whatever the user asks for marks it otherwise.
void dropOwnLines(llvm::Module &M);

} // namespace bbprof

#endif
