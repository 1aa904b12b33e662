// Plan -> IR. Each counter gets one increment: load, add, store of one word, which the back end fuses into one instruction; where it does
// not, because it does not optimise, one instruction is asked for, which no signal handler that counts there can come between.
#include "apply.h"
#include "landings.h"
#include "loop_registers.h"
#include "path_register.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace bbprof {

namespace {

StringRef ref(BbprofText Text) { return StringRef(Text.data, Text.size_bytes); }

// Sanitizers that run after us surround variables with memory that must not be touched, and register them.
void leaveUnsanitized(GlobalVariable &Variable) {
  GlobalVariable::SanitizerMetadata None;
  None.NoAddress = None.NoHWAddress = true;
  Variable.setSanitizerMetadata(None);
}

// The shim's object defines it for the whole image.
void share(GlobalVariable &Variable) {
  Variable.setLinkage(GlobalValue::WeakAnyLinkage);
  Variable.setVisibility(GlobalValue::HiddenVisibility);
  Variable.setDSOLocal(true);
}

class Applier {
public:
  Applier(Module &M, const BbprofModulePlan &Plan, FunctionAnalysisManager &FAM, bool Optimized)
      : M(M), Plan(Plan), FAM(FAM), Optimized(Optimized), Word(Type::getInt64Ty(M.getContext())) {}

  void run(FlatModule &Flat) {
    for (uint64_t Position = 0; Position < Plan.num_arrays; ++Position)
      Arrays.push_back(makeArray(Plan.arrays[Position]));
    for (size_t Position = 0; Position < Flat.numFunctions(); ++Position)
      instrument(Flat.function(Position), Plan.functions[Position]);
    makeMarker();
    makeManifest();
  }

private:
  // How often a loop turns, known before this instruction.
  struct Turns {
    Instruction *Before;
    uint32_t Counter;
    Value *Number;
  };

  GlobalVariable *makeHiddenWeak(Type *ValueType, StringRef Name, GlobalValue::ThreadLocalMode Mode, StringRef Section) {
    auto *Variable = new GlobalVariable(M, ValueType, false, GlobalValue::WeakAnyLinkage, Constant::getNullValue(ValueType), Name,
                                        nullptr, Mode);
    share(*Variable);
    leaveUnsanitized(*Variable);
    Variable->setComdat(M.getOrInsertComdat(Name));
    Variable->setAlignment(Align(8));
    if (!Section.empty())
      Variable->setSection(Section);
    return Variable;
  }

  GlobalVariable *makeArray(const BbprofArray &Array) {
    if (Array.num_counters == 0)
      return nullptr;
    // The same function may have been planned before in this module (two linkage-time copies): then it is the same array.
    if (GlobalVariable *Known = M.getNamedGlobal(ref(Array.symbol)))
      return Known;
    bool ThreadLocal = Plan.storage == BBPROF_STORAGE_TLS;
    // A section name of its own: `mold -r` puts sections of one name together even when they are in different groups.
    std::string Section = ((ThreadLocal ? ".tbss.bbprof." : ".bss.bbprof.") + ref(Array.symbol).rsplit('.').second).str();
    GlobalVariable *Made = makeHiddenWeak(ArrayType::get(Word, Array.num_counters), ref(Array.symbol),
                                          ThreadLocal ? GlobalValue::LocalExecTLSModel : GlobalValue::NotThreadLocal, Section);
    // Unoptimised code may still come into LTO, which must not take it apart.
    if (!Optimized)
      appendToCompilerUsed(M, {Made});
    return Made;
  }

