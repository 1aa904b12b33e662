// Plan -> IR. Each counter gets one increment of one instruction, which no signal handler that counts there can
// come between (see unlock.h). Before LLVM 22 it is load, add and store of a word, which the back end fuses where
// it optimises and adds a constant, and assembly elsewhere.
#include "apply.h"
#include "dispatches.h"
#include "handed_counters.h"
#include "loop_registers.h"
#include "module_data.h"
#include "own_counters.h"
#include "path_register.h"
#include "places.h"
#include "unlock.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LCSSA.h"

using namespace llvm;

namespace bbprof {

namespace {

class Applier {
public:
  Applier(Module &M, const BbprofModulePlan &Plan, FunctionAnalysisManager &FAM, bool Optimized)
      : M(M), Target(M.getTargetTriple()), Plan(Plan), FAM(FAM), Optimized(Optimized), Word(Type::getInt64Ty(M.getContext())), Data(M, Plan, Optimized) {}

  void run(FlatModule &Flat) {
    for (size_t Position = 0; Position < Flat.numFunctions(); ++Position)
      instrument(Flat.function(Position), Plan.functions[Position]);
    handOn();
    Data.close();
  }

private:
  // How often a loop turns, known before this instruction.
  struct Turns {
    Instruction *Before;
    uint32_t Counter;
    Value *Number;
  };

  // The address of this thread's counter, as of this instruction: of one that is computed before a call, code generation may make
  // use behind it, where a coroutine may go on in another thread.
  Value *counterNow(IRBuilder<> &Builder, uint32_t Counter) {
    auto *Array = dyn_cast<GlobalVariable>(Base);
    if (!Array || !Array->isThreadLocal() || Target.getArch() != Triple::x86_64)
      return Builder.CreateInBoundsGEP(Word, Base, fromBase(Counter));
    std::string Offset = (Array->getName() + "@tpoff+" + Twine(8 * static_cast<uint64_t>(Counter))).str();
    auto *Signature = FunctionType::get(PointerType::get(M.getContext(), 0), false);
    return Builder.CreateCall(InlineAsm::get(Signature, "movq %fs:0, $0\n\tleaq " + Offset + "($0), $0", "=r", true));
  }

  // Control may also have come by other edges, where Came is 0: then there is no counter to count for.
  void countHashed(Instruction *Before, FunctionCallee CountPath, uint32_t Counter, Value *Number, Value *Came) {
    IRBuilder<> Builder(Before);
    Value *Address = counterNow(Builder, Counter);
    if (Came)
      Address = Builder.CreateSelect(Builder.CreateICmpNE(Came, ConstantInt::get(Word, 0)), Address,
                                     ConstantPointerNull::get(cast<PointerType>(Address->getType())));
    CallInst *Call = Builder.CreateCall(CountPath, {Address, Number});
    Call->setCallingConv(CallingConv::PreserveAll);
    Call->setDoesNotThrow();
    if (DISubprogram *Subprogram = Before->getFunction()->getSubprogram())
      Call->setDebugLoc(DILocation::get(M.getContext(), 0, 0, Subprogram));
  }

