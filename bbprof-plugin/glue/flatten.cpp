// IR -> flat arrays. No policy here: what may vanish is read off the attributes, the rest is decided by the Rust core.
#include "flatten.h"
#include "guesses.h"
#include "tight_loops.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace llvm;

namespace bbprof {

static BbprofText text(StringRef S) { return {S.data(), S.size()}; }

// Linker symbol: a leading \01 only tells LLVM not to mangle further.
static StringRef symbolOf(const GlobalValue &Value) {
  StringRef Name = Value.getName();
  Name.consume_front("\1");
  return Name;
}

void noteSymbols(const Module &M, Symbols &Noted) {
  for (const Function &F : M)
    if (const DISubprogram *Subprogram = F.getSubprogram(); Subprogram && Subprogram->getLinkageName().empty())
      Noted[Subprogram] = symbolOf(F).str();
}

static BbprofLinkage linkageOf(const GlobalValue &F) {
  if (F.hasLocalLinkage())
    return BBPROF_LINKAGE_INTERNAL;
  if (F.hasAvailableExternallyLinkage())
    return BBPROF_LINKAGE_ELSEWHERE;
  if (F.hasComdat() || F.hasLinkOnceLinkage() || F.hasWeakODRLinkage())
    return BBPROF_LINKAGE_COMDAT;
  return F.hasHiddenVisibility() ? BBPROF_LINKAGE_HIDDEN : BBPROF_LINKAGE_EXTERNAL;
}

// rustc replaces a local by its constant, and keeps it for debuggers: stored where the function begins, wherever its `let` stands.
static bool isForDebuggers(const Instruction &I) {
  const auto *Store = dyn_cast<StoreInst>(&I);
  const auto *Variable = Store ? dyn_cast<AllocaInst>(Store->getPointerOperand()) : nullptr;
  const DISubprogram *Source = I.getFunction()->getSubprogram();
  return Variable && Variable->hasOneUse() && isa<Constant>(Store->getValueOperand()) && I.getParent()->isEntryBlock() && Source &&
         Source->getFilename().ends_with(".rs");
}

// A place in the frame, which makes no code: of what is inlined it stands in the caller's first
// block, which may be executed where the inlined code is not.
static bool isPlaceInFrame(const Instruction &I) {
  const auto *Place = dyn_cast<AllocaInst>(&I);
  return Place && Place->isStaticAlloca();
}

// Marks for the optimiser, which make no code: where a variable's life ends, which each
// way out of its scope says at the line of the scope's end.
static bool isMark(const Instruction &I) {
  const auto *Intrinsic = dyn_cast<IntrinsicInst>(&I);
  return Intrinsic && Intrinsic->isAssumeLikeIntrinsic();
}

static bool isCounted(const Instruction &I) { return !isa<DbgInfoIntrinsic>(I) && !isa<PseudoProbeInst>(I); }

static const Instruction *nextCounted(const Instruction &I) {
  const Instruction *Next = I.getNextNode();
  while (Next && !isCounted(*Next))
    Next = Next->getNextNode();
  return Next;
}

// setjmp and its like, and __builtin_setjmp, which no attribute marks.
static bool returnsTwice(const CallBase &Call) {
  return Call.hasFnAttr(Attribute::ReturnsTwice) || Call.getIntrinsicID() == Intrinsic::eh_sjlj_setjmp;
}

// Gives out memory or takes it back, and does not throw: as LLVM trusts C's malloc and free to return, so are Rust's allocator and
// C++'s operator delete, unless their body is here and tells. rustc calls an empty function beside them.
static bool isTrustedAllocator(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration() || !Call.doesNotThrow())
    return false;
  StringRef Name = Callee->getName();
  return Call.hasFnAttr(Attribute::AllocKind) || Name.starts_with("_ZdlPv") || Name.starts_with("_ZdaPv") ||
         Name.contains("__rust_no_alloc_shim_is_unstable");
}