  // Finds the thread's own copy of the counters, once per call, in front of everything but the static allocas.
  // Afterwards block 0 of the view is the rest of the entry.
  Value *loadDelta(FlatFunction &Flat) {
    GlobalVariable *Delta = M.getNamedGlobal("__bbprof_delta.tls");
    if (!Delta)
      Delta = makeHiddenWeak(Word, "__bbprof_delta.tls", GlobalValue::InitialExecTLSModel, "");
    FunctionCallee ThreadBlock = M.getOrInsertFunction("__bbprof_thread_block", FunctionType::get(Word, false));
    auto *Callee = cast<Function>(ThreadBlock.getCallee());
    Callee->setLinkage(GlobalValue::ExternalWeakLinkage);
    Callee->setVisibility(GlobalValue::HiddenVisibility);
    Callee->setDSOLocal(true);
    Callee->setCallingConv(CallingConv::PreserveAll);
    Callee->setDoesNotThrow();

    BasicBlock *Entry = Flat.Blocks[0];
    auto Where = Entry->getFirstNonPHIOrDbgOrAlloca();
    BasicBlock *Rest = Entry->splitBasicBlock(Where, "bbprof.rest");
    Entry->getTerminator()->eraseFromParent();
    BasicBlock *Slow = BasicBlock::Create(M.getContext(), "bbprof.thread", Entry->getParent(), Rest);

    IRBuilder<> Builder(Entry);
    LoadInst *Known = Builder.CreateAlignedLoad(Word, Delta, Align(8), "bbprof.delta");
    unsanitized(Known);
    Value *Missing = Builder.CreateICmpEQ(Known, ConstantInt::get(Word, 1));
    Builder.CreateCondBr(Missing, Slow, Rest, MDBuilder(M.getContext()).createUnlikelyBranchWeights());
    Builder.SetInsertPoint(Slow);
    CallInst *Fetched = Builder.CreateCall(ThreadBlock);
    Fetched->setCallingConv(CallingConv::PreserveAll);
    Fetched->setDoesNotThrow();
    if (DISubprogram *Subprogram = Flat.IR->getSubprogram())
      Fetched->setDebugLoc(DILocation::get(M.getContext(), 0, 0, Subprogram));
    Builder.CreateBr(Rest);
    PHINode *Result = PHINode::Create(Word, 2, "bbprof.delta", Rest->begin());
    Result->addIncoming(Known, Entry);
    Result->addIncoming(Fetched, Slow);
    Flat.Blocks[0] = Rest;
    return Result;
  }

  // The runtime's; where it is not linked, an empty one of the module.
  FunctionCallee countPathFunction() {
    StringRef Name = Plan.storage == BBPROF_STORAGE_DELTA ? "__bbprof_count_path_delta" : "__bbprof_count_path_tls";
    if (llvm::Function *Known = M.getFunction(Name))
      return Known;
    auto *Type = FunctionType::get(Type::getVoidTy(M.getContext()), {PointerType::get(M.getContext(), 0), Word}, false);
    auto *Empty = llvm::Function::Create(Type, GlobalValue::WeakAnyLinkage, Name, M);
    Empty->setVisibility(GlobalValue::HiddenVisibility);
    Empty->setDSOLocal(true);
    Empty->setComdat(M.getOrInsertComdat(Name));
    Empty->setCallingConv(CallingConv::PreserveAll);
    Empty->setDoesNotThrow();
    Empty->addFnAttr(DoneAttribute);
    ReturnInst::Create(M.getContext(), BasicBlock::Create(M.getContext(), "", Empty));
    return Empty;
  }