  // Steps at one place come in the order in which they stand there, so each stands right before what follows the place, which must
  // not change when the first of them is there.
  void countPaths(FlatFunction &Flat, const BbprofFunctionPlan &Function) {
    if (Function.num_path_steps == 0)
      return;
    PathRegister Register(*Flat.IR, Word);
    FunctionCallee CountPath = Function.hashes_paths ? Data.countPath() : FunctionCallee();
    DenseMap<BasicBlock *, Instruction *> Starts;
    auto Start = [&](BasicBlock *Block, bool IsEntry) {
      auto [Known, New] = Starts.try_emplace(Block);
      if (New)
        Known->second = IsEntry ? before(Flat, {BBPROF_PLACE_BEFORE, 0, 0}) : &*Block->getFirstInsertionPt();
      return Known->second;
    };
    auto Do = [&](Instruction *Before, const BbprofPathStep &Step, Value *Came) {
      Value *Number = Register.step(Before, Step, CountPath ? 0 : Function.first_counter - uint64_t(BaseCounter), Came);
      if (Number && CountPath)
        countHashed(Before, CountPath, Function.first_counter, Number, Came);
      else if (Number)
        incrementAt(Before, Number, Came);
    };
    DenseMap<std::pair<uint32_t, uint32_t>, BasicBlock *> Splits;
    for (uint64_t Position = 0; Position < Function.num_path_steps; ++Position) {
      const BbprofPathStep &Step = Function.path_steps[Position];
      const BbprofPlace &Place = Step.place;
      switch (Place.kind) {
      case BBPROF_PLACE_BEFORE:
        Do(Place.position == 0 ? Start(Flat.Blocks[Place.block], Place.block == 0) : before(Flat, Place), Step, nullptr);
        break;
      case BBPROF_PLACE_END:
        Do(Returns->placeFor(terminator(Flat, Place.block)), Step, nullptr);
        break;
      case BBPROF_PLACE_LANDING: {
        PHINode *Came = came(Flat, Place, Word);
        Do(Start(target(Flat, Place), false), Step, Came);
        break;
      }
      default: {
        BasicBlock *&Middle = Splits[{Place.block, Place.position}];
        if (!Middle)
          Middle = splitInLoop(Flat, Place);
        Do(Middle->getTerminator(), Step, nullptr);
      }
      }
    }
    // Behind what the calling blocks do themselves, and in the order of the returning block.
    for (auto Kind : {BBPROF_PLACE_BEFORE, BBPROF_PLACE_END})
      for (const BbprofPathStep &Step : ArrayRef(Function.path_steps, Function.num_path_steps))
        if (Step.place.kind == Kind)
          Returns->forEachOf(Flat.Blocks[Step.place.block], [&](CallInst *Call) { Do(Call, Step, nullptr); });
    Register.promote();
  }

