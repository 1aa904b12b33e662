// Increments by one instruction. Of a load, an addition and a store the back end makes three
// where it does not optimise, and takes longer where it does.
#ifndef BBPROF_UNLOCK_H
#define BBPROF_UNLOCK_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Triple;
}

namespace bbprof {

// Synchronisation scope of atomic additions that are to be one instruction and no more. LLVM knows no such
// thing: of atomic additions it makes one instruction with a lock, as for all threads. Whoever generates code
// without us leaves the lock, which takes time and harms nothing.
inline constexpr llvm::StringRef OneInstruction = "bbprof";

// Whether code generation in this process takes away the lock.
bool canUnlock(const llvm::Triple &Target);

// From now on it does. Once.
void unlockCounters();

} // namespace bbprof

#endif