  // The address of this thread's counter, as of this instruction: of one that is computed before a call, code generation may make use behind it, where a
  // coroutine may go on in another thread.
  Value *counterNow(IRBuilder<> &Builder, uint32_t Counter) {
    auto *Array = dyn_cast<GlobalVariable>(Base);
    if (!Array || !Array->isThreadLocal() || Triple(M.getTargetTriple()).getArch() != Triple::x86_64)
      return Builder.CreateInBoundsGEP(Word, Base, ConstantInt::get(Word, Counter));
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
    FunctionCallee CountPath = Function.hashes_paths ? countPathFunction() : FunctionCallee();
    DenseMap<BasicBlock *, Instruction *> Starts;
    auto Start = [&](BasicBlock *Block, bool IsEntry) {
      auto [Known, New] = Starts.try_emplace(Block);
      if (New)
        Known->second = IsEntry ? before(Flat, {BBPROF_PLACE_BEFORE, 0, 0}) : &*Block->getFirstInsertionPt();
      return Known->second;
    };
    auto Do = [&](Instruction *Before, const BbprofPathStep &Step, Value *Came) {
      Value *Number = Register.step(Before, Step, CountPath ? 0 : Function.first_counter, Came);
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
        Do(inFrontOfTailCall(terminator(Flat, Place.block)), Step, nullptr);
        break;
      case BBPROF_PLACE_LANDING: {
        PHINode *Came = came(Flat, Place);
        Do(Start(target(Flat, Place), false), Step, Came);
        break;
      }
      default: {
        BasicBlock *&Middle = Splits[{Place.block, Place.position}];
        if (!Middle)
          Middle = split(Flat, Place);
        Do(Middle->getTerminator(), Step, nullptr);
      }
      }
    }
    // Behind what the calling blocks do themselves, and in the order of the returning block.
    for (const SharedReturn &Shared : Returns)
      for (auto Kind : {BBPROF_PLACE_BEFORE, BBPROF_PLACE_END})
        for (const BbprofPathStep &Step : ArrayRef(Function.path_steps, Function.num_path_steps))
          if (Step.place.kind == Kind && Flat.Blocks[Step.place.block] == Shared.Returning)
            Do(Shared.Call, Step, nullptr);
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
    weighBranches(Flat, ArrayRef(Function.branch_weights, Function.num_branch_weights));
    Base = Arrays[Function.array];
    Fuses = Optimized && !Flat.IR->hasOptNone();
    if (Plan.storage == BBPROF_STORAGE_DELTA) {
      // The entry's first node begins behind the allocas either way.
      Value *Delta = loadDelta(Flat);
      IRBuilder<> Builder(cast<PHINode>(Delta)->getParent(), cast<PHINode>(Delta)->getParent()->getFirstInsertionPt());
      Base = Builder.CreatePtrAdd(Base, Delta, "bbprof.counters");
      EntryStart = cast<Instruction>(Base)->getNextNode();
    } else {
      EntryStart = nullptr;
    }
    Returns = Flat.SharedReturns;
    QuietLoops.clear();
    for (const BbprofQuietLoop &Quiet : ArrayRef(Flat.QuietLoopViews)) {
      LoopRegisters &Made = QuietLoops.emplace_back(Word, Flat.Blocks[Quiet.header]);
      for (uint32_t Block : ArrayRef(Flat.LoopBlocks).slice(Quiet.blocks_begin, Quiet.blocks_end - Quiet.blocks_begin))
        Made.add(Flat.Blocks[Block]);
    }
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
    for (LoopRegisters &Quiet : QuietLoops)
      Quiet.close([&](Instruction *Before, uint32_t Counter, Value *Number) { increment(Before, Counter, Number); });
    LoopRegisters::promote(QuietLoops);
    returnBehind(Returns);
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
    QuietLoops[Site.register_loop - 1].count(Before, Site.counter);
  }

  BasicBlock *splitInLoop(FlatFunction &Flat, const BbprofPlace &Place) {
    const Instruction *Terminator = terminator(Flat, Place.block);
    const BasicBlock *From = Terminator->getParent(), *To = Terminator->getSuccessor(Place.position);
    BasicBlock *Middle = split(Flat, Place);
    for (LoopRegisters &Quiet : QuietLoops)
      if (Quiet.contains(From) && Quiet.contains(To))
        Quiet.add(Middle);
    return Middle;
  }

  Instruction *before(FlatFunction &Flat, const BbprofPlace &Place) {
    BasicBlock *Block = Flat.Blocks[Place.block];
    if (Place.position != 0)
      return Flat.Instructions[Flat.BlockViews[Place.block].instructions_begin + Place.position];
    if (Place.block == 0)
      return EntryStart ? EntryStart : &*Block->getFirstNonPHIOrDbgOrAlloca();
    return &*Block->getFirstInsertionPt();
  }

