// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Loops.h"
#include "PlannerKernels.h"
#include "RowLutReaders.h"
#include "StageFiller.h"
#include "blocksparse/IR/RunTimeStages.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::RunTimeStages;
using ::blocksparse::StageTileTable;

namespace {

/// Makes the stages of a run-time pattern: allocates their tables and emits the kernel that fills
/// them.
class StagePlanner {
public:
  StagePlanner(ImplicitLocOpBuilder &host, KernelBuilder &kernels, const RunTimeStages &stages,
               const RowSource &source);

  /// Emits the kernel and its launch, and returns the tables in the order of StageOperands.
  SmallVector<Value> emit();
  /// Frees the tables.
  void release();

private:
  Value allocate(ArrayRef<int64_t> sizes, Value open = {}) const;

  ImplicitLocOpBuilder &host;
  KernelBuilder &kernels;
  RunTimeStages stages;
  RowSource source;
  /// The tables of StageOperands.
  Value tiles, workers, records, rows, order;
};

} // namespace

StagePlanner::StagePlanner(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                           const RunTimeStages &stages, const RowSource &source)
    : host(host), kernels(kernels), stages(stages), source(source) {
  const int64_t open = ShapedType::kDynamic;
  Value blocks = memrefDim(host, source.operands().back(), 0);
  const int64_t fixed = stages.mostRecords(0), each = stages.mostRecords(1) - fixed;
  tiles = allocate({stages.numTiles(), StageTileTable::columns});
  workers = allocate({stages.workers + 1});
  records = allocate({open, stages.recordInts()}, Int(host, blocks) * each + fixed);
  rows = allocate({stages.groups(), stages.groupSize()});
  order = stages.isStream() ? allocate({open}, blocks) : allocate({1});
}

Value StagePlanner::allocate(ArrayRef<int64_t> sizes, Value open) const {
  return memref::AllocOp::create(host, MemRefType::get(sizes, host.getI32Type()),
                                 open ? ValueRange(open) : ValueRange());
}

void StagePlanner::release() {
  for (Value table : {order, rows, records, workers, tiles})
    memref::DeallocOp::create(host, table);
}

SmallVector<Value> StagePlanner::emit() {
  SmallVector<Value> made{tiles, workers, records, rows, order};
  SmallVector<Value> operands = source.operands();
  llvm::append_range(operands, made);
  LaunchShape shape{indexConstant(host, stages.bundles()), stages.threads(), stages.sharedBytes()};
  shape.mode = LaunchMode::Early;
  kernels.launch(host, "plan_stages", operands, shape,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                   StageFillerTables tables{mapping.lookup(tiles), mapping.lookup(workers),
                                            mapping.lookup(records), mapping.lookup(rows),
                                            mapping.lookup(order)};
                   StageFiller(b, stages, source.mapped(mapping), tables).emit(b);
                 });
  return made;
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::hasOrMakesStages(const ::blocksparse::GPUFacts &facts,
                                                 PlannedDSDOp op) {
  std::string reason;
  return !op.getStages().empty() ||
         (isPlannedAtRunTime(op) && getRunTimeStages(op, facts, reason).has_value());
}

Value mlir::blocksparse::device::hasInt32Blocks(ImplicitLocOpBuilder &host, PlannedDSDOp op) {
  return hasInt32Blocks(host, op.getValues(), /*perRow=*/1);
}

Value mlir::blocksparse::device::hasInt32Blocks(ImplicitLocOpBuilder &host, Value values,
                                                int64_t perRow) {
  auto type = cast<MemRefType>(values.getType());
  const int64_t axis = type.getRank() - 3;
  if (!type.isDynamicDim(axis))
    return arith::ConstantIntOp::create(host, host.getI1Type(), 1);
  Value blocks = memrefDim(host, values, axis);
  const int64_t most = std::numeric_limits<int32_t>::max() / (type.getDimSize(axis + 1) * perRow);
  return both(host, indexLess(host, indexConstant(host, 0), blocks),
              indexLess(host, blocks, indexConstant(host, most + 1)));
}

void mlir::blocksparse::device::withStages(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                           PlannedDSDOp op,
                                           function_ref<void(PlannedDSDOp, LaunchMode)> emit) {
  if (!op.getStages().empty())
    return emit(op, LaunchMode::Plain);
  std::string reason;
  StagePlanner planner(host, kernels, *getRunTimeStages(op, kernels.getFacts(), reason),
                       getRowSource(op));
  // The operation with stages is in no block: only its operands and attributes are read.
  auto staged = cast<PlannedDSDOp>(op->clone());
  staged.getStagesMutable().assign(planner.emit());
  emit(staged, LaunchMode::Early);
  staged->destroy();
  planner.release();
}
