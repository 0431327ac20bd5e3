// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramSymbols.h"
#include "RuntimeCalls.h"
#include "TensorMapsToRuntime.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/LaunchAttributes.h"
#include "blocksparse/Target/Assertions.h"
#include "blocksparse/Target/FunctionSignature.h"
#include "blocksparse/Target/GPU/Passes.h"
#include "blocksparse/Target/TargetInfo.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/xxhash.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_LAUNCHESTORUNTIMEPASS
#include "blocksparse/Target/GPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

static bool isHostFunction(func::FuncOp function) { return function->hasAttr(hostFunctionAttr); }

//===----------------------------------------------------------------------===//
// Operations that a device function may contain on the host
//===----------------------------------------------------------------------===//

/// Returns the declaration that a call names, a function of another library; null if there is none.
static func::FuncOp getExternal(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  auto callee = call
                    ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr())
                    : func::FuncOp();
  return callee && callee.isDeclaration() ? callee : func::FuncOp();
}

/// Returns true if `op` works on descriptors, addresses and numbers alone, or puts its work on the
/// stream.
static bool staysOffDevice(Operation *op) {
  if (getExternal(op))
    return true;
  if (isa<gpu::LaunchFuncOp, memref::AllocOp, memref::DeallocOp, memref::GetGlobalOp,
          nvgpu::TmaCreateDescriptorOp, cf::AssertOp, RefuseOp>(op))
    return true;
  if (isa<func::CallOp>(op) || isa<memref::AllocaOp, memref::CopyOp>(op))
    return false;
  // The operations inside control flow are asked one by one.
  return isMemoryEffectFree(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
}

static LogicalResult checkFunction(func::FuncOp function) {
  if (function.getNumResults() != 0)
    return function.emitOpError("expects results to be destinations before launches are lowered, "
                                "but got ")
           << function.getNumResults() << " results";
  WalkResult walked = function.getBody().walk([](Operation *op) {
    if (staysOffDevice(op))
      return WalkResult::advance();
    op->emitOpError("expects host code that does not touch device memory, but got ")
        << op->getName();
    return WalkResult::interrupt();
  });
  return success(!walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The frame of a call
//===----------------------------------------------------------------------===//

/// Stores the addresses of all memref arguments in an array and returns it.
static Value storeArguments(ImplicitLocOpBuilder &b, func::FuncOp function, int64_t &count) {
  SmallVector<BlockArgument> memrefs = llvm::filter_to_vector(
      function.getArguments(), [](Value value) { return isa<MemRefType>(value.getType()); });
  count = memrefs.size();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value array = makeVariable(b, b.getLoc(), function, pointer, std::max<int64_t>(count, 1));
  for (auto [i, memref] : llvm::enumerate(memrefs)) {
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
    address = arith::IndexCastOp::create(b, b.getI64Type(), address);
    address = LLVM::IntToPtrOp::create(b, pointer, address);
    Value slot = LLVM::GEPOp::create(b, pointer, pointer, array,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(b, address, slot);
  }
  return array;
}

/// Begins the call in front of `next` and ends it at every return. Returns the call's state.
static Value frameCall(func::FuncOp function, ModuleOp module) {
  Operation *next = &function.getBody().front().front();
  ImplicitLocOpBuilder b(function.getLoc(), next);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  int64_t count = 0;
  Value state = makeVariable(b, b.getLoc(), function,
                             LLVM::LLVMArrayType::get(b.getI64Type(), callStateWords));
  Value arguments = storeArguments(b, function, count);
  auto address = [&](StringRef name) -> Value {
    return LLVM::AddressOfOp::create(b, pointer, name);
  };
  Value size = LLVM::LoadOp::create(b, b.getI64Type(), address(artifactSizeSymbol));
  Value number = LLVM::ConstantOp::create(b, b.getI64Type(), count);
  callRuntime(
      b, b.getLoc(), module, "blocksparseRtCallBegin", Type(),
      {state, address(artifactSlotSymbol), address(artifactSymbol), size, arguments, number});
  return state;
}

/// Ends the call, so that the code that follows launches nothing.
static void refuseCall(ImplicitLocOpBuilder &b, const FailedAssertion &failed, Value state,
                       ModuleOp module) {
  // Equal messages share one text.
  uint64_t hash = llvm::xxh3_64bits(failed.message);
  Value text = getText(b, b.getLoc(), module, "blocksparse.message." + llvm::utohexstr(hash),
                       failed.message);
  Value none;
  if (!failed.left)
    none = LLVM::ConstantOp::create(b, b.getI64Type(), 0);
  callRuntime(b, b.getLoc(), module, "blocksparseRtCallRefuse", Type(),
              {state, text, none ? none : failed.left, none ? none : failed.right});
}

/// Declares the form of an external function that puts its work on a stream: f_on_stream(..., void
/// *stream).
static func::FuncOp declareOnStream(func::FuncOp external, ModuleOp module) {
  std::string name = getStreamFunctionName(external.getName());
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  SmallVector<Type> arguments(external.getArgumentTypes());
  arguments.push_back(LLVM::LLVMPointerType::get(module.getContext()));
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = builder.getFunctionType(arguments, external.getResultTypes());
  auto declared = func::FuncOp::create(builder, external.getLoc(), name, type);
  declared.setPrivate();
  return declared;
}

/// Gives calls of external functions the stream of the call.
static void passStream(func::FuncOp function, ModuleOp module) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) {
    if (getExternal(call))
      calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    ImplicitLocOpBuilder b(call.getLoc(), call);
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value slot = makeVariable(b, b.getLoc(), function, pointer);
    callRuntime(b, b.getLoc(), module, "blocksparseRtGetStream", b.getI32Type(), {slot});
    SmallVector<Value> arguments(call.getOperands());
    arguments.push_back(LLVM::LoadOp::create(b, pointer, slot));
    func::FuncOp external = getExternal(call);
    auto onStream = func::CallOp::create(b, declareOnStream(external, module), arguments);
    call.replaceAllUsesWith(onStream);
    call.erase();
    if (SymbolTable::symbolKnownUseEmpty(external, module))
      external.erase();
  }
}

/// Adds an i32 result to the function, which `getStatus` makes at each return.
static void returnStatus(func::FuncOp function, function_ref<Value(OpBuilder &)> getStatus) {
  function.walk([&](func::ReturnOp op) {
    OpBuilder builder(op);
    op.getOperandsMutable().assign(getStatus(builder));
  });
  Builder builder(function.getContext());
  function.setType(builder.getFunctionType(function.getArgumentTypes(), {builder.getI32Type()}));
  function.removeResAttrsAttr();
}

/// Declares the symbols that blocksparse-embed-artifact defines.
static void declareArtifact(ModuleOp module) {
  auto b = ImplicitLocOpBuilder::atBlockBegin(module.getLoc(), module.getBody());
  auto declare = [&](StringRef name, Type type, bool constant) {
    if (!module.lookupSymbol(name))
      LLVM::GlobalOp::create(b, type, constant, LLVM::Linkage::External, name, Attribute());
  };
  declare(artifactSlotSymbol, LLVM::LLVMPointerType::get(b.getContext()), false);
  declare(artifactSymbol, b.getI8Type(), true);
  declare(artifactSizeSymbol, b.getI64Type(), true);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Holds what the patterns share.
struct Program {
  ModuleOp module;
  llvm::DenseMap<Operation *, Value> states;
  /// Name of the LUT for each name of a memref.global.
  llvm::StringMap<std::string> lutNames;
  /// Addresses of tensor maps, which are passed to a kernel by value.
  llvm::DenseSet<Value> tensorMaps;

  Value getState(Operation *op) const { return states.lookup(op->getParentOfType<func::FuncOp>()); }
};

template <typename OpTy>
struct RuntimePattern : ConvertOpToLLVMPattern<OpTy> {
  RuntimePattern(const LLVMTypeConverter &converter, const Program &program)
      : ConvertOpToLLVMPattern<OpTy>(converter), program(program) {}
  const Program &program;
};

struct LowerAlloc : RuntimePattern<memref::AllocOp> {
  using RuntimePattern::RuntimePattern;
  LogicalResult matchAndRewrite(memref::AllocOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isConvertibleAndHasIdentityMaps(op.getType()))
      return rewriter.notifyMatchFailure(op, "expects a row-major buffer");
    Location location = op.getLoc();
    SmallVector<Value> sizes, strides;
    Value bytes;
    getMemRefDescriptorSizes(location, op.getType(), adaptor.getDynamicSizes(), rewriter, sizes,
                             strides, bytes);
    Value pointer = callRuntime(rewriter, location, program.module, "blocksparseRtCallAlloc",
                                getPtrType(), {program.getState(op), bytes});
    Value descriptor =
        createMemRefDescriptor(location, op.getType(), pointer, pointer, sizes, strides, rewriter);
    rewriter.replaceOp(op, descriptor);
    return success();
  }
};

struct LowerDealloc : RuntimePattern<memref::DeallocOp> {
  using RuntimePattern::RuntimePattern;
  LogicalResult matchAndRewrite(memref::DeallocOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa<MemRefType>(op.getMemref().getType()))
      return rewriter.notifyMatchFailure(op, "expects a ranked buffer");
    MemRefDescriptor descriptor(adaptor.getMemref());
    callRuntime(rewriter, op.getLoc(), program.module, "blocksparseRtCallFree", Type(),
                {program.getState(op), descriptor.allocatedPtr(rewriter, op.getLoc())});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerGetGlobal : RuntimePattern<memref::GetGlobalOp> {
  using RuntimePattern::RuntimePattern;
  LogicalResult matchAndRewrite(memref::GetGlobalOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location location = op.getLoc();
    const std::string &name = program.lutNames.find(op.getName())->second;
    Value site = getSite(rewriter, location, program.module, name);
    Value text = getText(rewriter, location, program.module, "blocksparse.name." + name, name);
    Value pointer = callRuntime(rewriter, location, program.module, "blocksparseRtCallLut",
                                getPtrType(), {program.getState(op), site, text});
    Value descriptor = MemRefDescriptor::fromStaticShape(rewriter, location, *getTypeConverter(),
                                                         cast<MemRefType>(op.getType()), pointer);
    rewriter.replaceOp(op, descriptor);
    return success();
  }
};

struct LowerRefuse : RuntimePattern<RefuseOp> {
  using RuntimePattern::RuntimePattern;
  LogicalResult matchAndRewrite(RefuseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRefDescriptor descriptor(adaptor.getRecord());
    // Equal subjects share one text.
    std::string name = "blocksparse.subject." + llvm::utohexstr(llvm::xxh3_64bits(op.getSubject()));
    Value subject = getText(rewriter, op.getLoc(), program.module, name, op.getSubject());
    callRuntime(rewriter, op.getLoc(), program.module, "blocksparseRtCallRecord", Type(),
                {program.getState(op), descriptor.alignedPtr(rewriter, op.getLoc()), subject});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerLaunch : RuntimePattern<gpu::LaunchFuncOp> {
  using RuntimePattern::RuntimePattern;
  LogicalResult matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto function = op->getParentOfType<func::FuncOp>();
    SmallVector<Value> arguments = getTypeConverter()->promoteOperands(
        op.getLoc(), op.getKernelOperands(), adaptor.getKernelOperands(), rewriter);
    Value array = makeVariable(rewriter, op.getLoc(), function, getPtrType(),
                               std::max<int64_t>(arguments.size(), 1));
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      Value variable = argument;
      if (!program.tensorMaps.contains(argument)) {
        variable = makeVariable(rewriter, op.getLoc(), function, argument.getType());
        LLVM::StoreOp::create(b, argument, variable);
      }
      Value slot = LLVM::GEPOp::create(b, getPtrType(), getPtrType(), array,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
      LLVM::StoreOp::create(b, variable, slot);
    }
    std::string kernel = op.getKernelName().str();
    Value name =
        getText(rewriter, op.getLoc(), program.module, "blocksparse.name." + kernel, kernel);
    Value site = getSite(rewriter, op.getLoc(), program.module, kernel);
    Value count = LLVM::ConstantOp::create(b, b.getI64Type(), int64_t(arguments.size()));
    callRuntime(rewriter, op.getLoc(), program.module, "blocksparseRtCallLaunch", Type(),
                {program.getState(op), site, name, adaptor.getGridSizeX(), adaptor.getGridSizeY(),
                 adaptor.getGridSizeZ(), array, count});
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Contents of the artefact
//===----------------------------------------------------------------------===//

static LogicalResult getConstant(gpu::LaunchFuncOp op, Value value, StringRef what,
                                 int64_t &constant) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return op.emitOpError("expects ") << what << " to be a constant of the kernel";
  constant = number.getSExtValue();
  return success();
}

/// Returns eight numbers that describe a launch: threads, cluster, dynamic shared memory, and its
/// mode: 1 if it starts early, 2 if its blocks run together, else 0 (rt::ArtifactKernel).
static FailureOr<SmallVector<int64_t>> getRecord(gpu::LaunchFuncOp op) {
  const int64_t mode = op->hasAttr(startsEarlyAttr) ? 1 : op->hasAttr(runsTogetherAttr) ? 2 : 0;
  SmallVector<int64_t> record = {1, 1, 1, 1, 1, 1, 0, mode};
  gpu::KernelDim3 block = op.getBlockSizeOperandValues();
  if (failed(getConstant(op, block.x, "the block size", record[0])) ||
      failed(getConstant(op, block.y, "the block size", record[1])) ||
      failed(getConstant(op, block.z, "the block size", record[2])))
    return failure();
  if (op.hasClusterSize()) {
    gpu::KernelDim3 cluster = op.getClusterSizeOperandValues();
    if (failed(getConstant(op, cluster.x, "the cluster size", record[3])) ||
        failed(getConstant(op, cluster.y, "the cluster size", record[4])) ||
        failed(getConstant(op, cluster.z, "the cluster size", record[5])))
      return failure();
  }
  if (Value shared = op.getDynamicSharedMemorySize();
      shared && failed(getConstant(op, shared, "dynamic shared memory", record[6])))
    return failure();
  return record;
}

static LogicalResult recordKernels(ModuleOp module, const TargetInfo &target) {
  NamedAttrList records;
  Builder builder(module.getContext());
  int64_t limit = target.gpuFacts().sharedMemoryPerBlock;
  WalkResult walked = module.walk([&](gpu::LaunchFuncOp op) -> WalkResult {
    FailureOr<SmallVector<int64_t>> record = getRecord(op);
    if (failed(record))
      return failure();
    if (int64_t shared = (*record)[6]; shared > limit)
      return op.emitOpError("expects at most ") << limit << " bytes of dynamic shared memory on "
                                                << target.chip() << ", but got " << shared;
    auto attr = builder.getDenseI64ArrayAttr(*record);
    Attribute known = records.get(op.getKernelName());
    if (known && known != attr)
      return op.emitOpError("expects the kernel to be launched like before, with ")
             << known << ", but got " << attr;
    records.set(op.getKernelName(), attr);
    return WalkResult::advance();
  });
  module->setAttr(kernelsAttr, records.getDictionary(module.getContext()));
  return success(!walked.wasInterrupted());
}

/// Derives the names of constants that device functions use from their contents.
static LogicalResult recordLuts(ModuleOp module, Program &program) {
  NamedAttrList luts;
  SymbolTable symbols(module);
  WalkResult walked = module.walk([&](memref::GetGlobalOp op) -> WalkResult {
    if (isHostFunction(op->getParentOfType<func::FuncOp>()) || program.lutNames.count(op.getName()))
      return WalkResult::advance();
    auto global = symbols.lookup<memref::GlobalOp>(op.getName());
    auto value = dyn_cast_or_null<ElementsAttr>(global.getInitialValue().value_or(Attribute()));
    SmallVector<char> bytes;
    if (!global.getConstant() || !value || !copyElementBytes(value, bytes))
      return op.emitOpError("expects a global constant of numbers, but got ") << global;
    std::string name = makeLutName(bytes);
    luts.set(name, value);
    program.lutNames[op.getName()] = name;
    return WalkResult::advance();
  });
  module->setAttr(lutsAttr, luts.getDictionary(module.getContext()));
  return success(!walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult convert(ModuleOp module, Program &program) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  patterns.add<LowerAlloc, LowerDealloc, LowerGetGlobal, LowerLaunch, LowerRefuse>(converter,
                                                                                   program);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalOp<gpu::LaunchFuncOp, RefuseOp>();
  target.addDynamicallyLegalOp<memref::AllocOp, memref::DeallocOp, memref::GetGlobalOp>(
      [](Operation *op) {
        auto function = op->getParentOfType<func::FuncOp>();
        return !function || isHostFunction(function);
      });
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Erases constants, which are now in the artefact.
static void eraseUnusedGlobals(ModuleOp module) {
  for (auto global : llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
    if (SymbolTable::symbolKnownUseEmpty(global, module))
      global.erase();
}

namespace {

struct LaunchesToRuntime : mlir::blocksparse::impl::LaunchesToRuntimePassBase<LaunchesToRuntime> {
  using LaunchesToRuntimePassBase::LaunchesToRuntimePassBase;

  void runOnOperation() override {
    if (failed(lower(getOperation())))
      signalPassFailure();
  }

  LogicalResult lower(ModuleOp module) {
    if (failed(checkIsGPU(target, [&] { return module.emitError(); })))
      return failure();
    Program program;
    program.module = module;
    if (failed(recordKernels(module, target)) || failed(recordLuts(module, program)))
      return failure();
    declareArtifact(module);
    SmallVector<func::FuncOp> functions = llvm::to_vector(llvm::make_filter_range(
        module.getOps<func::FuncOp>(), [](func::FuncOp each) { return !each.isDeclaration(); }));
    for (func::FuncOp function : functions)
      if (failed(lowerFunction(function, program)))
        return failure();
    if (failed(convert(module, program)))
      return failure();
    eraseUnusedGlobals(module);
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
    return success();
  }

  LogicalResult lowerFunction(func::FuncOp function, Program &program) {
    Type i32 = IntegerType::get(&getContext(), 32);
    if (isHostFunction(function)) {
      WalkResult walked = function.walk([](gpu::LaunchFuncOp launch) {
        return WalkResult(launch.emitOpError("expects the sizes of results on a GPU to follow from "
                                             "sizes of arguments, but got a kernel that computes "
                                             "them"));
      });
      if (walked.wasInterrupted())
        return failure();
      // The call that follows fails if sizes do not fit, and can report it.
      function.walk([](cf::AssertOp assertion) { assertion.erase(); });
      returnStatus(function, [&](OpBuilder &builder) -> Value {
        return arith::ConstantIntOp::create(builder, function.getLoc(), i32, 0);
      });
      return success();
    }
    if (failed(checkFunction(function)))
      return failure();
    if (function.isPublic())
      assertSizes(function);
    passStream(function, program.module);
    Value state = frameCall(function, program.module);
    program.states[function] = state;
    lowerAssertions(function, [&](ImplicitLocOpBuilder &b, const FailedAssertion &failed) {
      refuseCall(b, failed, state, program.module);
    });
    if (failed(lowerTensorMaps(function, state, program.module, program.tensorMaps)))
      return failure();
    returnStatus(function, [&](OpBuilder &builder) {
      return callRuntime(builder, function.getLoc(), program.module, "blocksparseRtCallEnd", i32,
                         {state});
    });
    return success();
  }
};

} // namespace
