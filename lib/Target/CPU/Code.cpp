// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/Code.h"
#include "BF16.h"
#include "SingleLaneStores.h"
#include "blocksparse/Target/ArtifactSlot.h"
#include "blocksparse/Target/FunctionSignature.h"
#include "blocksparse/Target/OptimizeModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace mlir;
using namespace mlir::blocksparse;

static LogicalResult checkDialects(ModuleOp module) {
  WalkResult walked = module.walk([](Operation *op) {
    if (isa_and_present<LLVM::LLVMDialect, omp::OpenMPDialect, BuiltinDialect>(op->getDialect()) &&
        !isa<UnrealizedConversionCastOp>(op))
      return WalkResult::advance();
    op->emitOpError("expects to be lowered to the llvm or omp dialect before code is made, but "
                    "got ")
        << op->getName();
    return WalkResult::interrupt();
  });
  return success(!walked.wasInterrupted());
}

/// Returns from a function with the status of `call`; 0 if it has none.
static void returnStatus(llvm::IRBuilder<> &builder, llvm::CallInst *call) {
  bool hasStatus = call->getType()->isIntegerTy(32);
  builder.CreateRet(hasStatus ? call : llvm::cast<llvm::Value>(builder.getInt32(0)));
}

/// Defines int32_t f.packed(void **arguments), which loads each argument from its address and calls
/// f. The status is 0 if f has none.
static void addPackedEntryPoint(llvm::Function &entry) {
  llvm::LLVMContext &context = entry.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *status = llvm::Type::getInt32Ty(context);
  auto *type = llvm::FunctionType::get(status, {pointer}, false);
  auto *packed = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                        entry.getName() + ".packed", entry.getParent());
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", packed));
  SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : entry.args()) {
    llvm::Value *slot = builder.CreateConstGEP1_64(pointer, packed->getArg(0), argument.getArgNo());
    llvm::Value *address = builder.CreateLoad(pointer, slot);
    arguments.push_back(builder.CreateLoad(argument.getType(), address));
  }
  returnStatus(builder, builder.CreateCall(&entry, arguments));
}

/// Defines int32_t f_on_stream(..., void *stream), which calls f while the runtime puts the work of
/// this thread on `stream`. Returns it; null if there is a function of this name.
static llvm::Function *addStreamEntryPoint(llvm::Function &entry) {
  llvm::Module &module = *entry.getParent();
  std::string name = getStreamFunctionName(entry.getName());
  if (module.getNamedValue(name))
    return nullptr;
  llvm::LLVMContext &context = entry.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *status = llvm::Type::getInt32Ty(context);
  llvm::FunctionCallee getStream =
      module.getOrInsertFunction("blocksparseRtGetStream", status, pointer);
  llvm::FunctionCallee setStream =
      module.getOrInsertFunction("blocksparseRtSetStream", status, pointer);
  SmallVector<llvm::Type *> types(entry.getFunctionType()->params());
  types.push_back(pointer);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(status, types, false),
                                          llvm::GlobalValue::ExternalLinkage, name, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  llvm::Value *slot = builder.CreateAlloca(pointer);
  builder.CreateCall(getStream, {slot});
  llvm::Value *previous = builder.CreateLoad(pointer, slot);
  SmallVector<llvm::Value *> arguments(llvm::make_pointer_range(function->args()));
  builder.CreateCall(setStream, {arguments.pop_back_val()});
  llvm::CallInst *result = builder.CreateCall(&entry, arguments);
  builder.CreateCall(setStream, {previous});
  returnStatus(builder, result);
  return function;
}

/// Closes the artefact when the library that holds the code is unloaded.
static void closeArtifactAtUnload(llvm::Module &module, llvm::GlobalVariable &slot) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *none = llvm::Type::getVoidTy(context);
  llvm::FunctionCallee close =
      module.getOrInsertFunction("blocksparseRtArtifactCloseSlot", none, slot.getType());
  auto *function = llvm::Function::Create(llvm::FunctionType::get(none, false),
                                          llvm::GlobalValue::InternalLinkage,
                                          "blocksparse.artifact.close", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  builder.CreateCall(close, {&slot});
  builder.CreateRetVoid();
  constexpr int defaultPriority = 65535;
  llvm::appendToGlobalDtors(module, function, defaultPriority);
}

/// Renames a function of the program; gives an error if a library function has the name.
static LogicalResult renameTo(llvm::Function *function, StringRef name, Location location) {
  if (llvm::Function *body = function->getParent()->getFunction(name))
    body->setName(name + ".body");
  function->setName(name);
  if (function->getName() == name)
    return success();
  return emitError(location) << "expects function names that no library function has, but got '"
                             << name << "'";
}