  // The edge's own block. The slots of the terminator that share the target are one edge.
  BasicBlock *split(FlatFunction &Flat, const BbprofPlace &Place) {
    Instruction *Terminator = terminator(Flat, Place.block);
    BasicBlock *From = Terminator->getParent();
    BasicBlock *To = Terminator->getSuccessor(Place.position);
    if (To->isLandingPad()) {
      SmallVector<BasicBlock *, 2> Made;
      SplitLandingPadPredecessors(To, {From}, ".bbprof", ".bbprof.rest", Made);
      return cast<InvokeInst>(Terminator)->getUnwindDest();
    }
    BasicBlock *Middle = BasicBlock::Create(M.getContext(), "bbprof.edge", From->getParent(), To);
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
  void makeLanding(FlatFunction &Flat, const BbprofPlace &Place) {
    if (Place.kind != BBPROF_PLACE_LANDING)
      return;
    BasicBlock *Target = target(Flat, Place);
    auto Returns = [&](const SharedReturn &Shared) { return Shared.Returning == Target; };
    if (any_of(Flat.SharedReturns, Returns))
      return;
    if (BasicBlock *Rest = partFromLanding(*Target))
      std::replace(Flat.Blocks.begin(), Flat.Blocks.end(), Target, Rest);
  }

  // In front of whatever keeps blocks of the view.
  void makeLandings(FlatFunction &Flat, const BbprofFunctionPlan &Function) {
    for (const BbprofSite &Site : ArrayRef(Function.sites, Function.num_sites))
      makeLanding(Flat, Site.place);
    for (const BbprofPathStep &Step : ArrayRef(Function.path_steps, Function.num_path_steps))
      makeLanding(Flat, Step.place);
  }

  // phi [1 from the edge's source, 0 from all others], where the landing has others. Null: whoever comes there comes by this edge.
  PHINode *came(FlatFunction &Flat, const BbprofPlace &Place) {
    BasicBlock *From = terminator(Flat, Place.block)->getParent(), *To = target(Flat, Place);
    if (all_of(predecessors(To), [&](const BasicBlock *Predecessor) { return Predecessor == From; }))
      return nullptr;
    PHINode *Came = PHINode::Create(Word, pred_size(To), "bbprof.came", To->begin());
    for (BasicBlock *Predecessor : predecessors(To))
      Came->addIncoming(ConstantInt::get(Word, Predecessor == From), Predecessor);
    return Came;
  }

  void incrementAtLanding(FlatFunction &Flat, const BbprofSite &Site) {
    PHINode *Came = came(Flat, Site.place);
    increment(&*target(Flat, Site.place)->getFirstInsertionPt(), Site.counter, Came);
  }

  // The terminator of a block of the view: the block itself may have been cut by loadDelta, its terminator moved along.
  Instruction *terminator(FlatFunction &Flat, uint32_t Block) { return Flat.Blocks[Block]->getTerminator(); }

  void increment(Instruction *Before, uint32_t Counter, Value *Amount) {
    BasicBlock *Block = Before->getParent();
    incrementAt(inFrontOfTailCall(Before), ConstantInt::get(Word, Counter), Amount);
    // What a phi feeds there comes by other edges.
    if (!Amount)
      for (const SharedReturn &Shared : Returns)
        if (Shared.Returning == Block)
          incrementAt(Shared.Call, ConstantInt::get(Word, Counter), nullptr);
  }

  Instruction *inFrontOfTailCall(Instruction *Before) const {
    for (const SharedReturn &Shared : Returns)
      Before = Shared.placeFor(Before);
    return Before;
  }

  void incrementAt(Instruction *Before, Value *Counter, Value *Amount) {
    IRBuilder<> Builder(Before);
    Builder.SetCurrentDebugLocation(DebugLoc());
    if (!Amount)
      Amount = ConstantInt::get(Word, 1);
    Value *Address = Builder.CreateInBoundsGEP(Word, Base, Counter);
    if (Plan.storage == BBPROF_STORAGE_ATOMIC) {
      unsanitized(Builder.CreateAtomicRMW(AtomicRMWInst::Add, Address, Amount, Align(8), AtomicOrdering::Monotonic));
      return;
    }
    if (!Fuses && Triple(M.getTargetTriple()).getArch() == Triple::x86_64) {
      addByAssembler(Builder, Address, Amount);
      return;
    }
    LoadInst *Old = Builder.CreateAlignedLoad(Word, Address, Align(8));
    StoreInst *New = Builder.CreateAlignedStore(Builder.CreateAdd(Old, Amount), Address, Align(8));
    unsanitized(Old);
    unsanitized(New);
  }

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
    std::string Operands = std::string("=*m,*m") + (One ? "" : ",re") + ",~{dirflag},~{fpsr},~{flags}";
    CallInst *Add = Builder.CreateCall(InlineAsm::get(Signature, One ? "incq $0" : "addq $2, $0", Operands, true), Arguments);
    for (unsigned Operand : {0, 1})
      Add->addParamAttr(Operand, Attribute::get(M.getContext(), Attribute::ElementType, Word));
    Add->setDoesNotThrow();
  }

