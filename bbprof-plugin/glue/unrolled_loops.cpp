// See unrolled_loops.h.
#include "unrolled_loops.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace bbprof {

// Code generation makes a register of each multiple of a step that it does not know, and adds to it in the loop around this one.
static bool hasUnknownSteps(const Loop &L, ScalarEvolution &Evolution) {
  return any_of(L.getHeader()->phis(), [&](PHINode &Phi) {
    const auto *Variable = Evolution.isSCEVable(Phi.getType()) ? dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(&Phi)) : nullptr;
    return Variable && !isa<SCEVConstant>(Variable->getStepRecurrence(Evolution));
  });
}

bool canUnroll(const Loop &L, FunctionAnalysisManager &FAM) {
  Function &F = *L.getHeader()->getParent();
  bool IsAllowed = !F.hasOptSize() && hasUnrollTransformation(&L) != TM_SuppressedByUser;
  return IsAllowed && L.isInnermost() && L.getLoopLatch() && L.isSafeToClone() && !hasUnknownSteps(L, FAM.getResult<ScalarEvolutionAnalysis>(F));
}

void unrollLoops(MutableArrayRef<Unrolling> Unrollings, FunctionAnalysisManager &FAM) {
  Function &F = *Unrollings.front().Header->getParent();
  FAM.invalidate(F, PreservedAnalyses::none());
  auto &Loops = FAM.getResult<LoopAnalysis>(F);
  auto &Tree = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &Evolution = FAM.getResult<ScalarEvolutionAnalysis>(F);
  auto &Assumptions = FAM.getResult<AssumptionAnalysis>(F);
  const auto &Target = FAM.getResult<TargetIRAnalysis>(F);
  auto Find = [&](BasicBlock *Header) {
    Loop *L = Loops.getLoopFor(Header);
    return L && L->getHeader() == Header ? L : nullptr;
  };
  for (Unrolling &Wanted : Unrollings) {
    Loop *L = Find(Wanted.Header);
    if (!L)
      continue;
    simplifyLoop(L, &Tree, &Loops, &Evolution, &Assumptions, nullptr, false);
    formLCSSA(*L, Tree, &Loops, &Evolution);
    UnrollLoopOptions Options = {};
    Options.Count = Wanted.Turns;
    Options.Force = true;
    UnrollLoop(L, Options, &Loops, &Evolution, &Tree, &Assumptions, &Target, nullptr, true);
    Loop *Unrolled = Find(Wanted.Header);
    Wanted.Latch = Unrolled ? Unrolled->getLoopLatch() : nullptr;
  }
  FAM.invalidate(F, PreservedAnalyses::none());
}

} // namespace bbprof
