// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Loops.h"
#include "../Kit/AsyncCopy.h"
#include "../Planner/PlannerKernels.h"
#include "StreamKernels.h"
#include "StreamProduct.h"
#include "blocksparse/IR/KernelProblem.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

bool mlir::blocksparse::device::supportsStream(const ::blocksparse::GPUFacts &facts,
                                               PlannedDSDOp op) {
  using ::blocksparse::KernelFamily;
  return (isScheduledFor(op, KernelFamily::CUDAStream, facts) ||
          isScheduledFor(op, KernelFamily::CUDAStreamWgmma, facts)) &&
         hasOrMakesStages(facts, op) && StreamPlan::get(op, facts);
}

Value mlir::blocksparse::device::fitsStream(ImplicitLocOpBuilder &host,
                                            const ::blocksparse::GPUFacts &facts, PlannedDSDOp op) {
  Value fits = both(host, isAligned16(host, op.getDense()), isAligned16(host, op.getInit()));
  fits = both(host, fits, hasInt32Blocks(host, op));
  if (!op.getPacked())
    fits = both(host, fits, canPackValues(host, op));
  if (StreamPlan::get(op, facts)->staged.hasInput)
    fits = both(host, fits, isAligned16(host, op.getInput()));
  return fits;
}

/// Returns the packed values of the operation, or packs them. `made` tells whether they were packed
/// here, in memory that the caller frees.
static Value getPacked(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                       const StreamPlan &plan, bool &made) {
  made = !op.getPacked();
  if (!made)
    return op.getPacked();
  ValuesOrigin origin = ValuesOrigin::get(op);
  Value order = op.getStages()[StageOperands::Order];
  const int64_t copies = origin.headCopies * origin.batchCopies;
  int64_t blocks = cast<MemRefType>(order.getType()).getDimSize(0);
  SmallVector<Value> sizes;
  if (ShapedType::isDynamic(blocks))
    sizes.push_back(Int(host, memrefDim(host, order, 0)) * copies);
  else
    blocks *= copies;
  auto type = MemRefType::get({blocks, plan.shape.block, plan.shape.block}, plan.element);
  Value packed = memref::AllocOp::create(host, type, sizes);
  emitPackValues(host, kernels, op, packed);
  return packed;
}

/// Emits the product of an operation with stages.
static void emitStaged(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                       LaunchMode mode) {
  StreamPlan plan = *StreamPlan::get(op, kernels.getFacts());
  bool made = false;
  Value packed = getPacked(host, kernels, op, plan, made);
  SmallVector<Value> maps{
      createTensorMap(host, op.getDense(), DenseAxes::ofMatrices(op.getDense()),
                      plan.panels().box()),
      createTensorMap(host, op.getInit(), DenseAxes::ofMatrices(op.getInit()), plan.out)};
  if (plan.staged.hasInput)
    maps.push_back(createTensorMap(host, op.getInput(), DenseAxes::ofMatrices(op.getInput()),
                                   plan.staged.inputBox()));
  SmallVector<Value> arguments(maps);
  llvm::append_range(arguments, op.getStages().take_front(StageOperands::Order));
  arguments.append({packed, op.getInit()});
  llvm::append_range(arguments, Epilogue::operands(op));
  LaunchShape shape{StagedTiles::blocks(host, op), plan.threads(), plan.sharedBytes()};
  shape.mode = mode;
  gpu::GPUFuncOp kernel = kernels.launch(host, "dsd_stream", arguments, shape,
                                         [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                                           StreamKernel(b, op, plan, maps, packed, mapping).emit(b);
                                         });
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(1));
  setTensorMapArguments(kernel, maps.size());
  if (made)
    memref::DeallocOp::create(host, packed);
}

void mlir::blocksparse::device::emitStream(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                           PlannedDSDOp op) {
  withStages(host, kernels, op, [&](PlannedDSDOp staged, LaunchMode mode) {
    emitStaged(host, kernels, staged, mode);
  });
}
