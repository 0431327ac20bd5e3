// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/GPU/PTX.h"
#include "KernelChecks.h"
#include "KernelParts.h"
#include "blocksparse/Target/GPU/Passes.h"
#include "blocksparse/Target/GPU/Ptxas.h"
#include "blocksparse/Target/OptimizeModule.h"
#include "blocksparse/Target/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

// These are the functions of llvm/Support/TargetSelect.h, which would need every target.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace mlir::blocksparse {
#define GEN_PASS_DEF_EMITPTXPASS
#include "blocksparse/Target/GPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

static constexpr StringLiteral nvptxTriple = "nvptx64-nvidia-cuda";

static const llvm::Target *getNVPTX() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(nvptxTriple), error);
}

static std::string formatPtx(unsigned version) {
  return llvm::utostr(version / 10) + "." + llvm::utostr(version % 10);
}

static unsigned getPtxVersion(const GPUOptions &options) {
  return options.ptxVersion == 0 ? options.target.gpuFacts().defaultPtx() : options.ptxVersion;
}

/// Returns the newest PTX version that LLVM writes.
static unsigned getNewestPtx(const llvm::MCSubtargetInfo &subtarget) {
  unsigned newest = 0, version = 0;
  for (const llvm::SubtargetFeatureKV &feature : subtarget.getAllProcessorFeatures())
    if (StringRef key = feature.Key; key.consume_front("ptx") && !key.getAsInteger(10, version))
      newest = std::max(newest, version);
  return newest;
}

static bool hasPtx(const llvm::MCSubtargetInfo &subtarget, unsigned version) {
  std::string wanted = "ptx" + llvm::utostr(version);
  return llvm::any_of(
      subtarget.getAllProcessorFeatures(),
      [&](const llvm::SubtargetFeatureKV &feature) { return feature.Key == wanted; });
}

/// Returns the code generator. Fails with an error for everything at which it would abort.
static FailureOr<std::unique_ptr<llvm::TargetMachine>> createMachine(const GPUOptions &options,
                                                                     EmitErrorFn emitError) {
  if (failed(checkIsGPU(options.target, emitError)))
    return failure();
  const std::string &chip = options.target.chip();
  const unsigned lowest = options.target.gpuFacts().minimumPtx;
  if (options.optLevel > 3)
    return emitError() << "expects an optimisation level of 0 to 3, but got " << options.optLevel;
  const llvm::Target *nvptx = getNVPTX();
  llvm::Triple triple(nvptxTriple);
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      nvptx ? nvptx->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!subtarget)
    return emitError() << "expects an LLVM with the NVPTX target, but got one without it";
  if (!subtarget->isCPUStringValid(chip))
    return emitError() << "expects a chip that LLVM " << LLVM_VERSION_STRING << " knows, but got '"
                       << chip << "'";
  unsigned version = getPtxVersion(options);
  if (version < lowest)
    return emitError() << "expects PTX " << formatPtx(lowest) << " or newer for '" << chip
                       << "', but got " << formatPtx(version);
  if (!hasPtx(*subtarget, version))
    return emitError() << "expects a PTX version that LLVM " << LLVM_VERSION_STRING
                       << " writes, up to " << formatPtx(getNewestPtx(*subtarget)) << ", but got "
                       << formatPtx(version);
  auto level = static_cast<llvm::CodeGenOptLevel>(options.optLevel);
  return std::unique_ptr<llvm::TargetMachine>(
      nvptx->createTargetMachine(triple, chip, "+ptx" + llvm::utostr(version), {}, {}, {}, level));
}

LogicalResult mlir::blocksparse::checkGPUOptions(const GPUOptions &options, EmitErrorFn emitError) {
  return success(succeeded(createMachine(options, emitError)) &&
                 (!options.cubin || succeeded(findPtxas(emitError))));
}

static LogicalResult checkDialects(gpu::GPUModuleOp module) {
  WalkResult walked = module.walk([&](Operation *op) {
    if (op == module || (isa_and_present<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()) &&
                         !isa<UnrealizedConversionCastOp>(op)))
      return WalkResult::advance();
    op->emitOpError(
        "expects to be lowered to the llvm or nvvm dialect before PTX is made, but got ")
        << op->getName();
    return WalkResult::interrupt();
  });
  return success(!walked.wasInterrupted());
}