  // Sanitizers that run after us leave the counters alone.
  void unsanitized(Instruction *I) { I->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(M.getContext(), {})); }

  // A zero-sized symbol by which the linker shim's object learns whether this module was linked.
  void makeMarker() {
    auto *Empty = ArrayType::get(Type::getInt8Ty(M.getContext()), 0);
    auto *Marker = new GlobalVariable(M, Empty, true, GlobalValue::WeakAnyLinkage, Constant::getNullValue(Empty), ref(Plan.marker_symbol));
    share(*Marker);
    leaveUnsanitized(*Marker);
    Marker->setSection(".bbprof.marker");
    appendToCompilerUsed(M, {Marker});
  }

  void makeManifest() {
    Constant *Bytes = ConstantDataArray::getString(M.getContext(), ref(Plan.manifest), false);
    auto *Manifest = new GlobalVariable(M, Bytes->getType(), true, GlobalValue::PrivateLinkage, Bytes, "__bbprof_manifest");
    leaveUnsanitized(*Manifest);
    Manifest->setSection(".bbprof.manifest");
    Manifest->setAlignment(Align(8));
    Manifest->setMetadata(LLVMContext::MD_exclude, MDNode::get(M.getContext(), {}));
    appendToCompilerUsed(M, {Manifest});
  }

  Module &M;
  const BbprofModulePlan &Plan;
  FunctionAnalysisManager &FAM;
  bool Optimized;
  IntegerType *Word;
  SmallVector<GlobalVariable *, 16> Arrays;
  Value *Base = nullptr;
  // The back end makes one instruction of an increment in this function.
  bool Fuses = true;
  Instruction *EntryStart = nullptr;
  SmallVector<LoopRegisters, 4> QuietLoops;
  ArrayRef<SharedReturn> Returns;
};

} // namespace

void shareAgain(Module &M) {
  for (GlobalVariable &Variable : M.globals()) {
    bool IsArray = Variable.getName().starts_with("__bbprof_c.");
    if (!Variable.hasLocalLinkage() || (!IsArray && !Variable.getName().starts_with("__bbprof_m_")))
      continue;
    share(Variable);
    if (IsArray)
      Variable.setComdat(M.getOrInsertComdat(Variable.getName()));
  }
}

void applyPlan(Module &M, FlatModule &Flat, const BbprofModulePlan &Plan, FunctionAnalysisManager &FAM, bool Optimized) {
  Applier(M, Plan, FAM, Optimized).run(Flat);
}

} // namespace bbprof
