// See guesses.h.
#include "guesses.h"

#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace bbprof {

static const BranchProbability ExpectedType(9, 10);

// LLVM's own for pointers that are compared. Where it knows more (loops, calls that do not come back, what is marked cold, what
// the source says) its guess is another one.
static const BranchProbability EqualPointers(12, 32);

static bool isGlobal(const Value *V) { return isa<GlobalValue>(V->stripPointerCasts()); }

// The successor for an object of the expected type, of the two of a branch; -1: it asks for something else.
static int ofExpectedType(const Instruction &Terminator) {
  const auto *Compare = Terminator.getNumSuccessors() == 2 && isa<BranchInst>(Terminator)
                            ? dyn_cast<ICmpInst>(cast<BranchInst>(Terminator).getCondition())
                            : nullptr;
  if (!Compare || !Compare->isEquality())
    return -1;
  const Value *One = Compare->getOperand(0), *Other = Compare->getOperand(1);
  if (!(isa<LoadInst>(One) && isGlobal(Other)) && !(isa<LoadInst>(Other) && isGlobal(One)))
    return -1;
  return Compare->getPredicate() == ICmpInst::ICMP_EQ ? 0 : 1;
}

bool guessTypes(const Function &F, BranchProbabilityInfo &Probabilities) {
  bool Changed = false;
  for (const BasicBlock &Block : F) {
    const Instruction &Terminator = *Block.getTerminator();
    int Expected = ofExpectedType(Terminator);
    if (Expected < 0 || Probabilities.getEdgeProbability(&Block, static_cast<unsigned>(Expected)) != EqualPointers)
      continue;
    SmallVector<BranchProbability, 2> Guess(2, ExpectedType.getCompl());
    Guess[static_cast<unsigned>(Expected)] = ExpectedType;
    Probabilities.setEdgeProbability(&Block, Guess);
    Changed = true;
  }
  return Changed;
}

} // namespace bbprof