namespace {

/// Turns diagnostics of LLVM into ours. Without a handler LLVM prints them and ends the process.
class DiagnosticPasser : public llvm::DiagnosticHandler {
public:
  DiagnosticPasser(Location location, bool &failed) : location(location), failed(failed) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    if (info.getSeverity() == llvm::DS_Error) {
      emitError(location) << "expects kernels that LLVM makes PTX of, but got: " << text;
      failed = true;
    } else if (info.getSeverity() == llvm::DS_Warning) {
      emitWarning(location) << text;
    }
    return true;
  }

private:
  Location location;
  bool &failed;
};

/// Numbers functions from `first` on, so that the labels of a kernel in a module of its own are
/// those that it has among others.
class NumberedFunctions : public llvm::MachineModuleInfoWrapperPass {
public:
  NumberedFunctions(const llvm::TargetMachine &machine, size_t first)
      : MachineModuleInfoWrapperPass(&machine), first(first) {}

  bool doInitialization(llvm::Module &module) override {
    MachineModuleInfoWrapperPass::doInitialization(module);
    // The next number is private, but a function that is made and dropped uses one.
    for (size_t number = 0; number < first; ++number) {
      getMMI().getOrCreateMachineFunction(*module.begin());
      getMMI().deleteMachineFunctionFor(*module.begin());
    }
    return false;
  }

private:
  size_t first;
};

} // namespace

/// Returns the PTX of a module whose functions are numbered from `firstFunction` on.
static FailureOr<std::string> translate(gpu::GPUModuleOp module, const GPUOptions &options,
                                        size_t firstFunction) {
  Location location = module.getLoc();
  auto emitError = [&] { return mlir::emitError(location); };
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine = createMachine(options, emitError);
  if (failed(machine))
    return failure();
  llvm::LLVMContext context;
  bool refused = false;
  context.setDiagnosticHandler(std::make_unique<DiagnosticPasser>(location, refused));
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, module.getName());
  if (!llvmModule)
    return emitError() << "expects kernels that translate to LLVM IR, but got an error";
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  optimizeModule(*llvmModule, **machine, options.optLevel);
  if (failed(checkCode(*llvmModule, location)))
    return failure();
  SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                      /*DisableVerify=*/true,
                                      new NumberedFunctions(**machine, firstFunction)))
    return emitError() << "expects a target that writes PTX, but got " << nvptxTriple;
  passes.run(*llvmModule);
  if (refused)
    return failure();
  return text.str().str();
}

/// Runs `body` for each index on the context's threads. parallelFor would emit the diagnostics of
/// every kernel.
static void runOnThreads(MLIRContext *context, size_t count,
                         llvm::function_ref<void(size_t)> body) {
  if (!context->isMultithreadingEnabled()) {
    for (size_t index = 0; index < count; ++index)
      body(index);
    return;
  }
  llvm::ThreadPoolTaskGroup tasks(context->getThreadPool());
  for (size_t index = 0; index < count; ++index)
    tasks.async([=] { body(index); });
  tasks.wait();
}

/// Holds the diagnostics of the thread's kernel until they are emitted in the order of kernels.
static thread_local SmallVector<Diagnostic> *keptMessages = nullptr;

/// Returns the PTX of each part, which the context's threads make. Diagnostics are emitted in the
/// order of the kernels, up to those of the first kernel that fails.
static FailureOr<SmallVector<std::string>>
translateParts(gpu::GPUModuleOp module, ArrayRef<KernelPart> parts, const GPUOptions &options) {
  MLIRContext *context = module.getContext();
  SmallVector<SmallVector<Diagnostic>> messages(parts.size());
  SmallVector<FailureOr<std::string>> texts(parts.size());
  {
    ScopedDiagnosticHandler keeper(context, [](Diagnostic &message) {
      if (!keptMessages)
        return failure();
      keptMessages->push_back(std::move(message));
      return success();
    });
    runOnThreads(context, parts.size(), [&](size_t index) {
      llvm::SaveAndRestore keep(keptMessages, &messages[index]);
      OwningOpRef<gpu::GPUModuleOp> part = cloneModule(module, parts[index]);
      texts[index] = translate(*part, options, index);
    });
  }
  SmallVector<std::string> made;
  for (auto [text, said] : llvm::zip_equal(texts, messages)) {
    for (Diagnostic &message : said)
      context->getDiagEngine().emit(std::move(message));
    if (failed(text))
      return failure();
    made.push_back(std::move(*text));
  }
  return made;
}