  void instrument(FlatFunction &Flat, const BbprofFunctionPlan &Function) {
    Flat.IR->addFnAttr(DoneAttribute);
    if (Function.num_sites == 0 && Function.num_path_steps == 0)
      return;
    // In front of everything else: later the analyses no longer know the function.
    SmallVector<Turns, 4> CountedTurns;
    for (uint64_t Position = 0; Position < Function.num_sites; ++Position)
      if (const BbprofSite &Site = Function.sites[Position]; Site.place.kind == BBPROF_PLACE_LOOP) {
        auto [Number, Before] = makeTurns(Flat.CountedLoops[Site.place.position], Word, FAM);
        CountedTurns.push_back({Before, Site.counter, Number});
      }
    makeLandings(Flat, Function);
    splitUnwindEdges(Flat, Function);
    bool HasRegisters = any_of(ArrayRef(Function.sites, Function.num_sites), [](const BbprofSite &Site) { return Site.register_loop != 0; });
    if (Plan.storage == BBPROF_STORAGE_DELTA || Function.num_path_steps != 0 || HasRegisters)
      keepAcrossSetjmp(*Flat.IR);
    weighBranches(Flat, ArrayRef(Function.branch_weights, Function.num_branch_weights));
    Base = Data.array(Function.array);
    Fuses = Optimized && !Flat.IR->hasOptNone();
    BaseCounter = 0;
    EntryStart = nullptr;
    if (Plan.storage == BBPROF_STORAGE_DELTA) {
      // One byte says how far a counter is from the base, up to sixteen in front of it and fifteen behind. What is handed on is
      // where the module's are.
      Argument *Handed = handedTo(*Flat.IR);
      bool IsHandedOn = Function.array == 0 && (Handed || handsOn(*Flat.IR));
      BaseCounter = IsHandedOn ? 0 : Function.first_counter + (Function.num_sites > 16 ? 16 : 0);
      if (IsHandedOn && Handed) {
        Base = Handed;
      } else {
        // The entry's first node begins behind the allocas either way. Block 0 of the view is the rest of the entry from now on.
        OwnCounters Own = findOwnCounters(*Flat.Blocks[0], *Data.array(Function.array), BaseCounter, Data, Fuses);
        Base = Own.Base;
        EntryStart = Own.Behind;
        Flat.Blocks[0] = EntryStart->getParent();
      }
      if (IsHandedOn)
        ModuleBases[Flat.IR] = Base;
    }
    HoldsAddresses = Function.holds_addresses != 0;
    Returns = &Flat.Returns;
    TightLoops.clear();
    for (const BbprofTightLoop &Tight : ArrayRef(Flat.TightLoopViews)) {
      LoopRegisters &Made = TightLoops.emplace_back(Word, Flat.Blocks[Tight.header]);
      for (uint32_t Block : ArrayRef(Flat.LoopBlocks).slice(Tight.blocks_begin, Tight.blocks_end - Tight.blocks_begin))
        Made.add(Flat.Blocks[Block]);
    }
    // In front of a loop in a loop there may be a block now.
    for (const Turns &Counted : CountedTurns)
      joinLoops(Counted.Before->getParent());
    if (Fuses && Plan.closes_loops)
      closeLoops(*Flat.IR);
    if (Fuses && Plan.repeats_dispatches)
      markDispatches(*Flat.IR);
    countPaths(Flat, Function);
    // Positions first: splitting an edge changes blocks, never the instructions that positions refer to.
    for (uint64_t Position = 0; Position < Function.num_sites; ++Position) {
      const BbprofSite &Site = Function.sites[Position];
      if (Site.place.kind == BBPROF_PLACE_BEFORE)
        incrementSite(before(Flat, Site.place), Site);
      else if (Site.place.kind == BBPROF_PLACE_END)
        incrementSite(terminator(Flat, Site.place.block), Site);
      else if (Site.place.kind == BBPROF_PLACE_LANDING)
        incrementAtLanding(Flat, Site);
    }
    for (const Turns &Counted : CountedTurns)
      increment(Counted.Before, Counted.Counter, Counted.Number);
    for (uint64_t Position = 0; Position < Function.num_sites; ++Position)
      if (const BbprofSite &Site = Function.sites[Position]; Site.place.kind == BBPROF_PLACE_SPLIT)
        incrementSite(splitInLoop(Flat, Site.place)->getTerminator(), Site);
    for (LoopRegisters &Tight : TightLoops)
      Tight.close();
    LoopRegisters::unroll(TightLoops, FAM);
    LoopRegisters::promote(TightLoops, [&](Instruction *Before, uint32_t Counter, Value *Number) { increment(Before, Counter, Number); });
    Returns->returnBehind();
  }

  // What we keep in a variable lives on across __builtin_setjmp, also where control has passed its last use before it comes back.
  // Of setjmp code generation knows that by this attribute, and gives no place in the frame to two variables.
  void keepAcrossSetjmp(llvm::Function &F) {
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->getIntrinsicID() == Intrinsic::eh_sjlj_setjmp)
        Call->addFnAttr(Attribute::ReturnsTwice);
  }

  // Where the thread has the module's counters, to those functions that are handed it.
  void handOn() {
    if (Plan.storage != BBPROF_STORAGE_DELTA || Plan.num_arrays == 0 || !Data.array(0))
      return;
    for (llvm::Function &F : M)
      if (const Argument *Handed = handedTo(F))
        for (User *Used : F.users())
          cast<CallBase>(Used)->setArgOperand(Handed->getArgNo(), moduleBase(*cast<CallBase>(Used)->getFunction()));
  }

  Value *moduleBase(llvm::Function &F) {
    Value *&Known = ModuleBases[&F];
    // A function without counters of its own.
    if (!Known)
      Known = handedTo(F);
    if (!Known)
      Known = findOwnCounters(F.getEntryBlock(), *Data.array(0), 0, Data, Optimized && !F.hasOptNone()).Base;
    return Known;
  }

  // A phi where a loop is left for each of its values that is used behind it (LLVM's loop-closed form, LCSSA): code
  // generation then need not keep such a value in one register, inside the loop and behind it. For functions whose
  // control flow may have changed since the analyses saw it.
  void closeLoops(llvm::Function &F) {
    FAM.invalidate(F, PreservedAnalyses::none());
    LCSSAPass().run(F, FAM);
  }

