// See loop_registers.h.
#include "loop_registers.h"
#include "unrolled_loops.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace bbprof {

bool LoopRegisters::canFlush(const Loop &L) {
  SmallVector<Loop::Edge, 4> Exits;
  L.getExitEdges(Exits);
  // Where the code of an edge that cannot be split stands, the loop's blocks are others.
  if (any_of(L.blocks(), [](const BasicBlock *Block) { return isa<IndirectBrInst, CallBrInst>(Block->getTerminator()); }))
    return false;
  return !Exits.empty() && all_of(Exits, [](const Loop::Edge &Exit) { return isa<BranchInst, SwitchInst>(Exit.first->getTerminator()); });
}

void LoopRegisters::count(Instruction *Before, uint32_t Counter) {
  auto *Known = find_if(Registers, [&](const Register &R) { return R.Counter == Counter; });
  if (Known == Registers.end()) {
    Function &F = *Header->getParent();
    auto *Variable = new AllocaInst(Word, F.getDataLayout().getAllocaAddrSpace(), "bbprof.turns", F.getEntryBlock().begin());
    Registers.push_back({Counter, Variable});
    Known = &Registers.back();
  }
  IRBuilder<> Builder(Before);
  Builder.SetCurrentDebugLocation(DebugLoc());
  Value *Old = Builder.CreateLoad(Word, Known->Variable);
  Builder.CreateStore(Builder.CreateAdd(Old, ConstantInt::get(Word, 1)), Known->Variable);
}

Value *LoopRegisters::zero(Instruction *Before) {
  Function &F = *Header->getParent();
  if (Triple(F.getParent()->getTargetTriple()).getArch() != Triple::x86_64)
    return nullptr;
  if (!Zero)
    Zero = new AllocaInst(Word, F.getDataLayout().getAllocaAddrSpace(), "bbprof.zero", F.getEntryBlock().begin());
  return new LoadInst(Word, Zero, "", Before->getIterator());
}

// Instructions that are executed where control comes into these blocks, and not where it goes from one to the next. For each edge
// from elsewhere a block that leads to nothing else: what enters a loop may come out of another one, which turns. A block whose
// terminator cannot be parted from what follows stands for itself.
SmallVector<Instruction *, 2> LoopRegisters::entries() const {
  SmallVector<Instruction *, 2> Found;
  SmallSetVector<std::pair<BasicBlock *, BasicBlock *>, 4> Entering;
  for (BasicBlock *To : Blocks) {
    SmallVector<BasicBlock *, 4> Outside;
    copy_if(predecessors(To), std::back_inserter(Outside), [&](const BasicBlock *From) { return !contains(From); });
    if (Outside.size() == pred_size(To))
      Found.push_back(&*To->getFirstInsertionPt());
    else
      for (BasicBlock *From : Outside)
        Entering.insert({From, To});
  }
  for (auto [From, To] : Entering) {
    BasicBlock *Between = nullptr;
    if (isa<BranchInst, SwitchInst, InvokeInst>(From->getTerminator()) && !From->getUniqueSuccessor())
      Between = SplitCriticalEdge(From, To, CriticalEdgeSplittingOptions().setMergeIdenticalEdges());
    Found.push_back((Between ? Between : From)->getTerminator());
  }
  return Found;
}

// Processors know that an exclusive or with itself makes a zero, and do not wait for it.
// After a move of a zero the first turns are slow (Zen 5).
static InlineAsm *makingZero(IntegerType *Word) {
  return InlineAsm::get(FunctionType::get(Word, false), "xorl ${0:k}, ${0:k}", "=r,~{flags}", false);
}

bool LoopRegisters::isZero(const CallInst &Call) {
  return Call.isInlineAsm() && Call.getCalledOperand() == makingZero(Type::getInt64Ty(Call.getContext()));
}

void LoopRegisters::makeZero(Instruction *Before) const {
  auto *Made = CallInst::Create(makingZero(Word), "", Before->getIterator());
  Made->setDoesNotThrow();
  new StoreInst(Made, Zero, Before->getIterator());
}

// Where the loop leads to, in the order of its function's blocks.
SmallVector<BasicBlock *, 4> LoopRegisters::exits() const {
  SmallVector<BasicBlock *, 4> Found;
  for (BasicBlock &Block : *Header->getParent())
    if (!contains(&Block) && any_of(predecessors(&Block), [&](const BasicBlock *From) { return contains(From); }))
      Found.push_back(&Block);
  return Found;
}

void LoopRegisters::reset(Instruction *Before) const {
  for (const Register &R : Registers)
    new StoreInst(ConstantInt::get(Word, 0), R.Variable, Before->getIterator());
}

void LoopRegisters::addAt(Instruction *Before) {
  for (const Register &R : Registers) {
    auto *Number = new LoadInst(Word, R.Variable, "", Before->getIterator());
    Additions.push_back({R.Counter, new FreezeInst(Number, "", Before->getIterator())});
  }
}

