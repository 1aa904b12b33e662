// The jump of computed `goto`s, repeated where control comes from. Until instructions are laid out, all of a function's share one
// (`indirectbr`); then code generation repeats it behind each block in front of it (TailDuplicator.cpp), but not behind the one
// that it has put before it, nor, then, behind those that share the end of that one (BranchFolding.cpp). Which one it is depends
// on anything: beside counters it may be what most of an interpreter's instructions go through.
#ifndef BBPROF_DISPATCHES_H
#define BBPROF_DISPATCHES_H

namespace llvm {
class Function;
}

namespace bbprof {

// Has code generation in this process repeat the jump in this function before blocks are joined that end alike.
void markDispatches(llvm::Function &F);

// From now on code generation looks for marks of this process. Once.
void repeatDispatches();

} // namespace bbprof

#endif