  // Splitting an edge keeps its slot, and so the slot's weight.
  void weighBranches(FlatFunction &Flat, ArrayRef<uint32_t> Weights) {
    if (Weights.empty())
      return;
    for (size_t Block = 0; Block < Flat.Blocks.size(); ++Block) {
      const BbprofBlock &View = Flat.BlockViews[Block];
      ArrayRef<uint32_t> OfSlots = Weights.slice(View.successors_begin, View.successors_end - View.successors_begin);
      if (OfSlots.size() > 1 && any_of(OfSlots, [](uint32_t Weight) { return Weight != 0; }))
        setBranchWeights(*Flat.Blocks[Block]->getTerminator(), OfSlots, false);
    }
  }

  // Once, in memory or in a register of its loop.
  void incrementSite(Instruction *Before, const BbprofSite &Site) {
    if (Site.register_loop == 0)
      return increment(Before, Site.counter, nullptr);
    LoopRegisters &Loop = TightLoops[Site.register_loop - 1];
    if (Site.turns != 0)
      Loop.unroll(Site.turns);
    else if (HoldsAddresses)
      return incrementAt(Before, fromBase(Site.counter), nullptr, Loop.zero(Before));
    Loop.count(Before, Site.counter);
  }

  BasicBlock *splitInLoop(FlatFunction &Flat, const BbprofPlace &Place) {
    BasicBlock *Middle = splitEdge(Flat, Place);
    joinLoops(Middle);
    return Middle;
  }

  // What was put between blocks of a loop is one of them.
  void joinLoops(BasicBlock *Middle) {
    const BasicBlock *From = Middle->getUniquePredecessor(), *To = Middle->getSingleSuccessor();
    for (LoopRegisters &Tight : TightLoops)
      if (From && To && Tight.contains(From) && Tight.contains(To))
        Tight.add(Middle);
  }

  Instruction *before(FlatFunction &Flat, const BbprofPlace &Place) {
    BasicBlock *Block = Flat.Blocks[Place.block];
    if (Place.position != 0)
      return Flat.Instructions[Flat.BlockViews[Place.block].instructions_begin + Place.position];
    if (Place.block == 0)
      return EntryStart ? EntryStart : &*Block->getFirstNonPHIOrDbgOrAlloca();
    return behindDecided(&*Block->getFirstInsertionPt());
  }

  // Behind what begins a block by comparing again what decided that control came there, and by choosing by that: of these, code
  // generation makes one comparison with the one in front of the block, as long as no increment changes the flags in between.
  static Instruction *behindDecided(Instruction *First) {
    const BasicBlock *From = First->getParent()->getSinglePredecessor();
    const auto *Branch = From ? dyn_cast<BranchInst>(From->getTerminator()) : nullptr;
    const auto *Decided = Branch && Branch->isConditional() ? dyn_cast<CmpInst>(Branch->getCondition()) : nullptr;
    if (!Decided)
      return First;
    SmallPtrSet<const Value *, 4> Again;
    auto IsAgain = [&](const Instruction &I) {
      const auto *Compared = dyn_cast<CmpInst>(&I);
      if (!Compared)
        return (isa<SelectInst>(I) || isa<CastInst>(I)) && Again.contains(I.getOperand(0));
      const Value *Left = Compared->getOperand(0), *Right = Compared->getOperand(1);
      return (Left == Decided->getOperand(0) && Right == Decided->getOperand(1)) || (Left == Decided->getOperand(1) && Right == Decided->getOperand(0));
    };
    Instruction *Behind = First;
    for (; IsAgain(*Behind); Behind = Behind->getNextNode())
      Again.insert(Behind);
    return Behind;
  }

  void incrementAtLanding(FlatFunction &Flat, const BbprofSite &Site) {
    PHINode *Came = came(Flat, Site.place, Word);
    increment(&*target(Flat, Site.place)->getFirstInsertionPt(), Site.counter, Came);
  }

  void increment(Instruction *Before, uint32_t Counter, Value *Amount) {
    BasicBlock *Block = Before->getParent();
    incrementAt(Returns->placeFor(Before), fromBase(Counter), Amount);
    // What a phi feeds there comes by other edges.
    if (!Amount)
      Returns->forEachOf(Block, [&](CallInst *Call) { incrementAt(Call, fromBase(Counter), nullptr); });
  }

