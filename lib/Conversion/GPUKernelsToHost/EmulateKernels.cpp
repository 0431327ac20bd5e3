// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Conversion/BlockSparseToGPU.h"

#include "../Device/Loops.h"
#include "../Device/Warp.h"
#include "../OperandView.h"
#include "EmulatedTeam.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_EMULATEKERNELSPASS
#include "blocksparse/Conversion/GPUPasses.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t extraArguments = 5;

/// Returns true if the lanes of a warp cooperate in `kernel`.
static bool usesWarps(gpu::GPUFuncOp kernel) {
  return kernel.walk([](NVVM::WarpSizeOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

namespace {

/// Converts one kernel to a host function with five additional arguments: index of the thread,
/// index of the CTA, size of the launch grid, and the addresses of the CTA's shared memory and
/// exchange buffer.
class HostKernel {
public:
  HostKernel(gpu::GPUFuncOp kernel, func::FuncOp function)
      : kernel(kernel), function(function), isTeam(EmulatedTeam::isNeeded(kernel)) {}

  LogicalResult emit();

private:
  LogicalResult replace(Operation *op);

  gpu::GPUFuncOp kernel;
  func::FuncOp function;
  bool isTeam;
};

} // namespace

LogicalResult HostKernel::emit() {
  IRMapping mapping;
  kernel.getBody().cloneInto(&function.getBody(), mapping);
  Block &entry = function.getBody().front();
  auto index = IndexType::get(kernel.getContext());
  for (int64_t i = 0; i < extraArguments; ++i)
    entry.addArgument(index, kernel.getLoc());
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa_and_nonnull<gpu::GPUDialect, NVVM::NVVMDialect>(op->getDialect()) ||
        isa<LLVM::AddressOfOp, LLVM::CallIntrinsicOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(replace(op)))
      return failure();
  return success();
}

LogicalResult HostKernel::replace(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  ValueRange extra = function.getArguments().take_back(extraArguments);
  auto isX = [&](gpu::Dimension dimension) { return dimension == gpu::Dimension::x; };
  EmulatedTeam team(extra[0], extra[3], extra[4]);
  if (team.replace(op))
    return success();
  SmallVector<Value> results;
  if (isa<gpu::ReturnOp>(op)) {
    func::ReturnOp::create(b);
  } else if (auto id = dyn_cast<gpu::ThreadIdOp>(op); id && isX(id.getDimension())) {
    results = {extra[0]};
  } else if (auto id = dyn_cast<gpu::BlockIdOp>(op); id && isX(id.getDimension())) {
    results = {extra[1]};
  } else if (auto id = dyn_cast<gpu::GridDimOp>(op); id && isX(id.getDimension())) {
    results = {extra[2]};
  } else if (isa<NVVM::GriddepcontrolOp>(op)) {
    // griddepcontrol has no effect, because emulated kernels run one after the other.
  } else if (isa<NVVM::WarpSizeOp>(op)) {
    results = {arith::ConstantIntOp::create(b, b.getI32Type(), 1)};
  } else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op); shuffle && isTeam) {
    if (shuffle.getMode() != gpu::ShuffleMode::XOR)
      return op->emitError("expects a shuffle of mode xor to emulate, but got ")
             << gpu::stringifyShuffleMode(shuffle.getMode());
    results = {team.shuffle(b, shuffle), arith::ConstantIntOp::create(b, b.getI1Type(), 1)};
  } else if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
             call && call.getIntrin() == "llvm.nvvm.ex2.approx.ftz") {
    results = {LLVM::Exp2Op::create(b, call.getArgs().front())};
  } else if (shuffle) {
    // An emulated warp has one lane here, so no lane is its partner.
    results = {shuffle.getValue(), arith::ConstantIntOp::create(b, b.getI1Type(), 0)};
  } else {
    return op->emitError("expects a kernel without TMA and wgmma to emulate (those of sm_80; the "
                         "simulated GPU runs others), but got ")
           << op->getName();
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

/// Calls the host function for every thread of every CTA, or only for the first lane of every warp.
static void emitCalls(gpu::LaunchFuncOp launch, func::FuncOp function, bool warps) {
  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  Value blocks = launch.getGridSizeX(), threads = launch.getBlockSizeX();
  emitLoop(b, zero, blocks, one, [&](ImplicitLocOpBuilder &b, Value block) {
    Value step = indexConstant(b, warps ? warpSize : 1);
    emitLoop(b, zero, threads, step, [&](ImplicitLocOpBuilder &b, Value thread) {
      SmallVector<Value> arguments(launch.getKernelOperands());
      arguments.append({thread, block, blocks, zero, zero});
      func::CallOp::create(b, function, arguments);
    });
  });
}

/// Allocates host memory with the alignment of a device's shared memory, and returns its address.
static Value allocate(ImplicitLocOpBuilder &b, Value bytes, SmallVectorImpl<Value> &buffers) {
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  buffers.push_back(memref::AllocOp::create(b, type, ValueRange{bytes}, b.getI64IntegerAttr(128)));
  return memref::ExtractAlignedPointerAsIndexOp::create(b, buffers.back());
}

/// Calls the host function on all threads of a CTA concurrently, one CTA after another.
static void emitTeamCalls(gpu::LaunchFuncOp launch, func::FuncOp function) {
  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  Value threads = launch.getBlockSizeX(), blocks = launch.getGridSizeX();
  Value sharedBytes = indexConstant(b, 0);
  if (Value size = launch.getDynamicSharedMemorySize())
    sharedBytes = arith::IndexCastOp::create(b, b.getIndexType(), size);
  SmallVector<Value> buffers;
  Value shared = allocate(b, sharedBytes, buffers);
  Value bytes = Int(b, threads) * EmulatedTeam::exchangeBytes;
  Value exchange = allocate(b, bytes, buffers);
  // The loop over the CTAs is inside of the threads, because starting threads is slow.
  EmulatedTeam::emitThreads(b, threads, [&](ImplicitLocOpBuilder &b, Value thread) {
    emitLoop(b, indexConstant(b, 0), blocks, indexConstant(b, 1),
             [&](ImplicitLocOpBuilder &b, Value block) {
               SmallVector<Value> arguments(launch.getKernelOperands());
               arguments.append({thread, block, blocks, shared, exchange});
               func::CallOp::create(b, function, arguments);
               // The next CTA uses the same shared memory.
               omp::BarrierOp::create(b);
             });
  });
  for (Value buffer : buffers)
    memref::DeallocOp::create(b, buffer);
}

static LogicalResult emulate(ModuleOp module, gpu::LaunchFuncOp launch) {
  auto kernel = dyn_cast_or_null<gpu::GPUFuncOp>(module.lookupSymbol(launch.getKernel()));
  if (!kernel)
    return launch.emitError("expects the kernel in the module, but got ") << launch.getKernel();
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.append(extraArguments, IndexType::get(module.getContext()));
  auto function = func::FuncOp::create(kernel.getLoc(), kernel.getName(),
                                       FunctionType::get(module.getContext(), types, {}));
  function.setPrivate();
  SymbolTable(module).insert(function);
  if (failed(HostKernel(kernel, function).emit()))
    return failure();
  if (EmulatedTeam::isNeeded(kernel))
    emitTeamCalls(launch, function);
  else
    emitCalls(launch, function, usesWarps(kernel));
  launch.erase();
  return success();
}

namespace {

struct EmulateKernelsPass : ::mlir::blocksparse::impl::EmulateKernelsPassBase<EmulateKernelsPass> {
  void runOnOperation() override {
    SmallVector<gpu::LaunchFuncOp> launches;
    getOperation().walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
    for (gpu::LaunchFuncOp launch : launches)
      if (failed(emulate(getOperation(), launch)))
        return signalPassFailure();
    for (auto module : llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      module.erase();
    getOperation()->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};

} // namespace
