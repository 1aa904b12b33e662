// Edges of the view as blocks of the IR.
#include "places.h"
#include "landings.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <algorithm>

using namespace llvm;

namespace bbprof {

Instruction *terminator(FlatFunction &Flat, uint32_t Block) { return Flat.Blocks[Block]->getTerminator(); }

BasicBlock *splitEdge(FlatFunction &Flat, const BbprofPlace &Place) {
  Instruction *Terminator = terminator(Flat, Place.block);
  BasicBlock *From = Terminator->getParent();
  BasicBlock *To = Terminator->getSuccessor(Place.position);
  if (To->isLandingPad()) {
    SmallVector<BasicBlock *, 2> Made;
    SplitLandingPadPredecessors(To, {From}, ".bbprof", ".bbprof.rest", Made);
    return cast<InvokeInst>(Terminator)->getUnwindDest();
  }
  BasicBlock *Middle = BasicBlock::Create(From->getContext(), "bbprof.edge", From->getParent(), To);
  BranchInst::Create(To, Middle)->setDebugLoc(Terminator->getDebugLoc());
  unsigned Slots = 0;
  for (unsigned Slot = 0; Slot < Terminator->getNumSuccessors(); ++Slot)
    if (Terminator->getSuccessor(Slot) == To) {
      Terminator->setSuccessor(Slot, Middle);
      ++Slots;
    }
  for (PHINode &Phi : To->phis()) {
    Phi.setIncomingBlock(static_cast<unsigned>(Phi.getBasicBlockIndex(From)), Middle);
    for (; Slots > 1 && Phi.getBasicBlockIndex(From) >= 0;)
      Phi.removeIncomingValue(static_cast<unsigned>(Phi.getBasicBlockIndex(From)), false);
  }
  return Middle;
}

BasicBlock *target(FlatFunction &Flat, const BbprofPlace &Place) {
  return terminator(Flat, Place.block)->getSuccessor(Place.position);
}

// Where code will stand on edges that cannot be split, their target is parted from what they alone reach.
static void makeLanding(FlatFunction &Flat, const BbprofPlace &Place) {
  if (Place.kind != BBPROF_PLACE_LANDING)
    return;
  BasicBlock *Target = target(Flat, Place);
  auto Returns = [&](const SharedReturn &Shared) { return Shared.Returning == Target; };
  if (any_of(Flat.SharedReturns, Returns))
    return;
  if (BasicBlock *Rest = partFromLanding(*Target))
    std::replace(Flat.Blocks.begin(), Flat.Blocks.end(), Target, Rest);
}

void makeLandings(FlatFunction &Flat, const BbprofFunctionPlan &Function) {
  for (const BbprofSite &Site : ArrayRef(Function.sites, Function.num_sites))
    makeLanding(Flat, Site.place);
  for (const BbprofPathStep &Step : ArrayRef(Function.path_steps, Function.num_path_steps))
    makeLanding(Flat, Step.place);
}

PHINode *came(FlatFunction &Flat, const BbprofPlace &Place, IntegerType *Word) {
  BasicBlock *From = terminator(Flat, Place.block)->getParent(), *To = target(Flat, Place);
  if (all_of(predecessors(To), [&](const BasicBlock *Predecessor) { return Predecessor == From; }))
    return nullptr;
  PHINode *Came = PHINode::Create(Word, pred_size(To), "bbprof.came", To->begin());
  for (BasicBlock *Predecessor : predecessors(To))
    Came->addIncoming(ConstantInt::get(Word, Predecessor == From), Predecessor);
  return Came;
}

} // namespace bbprof