bool mayVanish(const CallBase &Call) {
  if (const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    return Asm->hasSideEffects() && !Asm->getAsmString().empty();
  if (returnsTwice(Call))
    return true;
  return !(Call.doesNotThrow() && Call.hasFnAttr(Attribute::WillReturn)) && !isTrustedAllocator(Call);
}

// The IR text of all instructions. The module is printed once: whoever prints one instruction looks through all of its globals.
class InstructionTexts : AssemblyAnnotationWriter {
public:
  explicit InstructionTexts(const Module &M) {
    raw_string_ostream Stream(Text);
    M.print(Stream, this);
  }

  StringRef of(const Instruction &I) const {
    auto [Begin, End] = Places.lookup(&I);
    return StringRef(Text).slice(Begin, End).ltrim();
  }

private:
  void emitInstructionAnnot(const Instruction *I, formatted_raw_ostream &Stream) override { Places[I].first = Stream.tell(); }
  void printInfoComment(const Value &V, formatted_raw_ostream &Stream) override {
    if (const auto *I = dyn_cast<Instruction>(&V))
      Places[I].second = Stream.tell();
  }

  std::string Text;
  DenseMap<const Instruction *, std::pair<uint64_t, uint64_t>> Places;
};

// The module's source file. rustc may give a name of its own in its place; the compile unit has the file.
static StringRef sourceOf(const Module &M) {
  const NamedMDNode *Units = M.getNamedMetadata("llvm.dbg.cu");
  if (Units && Units->getNumOperands() == 1)
    return cast<DICompileUnit>(Units->getOperand(0))->getFilename();
  return M.getSourceFileName();
}

// The folder that the names of its units start from; none where they start from several.
static StringRef directoryOf(const Module &M) {
  StringRef Directory;
  for (const DICompileUnit *Unit : M.debug_compile_units()) {
    if (!Directory.empty() && Unit->getDirectory() != Directory)
      return {};
    Directory = Unit->getDirectory();
  }
  return Directory;
}

// rustc calls compile units SOURCE/@/NAME.
static std::string crateOf(const DICompileUnit &Unit) { return (Unit.getDirectory() + "\n" + Unit.getFilename().split("/@/").first).str(); }

void noteCrates(const Module &M, Crates &Tagged) {
  for (const Function &F : M)
    if (const DISubprogram *Subprogram = F.getSubprogram(); Subprogram && Subprogram->getUnit() && F.hasFnAttribute(TagAttribute))
      Tagged.insert(crateOf(*Subprogram->getUnit()));
}

// Whether code of these crates is inlined there.
static bool hasInlined(const Function &F, const Crates &Tagged, DenseMap<const DICompileUnit *, bool> &IsTagged) {
  auto IsOfThese = [&](const DICompileUnit *Unit) {
    auto [Known, New] = IsTagged.try_emplace(Unit, false);
    if (New && Unit)
      Known->second = Tagged.count(crateOf(*Unit)) != 0;
    return Known->second;
  };
  for (const Instruction &I : instructions(F))
    for (const DILocation *L = I.getDebugLoc().get(); L; L = L->getInlinedAt())
      if (const DISubprogram *Source = L->getScope()->getSubprogram(); Source && Source != F.getSubprogram() && IsOfThese(Source->getUnit()))
        return true;
  return false;
}

bool isForLibraries(const Module &M) { return M.getPICLevel() != PICLevel::NotPIC && M.getPIELevel() == PIELevel::Default; }

FlatModule::FlatModule(Module &M, FunctionAnalysisManager &FAM, const Symbols &Noted, const Crates &Tagged, bool KeepText,
                       bool OnlyTagged, bool Optimized)
    : Skips(M), Noted(Noted), Optimized(Optimized) {
  DenseMap<const DICompileUnit *, bool> IsTagged;
  for (Function &F : M) {
    if (F.isDeclaration() || F.hasFnAttribute(DoneAttribute))
      continue;
    if (OnlyTagged && !F.hasFnAttribute(TagAttribute)) {
      if (!F.hasAvailableExternallyLinkage() && hasInlined(F, Tagged, IsTagged))
        Functions.emplace_back().IR = &F;
      continue;
    }
    FunctionPositions[&F] = static_cast<uint32_t>(Functions.size());
    Functions.emplace_back().IR = &F;
  }
  for (unsigned Opcode = 0; Opcode <= Instruction::OtherOpsEnd; ++Opcode)
    OpcodeNames.push_back(string(Instruction::getOpcodeName(Opcode)));
  std::optional<InstructionTexts> Texts;
  if (KeepText)
    Texts.emplace(M);
  for (FlatFunction &Flat : Functions)
    flatten(Flat, FunctionViews.emplace_back(BbprofFunction{}), FAM, Texts ? &*Texts : nullptr);
  for (const GlobalAlias &Alias : M.aliases())
    if (const auto *Meant = dyn_cast_or_null<Function>(Alias.getAliaseeObject()); Meant && FunctionPositions.contains(Meant))
      Aliases.push_back({string(bbprof::symbolOf(Alias)), string(bbprof::symbolOf(*Meant)), linkageOf(Alias)});
  View.source = text(sourceOf(M));
  View.directory = text(directoryOf(M));
  View.llvm_version = text(LLVM_VERSION_STRING);
  View.pic_without_pie = isForLibraries(M);
  View.strings = Strings.data();
  View.num_strings = Strings.size();
  View.locations = LocationViews.data();
  View.num_locations = LocationViews.size();
  View.checksums = Checksums.data();
  View.num_checksums = Checksums.size();
  View.opcode_names = OpcodeNames.data();
  View.num_opcodes = OpcodeNames.size();
  View.functions = FunctionViews.data();
  View.num_functions = FunctionViews.size();
  View.aliases = Aliases.data();
  View.num_aliases = Aliases.size();
}

uint32_t FlatModule::string(StringRef Text) {
  auto [Entry, New] = StringPositions.try_emplace(Text, static_cast<uint32_t>(Strings.size()));
  if (New) {
    const std::string &Kept = StringStorage.emplace_back(Text.str());
    Strings.push_back(text(Kept));
  }
  return Entry->second;
}

uint32_t FlatModule::path(const DIFile *File) {
  auto Known = Paths.find(File);
  if (Known != Paths.end())
    return Known->second;
  SmallString<256> Path(File->getFilename());
  if (!sys::path::is_absolute(Path) && !File->getDirectory().empty()) {
    Path = File->getDirectory();
    sys::path::append(Path, File->getFilename());
  }
  sys::path::remove_dots(Path);
  uint32_t Position = string(Path);
  if (auto Sum = File->getChecksum(); Sum && Sum->Kind == DIFile::CSK_MD5)
    Checksums.push_back({Position, string(Sum->Value)});
  return Paths[File] = Position;
}

uint32_t FlatModule::symbolOf(const DISubprogram &Subprogram) {
  auto Known = Noted.find(&Subprogram);
  if (Known != Noted.end())
    return string(Known->second);
  StringRef Linkage = Subprogram.getLinkageName();
  return string(Linkage.empty() ? Subprogram.getName() : Linkage);
}

uint32_t FlatModule::location(const DILocation *Location) {
  auto Known = LocationPositions.find(Location);
  if (Known != LocationPositions.end())
    return Known->second;
  // The chain of inlining from the outside in, so that inlined_at always refers backwards.
  SmallVector<const DILocation *, 8> Chain;
  for (const DILocation *L = Location; L && !LocationPositions.count(L); L = L->getInlinedAt())
    Chain.push_back(L);
  for (const DILocation *L : reverse(Chain)) {
    // Clang has several for one place where debuggers have several steps there
    // (-gkey-instructions); inlined calls are told apart, though.
    if (!L->isDistinct()) {
      auto [Same, IsNew] = PlacePositions.try_emplace({L->getScope(), L->getInlinedAt(), L->getLine(), L->getColumn()}, LocationViews.size());
      if (!IsNew) {
        LocationPositions[L] = Same->second;
        continue;
      }
    }
    BbprofLocation Out = {};
    Out.file = L->getFile() ? path(L->getFile()) : string("");
    Out.line = L->getLine();
    Out.column = L->getColumn();
    Out.discriminator = L->getDiscriminator();
    if (const DISubprogram *Subprogram = L->getScope()->getSubprogram()) {
      Out.function = symbolOf(*Subprogram);
      Out.function_file = Subprogram->getFile() ? path(Subprogram->getFile()) : Out.file;
      Out.function_line = Subprogram->getLine();
    } else {
      Out.function = string("");
      Out.function_file = Out.file;
    }
    if (const DILocation *InlinedAt = L->getInlinedAt())
      Out.inlined_at = LocationPositions.find(InlinedAt)->second + 1;
    LocationPositions[L] = static_cast<uint32_t>(LocationViews.size());
    LocationViews.push_back(Out);
  }
  return LocationPositions.find(Location)->second;
}

void FlatModule::flatten(FlatFunction &Flat, BbprofFunction &Out, FunctionAnalysisManager &FAM, const InstructionTexts *Texts) {
  Function &F = *Flat.IR;
  Out.symbol = string(bbprof::symbolOf(F));
  Out.linkage = linkageOf(F);
  Out.exact = F.hasExactDefinition();
  if (const DISubprogram *Subprogram = F.getSubprogram()) {
    if (const DICompileUnit *Unit = Subprogram->getUnit())
      Out.unit = string(Unit->getFilename()) + 1;
    if (const DIFile *File = Subprogram->getFile())
      Out.file = path(File) + 1;
    Out.line = Subprogram->getLine();
  }
  const char *Untagged = "of a crate that is not counted: nor is what link-time optimisation inlined there of one that is";
  if (const char *Reason = FunctionPositions.contains(&F) ? Skips.reason(F) : Untagged) {
    Out.skip_reason = string(Reason) + 1;
    Out.exact = 0;
    return;
  }
  if (isOptimized(F))
    Flat.Returns = SharedReturns(F);
  auto &Probabilities = FAM.getResult<BranchProbabilityAnalysis>(F);
  std::optional<BlockFrequencyInfo> Guessed;
  if (isOptimized(F) && bbprof_wants_guesses() && guessTypes(F, Probabilities))
    Guessed.emplace(F, Probabilities, FAM.getResult<LoopAnalysis>(F));
  auto &Frequencies = Guessed ? *Guessed : FAM.getResult<BlockFrequencyAnalysis>(F);
  BlockPositions.clear();
  for (BasicBlock &Block : F) {
    BlockPositions[&Block] = static_cast<uint32_t>(Flat.Blocks.size());
    Flat.Blocks.push_back(&Block);
  }
  for (BasicBlock &Block : F) {
    BbprofBlock BlockOut = {};
    BlockOut.weight = Frequencies.getBlockFreq(&Block).getFrequency();
    BlockOut.phis = static_cast<uint32_t>(range_size(Block.phis()));
    BlockOut.instructions_begin = static_cast<uint32_t>(Flat.Instructions.size());
    BlockOut.calls_begin = static_cast<uint32_t>(Flat.Calls.size());
    for (Instruction &I : Block) {
      if (!isCounted(I))
        continue;
      if (const auto *Call = dyn_cast<CallBase>(&I))
        flattenCall(Flat, *Call, static_cast<uint32_t>(Flat.Instructions.size()) - BlockOut.instructions_begin);
      Flat.Instructions.push_back(&I);
      Flat.Opcodes.push_back(static_cast<uint8_t>(I.getOpcode()));
      const DILocation *Location = isForDebuggers(I) || isPlaceInFrame(I) || isMark(I) ? nullptr : I.getDebugLoc().get();
      Flat.Locations.push_back(Location && Location->getLine() && Location->getFile() ? location(Location) + 1 : 0);
      if (Texts)
        Flat.Text.push_back(string(Texts->of(I)));
    }
    BlockOut.instructions_end = static_cast<uint32_t>(Flat.Instructions.size());
    BlockOut.calls_end = static_cast<uint32_t>(Flat.Calls.size());
    flattenTerminator(Flat, Block, BlockOut, FAM);
    Flat.BlockViews.push_back(BlockOut);
  }
  if (isOptimized(F)) {
    flattenLoops(Flat, FAM);
    flattenTightLoops(Flat, FAM);
  }
  Out.blocks = Flat.BlockViews.data();
  Out.num_blocks = Flat.BlockViews.size();
  Out.opcodes = Flat.Opcodes.data();
  Out.instruction_locations = Flat.Locations.data();
  Out.ir = Texts ? Flat.Text.data() : nullptr;
  Out.num_instructions = Flat.Instructions.size();
  Out.calls = Flat.Calls.data();
  Out.num_calls = Flat.Calls.size();
  Out.successors = Flat.Successors.data();
  Out.num_successors = Flat.Successors.size();
  Out.loops = Flat.LoopViews.data();
  Out.num_loops = Flat.LoopViews.size();
  Out.tight_loops = Flat.TightLoopViews.data();
  Out.num_tight_loops = Flat.TightLoopViews.size();
  Out.loop_blocks = Flat.LoopBlocks.data();
  Out.num_loop_blocks = Flat.LoopBlocks.size();
}

void FlatModule::flattenCall(FlatFunction &Flat, const CallBase &Call, uint32_t Position) {
  BbprofCall Out = {};
  Out.position = Position;
  if (mayVanish(Call))
    Out.flags |= BBPROF_CALL_MAY_VANISH;
  if (returnsTwice(Call))
    Out.flags |= BBPROF_CALL_RETURNS_TWICE;
  if (const auto *Plain = dyn_cast<CallInst>(&Call)) {
    if ((Call.doesNotReturn() && isa_and_nonnull<UnreachableInst>(nextCounted(Call))) || endsInTailCall(*Plain))
      Out.flags |= BBPROF_CALL_ENDS_FUNCTION;
    if (Flat.Returns.hasCall(Call))
      Out.flags |= BBPROF_CALL_RETURNS_BY_OTHER;
  }
  if (isa<IntrinsicInst>(Call)) {
    if (!Out.flags)
      return;
    Out.flags |= BBPROF_CALL_INTRINSIC;
  }
  Out.callee_kind = BBPROF_CALLEE_INDIRECT;
  if (isa<InlineAsm>(Call.getCalledOperand())) {
    Out.callee_kind = BBPROF_CALLEE_ASM;
  } else if (const auto *Callee = dyn_cast<GlobalValue>(Call.getCalledOperand()->stripPointerCasts())) {
    Out.callee_kind = BBPROF_CALLEE_SYMBOL;
    Out.callee = string(bbprof::symbolOf(*Callee));
    if (const auto *Body = dyn_cast<Function>(Callee)) {
      auto Known = FunctionPositions.find(Body);
      if (Known != FunctionPositions.end() && Body->hasExactDefinition() && !returnsTwice(Call))
        Out.callee_function = Known->second + 1;
    }
  }
  Flat.Calls.push_back(Out);
}

void FlatModule::flattenLoops(FlatFunction &Flat, FunctionAnalysisManager &FAM) {
  Flat.CountedLoops = countedLoops(*Flat.IR, FAM);
  for (const CountedLoop &Counted : Flat.CountedLoops)
    Flat.LoopViews.push_back({BlockPositions.lookup(Counted.Latch), Counted.Slot, BlockPositions.lookup(Counted.Before),
                              Counted.BeforeSlot, Counted.Instructions, 0});
}

void FlatModule::flattenTightLoops(FlatFunction &Flat, FunctionAnalysisManager &FAM) {
  for (const TightLoop &Tight : tightLoops(*Flat.IR, FAM)) {
    auto Begin = static_cast<uint32_t>(Flat.LoopBlocks.size());
    for (const BasicBlock *Block : Tight.Blocks)
      Flat.LoopBlocks.push_back(BlockPositions.lookup(Block));
    Flat.TightLoopViews.push_back({BlockPositions.lookup(Tight.Header), Tight.Instructions, Tight.Shortest, Begin,
                                   static_cast<uint32_t>(Flat.LoopBlocks.size()), Tight.TakesChunks, Tight.IsQuiet, Tight.CanUnroll});
  }
}

static uint32_t terminatorKind(const Instruction &Terminator) {
  switch (Terminator.getOpcode()) {
  case Instruction::Br:
    return cast<BranchInst>(Terminator).isConditional() ? BBPROF_TERMINATOR_BRANCH : BBPROF_TERMINATOR_JUMP;
  case Instruction::Switch:
    return BBPROF_TERMINATOR_SWITCH;
  case Instruction::Invoke:
    return BBPROF_TERMINATOR_INVOKE;
  case Instruction::IndirectBr:
    return BBPROF_TERMINATOR_INDIRECT;
  case Instruction::CallBr:
    return BBPROF_TERMINATOR_CALLBR;
  case Instruction::Resume:
    return BBPROF_TERMINATOR_RESUME;
  default:
    return BBPROF_TERMINATOR_EXIT;
  }
}

// Whether what it branches on was computed right before it, and so belongs to it in the source.
static bool isDecidedRightBefore(const Instruction &Terminator) {
  const Value *Condition = nullptr;
  if (const auto *Branch = dyn_cast<BranchInst>(&Terminator))
    Condition = Branch->isConditional() ? Branch->getCondition() : nullptr;
  else if (const auto *Switch = dyn_cast<SwitchInst>(&Terminator))
    Condition = Switch->getCondition();
  const Instruction *Before = Terminator.getPrevNode();
  while (Before && !isCounted(*Before))
    Before = Before->getPrevNode();
  return Condition && Before == Condition;
}

void FlatModule::flattenTerminator(FlatFunction &Flat, BasicBlock &Block, BbprofBlock &Out, FunctionAnalysisManager &FAM) {
  auto &Probabilities = FAM.getResult<BranchProbabilityAnalysis>(*Block.getParent());
  const Instruction &Terminator = *Block.getTerminator();
  Out.terminator = terminatorKind(Terminator);
  Out.decided_before = isDecidedRightBefore(Terminator);
  Out.successors_begin = static_cast<uint32_t>(Flat.Successors.size());
  for (unsigned Slot = 0; Slot < Terminator.getNumSuccessors(); ++Slot) {
    BbprofSuccessor Successor = {};
    Successor.block = BlockPositions.lookup(Terminator.getSuccessor(Slot));
    Successor.weight = Probabilities.getEdgeProbability(&Block, Slot).scale(Out.weight);
    Flat.Successors.push_back(Successor);
  }
  Out.successors_end = static_cast<uint32_t>(Flat.Successors.size());
}

} // namespace bbprof
