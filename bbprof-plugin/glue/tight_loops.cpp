// See tight_loops.h.
#include "tight_loops.h"
#include "counted_loops.h"
#include "loop_registers.h"
#include "unrolled_loops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

#include <queue>

using namespace llvm;

namespace bbprof {

using Blocks = SmallSetVector<BasicBlock *, 8>;

// Whether something in it becomes a call, which takes most registers, or what leads out of it cannot be split.
static bool isHeavy(const BasicBlock &Block) {
  return isa<IndirectBrInst, CallBrInst>(Block.getTerminator()) || any_of(Block, [](const Instruction &I) {
           const auto *Call = dyn_cast<CallBase>(&I);
           return Call && !Call->isInlineAsm() && (!isa<IntrinsicInst>(Call) || isa<MemIntrinsic>(Call));
         });
}

// The blocks on ways from the header to itself that are not heavy and enter no loop in it.
static Blocks turningBlocks(const Loop &L, const LoopInfo &Loops) {
  BasicBlock *Header = L.getHeader();
  Blocks Reached, Turning;
  auto IsLight = [&](const BasicBlock *Block) { return Loops.getLoopFor(Block) == &L && !isHeavy(*Block); };
  if (IsLight(Header))
    Reached.insert(Header);
  for (size_t Position = 0; Position < Reached.size(); ++Position)
    for (BasicBlock *To : successors(Reached[Position]))
      if (!Reached.contains(To) && IsLight(To))
        Reached.insert(To);
  for (BasicBlock *Latch : predecessors(Header))
    if (Reached.contains(Latch))
      Turning.insert(Latch);
  for (size_t Position = 0; Position < Turning.size(); ++Position)
    if (Turning[Position] != Header)
      for (BasicBlock *From : predecessors(Turning[Position]))
        if (Reached.contains(From))
          Turning.insert(From);
  return Turning;
}

static unsigned lengthOf(const BasicBlock &Block) {
  auto IsExecuted = [](const Instruction &I) { return !isa<DbgInfoIntrinsic, PseudoProbeInst, PHINode>(I); };
  return static_cast<unsigned>(count_if(Block, IsExecuted));
}

// Instructions on the shortest way from the header to itself (Dijkstra 1959).
static unsigned shortestTurn(BasicBlock *Header, const Blocks &Turning) {
  using Way = std::pair<unsigned, BasicBlock *>;
  auto IsLonger = [](const Way &A, const Way &B) { return A.first > B.first; };
  std::priority_queue<Way, std::vector<Way>, decltype(IsLonger)> Ways(IsLonger);
  SmallPtrSet<const BasicBlock *, 8> Done;
  for (Ways.push({lengthOf(*Header), Header}); !Ways.empty();) {
    auto [Length, Block] = Ways.top();
    Ways.pop();
    // Reached for the second time: behind its own length, the header is where the turn ends.
    if (!Done.insert(Block).second) {
      if (Block == Header)
        return Length;
      continue;
    }
    for (BasicBlock *To : successors(Block))
      if (Turning.contains(To))
        Ways.push({To == Header ? Length : Length + lengthOf(*To), To});
  }
  return TightLoop::None;
}

// Copies, fills or compares by chunks, which are made to be few: by eight bytes and more at once, which are no
// integer of that size, as they need not stand where one does.
static bool takesChunks(const Blocks &Turning) {
  return any_of(Turning, [](const BasicBlock *Block) {
    const DataLayout &Layout = Block->getModule()->getDataLayout();
    return any_of(*Block, [&](const Instruction &I) {
      if (!isa<LoadInst, StoreInst>(I))
        return isa<MemIntrinsic>(I);
      Type *Taken = getLoadStoreType(&I);
      TypeSize Size = Layout.getTypeStoreSize(Taken);
      return (Taken->isIntegerTy() || Taken->isVectorTy()) && Size.getKnownMinValue() >= 8 && getLoadStoreAlignment(&I).value() < Size.getKnownMinValue();
    });
  });
}

static TightLoop tightLoop(const Loop &L, Blocks Turning, bool IsQuiet, bool CanUnroll) {
  unsigned Instructions = 0;
  for (const BasicBlock *Block : Turning)
    Instructions += lengthOf(*Block);
  // It is tight as a whole, or not at all: what is short in it comes by itself.
  bool IsNest = IsQuiet && !L.isInnermost();
  unsigned Shortest = IsNest ? TightLoop::None : shortestTurn(L.getHeader(), Turning);
  bool TakesChunks = takesChunks(Turning);
  return {L.getHeader(), std::move(Turning), Instructions, Shortest, TakesChunks, IsQuiet, CanUnroll};
}

std::vector<TightLoop> tightLoops(Function &F, FunctionAnalysisManager &FAM) {
  std::vector<TightLoop> Found;
  const LoopInfo &Loops = FAM.getResult<LoopAnalysis>(F);
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    bool IsQuiet = !canBeWatched(*L) && LoopRegisters::canFlush(*L);
    if (IsQuiet)
      Found.push_back(tightLoop(*L, Blocks(L->block_begin(), L->block_end()), true, canUnroll(*L, FAM)));
    if (IsQuiet && L->isInnermost())
      continue;
    if (Blocks Turning = turningBlocks(*L, Loops); !Turning.empty())
      Found.push_back(tightLoop(*L, std::move(Turning), false, false));
  }
  return Found;
}

} // namespace bbprof
