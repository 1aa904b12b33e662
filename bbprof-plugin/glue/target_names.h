// What LLVM calls the instructions, registers and flags of its target: their numbers stand in no public header.
#ifndef BBPROF_TARGET_NAMES_H
#define BBPROF_TARGET_NAMES_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace llvm {
class TargetInstrInfo;
class TargetRegisterInfo;
} // namespace llvm

namespace bbprof {

// Each is a look through all of them. The instruction of this name, if there is one.
std::optional<unsigned> opcodeOf(llvm::StringRef Name, const llvm::TargetInstrInfo &Instructions);

// These end the compilation where there is no such name.
unsigned neededOpcode(llvm::StringRef Name, const llvm::TargetInstrInfo &Instructions);
unsigned neededRegister(llvm::StringRef Name, const llvm::TargetRegisterInfo &Registers);
unsigned neededPart(llvm::StringRef Name, const llvm::TargetRegisterInfo &Registers);
unsigned neededOperandFlag(llvm::StringRef Name, const llvm::TargetInstrInfo &Instructions);

} // namespace bbprof

#endif
