// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelBuilder.h"

#include "../Device/DeviceForms.h"
#include "../Device/Loops.h"
#include "../Device/Warp.h"
#include "../OperandView.h"
#include "Kit/DependentLaunch.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "blocksparse/IR/DialectAttributes.h"
#include "blocksparse/IR/LaunchAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr StringLiteral kernelModuleName = "blocksparse_kernels";

Value mlir::blocksparse::device::mapOperand(const IRMapping &mapping, Value value) {
  return value ? mapping.lookupOrDefault(value) : value;
}

SmallVector<Value> mlir::blocksparse::device::presentOperands(ArrayRef<Value> operands) {
  return llvm::filter_to_vector(operands, [](Value value) { return static_cast<bool>(value); });
}

void mlir::blocksparse::device::emitFastOrFallback(
    ImplicitLocOpBuilder &host, Value fits, function_ref<void(ImplicitLocOpBuilder &)> fast,
    function_ref<void(ImplicitLocOpBuilder &)> fallback) {
  if (int64_t known = knownIndex(fits); !ShapedType::isDynamic(known))
    return known != 0 ? fast(host) : fallback(host);
  // The branches are filled in place, because a launch looks for the function around it.
  auto choice = scf::IfOp::create(host, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(host);
  host.setInsertionPointToStart(choice.thenBlock());
  fast(host);
  host.setInsertionPointToStart(choice.elseBlock());
  fallback(host);
}

gpu::GPUModuleOp KernelBuilder::getKernelModule() {
  if (kernels)
    return kernels;
  kernels = module.lookupSymbol<gpu::GPUModuleOp>(kernelModuleName);
  if (kernels)
    return kernels;
  MLIRContext *context = module.getContext();
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), UnitAttr::get(context));
  // LLVM's default PTX version is too old for sm_90a.
  Attribute machine = NVVM::NVVMTargetAttr::get(context, /*optLevel=*/3, "nvptx64-nvidia-cuda",
                                                target.chip(), "+ptx80");
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  kernels = gpu::GPUModuleOp::create(builder, module.getLoc(), kernelModuleName,
                                     ArrayRef<Attribute>{machine});
  return kernels;
}

void KernelBuilder::adoptKernels() {
  SmallVector<gpu::GPUModuleOp> others = llvm::to_vector(
      llvm::make_filter_range(module.getOps<gpu::GPUModuleOp>(), [](gpu::GPUModuleOp each) {
        return each.getName() != kernelModuleName;
      }));
  if (others.empty())
    return;
  gpu::GPUModuleOp parent = getKernelModule();
  SymbolTable names(parent);
  llvm::DenseMap<Attribute, SymbolRefAttr> moved;
  for (gpu::GPUModuleOp other : others) {
    SymbolTable symbols(other);
    for (auto symbol : llvm::to_vector(other.getOps<SymbolOpInterface>())) {
      auto before =
          SymbolRefAttr::get(other.getNameAttr(), {FlatSymbolRefAttr::get(symbol.getNameAttr())});
      if (names.lookup(symbol.getName()))
        (void)symbols.renameToUnique(symbol, {&names});
      moved[before] =
          SymbolRefAttr::get(parent.getNameAttr(), {FlatSymbolRefAttr::get(symbol.getNameAttr())});
    }
    useDeviceForms(other);
    for (Operation &op : llvm::make_early_inc_range(*other.getBody())) {
      op.remove();
      if (isa<SymbolOpInterface>(op))
        names.insert(&op);
      else
        parent.getBody()->push_back(&op);
    }
    other.erase();
  }
  module.walk([&](gpu::LaunchFuncOp launch) {
    if (SymbolRefAttr kernel = moved.lookup(launch.getKernelAttr()))
      launch.setKernelAttr(kernel);
  });
}

/// Returns the name of the function around `host`, or "kernel".
static StringRef getHostName(OpBuilder &host) {
  Operation *parent = host.getInsertionBlock()->getParentOp();
  auto function = parent->getParentOfType<FunctionOpInterface>();
  if (auto self = dyn_cast<FunctionOpInterface>(parent))
    function = self;
  return function ? function.getName() : StringRef("kernel");
}

