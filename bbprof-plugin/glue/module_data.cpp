// Globals by the names that bbprof-format gives them: counter arrays, marker, manifest, and what the runtime defines.
#include "module_data.h"
#include "flatten.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace bbprof {

static constexpr const char *DeltaName = "__bbprof_delta.tls";
static constexpr const char *CountPathNames[] = {"__bbprof_count_path_tls", "__bbprof_count_path_delta"};

static StringRef ref(BbprofText Text) { return StringRef(Text.data, Text.size_bytes); }

void leaveUnsanitized(Instruction &Access) { Access.setMetadata(LLVMContext::MD_nosanitize, MDNode::get(Access.getContext(), {})); }

// They surround variables with memory that must not be touched, and register them.
static void leaveUnsanitized(GlobalVariable &Variable) {
  GlobalVariable::SanitizerMetadata None;
  None.NoAddress = None.NoHWAddress = true;
  Variable.setSanitizerMetadata(None);
}

// The shim's object defines it for the whole image.
static void share(GlobalObject &Object) {
  Object.setLinkage(GlobalValue::WeakAnyLinkage);
  Object.setVisibility(GlobalValue::HiddenVisibility);
  Object.setDSOLocal(true);
}

ModuleData::ModuleData(Module &M, const BbprofModulePlan &Plan, bool Optimized)
    : M(M), Plan(Plan), Optimized(Optimized), Word(Type::getInt64Ty(M.getContext())) {
  for (const BbprofArray &Array : ArrayRef(Plan.arrays, Plan.num_arrays))
    Arrays.push_back(makeArray(Array));
}

void ModuleData::close() {
  makeMarker();
  makeManifest();
}

GlobalVariable *ModuleData::makeHiddenWeak(Type *ValueType, StringRef Name, GlobalValue::ThreadLocalMode Mode, StringRef Section) {
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

GlobalVariable *ModuleData::makeArray(const BbprofArray &Array) {
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
  keepWhole(*Made);
  return Made;
}

// Unoptimised code may still come into LTO, which must not take it apart.
void ModuleData::keepWhole(GlobalValue &Made) {
  if (!Optimized)
    appendToCompilerUsed(M, {&Made});
}

GlobalVariable *ModuleData::delta() {
  if (GlobalVariable *Known = M.getNamedGlobal(DeltaName))
    return Known;
  GlobalVariable *Made = makeHiddenWeak(Word, DeltaName, GlobalValue::InitialExecTLSModel, "");
  keepWhole(*Made);
  return Made;
}

llvm::Function *ModuleData::threadBlock() {
  auto *ThreadBlock = cast<llvm::Function>(M.getOrInsertFunction("__bbprof_thread_block", FunctionType::get(Word, false)).getCallee());
  ThreadBlock->setLinkage(GlobalValue::ExternalWeakLinkage);
  ThreadBlock->setVisibility(GlobalValue::HiddenVisibility);
  ThreadBlock->setDSOLocal(true);
  return ThreadBlock;
}

FunctionCallee ModuleData::countPath() {
  StringRef Name = CountPathNames[Plan.storage == BBPROF_STORAGE_DELTA ? 1 : 0];
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
  // It stands for another: LTO, which may make it the program's own, must neither put it in a call's place nor spare its arguments.
  Empty->addFnAttr(Attribute::NoInline);
  IRBuilder<> Builder(BasicBlock::Create(M.getContext(), "", Empty));
  auto *Nothing = InlineAsm::get(Type, "", "r,r,~{memory}", true);
  Builder.CreateCall(Nothing, {Empty->getArg(0), Empty->getArg(1)});
  Builder.CreateRetVoid();
  keepWhole(*Empty);
  return Empty;
}

// A zero-sized symbol by which the linker shim's object learns whether this module was linked.
void ModuleData::makeMarker() {
  auto *Empty = ArrayType::get(Type::getInt8Ty(M.getContext()), 0);
  auto *Marker = new GlobalVariable(M, Empty, true, GlobalValue::WeakAnyLinkage, Constant::getNullValue(Empty), ref(Plan.marker_symbol));
  share(*Marker);
  leaveUnsanitized(*Marker);
  Marker->setSection(".bbprof.marker");
  appendToCompilerUsed(M, {Marker});
}

void ModuleData::makeManifest() {
  Constant *Bytes = ConstantDataArray::getString(M.getContext(), ref(Plan.manifest), false);
  auto *Manifest = new GlobalVariable(M, Bytes->getType(), true, GlobalValue::PrivateLinkage, Bytes, "__bbprof_manifest");
  leaveUnsanitized(*Manifest);
  Manifest->setSection(".bbprof.manifest");
  Manifest->setAlignment(Align(8));
  Manifest->setMetadata(LLVMContext::MD_exclude, MDNode::get(M.getContext(), {}));
  appendToCompilerUsed(M, {Manifest});
}

void shareAgain(Module &M) {
  for (GlobalObject &Object : M.global_objects()) {
    StringRef Name = Object.getName();
    bool IsMarker = Name.starts_with("__bbprof_m_");
    bool IsDefined = Name.starts_with("__bbprof_c.") || Name == DeltaName || is_contained(CountPathNames, Name);
    if (!Object.hasLocalLinkage() || (!IsMarker && !IsDefined))
      continue;
    share(Object);
    if (IsDefined)
      Object.setComdat(M.getOrInsertComdat(Name));
  }
}

} // namespace bbprof
