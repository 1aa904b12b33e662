// ScalarEvolution's exact trip counts, for loops that nothing but them ends.
#include "counted_loops.h"
#include "flatten.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace bbprof {

// A call could end the loop (exit, throw, longjmp), or dump the counters in the middle of it. Somebody else (a
// handler, a thread, another process) may look at volatile and atomic memory, and so at how far the loop is;
// at all other memory the compiler lets nobody look either.
bool canBeWatched(const Loop &L) {
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      if (I.isVolatile() || I.isAtomic())
        return true;
      if (const auto *Call = dyn_cast<CallBase>(&I))
        if (!isa<IntrinsicInst>(Call) || mayVanish(*Call))
          return true;
    }
  return false;
}

// A division by no power of two, as so many other instructions: it takes 10 to 18 cycles
// on x86-64, and by a constant it is a multiplication.
static constexpr unsigned DivisionPrice = 16, ConstantDivisionPrice = 4;
// Beyond it, no loop is worth the work.
static constexpr unsigned HighestPrice = 64;

// Instructions that work out an expression, at most: those that stand in the code already
// are free, but which these are is not asked.
static unsigned price(const SCEV *Turns) {
  struct Visitor {
    unsigned Price = 0;
    bool follow(const SCEV *S) {
      if (const auto *Division = dyn_cast<SCEVUDivExpr>(S)) {
        const auto *Divisor = dyn_cast<SCEVConstant>(Division->getRHS());
        Price += !Divisor ? DivisionPrice : Divisor->getAPInt().isPowerOf2() ? 1 : ConstantDivisionPrice;
      } else if (const auto *Several = dyn_cast<SCEVMinMaxExpr>(S)) {
        Price += 2 * static_cast<unsigned>(Several->getNumOperands() - 1);
      } else if (const auto *Several = dyn_cast<SCEVNAryExpr>(S)) {
        Price += static_cast<unsigned>(Several->getNumOperands() - 1);
      } else if (isa<SCEVCastExpr>(S)) {
        Price += 1;
      }
      return Price <= HighestPrice;
    }
    bool isDone() const { return Price > HighestPrice; }
  };
  Visitor Pricing;
  visitAll(Turns, Pricing);
  return Pricing.Price;
}

// Variables of the loops around it are taken as they stand there; those that do not would have to be kept beside them in each turn.
class TakeVariables : public SCEVRewriteVisitor<TakeVariables> {
public:
  TakeVariables(ScalarEvolution &Evolution, const BasicBlock *At) : SCEVRewriteVisitor(Evolution), At(At) {}

  const SCEV *visitAddRecExpr(const SCEVAddRecExpr *Variable) {
    if (Variable->getLoop()->contains(At))
      for (PHINode &Phi : Variable->getLoop()->getHeader()->phis())
        if (SE.isSCEVable(Phi.getType()) && SE.getSCEV(&Phi) == Variable)
          return SE.getUnknown(&Phi);
    AreAllThere = false;
    return Variable;
  }

  bool AreAllThere = true;

private:
  const BasicBlock *At;
};

// The only slot of the terminator that leads there, or -1.
static int onlySlot(const BasicBlock &From, const BasicBlock &To) {
  const Instruction &Terminator = *From.getTerminator();
  int Found = -1;
  for (unsigned Slot = 0; Slot < Terminator.getNumSuccessors(); ++Slot)
    if (Terminator.getSuccessor(Slot) == &To) {
      if (Found >= 0)
        return -1;
      Found = static_cast<int>(Slot);
    }
  return Found;
}

SmallVector<CountedLoop, 4> countedLoops(Function &F, FunctionAnalysisManager &FAM) {
  SmallVector<CountedLoop, 4> Found;
  const LoopInfo &Loops = FAM.getResult<LoopAnalysis>(F);
  if (Loops.empty())
    return Found;
  SmallVector<Loop *, 8> Quiet;
  for (Loop *L : Loops.getLoopsInPreorder())
    if (L->getLoopLatch() && L->getLoopPredecessor() && !canBeWatched(*L))
      Quiet.push_back(L);
  if (Quiet.empty())
    return Found;
  auto &Evolution = FAM.getResult<ScalarEvolutionAnalysis>(F);
  SCEVExpander Expander = expanderOf(Evolution, *F.getParent(), "bbprof.turns");
  for (Loop *L : Quiet) {
    BasicBlock *Latch = L->getLoopLatch(), *Before = L->getLoopPredecessor(), *Header = L->getHeader();
    Instruction *At = Before->getTerminator();
    int Slot = onlySlot(*Latch, *Header), BeforeSlot = onlySlot(*Before, *Header);
    if (Slot < 0 || BeforeSlot < 0 || !isa<BranchInst, SwitchInst>(At))
      continue;
    const SCEV *Turns = Evolution.getBackedgeTakenCount(L);
    if (isa<SCEVCouldNotCompute>(Turns) || Evolution.getTypeSizeInBits(Turns->getType()) > 64)
      continue;
    TakeVariables Taker(Evolution, Before);
    Turns = Taker.visit(Turns);
    unsigned Instructions = price(Turns);
    if (!Taker.AreAllThere || Instructions > HighestPrice || !Expander.isSafeToExpandAt(Turns, At))
      continue;
    Found.push_back({Latch, static_cast<unsigned>(Slot), Before, static_cast<unsigned>(BeforeSlot), Turns, Instructions});
  }
  return Found;
}

std::pair<Value *, Instruction *> makeTurns(const CountedLoop &Counted, IntegerType *Word, FunctionAnalysisManager &FAM) {
  Instruction *At = Counted.Before->getTerminator();
  Function &F = *At->getFunction();
  if (At->getNumSuccessors() > 1) {
    BasicBlock *Header = Counted.Latch->getTerminator()->getSuccessor(Counted.Slot);
    BasicBlock *Middle = SplitEdge(At->getParent(), Header, &FAM.getResult<DominatorTreeAnalysis>(F), &FAM.getResult<LoopAnalysis>(F));
    At = Middle->getTerminator();
  }
  auto &Evolution = FAM.getResult<ScalarEvolutionAnalysis>(F);
  SCEVExpander Expander = expanderOf(Evolution, *F.getParent(), "bbprof.turns");
  const SCEV *Turns = Evolution.getNoopOrZeroExtend(Counted.Turns, Word);
  return {Expander.expandCodeFor(Turns, Word, At), At};
}

} // namespace bbprof