void LoopRegisters::close() {
  if (Registers.empty() && !Zero)
    return;
  for (Instruction *Before : entries()) {
    if (Zero)
      makeZero(Before);
    reset(Before);
  }
  if (Registers.empty())
    return;
  for (BasicBlock *To : exits()) {
    SmallVector<BasicBlock *, 4> Inside;
    copy_if(predecessors(To), std::back_inserter(Inside), [&](const BasicBlock *From) { return contains(From); });
    bool OnlyFromInside = Inside.size() == pred_size(To);
    Inside.erase(llvm::unique(Inside), Inside.end());
    BasicBlock *Where = OnlyFromInside && Turns == 0 ? To : SplitBlockPredecessors(To, Inside, ".bbprof");
    if (Turns != 0)
      Exits.push_back(Where);
    else
      addAt(&*Where->getFirstInsertionPt());
  }
}

// The stores of what a register has counted.
static SmallVector<StoreInst *, 8> counting(AllocaInst &Variable) {
  SmallVector<StoreInst *, 8> Found;
  for (User *Used : Variable.users())
    if (auto *Store = dyn_cast<StoreInst>(Used); Store && isa<BinaryOperator>(Store->getValueOperand()))
      Found.push_back(Store);
  return Found;
}

// Behind what counts the last of the turns that follow each other, or, where not each turn counts, at their end.
Instruction *LoopRegisters::lastOfTurns(BasicBlock &Latch, const DominatorTree &Tree) const {
  SmallVector<StoreInst *, 8> Counting = counting(*Registers.front().Variable);
  for (StoreInst *Last : Counting)
    if (Tree.dominates(Last->getParent(), &Latch) && all_of(Counting, [&](const StoreInst *Other) { return Other == Last || Tree.dominates(Other, Last); }))
      return Last->getNextNode();
  return Latch.getTerminator();
}

// The turns in front of the one that adds are known by where it is left, so each way out gets a block.
void LoopRegisters::unroll(MutableArrayRef<LoopRegisters> Loops, FunctionAnalysisManager &FAM) {
  SmallVector<Unrolling, 4> Unrollings;
  SmallVector<LoopRegisters *, 4> Unrolled;
  for (LoopRegisters &Closed : Loops)
    if (Closed.Turns != 0) {
      Unrollings.push_back({Closed.Header, Closed.Turns, nullptr});
      Unrolled.push_back(&Closed);
    }
  if (Unrollings.empty())
    return;
  unrollLoops(Unrollings, FAM);
  DominatorTree Tree(*Unrollings.front().Header->getParent());
  for (auto [Closed, Unrolling] : zip_equal(Unrolled, Unrollings))
    if (Unrolling.Latch) {
      Instruction *Behind = Closed->lastOfTurns(*Unrolling.Latch, Tree);
      Closed->addAt(Behind);
      Closed->reset(Behind);
    }
  for (LoopRegisters *Closed : Unrolled)
    for (BasicBlock *Exit : Closed->Exits) {
      SmallSetVector<BasicBlock *, 8> Leaving(pred_begin(Exit), pred_end(Exit));
      for (BasicBlock *From : Leaving) {
        bool LeadsThereOnly = From->getUniqueSuccessor();
        BasicBlock *Where = LeadsThereOnly ? From : SplitBlockPredecessors(Exit, From, ".bbprof.turns");
        Closed->addAt(Where->getTerminator());
      }
    }
}

// Of additions to a variable that began as a number, numbers.
static void foldSums(MutableArrayRef<WeakTrackingVH> Sums, const DataLayout &Layout) {
  for (bool IsChanged = true; IsChanged;) {
    IsChanged = false;
    for (WeakTrackingVH &Sum : Sums) {
      auto *Add = dyn_cast_or_null<BinaryOperator>(Sum);
      Constant *Known = Add ? ConstantFoldInstruction(Add, Layout) : nullptr;
      if (!Known)
        continue;
      Add->replaceAllUsesWith(Known);
      Add->eraseFromParent();
      IsChanged = true;
    }
  }
}

void LoopRegisters::promote(ArrayRef<LoopRegisters> Loops, Addition Add) {
  SmallVector<AllocaInst *, 8> Variables;
  for (const LoopRegisters &Closed : Loops) {
    if (Closed.Zero)
      Variables.push_back(Closed.Zero);
    for (const Register &R : Closed.Registers)
      Variables.push_back(R.Variable);
  }
  if (Variables.empty())
    return;
  SmallVector<WeakTrackingVH, 16> Sums;
  for (AllocaInst *Variable : Variables)
    for (StoreInst *Store : counting(*Variable))
      Sums.push_back(Store->getValueOperand());
  Function &F = *Variables.front()->getFunction();
  DominatorTree Tree(F);
  PromoteMemToReg(Variables, Tree);
  foldSums(Sums, F.getDataLayout());
  for (const LoopRegisters &Closed : Loops)
    for (auto [Counter, Number] : Closed.Additions) {
      Add(Number, Counter, Number->getOperand(0));
      Number->eraseFromParent();
    }
}

} // namespace bbprof