/// Renames the wrapper _mlir_ciface_f that MLIR makes for a function f, whose arguments are
/// pointers, to f, also where another library defines it, and hides all other symbols.
static LogicalResult exportEntryPoints(llvm::Module &module, EntryPoints entryPoints,
                                       ArrayRef<std::string> onStream, Location location) {
  constexpr StringLiteral prefix = "_mlir_ciface_";
  for (llvm::GlobalVariable &global : module.globals())
    if (!global.isDeclaration())
      global.setLinkage(llvm::GlobalValue::InternalLinkage);
  if (llvm::GlobalVariable *slot = module.getNamedGlobal(artifactSlotSymbol)) {
    if (entryPoints == EntryPoints::InMemory)
      slot->setLinkage(llvm::GlobalValue::ExternalLinkage);
    else
      closeArtifactAtUnload(module, *slot);
  }
  SmallVector<llvm::Function *> wrappers, external;
  for (llvm::Function &function : module) {
    if (function.getName().starts_with(prefix))
      (function.isDeclaration() ? external : wrappers).push_back(&function);
    else if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  for (ArrayRef<llvm::Function *> list : {ArrayRef(external), ArrayRef(wrappers)})
    for (llvm::Function *wrapper : list)
      if (failed(renameTo(wrapper, wrapper->getName().drop_front(prefix.size()).str(), location)))
        return failure();
  // All names are those of the program now.
  for (const std::string &name : onStream) {
    llvm::Function *entry = module.getFunction(name);
    if (!entry || entry->isDeclaration())
      continue;
    wrappers.push_back(addStreamEntryPoint(*entry));
    if (!wrappers.back())
      return emitError(location) << "expects the name '" << getStreamFunctionName(name)
                                 << "' to be free for the entry point that takes a stream, but got "
                                    "a function of this name";
  }
  if (entryPoints != EntryPoints::Plain)
    for (llvm::Function *entry : wrappers)
      addPackedEntryPoint(*entry);
  return success();
}

Code::Code(Location location) : location(location) {}
Code::Code(Code &&) = default;
// Members are destroyed in the reverse order of declaration: the module before its context.
Code::~Code() = default;

/// Removes the attributes by which arguments and results speak to blocksparse-run
/// (docs/Testing.md), because the translation would warn about each.
static void dropRunAttributes(ModuleOp module) {
  auto isOurs = [](NamedAttribute attribute) {
    return attribute.getName().strref().starts_with("blocksparse.");
  };
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (NamedAttribute attribute :
           llvm::to_vector(function_interface_impl::getArgAttrs(function, i)))
        if (isOurs(attribute))
          function.removeArgAttr(i, attribute.getName());
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      for (NamedAttribute attribute :
           llvm::to_vector(function_interface_impl::getResultAttrs(function, i)))
        if (isOurs(attribute))
          function.removeResultAttr(i, attribute.getName());
  }
}

FailureOr<Code> Code::create(ModuleOp module, const CPUOptions &options, EntryPoints entryPoints,
                             ArrayRef<std::string> onStream) {
  auto emitError = [&] { return mlir::emitError(module.getLoc()); };
  if (failed(checkDialects(module)))
    return failure();
  dropRunAttributes(module);
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine(options, emitError);
  if (failed(machine))
    return failure();

  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerOpenMPDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);

  Code code(module.getLoc());
  code.context = std::make_unique<llvm::LLVMContext>();
  code.machine = std::move(*machine);
  code.module = translateModuleToLLVMIR(module, *code.context, "blocksparse");
  if (!code.module)
    return emitError() << "expects a module that translates to LLVM IR, but got an error";
  code.module->setTargetTriple(code.machine->getTargetTriple());
  code.module->setDataLayout(code.machine->createDataLayout());
  if (failed(exportEntryPoints(*code.module, entryPoints, onStream, code.location)))
    return failure();
  prepareBF16(*code.module);
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = true;
  optimizeModule(*code.module, *code.machine, options.optLevel, tuning);
  storeSingleLanes(*code.module);
  return code;
}

LogicalResult Code::emit(CodeFormat format, SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  if (format == CodeFormat::LLVMIR) {
    module->print(stream, nullptr);
    return success();
  }
  llvm::legacy::PassManager passes;
  auto type = format == CodeFormat::Object ? llvm::CodeGenFileType::ObjectFile
                                           : llvm::CodeGenFileType::AssemblyFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return mlir::emitError(location)
           << "expects a target that emits files, but got " << machine->getTargetTriple().str();
  passes.run(*module);
  return success();
}
