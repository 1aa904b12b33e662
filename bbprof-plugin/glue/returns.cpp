// See returns.h.
#include "returns.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace bbprof {

void doubtReturns(Module &M) {
  SmallVector<Function *> Doubted;
  auto Doubt = [&](Function *F) {
    if (!F || !F->hasFnAttribute(Attribute::WillReturn))
      return;
    F->removeFnAttr(Attribute::WillReturn);
    Doubted.push_back(F);
  };
  for (StringRef Name : {"setitimer", "mktime"})
    if (Function *F = M.getFunction(Name); F && F->isDeclaration())
      Doubt(F);
  while (!Doubted.empty())
    for (User *Use : Doubted.pop_back_val()->users())
      if (auto *Call = dyn_cast<CallBase>(Use)) {
        Call->removeFnAttr(Attribute::WillReturn);
        Doubt(Call->getFunction());
      }
}

} // namespace bbprof
