// See set_aside.h.
#include "set_aside.h"
#include "llvm_compat.h"
#include "target_names.h"

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace bbprof {

// The text of a mark: this, and its number.
static constexpr StringRef MarkBegins = "bbprof.increment ";

static GlobalVariable *arrayOf(Constant &Address) {
  auto *Array = dyn_cast<GlobalVariable>(Address.stripInBoundsConstantOffsets());
  bool IsOfThisExecutable = Array && Array->getThreadLocalMode() == GlobalVariable::LocalExecTLSModel;
  return IsOfThisExecutable ? Array : nullptr;
}

// Whether flags may live on through this piece of assembly, or from it: what it does then has to stay in front of an increment
// that stands behind it.
static bool letsFlagsThrough(const InlineAsm &Assembly) {
  StringRef Constraints = Assembly.getConstraintString();
  return Constraints.contains("{@cc") || !Constraints.contains("~{flags}");
}

static InlineAsm *makeMark(size_t Number, ArrayRef<Type *> Operands, LLVMContext &Context) {
  auto *Signature = FunctionType::get(Type::getVoidTy(Context), Operands, false);
  // What an operand's register has is made in front of the mark, maybe behind what sets flags.
  return InlineAsm::get(Signature, (MarkBegins + Twine(Number)).str(), Operands.empty() ? "" : "r,~{flags}", true);
}

void SetAside::putMark(AtomicRMWInst &Addition, const GlobalVariable &Array) {
  Increment &New = Increments.emplace_back();
  New.Array = &Array;
  GetPointerBaseWithConstantOffset(Addition.getPointerOperand(), New.Offset, Addition.getDataLayout());
  Value *Amount = Addition.getValOperand();
  if (const auto *Constant = dyn_cast<ConstantInt>(Amount); Constant && isInt<32>(Constant->getSExtValue()))
    New.Amount = Constant->getSExtValue();

  size_t Number = Increments.size() - 1;
  LLVMContext &Context = Addition.getContext();
  if (Number == Marks.size())
    Marks.push_back(makeMark(Number, {}, Context));
  auto *Mark = New.Amount ? CallInst::Create(Marks[Number], {}, "", Addition.getIterator())
                          : CallInst::Create(makeMark(Number, Amount->getType(), Context), Amount, "", Addition.getIterator());
  Mark->setDebugLoc(Addition.getDebugLoc());
  Addition.eraseFromParent();
}

bool SetAside::put(Function &F, SyncScope::ID Scope) {
  Current = &F;
  Increments.clear();
  if (F.hasFnAttribute("indirect-tls-seg-refs"))
    return false;
  SmallVector<std::pair<AtomicRMWInst *, GlobalVariable *>, 32> Found;
  for (Instruction &I : instructions(F))
    if (auto *Addition = dyn_cast<AtomicRMWInst>(&I); Addition && Addition->getSyncScopeID() == Scope) {
      auto *Address = dyn_cast<Constant>(Addition->getPointerOperand());
      if (GlobalVariable *Array = Address ? arrayOf(*Address) : nullptr; Array && Addition->use_empty())
        Found.push_back({Addition, Array});
    } else if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->isInlineAsm()) {
      if (letsFlagsThrough(*cast<InlineAsm>(Call->getCalledOperand())))
        return false;
    }
  for (auto [Addition, Array] : Found)
    putMark(*Addition, *Array);
  return !Found.empty();
}

static StringRef textOf(const MachineInstr &I) { return I.getOperand(InlineAsm::MIOp_AsmString).getSymbolName(); }

static bool isMark(const MachineInstr &I) { return I.isInlineAsm() && textOf(I).starts_with(MarkBegins); }

bool SetAside::isIncSlow(const MachineFunction &MF) {
  const TargetSubtargetInfo &Target = MF.getSubtarget();
  if (&Target != LastTarget) {
    LastTarget = &Target;
    IsLastSlow = Target.checkFeatures("+slow-incdec");
  }
  return IsLastSlow && !MF.getFunction().hasOptSize();
}

void SetAside::put(const MachineInstr &Mark, MachineInstr &Before, const TargetSubtargetInfo &Target) {
  MachineBasicBlock &Block = *Before.getParent();
  MachineFunction &MF = *Block.getParent();
  size_t Number = 0;
  if (textOf(Mark).drop_front(MarkBegins.size()).getAsInteger(10, Number) || Number >= Increments.size() || &MF.getFunction() != Current)
    report_fatal_error("bbprof: code generation has \"" + textOf(Mark) + "\" in " + MF.getName() + ", of another function; please report this");
  const Increment &Meant = Increments[Number];
  unsigned Opcode = !Meant.Amount ? Known->AddRegister : *Meant.Amount == 1 && !isIncSlow(MF) ? Known->Inc : Known->AddConstant;
  auto Made = BuildMI(Block, Before, Mark.getDebugLoc(), Target.getInstrInfo()->get(Opcode))
                  .addReg(0)
                  .addImm(1)
                  .addReg(0)
                  .addGlobalAddress(Meant.Array, Meant.Offset, Known->ThreadOffset)
                  .addReg(Known->ThreadSegment);
  if (Opcode == Known->AddConstant)
    Made.addImm(*Meant.Amount);
  else if (Opcode == Known->AddRegister)
    Made.add(Mark.getOperand(InlineAsm::MIOp_FirstOperand + 1));
  MachinePointerInfo Place(Meant.Array, Meant.Offset);
  Made.addMemOperand(MF.getMachineMemOperand(Place, MachineMemOperand::MOLoad | MachineMemOperand::MOStore, 8, Align(8)));
  Made->addRegisterDead(Known->Flags, Target.getRegisterInfo());
}

