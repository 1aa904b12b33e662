// Flattens the IR of a module into a BbprofModuleView, and keeps what is needed to find its places again.
#ifndef BBPROF_FLATTEN_H
#define BBPROF_FLATTEN_H

#include "counted_loops.h"
#include "llvm_compat.h"
#include "plan_abi.h"
#include "skipped.h"
#include "tail_calls.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/PassManager.h"

#include <deque>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace bbprof {

// One function: the arrays of its view, and the IR behind their positions.
struct FlatFunction {
  llvm::Function *IR = nullptr;
  std::vector<llvm::BasicBlock *> Blocks;
  std::vector<llvm::Instruction *> Instructions;
  std::vector<BbprofBlock> BlockViews;
  std::vector<uint8_t> Opcodes;
  std::vector<uint32_t> Locations;
  std::vector<uint32_t> Text;
  std::vector<BbprofCall> Calls;
  std::vector<BbprofSuccessor> Successors;
  llvm::SmallVector<CountedLoop, 4> CountedLoops;
  SharedReturns Returns;
  std::vector<BbprofLoop> LoopViews;
  std::vector<BbprofTightLoop> TightLoopViews;
  std::vector<uint32_t> LoopBlocks;
};

// Whether the call may end its function: exit, throw, longjmp.
bool mayVanish(const llvm::CallBase &Call);

class InstructionTexts;

// Linker symbols of functions whose debug information has none, as line tables of C++ do
// not; taken before they are inlined and gone.
using Symbols = llvm::DenseMap<const llvm::DISubprogram *, std::string>;
void noteSymbols(const llvm::Module &M, Symbols &Noted);

// Crates that have tagged functions in a module; taken before link-time optimisation inlines these.
using Crates = std::set<std::string>;
void noteCrates(const llvm::Module &M, Crates &Tagged);

// Whether a module's code may end up in a shared library.
bool isForLibraries(const llvm::Module &M);

class FlatModule {
public:
  // Declarations, functions that have their counters and, with OnlyTagged, those without the tag do not exist for bbprof; of the
  // latter, those with inlined code of crates that have it are told.
  FlatModule(llvm::Module &M, llvm::FunctionAnalysisManager &FAM, const Symbols &Noted, const Crates &Tagged, bool KeepText,
             bool OnlyTagged, bool Optimized);

  const BbprofModuleView &view() const { return View; }
  FlatFunction &function(size_t Position) { return Functions[Position]; }
  size_t numFunctions() const { return Functions.size(); }

private:
  bool isOptimized(const llvm::Function &F) const { return Optimized && !F.hasOptNone(); }
  uint32_t string(llvm::StringRef Text);
  uint32_t path(const llvm::DIFile *File);
  uint32_t symbolOf(const llvm::DISubprogram &Subprogram);
  uint32_t location(const llvm::DILocation *Location);
  void flatten(FlatFunction &Flat, BbprofFunction &Out, llvm::FunctionAnalysisManager &FAM, const InstructionTexts *Texts);
  void flattenCall(FlatFunction &Flat, const llvm::CallBase &Call, uint32_t Position);
  void flattenLoops(FlatFunction &Flat, llvm::FunctionAnalysisManager &FAM);
  void flattenTightLoops(FlatFunction &Flat, llvm::FunctionAnalysisManager &FAM);
  void flattenTerminator(FlatFunction &Flat, llvm::BasicBlock &Block, BbprofBlock &Out, llvm::FunctionAnalysisManager &FAM);

  std::deque<std::string> StringStorage;
  llvm::StringMap<uint32_t> StringPositions;
  std::vector<BbprofText> Strings;
  llvm::DenseMap<const llvm::DIFile *, uint32_t> Paths;
  llvm::DenseMap<const llvm::DILocation *, uint32_t> LocationPositions;
  llvm::DenseMap<std::tuple<const llvm::DIScope *, const llvm::DILocation *, unsigned, unsigned>, uint32_t> PlacePositions;
  std::vector<BbprofLocation> LocationViews;
  std::vector<BbprofChecksum> Checksums;
  std::vector<uint32_t> OpcodeNames;
  llvm::DenseMap<const llvm::Function *, uint32_t> FunctionPositions;
  llvm::DenseMap<const llvm::BasicBlock *, uint32_t> BlockPositions;
  std::deque<FlatFunction> Functions;
  std::vector<BbprofFunction> FunctionViews;
  std::vector<BbprofAlias> Aliases;
  Skipped Skips;
  const Symbols &Noted;
  bool Optimized;
  BbprofModuleView View = {};
};

// Attribute of functions that were seen before link-time optimisation, and so belong to the selected crates.
inline constexpr const char *TagAttribute = "bbprof-tag";
// Attribute of functions that have their counters (or were skipped for good).
inline constexpr const char *DoneAttribute = "bbprof-done";

} // namespace bbprof

#endif
