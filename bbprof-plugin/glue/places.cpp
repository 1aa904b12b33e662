// Edges of the view as blocks of the IR.
#include "places.h"
#include "landings.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>

using namespace llvm;

namespace bbprof {

Instruction *terminator(FlatFunction &Flat, uint32_t Block) { return Flat.Blocks[Block]->getTerminator(); }

BasicBlock *splitEdge(FlatFunction &Flat, const BbprofPlace &Place) {
  Instruction *Terminator = terminator(Flat, Place.block);
  BasicBlock *From = Terminator->getParent();
  BasicBlock *To = Terminator->getSuccessor(Place.position);
  if (To->isLandingPad())
    return To;
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

// A landing pad in front of Pad, which is one like Old.
static LandingPadInst *padInFrontOf(BasicBlock &Pad, const LandingPadInst &Old, const Twine &Suffix) {
  BasicBlock *Made = BasicBlock::Create(Pad.getContext(), Pad.getName() + Suffix, Pad.getParent(), &Pad);
  auto *Landed = cast<LandingPadInst>(Old.clone());
  Landed->insertInto(Made, Made->end());
  BranchInst::Create(&Pad, Made)->setDebugLoc(Old.getDebugLoc());
  return Landed;
}

// What the phi of the pad chose among is chosen by the pads in front of it, and what comes by the others, in theirs.
static void partPhi(PHINode &Phi, BasicBlock *OfOthers, unsigned NumOthers) {
  PHINode *Among = nullptr;
  if (OfOthers)
    Among = PHINode::Create(Phi.getType(), NumOthers, Phi.getName() + ".bbprof", OfOthers->begin());
  PHINode *New = PHINode::Create(Phi.getType(), Phi.getNumIncomingValues(), "", Phi.getIterator());
  for (unsigned Incoming = 0; Incoming < Phi.getNumIncomingValues(); ++Incoming) {
    BasicBlock *From = Phi.getIncomingBlock(Incoming);
    BasicBlock *By = cast<InvokeInst>(From->getTerminator())->getUnwindDest();
    if (By == OfOthers)
      Among->addIncoming(Phi.getIncomingValue(Incoming), From);
    else
      New->addIncoming(Phi.getIncomingValue(Incoming), By);
  }
  for (PHINode *Made : {Among, New})
    if (Made)
      Made->setDebugLoc(Phi.getDebugLoc());
  if (Among)
    New->addIncoming(Among, OfOthers);
  Phi.replaceAllUsesWith(New);
  New->takeName(&Phi);
  Phi.eraseFromParent();
}

// Gives unwind edges to the pad landing pads of their own, and its other edges one
// together; all meet in the block that was the pad.
static void partPad(BasicBlock &Pad, ArrayRef<InvokeInst *> Parted) {
  LandingPadInst *Old = Pad.getLandingPadInst();
  SmallVector<LandingPadInst *, 8> Landed;
  for (InvokeInst *Invoke : Parted) {
    Landed.push_back(padInFrontOf(Pad, *Old, ".bbprof"));
    Invoke->setUnwindDest(Landed.back()->getParent());
  }
  SmallVector<BasicBlock *, 8> Others;
  copy_if(predecessors(&Pad), std::back_inserter(Others), [](const BasicBlock *From) { return isa<InvokeInst>(From->getTerminator()); });
  BasicBlock *OfOthers = nullptr;
  if (!Others.empty()) {
    Landed.push_back(padInFrontOf(Pad, *Old, ".bbprof.rest"));
    OfOthers = Landed.back()->getParent();
    for (BasicBlock *From : Others)
      cast<InvokeInst>(From->getTerminator())->setUnwindDest(OfOthers);
  }
  for (PHINode &Phi : make_early_inc_range(Pad.phis()))
    partPhi(Phi, OfOthers, static_cast<unsigned>(Others.size()));
  if (!Old->use_empty()) {
    PHINode *Any = PHINode::Create(Old->getType(), static_cast<unsigned>(Landed.size()), "", Old->getIterator());
    for (LandingPadInst *Own : Landed)
      Any->addIncoming(Own, Own->getParent());
    Old->replaceAllUsesWith(Any);
    Any->takeName(Old);
  }
  Old->eraseFromParent();
}

void splitUnwindEdges(FlatFunction &Flat, const BbprofFunctionPlan &Function) {
  MapVector<BasicBlock *, SmallSetVector<InvokeInst *, 4>> Parted;
  auto Note = [&](const BbprofPlace &Place) {
    if (Place.kind == BBPROF_PLACE_SPLIT && target(Flat, Place)->isLandingPad())
      Parted[target(Flat, Place)].insert(cast<InvokeInst>(terminator(Flat, Place.block)));
  };
  for (const BbprofSite &Site : ArrayRef(Function.sites, Function.num_sites))
    Note(Site.place);
  for (const BbprofPathStep &Step : ArrayRef(Function.path_steps, Function.num_path_steps))
    Note(Step.place);
  for (auto &[Pad, Invokes] : Parted)
    partPad(*Pad, Invokes.getArrayRef());
}

BasicBlock *target(FlatFunction &Flat, const BbprofPlace &Place) {
  return terminator(Flat, Place.block)->getSuccessor(Place.position);
}

// Where code will stand on edges that cannot be split, their target is parted from what they alone reach.
static void makeLanding(FlatFunction &Flat, const BbprofPlace &Place) {
  if (Place.kind != BBPROF_PLACE_LANDING)
    return;
  BasicBlock *Target = target(Flat, Place);
  if (Flat.Returns.hasReturning(Target))
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