FailureOr<std::string> mlir::blocksparse::emitPTX(gpu::GPUModuleOp module,
                                                  const GPUOptions &options) {
  auto emitError = [&] { return mlir::emitError(module.getLoc()); };
  if (failed(checkGPUOptions({options.target, options.ptxVersion, options.optLevel}, emitError)) ||
      failed(checkDialects(module)) ||
      failed(checkInstructions(module, options.target, getPtxVersion(options))))
    return failure();
  SmallVector<KernelPart> parts = splitKernels(module);
  if (parts.size() < 2)
    return translate(module, options, /*firstFunction=*/0);
  FailureOr<SmallVector<std::string>> texts = translateParts(module, parts, options);
  if (failed(texts))
    return failure();
  FailureOr<std::string> text = joinPTX(*texts);
  if (failed(text))
    return emitError() << "expects PTX with a visible kernel in each part, but got none in one";
  return text;
}

/// Returns the launches of the module's kernels, with the largest numbers if several differ.
static SmallVector<KernelLaunch> collectLaunches(ModuleOp module) {
  SmallVector<KernelLaunch> launches;
  auto constantOf = [](Value value) {
    APInt number;
    return value && matchPattern(value, m_ConstantInt(&number)) ? number.getSExtValue() : 0;
  };
  module.walk([&](gpu::LaunchFuncOp op) {
    gpu::KernelDim3 block = op.getBlockSizeOperandValues();
    KernelLaunch launch{op.getKernelName().str(),
                        constantOf(block.x) * constantOf(block.y) * constantOf(block.z),
                        constantOf(op.getDynamicSharedMemorySize())};
    auto known = llvm::find_if(
        launches, [&](const KernelLaunch &other) { return other.name == launch.name; });
    if (known == launches.end()) {
      launches.push_back(launch);
      return;
    }
    known->threads = std::max(known->threads, launch.threads);
    known->dynamicSharedBytes = std::max(known->dynamicSharedBytes, launch.dynamicSharedBytes);
  });
  return launches;
}

/// Warns about what is legal but slow.
static void warn(const PtxasReport &report, Location location) {
  for (const PtxasKernel &kernel : report.kernels)
    if (kernel.spillStoreBytes || kernel.spillLoadBytes)
      emitWarning(location) << "kernel '" << kernel.name
                            << "' spills registers: " << kernel.spillStoreBytes
                            << " bytes stored and " << kernel.spillLoadBytes
                            << " loaded by each thread";
  for (StringRef message : report.warnings)
    emitWarning(location) << message;
}

/// Returns the machine code of a module's PTX. Fails if it exceeds the limits of the target.
static FailureOr<std::string> makeCubin(StringRef ptx, const TargetInfo &target,
                                        ArrayRef<KernelLaunch> launches, Location location) {
  auto emitError = [&] { return mlir::emitError(location); };
  FailureOr<std::string> ptxas = findPtxas(emitError);
  if (failed(ptxas))
    return failure();
  PtxasReport report;
  FailureOr<std::string> cubin = assemblePTX(ptx, target.chip(), *ptxas, report, emitError);
  if (failed(cubin) || failed(checkKernelLimits(report, launches, target, emitError)))
    return failure();
  warn(report, location);
  return cubin;
}

namespace {

struct EmitPTX : mlir::blocksparse::impl::EmitPTXPassBase<EmitPTX> {
  using EmitPTXPassBase::EmitPTXPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    EmitPTXPassBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    SmallVector<KernelLaunch> launches = collectLaunches(getOperation());
    for (auto module : llvm::to_vector(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(replace(module, launches)))
        return signalPassFailure();
  }

  LogicalResult replace(gpu::GPUModuleOp module, ArrayRef<KernelLaunch> launches) {
    FailureOr<std::string> ptx = emitPTX(module, {target, ptxVersion, optLevel});
    if (failed(ptx))
      return failure();
    SmallVector<Attribute> objects = {makeObject(gpu::CompilationTarget::Assembly, *ptx)};
    if (cubin) {
      FailureOr<std::string> code = makeCubin(*ptx, target, launches, module.getLoc());
      if (failed(code))
        return failure();
      objects.push_back(makeObject(gpu::CompilationTarget::Binary, *code));
    }
    OpBuilder builder(module);
    gpu::BinaryOp::create(builder, module.getLoc(), module.getName(), Attribute(), objects);
    module.erase();
    return success();
  }

  Attribute makeObject(gpu::CompilationTarget format, StringRef bytes) {
    Builder builder(&getContext());
    auto machine = NVVM::NVVMTargetAttr::get(&getContext(), optLevel, nvptxTriple, target.chip());
    return builder.getAttr<gpu::ObjectAttr>(machine, format, builder.getStringAttr(bytes),
                                            DictionaryAttr(), gpu::KernelTableAttr());
  }
};

} // namespace
