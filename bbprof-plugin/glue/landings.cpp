// See landings.h.
#include "landings.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace bbprof {

bool isUnsplittable(const BasicBlock &From, const BasicBlock &To) {
  const Instruction *Terminator = From.getTerminator();
  if (const auto *Call = dyn_cast<CallBrInst>(Terminator))
    return is_contained(Call->getIndirectDests(), &To);
  return isa<IndirectBrInst>(Terminator);
}

// What the phi chose among on either kind of edge is chosen on its own side of the landing.
static void part(PHINode &Old, BasicBlock &Landing, BasicBlock &Rest) {
  PHINode *New = PHINode::Create(Old.getType(), Old.getNumIncomingValues(), Old.getName() + ".bbprof");
  New->insertBefore(Rest, Rest.getFirstNonPHIIt());
  New->setDebugLoc(Old.getDebugLoc());
  Old.replaceAllUsesWith(New);
  for (unsigned Incoming = Old.getNumIncomingValues(); Incoming-- > 0;) {
    BasicBlock *From = Old.getIncomingBlock(Incoming);
    if (isUnsplittable(*From, Landing))
      continue;
    New->addIncoming(Old.getIncomingValue(Incoming), From);
    Old.removeIncomingValue(Incoming, false);
  }
  New->addIncoming(&Old, &Landing);
}

BasicBlock *partFromLanding(BasicBlock &Block) {
  auto Lands = [&](const BasicBlock *From) { return isUnsplittable(*From, Block); };
  if (none_of(predecessors(&Block), Lands) || all_of(predecessors(&Block), Lands))
    return nullptr;
  BasicBlock *Rest = Block.splitBasicBlock(Block.getFirstNonPHIIt(), Block.getName() + ".bbprof");
  for (PHINode &Old : Block.phis())
    part(Old, Block, *Rest);
  SmallVector<BasicBlock *, 8> Direct(make_filter_range(predecessors(&Block), [&](const BasicBlock *From) { return !Lands(From); }));
  for (BasicBlock *From : Direct)
    From->getTerminator()->replaceSuccessorWith(&Block, Rest);
  return Rest;
}

} // namespace bbprof
