// Functions that are not for counters, whatever the options say.
#ifndef BBPROF_SKIPPED_H
#define BBPROF_SKIPPED_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Module.h"

namespace bbprof {

class Skipped {
public:
  explicit Skipped(const llvm::Module &M);

  // Why it has none, or nullptr.
  const char *reason(const llvm::Function &F) const;

private:
  llvm::SmallPtrSet<const llvm::Function *, 8> ForIFuncs;
};

} // namespace bbprof

#endif
