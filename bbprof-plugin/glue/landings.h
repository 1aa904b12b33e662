// Places for code on edges that cannot be split: those of an indirectbr, and the indirect ones of a callbr.
#ifndef BBPROF_LANDINGS_H
#define BBPROF_LANDINGS_H

#include "llvm/IR/BasicBlock.h"

namespace bbprof {

// Parts a block that is reached by such edges and by others: the block itself, which the program may know by its address, keeps the
// former alone and becomes their landing; it leads to the rest of it, where all others go now. The rest, or null where there is
// nothing to part. The back end does the same to blocks with phis (SplitIndirectBrCriticalEdges).
llvm::BasicBlock *partFromLanding(llvm::BasicBlock &Block);

// Whether an edge from there to this block cannot be split.
bool isUnsplittable(const llvm::BasicBlock &From, const llvm::BasicBlock &To);

} // namespace bbprof

#endif
