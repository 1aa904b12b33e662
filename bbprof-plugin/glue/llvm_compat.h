// The one place that knows how LLVM's interfaces differ between the supported majors (20, 21, 22).
#ifndef BBPROF_LLVM_COMPAT_H
#define BBPROF_LLVM_COMPAT_H

#include "llvm/Config/llvm-config.h"

#if LLVM_VERSION_MAJOR < 20 || LLVM_VERSION_MAJOR > 22
#error "bbprof supports LLVM 20, 21 and 22"
#endif

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace bbprof {

inline llvm::SCEVExpander expanderOf(llvm::ScalarEvolution &Evolution, const llvm::Module &M, const char *Name) {
#if LLVM_VERSION_MAJOR >= 22
  (void)M;
  return llvm::SCEVExpander(Evolution, Name);
#else
  return llvm::SCEVExpander(Evolution, M.getDataLayout(), Name);
#endif
}

} // namespace bbprof

#endif
