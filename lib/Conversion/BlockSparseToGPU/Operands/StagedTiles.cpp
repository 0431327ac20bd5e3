// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StagedTiles.h"

#include "../Kit/SharedTile.h"
#include "AlignedOperands.h"
#include "Epilogue.h"
#include "blocksparse/Plan/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static MemRefType bufferType(Value memref) { return cast<MemRefType>(memref.getType()); }

StagedTiles StagedTiles::get(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping) {
  StagedTiles lists;
  lists.tiles = IntTable::get(b, mapping.lookup(op.getStages()[StageOperands::Tiles]));
  lists.workers = IntTable::get(b, mapping.lookup(op.getStages()[StageOperands::Workers]));
  lists.rows = IntTable::get(b, mapping.lookup(op.getStages()[StageOperands::Rows]));
  lists.cluster = clusterSize(op);
  return lists;
}

int64_t StagedTiles::columnTileCols(PlannedDSDOp op) {
  const ::blocksparse::Schedule &schedule = op.getSchedule()->getSchedule();
  if (const auto *wgmma = schedule.getIf<::blocksparse::WgmmaParams>())
    return wgmma->tile.cols * wgmma->cluster;
  return schedule.getIf<::blocksparse::StreamParams>()->tile.cols;
}

int64_t StagedTiles::clusterSize(PlannedDSDOp op) {
  return ::blocksparse::getClusterSize(op.getSchedule()->getSchedule());
}

static Value blockNumber(ImplicitLocOpBuilder &b) {
  return arith::IndexCastOp::create(b, b.getI32Type(),
                                    gpu::BlockIdOp::create(b, gpu::Dimension::x));
}

Value StagedTiles::clusterRank(ImplicitLocOpBuilder &b, int64_t size) {
  return Int(b, blockNumber(b)) % size;
}

Value StagedTiles::blocks(ImplicitLocOpBuilder &host, PlannedDSDOp op) {
  int64_t lists = bufferType(op.getStages()[StageOperands::Workers]).getDimSize(0) - 1;
  return indexConstant(host, lists * clusterSize(op));
}

TileRange StagedTiles::rangeOfCta(ImplicitLocOpBuilder &b, const IntTable &workers,
                                  int64_t cluster) {
  Value block = Int(b, blockNumber(b)) / cluster;
  Value one = i32Constant(b, 1);
  return {workers.read(b, block, 0, 1).front(), workers.read(b, Int(b, block) + one, 0, 1).front(),
          one};
}

StagedTile StagedTiles::read(ImplicitLocOpBuilder &b, Value number) const {
  SmallVector<Value> row = tiles.read(b, number, 0, StageTileTable::used);
  return {row[StageTileTable::Group], row[StageTileTable::ColumnTile], row[StageTileTable::First],
          row[StageTileTable::Count], row[StageTileTable::Batch],      row[StageTileTable::Head]};
}

Value StagedTiles::rowOf(ImplicitLocOpBuilder &b, Value rowGroup, Value index) const {
  return rows.readAt(b, Int(b, rowGroup) * rows.width() + index);
}

TensorCoord StagedTiles::coordIn(ImplicitLocOpBuilder &b, Value memref, Value row, Value col,
                                 Value batch, Value head) {
  MemRefType type = bufferType(memref);
  DenseAxes axes = DenseAxes::ofMatrices(memref);
  auto has = [&](int axis) { return axis >= 0 && type.getDimSize(axis) != 1; };
  Value zero = i32Constant(b, 0);
  return {row, col, has(axes.head) ? head : zero, has(axes.batch) ? batch : zero};
}

bool mlir::blocksparse::device::hasMappedInput(PlannedDSDOp op) {
  if (Epilogue::kindOf(op, Epilogue::Input) != Epilogue::OperandKind::Matrix)
    return false;
  auto input = cast<MemRefType>(op.getInput().getType());
  auto result = cast<MemRefType>(op.getInit().getType());
  auto [strides, offset] = input.getStridesAndOffset();
  return input.getElementType() == result.getElementType() &&
         input.getShape().take_back(2) == result.getShape().take_back(2) &&
         (strides.back() == 1 || ShapedType::isDynamic(strides.back())) &&
         !hasUnalignedRows(op.getInput());
}

ValuesOrigin ValuesOrigin::get(PlannedDSDOp op) {
  return get(op.getValues(), op.getEntries(), op.getLutHeads());
}

ValuesOrigin ValuesOrigin::get(PlannedSDDOp op) {
  return get(op.getInit(), op.getLut(), op.getLutHeads());
}

ValuesOrigin ValuesOrigin::get(Value memref, Value lut, int64_t lutHeads) {
  MemRefType values = bufferType(memref), table = bufferType(lut);
  int64_t rank = values.getRank(), stored = values.getDimSize(rank - 3);
  int64_t listed = table.getDimSize(table.getRank() - 2);
  ValuesOrigin origin;
  if (rank == 4 && values.getDimSize(0) != 1) {
    origin.perBatch = stored;
    origin.batchCopies = values.getDimSize(0);
  }
  if (lutHeads == 1 && stored > listed) {
    origin.perHead = listed;
    origin.headCopies = stored / listed;
  }
  return origin;
}

Value ValuesOrigin::blockOf(ImplicitLocOpBuilder &b, Value batch, Value head) const {
  return Int(b, batch) * perBatch + Int(b, head) * perHead;
}

Value ValuesOrigin::copyOf(ImplicitLocOpBuilder &b, Value batch, Value head) const {
  Value zero = i32Constant(b, 0);
  Value ownBatch = batchCopies == 1 ? zero : batch, ownHead = headCopies == 1 ? zero : head;
  return Int(b, ownBatch) * headCopies + ownHead;
}