gpu::GPUFuncOp
KernelBuilder::launch(ImplicitLocOpBuilder &host, StringRef name, ValueRange operands,
                      const LaunchShape &shape,
                      function_ref<void(ImplicitLocOpBuilder &, const IRMapping &)> body) {
  llvm::SetVector<Value> distinct(operands.begin(), operands.end());
  ArrayRef<Value> arguments = distinct.getArrayRef();
  gpu::GPUModuleOp parent = getKernelModule();
  ImplicitLocOpBuilder b(host.getLoc(), host.getContext());
  auto type = b.getFunctionType(ValueRange(arguments).getTypes(), {});
  std::string symbol = (getHostName(host) + "_" + name).str();
  auto function = gpu::GPUFuncOp::create(b, symbol, type);
  SymbolTable(parent).insert(function);
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSize(ArrayRef<int32_t>{static_cast<int32_t>(shape.threads), 1, 1});

  b.setInsertionPointToStart(&function.getBody().front());
  IRMapping mapping;
  mapping.map(arguments, function.getArguments());
  const bool startsEarly = shape.mode == LaunchMode::Early && getFacts().dependentLaunch;
  if (getFacts().dependentLaunch)
    emitLaunchDependents(b);
  if (startsEarly)
    emitWaitForKernelsBefore(b);
  body(b, mapping);
  gpu::ReturnOp::create(b);
  if (startsEarly)
    function.walk([](LLVM::LoadOp load) { load.setInvariant(false); });

  Value one = indexConstant(host, 1);
  Value shared = shape.sharedBytes == 0
                     ? Value()
                     : arith::ConstantIntOp::create(host, host.getI32Type(), shape.sharedBytes);
  std::optional<gpu::KernelDim3> cluster;
  if (shape.cluster > 1) {
    function.setKnownClusterSize(ArrayRef<int32_t>{static_cast<int32_t>(shape.cluster), 1, 1});
    cluster = gpu::KernelDim3{indexConstant(host, shape.cluster), one, one};
  }
  auto launch = gpu::LaunchFuncOp::create(
      host, function, gpu::KernelDim3{shape.blocks, one, one},
      gpu::KernelDim3{indexConstant(host, shape.threads), one, one}, shared, arguments,
      /*asyncTokenType=*/nullptr, /*asyncDependencies=*/{}, cluster);
  if (startsEarly)
    launch->setAttr(startsEarlyAttr, b.getUnitAttr());
  if (shape.mode == LaunchMode::Together)
    launch->setAttr(runsTogetherAttr, b.getUnitAttr());
  return function;
}

void KernelBuilder::launchItems(
    ImplicitLocOpBuilder &host, StringRef name, ValueRange operands, Value work,
    int64_t threadsPerItem,
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value)> body) {
  Value perBlock = indexConstant(host, simtThreads / threadsPerItem);
  Value blocks =
      indexMin(host, indexCeilDiv(host, work, perBlock), indexConstant(host, simtMaxCtas));
  LaunchShape shape{indexMax(host, blocks, indexConstant(host, 1)), simtThreads, 0};
  SmallVector<Value> arguments(operands);
  bool known = !ShapedType::isDynamic(knownIndex(work));
  if (!known)
    arguments.push_back(work);
  auto kernel =
      launch(host, name, arguments, shape, [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
        Value size = indexConstant(b, simtThreads / threadsPerItem);
        Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
        if (threadsPerItem != 1)
          thread = arith::DivUIOp::create(b, thread, indexConstant(b, threadsPerItem));
        Value first = Int(b, gpu::BlockIdOp::create(b, gpu::Dimension::x)) * size + thread;
        Value step = Int(b, gpu::GridDimOp::create(b, gpu::Dimension::x)) * size;
        Value end = known ? indexConstant(b, knownIndex(work)) : mapping.lookup(work);
        emitLoop(b, first, end, step,
                 [&](ImplicitLocOpBuilder &inner, Value item) { body(inner, mapping, item); });
      });
  // Without this attribute, ptxas aims at more resident CTAs and spills registers to reach them.
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(2));
}

void KernelBuilder::launchForEach(
    ImplicitLocOpBuilder &host, StringRef name, ValueRange operands, Value work,
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value)> body) {
  launchItems(host, name, operands, work, 1, body);
}

void KernelBuilder::launchForEachWarp(
    ImplicitLocOpBuilder &host, StringRef name, ValueRange operands, Value work,
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value, Value)> body) {
  launchItems(host, name, operands, work, warpSize,
              [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
                Value lane = arith::RemUIOp::create(b, thread, indexConstant(b, warpSize));
                body(b, mapping, item, lane);
              });
}