  Constant *fromBase(uint32_t Counter) { return ConstantInt::getSigned(Word, int64_t(Counter) - BaseCounter); }

  // With a zero in the address, if there is one.
  void incrementAt(Instruction *Before, Value *Counter, Value *Amount, Value *Zero = nullptr) {
    IRBuilder<> Builder(Before);
    Builder.SetCurrentDebugLocation(DebugLoc());
    if (!Amount)
      Amount = ConstantInt::get(Word, 1);
    // A loop may be known to turn once.
    if (const auto *Known = dyn_cast<ConstantInt>(Amount); Known && Known->isZero())
      return;
    Value *Address = Builder.CreateInBoundsGEP(Word, Base, Counter);
    if (Zero)
      Address = Builder.CreatePtrAdd(Address, Zero);
    bool IsAtomic = Plan.storage == BBPROF_STORAGE_ATOMIC;
    if (IsAtomic || canUnlock(Target)) {
      SyncScope::ID Scope = IsAtomic ? SyncScope::System : M.getContext().getOrInsertSyncScopeID(OneInstruction);
      leaveUnsanitized(*Builder.CreateAtomicRMW(AtomicRMWInst::Add, Address, Amount, Align(8), AtomicOrdering::Monotonic, Scope));
      return;
    }
    if ((!Fuses || !isa<ConstantInt>(Amount)) && Target.getArch() == Triple::x86_64) {
      addByAssembler(Builder, Address, Amount);
      return;
    }
    LoadInst *Old = Builder.CreateAlignedLoad(Word, Address, Align(8));
    StoreInst *New = Builder.CreateAlignedStore(Builder.CreateAdd(Old, Amount), Address, Align(8));
    leaveUnsanitized(*Old);
    leaveUnsanitized(*New);
  }

  // Before LLVM 22. Each of these takes its own parser of assembly.
  void addByAssembler(IRBuilder<> &Builder, Value *Address, Value *Amount) {
    const auto *Constant = dyn_cast<ConstantInt>(Amount);
    bool One = Constant && Constant->isOne();
    SmallVector<Value *, 3> Arguments = {Address, Address};
    if (!One)
      Arguments.push_back(Amount);
    SmallVector<Type *, 3> Types;
    for (Value *Argument : Arguments)
      Types.push_back(Argument->getType());
    auto *Signature = FunctionType::get(Type::getVoidTy(M.getContext()), Types, false);
    std::string Operands = std::string("=*m,*m") + (One ? "" : ",re") + ",~{flags}";
    CallInst *Add = Builder.CreateCall(InlineAsm::get(Signature, One ? "incq $0" : "addq $2, $0", Operands, true), Arguments);
    for (unsigned Operand : {0, 1})
      Add->addParamAttr(Operand, Attribute::get(M.getContext(), Attribute::ElementType, Word));
    Add->setDoesNotThrow();
  }

  Module &M;
  const Triple Target;
  const BbprofModulePlan &Plan;
  FunctionAnalysisManager &FAM;
  bool Optimized;
  IntegerType *Word;
  ModuleData Data;
  // The address of a counter, and which: others are so many words from there.
  Value *Base = nullptr;
  uint32_t BaseCounter = 0;
  // The back end makes one instruction of an increment in this function.
  bool Fuses = true;
  Instruction *EntryStart = nullptr;
  SmallVector<LoopRegisters, 4> TightLoops;
  // They hold what addresses are made with, not counters.
  bool HoldsAddresses = false;
  const SharedReturns *Returns = nullptr;
  // Where a thread has the module's counters, in functions that hand it on or are handed it.
  DenseMap<llvm::Function *, Value *> ModuleBases;
};

} // namespace

void applyPlan(Module &M, FlatModule &Flat, const BbprofModulePlan &Plan, FunctionAnalysisManager &FAM, bool Optimized) {
  Applier(M, Plan, FAM, Optimized).run(Flat);
}

} // namespace bbprof