// What an instruction does with the flags, of which there is one register and no part of one.
struct FlagUse {
  bool Asks = false, Sets = false;
};

static FlagUse useOfFlags(const MachineInstr &I, unsigned Flags) {
  FlagUse Use;
  for (const MachineOperand &Operand : I.operands())
    if (Operand.isRegMask()) {
      Use.Sets |= Operand.clobbersPhysReg(Flags);
    } else if (Operand.isReg() && Operand.getReg() == Flags) {
      Use.Sets |= Operand.isDef();
      Use.Asks |= Operand.readsReg();
    }
  return Use;
}

// The block at whose end control is whenever it comes into this one: where code generation has parted one to choose values, the
// flags live on in the last part.
static MachineBasicBlock *partedFrom(const MachineBasicBlock &Block) {
  auto IsBetween = [&](const MachineBasicBlock *Other) { return Other == &Block || Block.isPredecessor(Other); };
  for (MachineBasicBlock *Candidate : Block.predecessors()) {
    auto LeadsOnlyHere = [&](const MachineBasicBlock *From) {
      bool ComesFromThere = From == Candidate || (From->pred_size() == 1 && IsBetween(*From->pred_begin()));
      return ComesFromThere && all_of(From->successors(), IsBetween);
    };
    if (all_of(Block.predecessors(), LeadsOnlyHere))
      return Candidate;
  }
  return nullptr;
}

bool SetAside::takeBack(MachineFunction &MF) {
  const TargetSubtargetInfo &Target = MF.getSubtarget();
  const TargetRegisterInfo &Registers = *Target.getRegisterInfo();
  SmallVector<MachineInstr *, 32> Done;
  bool HasOtherAssembly = false;
  // Marks between what sets flags and what asks for them, from below; where the former is in another block, for that.
  DenseMap<const MachineBasicBlock *, SmallVector<MachineInstr *, 4>> Waiting;
  for (MachineBasicBlock &Block : reverse(MF)) {
    SmallVector<MachineInstr *, 4> Here;
    if (auto FromBelow = Waiting.find(&Block); FromBelow != Waiting.end()) {
      Here = std::move(FromBelow->second);
      Waiting.erase(FromBelow);
    }
    // Of most blocks without marks nothing more is to be known.
    if (Here.empty() && none_of(Block, [&](const MachineInstr &I) {
          HasOtherAssembly |= I.isInlineAsm() && !isMark(I);
          return isMark(I);
        }))
      continue;
    if (!Known) {
      const TargetInstrInfo &Instructions = *Target.getInstrInfo();
      Known = {neededOpcode("INC64m", Instructions),       neededOpcode("ADD64mi32", Instructions), neededOpcode("ADD64mr", Instructions),
               neededRegister("EFLAGS", Registers),        neededRegister("FS", Registers),
               neededOperandFlag("x86-tpoff", Instructions)};
    }
    bool AreFlagsNeeded = any_of(Block.successors(), [&](const MachineBasicBlock *To) { return To->isLiveIn(Known->Flags); });
    for (MachineInstr &I : reverse(Block)) {
      if (isMark(I)) {
        Done.push_back(&I);
        if (AreFlagsNeeded)
          Here.push_back(&I);
        else
          put(I, I, Target);
        continue;
      }
      HasOtherAssembly |= I.isInlineAsm();
      auto [Asks, Sets] = useOfFlags(I, Known->Flags);
      if (Sets && !Asks) {
        // In the order in which they stood.
        for (const MachineInstr *Mark : reverse(Here))
          put(*Mark, I, Target);
        Here.clear();
      }
      AreFlagsNeeded = Asks || (AreFlagsNeeded && !Sets);
    }
    if (!Here.empty())
      append_range(Waiting[partedFrom(Block)], Here);
  }
  if (!Waiting.empty())
    report_fatal_error("bbprof: nothing sets the flags behind a counter's increment in " + MF.getName() + "; please report this");
  for (MachineInstr *Mark : Done)
    Mark->eraseFromParent();
  // Instruction selection has taken the marks for what users write.
  if (!Done.empty())
    MF.setHasInlineAsm(HasOtherAssembly);
  return !Done.empty();
}

} // namespace bbprof

#endif
