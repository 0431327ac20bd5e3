// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../OperandView.h"
#include "PlannerKernels.h"
#include "TileFiller.h"
#include "blocksparse/IR/RunTimeStages.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::RunTimeTileMemory;
using ::blocksparse::RunTimeTiles;
using ::blocksparse::SampledOperands;
using ::blocksparse::SampledTileTable;

namespace {

/// Makes the tiles of a coordinate LUT: allocates their tables and emits the kernels that fill
/// them.
class TilePlanner {
public:
  TilePlanner(ImplicitLocOpBuilder &host, KernelBuilder &kernels, const RunTimeTiles &plan,
              PlannedSDDOp op);

  /// Emits the kernels and their launches, and returns the tables in the order of SampledOperands.
  SmallVector<Value> emit();
  /// Frees the tables.
  void release();

private:
  Value allocate(ArrayRef<int64_t> sizes, Value open = {});
  void launch(StringRef name, ArrayRef<Value> operands,
              void (TileFiller::*emit)(ImplicitLocOpBuilder &) const);

  ImplicitLocOpBuilder &host;
  KernelBuilder &kernels;
  RunTimeTiles plan;
  Value lut, segments, out;
  /// The tables of SampledOperands, and those of TileFillerTables.
  Value tiles, workers, destinations, counts, marks, columns;
  SmallVector<Value> allocated;
};

} // namespace

TilePlanner::TilePlanner(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                         const RunTimeTiles &plan, PlannedSDDOp op)
    : host(host), kernels(kernels), plan(plan), lut(op.getLut()), segments(op.getSegments()),
      out(op.getInit()) {
  const int64_t open = ShapedType::kDynamic;
  // See RunTimeTiles::mostClusterTiles.
  Value blocks = memrefDim(host, lut, 0);
  Value most = host.createOrFold<arith::DivUIOp>(Int(host, blocks) * plan.columnsOfBlock(),
                                                 indexConstant(host, plan.clusterColumns()));
  most = Int(host, most) + plan.bundles();
  tiles = allocate({open, SampledTileTable::columns}, Int(host, most) * plan.tilesTogether());
  workers = allocate({plan.workers + 1});
  if (!plan.sharesSubtiles())
    return;
  destinations = allocate({open, ::blocksparse::destinationsPerTile(plan.block)}, most);
  counts = allocate({plan.bundles(), ::blocksparse::RunTimeTileCount::count});
  marks = allocate({plan.bundles(), plan.markWords()});
  columns = allocate({open}, blocks);
}

Value TilePlanner::allocate(ArrayRef<int64_t> sizes, Value open) {
  allocated.push_back(memref::AllocOp::create(host, MemRefType::get(sizes, host.getI32Type()),
                                              open ? ValueRange(open) : ValueRange()));
  return allocated.back();
}

void TilePlanner::release() {
  for (Value table : llvm::reverse(allocated))
    memref::DeallocOp::create(host, table);
}

void TilePlanner::launch(StringRef name, ArrayRef<Value> operands,
                         void (TileFiller::*emit)(ImplicitLocOpBuilder &) const) {
  LaunchShape shape{indexConstant(host, plan.bundles()), plan.threads(),
                    RunTimeTileMemory(plan).bytes};
  shape.mode = LaunchMode::Early;
  kernels.launch(host, name, presentOperands(operands), shape,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                   auto find = [&](Value table) {
                     return table ? mapping.lookupOrNull(table) : Value();
                   };
                   TileFillerTables tables{find(lut),    find(segments), find(out),
                                           find(tiles),  find(workers),  find(destinations),
                                           find(counts), find(marks),    find(columns)};
                   (TileFiller(b, plan, tables).*emit)(b);
                 });
}

SmallVector<Value> TilePlanner::emit() {
  if (plan.sharesSubtiles())
    launch("mark_columns", {lut, segments, counts, marks}, &TileFiller::emitColumns);
  launch("fill_tiles", {lut, segments, out, tiles, workers, destinations, counts, marks, columns},
         &TileFiller::emitTiles);
  return presentOperands({tiles, workers, destinations});
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::hasOrMakesTiles(const ::blocksparse::GPUFacts &facts,
                                                PlannedSDDOp op) {
  std::string reason;
  return !op.getTiles().empty() ||
         (isPlannedAtRunTime(op) && getRunTimeTiles(op, facts, reason).has_value());
}

Value mlir::blocksparse::device::hasInt32Blocks(ImplicitLocOpBuilder &host, PlannedSDDOp op) {
  const bool fine = ::blocksparse::sharesSubtiles({op.getBlock()[0], op.getBlock()[1]});
  return hasInt32Blocks(host, op.getInit(),
                        fine ? 1 : ::blocksparse::SampledTile::destinationsPerRow);
}

void mlir::blocksparse::device::withMadeTiles(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                              PlannedSDDOp op,
                                              function_ref<void(PlannedSDDOp)> emit) {
  std::string reason;
  TilePlanner planner(host, kernels, *getRunTimeTiles(op, kernels.getFacts(), reason), op);
  // The operation with tiles is in no block: only its operands and attributes are read.
  auto tiled = cast<PlannedSDDOp>(op->clone());
  tiled.getTilesMutable().assign(planner.emit());
  emit(tiled);
  tiled->destroy();
  planner.release();
}
