// See target_names.h.
#include "target_names.h"
#include "llvm_compat.h"

#if LLVM_VERSION_MAJOR >= 22
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace bbprof {

[[noreturn]] static void missing(StringRef What, StringRef Name) {
  report_fatal_error("bbprof: LLVM has no " + What + " " + Name + "; run 'bbprof doctor'");
}

std::optional<unsigned> opcodeOf(StringRef Name, const TargetInstrInfo &Instructions) {
  for (unsigned Opcode = 0; Opcode < Instructions.getNumOpcodes(); ++Opcode)
    if (Instructions.getName(Opcode) == Name)
      return Opcode;
  return std::nullopt;
}

unsigned neededOpcode(StringRef Name, const TargetInstrInfo &Instructions) {
  if (std::optional<unsigned> Opcode = opcodeOf(Name, Instructions))
    return *Opcode;
  missing("instruction", Name);
}

unsigned neededRegister(StringRef Name, const TargetRegisterInfo &Registers) {
  for (unsigned Number = 1; Number < Registers.getNumRegs(); ++Number)
    if (StringRef(Registers.getName(Number)) == Name)
      return Number;
  missing("register", Name);
}

unsigned neededPart(StringRef Name, const TargetRegisterInfo &Registers) {
  for (unsigned Index = 1; Index < Registers.getNumSubRegIndices(); ++Index)
    if (StringRef(Registers.getSubRegIndexName(Index)) == Name)
      return Index;
  missing("part of registers", Name);
}

unsigned neededOperandFlag(StringRef Name, const TargetInstrInfo &Instructions) {
  for (auto [Flag, Known] : Instructions.getSerializableDirectMachineOperandTargetFlags())
    if (StringRef(Known) == Name)
      return Flag;
  missing("flag of operands", Name);
}

} // namespace bbprof

#endif
