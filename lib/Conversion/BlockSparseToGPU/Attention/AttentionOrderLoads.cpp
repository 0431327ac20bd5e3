// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The warps of an ordered gradient of attention that load, and those that add dQ. Each of them is
// one thread.

#include "../../Device/Assembly.h"
#include "../../Device/Loops.h"
#include "../../OperandView.h"
#include "../Kit/AsyncCopy.h"
#include "../Operands/StagedTiles.h"
#include "AttentionOrderKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::AttentionOrderStepTable;

using Shape = AttentionOrderShape;
using Position = StageRing::Position;

/// Emits the steps of all tiles: `body` gets the tile, the step (i32) and its number among those of
/// the CTA (i32).
static void forEachStep(
    ImplicitLocOpBuilder &b, const AttentionOrderFrame &frame,
    function_ref<void(ImplicitLocOpBuilder &, const AttentionOrderWork &, Value, Value)> body) {
  TileRange range = frame.range(b);
  Value zero = i32Constant(b, 0), one = i32Constant(b, 1);
  emitCarry(b, range.from, range.to, range.step, {zero},
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              AttentionOrderWork tile = frame.getTile(b, number);
              return emitCarry(b, zero, tile.count, one, carried,
                               [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                                 body(b, tile, step, carried.front());
                                 return SmallVector<Value>{Int(b, carried.front()) + one};
                               });
            });
}

/// Starts the loads of 64 rows from `row` on of `matrices` to subtiles at `address`, which are
/// `distance` bytes apart.
static void loadRows(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile,
                     const AttentionOrderFrame::Matrices &matrices, Value row, Value address,
                     int64_t distance, Value barrier) {
  for (int64_t subtile = 0; subtile < Shape::subtiles; ++subtile) {
    TensorCoord coord = StagedTiles::coordIn(
        b, matrices.memref, row, i32Constant(b, subtile * subtileCols), tile.batch, tile.head);
    emitTensorLoad(b, matrices.map, {Shape::rows}, coord, Int(b, address) + subtile * distance,
                   barrier);
  }
}

void mlir::blocksparse::device::emitStepLoads(ImplicitLocOpBuilder &b,
                                              const AttentionOrderFrame &frame) {
  StageRing ring = frame.ring(b);
  forEachStep(
      b, frame,
      [&](ImplicitLocOpBuilder &b, const AttentionOrderWork &tile, Value step, Value number) {
        Position at = emptyPosition(b, positionOf(b, number));
        Value query = frame.readStep(b, tile, step)[AttentionOrderStepTable::Query];
        MatrixView rows =
            DenseView::get(b, frame.rows).matrix(b, toIndex(b, tile.batch), toIndex(b, tile.head));
        ring.waitEmpty(b, at);
        ring.expectTx(b, at.stage, i32Constant(b, 2 * (Shape::walkedBytes + Shape::vectorBytes)));
        Value barrier = ring.full(b, at.stage);
        for (int which = 0; which < 2; ++which) {
          loadRows(b, tile, frame.walked[which], query, frame.walkedAddress(b, which, at.stage),
                   Shape::tileBytes, barrier);
          Value source = globalAddress(b, rows, indexConstant(b, which), toIndex(b, query));
          emitBulkLoad(b, globalPointer(b, source), i32Constant(b, Shape::vectorBytes),
                       frame.vectorAddress(b, which, at.stage), barrier);
        }
      });
}

void mlir::blocksparse::device::emitTileLoads(ImplicitLocOpBuilder &b,
                                              const AttentionOrderFrame &frame) {
  StageRing ring = frame.residentRing(b);
  TileRange range = frame.range(b);
  auto load = [&](ImplicitLocOpBuilder &b, const AttentionOrderWork &tile, Value parity) {
    // V is read for the last time before K is, and so its next one can come first.
    for (int which : {1, 0}) {
      Value stage = i32Constant(b, which);
      ring.waitEmpty(b, {stage, parity});
      ring.expectTx(b, stage, i32Constant(b, Shape::residentBytes));
      for (int64_t group = 0; group < Shape::groups; ++group)
        loadRows(b, tile, frame.resident[which], tile.keys[group],
                 Int(b, frame.residentAddress(b, which)) + group * Shape::tileBytes,
                 Shape::groups * Shape::tileBytes, ring.full(b, stage));
    }
    return SmallVector<Value>{arith::XOrIOp::create(b, parity, i32Constant(b, 1))};
  };
  emitCarry(b, range.from, range.to, range.step, {i32Constant(b, 1)},
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              AttentionOrderWork tile = frame.getTile(b, number);
              Value hasSteps = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, tile.count,
                                                     i32Constant(b, 0));
              return emitChoices(
                  b, hasSteps,
                  [&](ImplicitLocOpBuilder &b) { return load(b, tile, carried.front()); },
                  [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(carried); });
            });
}

//===----------------------------------------------------------------------===//
// Sums of dQ
//===----------------------------------------------------------------------===//

/// Returns the index (index) of the 64 queries of a step among those of all (batch, head).
static Value queriesOf(ImplicitLocOpBuilder &b, const AttentionOrderFrame &frame,
                       const AttentionOrderWork &tile, Value query) {
  DenseView rows = DenseView::get(b, frame.rows);
  Value heads = rows.heads(), places = Int(b, rows.cols()) / Shape::rows;
  Value matrix = Int(b, Int(b, toIndex(b, tile.batch)) * heads) + toIndex(b, tile.head);
  return Int(b, Int(b, matrix) * places) + toIndex(b, Int(b, query) / Shape::rows);
}

/// Returns the address (!llvm.ptr<1>) of byte `offset` (index) of a contiguous memref.
static Value pointerInto(ImplicitLocOpBuilder &b, Value memref, Value offset) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
  return globalPointer(b, Int(b, base) + offset);
}

/// Waits until the counter at `pointer` has come to `rank`: what was added before is then visible
/// to the copies that follow.
static void waitForRank(ImplicitLocOpBuilder &b, Value pointer, Value rank) {
  emitAssembly(b,
               "{ .reg .pred early; .reg .b32 added;\n"
               "POLL: ld.acquire.gpu.global.b32 added, [$0];\n"
               "setp.lt.s32 early, added, $1;\n"
               "@early bra POLL;\n"
               "fence.proxy.async; }",
               "l,r,~{memory}", /*result=*/Type(), {pointer, rank});
}

/// Adds `bytes` of f32 at shared-memory address `source` (i32) to those at `target`, or stores them
/// there if `rank` (i32) is 0, and waits until they have been read.
static void addPartial(ImplicitLocOpBuilder &b, Value target, Value source, Value rank) {
  emitAssembly(
      b,
      "{ .reg .pred opens; setp.eq.b32 opens, $3, 0;\n"
      "@opens cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;\n"
      "@!opens cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], [$1], $2;\n"
      "cp.async.bulk.commit_group; }",
      "l,r,r,r,~{memory}", /*result=*/Type(),
      {target, source, i32Constant(b, Shape::partialBytes), rank});
  emitWaitStoresRead(b);
}

/// Sets the counter at `pointer` to `rank` + 1 when all sums of this thread are in global memory.
static void passRank(ImplicitLocOpBuilder &b, Value pointer, Value rank) {
  emitWaitStores(b);
  emitAssembly(b, "fence.proxy.async; st.release.gpu.global.b32 [$0], $1;", "l,r,~{memory}",
               /*result=*/Type(), {pointer, Int(b, rank) + i32Constant(b, 1)});
}

void mlir::blocksparse::device::emitOrderedSums(ImplicitLocOpBuilder &b,
                                                const AttentionOrderFrame &frame, Value parity) {
  StageRing ring = frame.partialRing(b);
  auto add = [&](ImplicitLocOpBuilder &b, const AttentionOrderWork &tile, Value step,
                 Value number) {
    SmallVector<Value> words = frame.readStep(b, tile, step);
    Value rank = words[AttentionOrderStepTable::Rank];
    Value queries = queriesOf(b, frame, tile, words[AttentionOrderStepTable::Query]);
    Value counter = pointerInto(b, frame.counters, Int(b, queries) * 4);
    // The wait for the rank comes first: dQ is still being computed.
    waitForRank(b, counter, rank);
    for (int64_t group = 0; group < Shape::groups; ++group) {
      Position at = partialPosition(b, positionOf(b, number), i32Constant(b, group));
      ring.waitFull(b, at);
      Value offset = Int(b, Int(b, queries) * Shape::groups + group) * Shape::partialBytes;
      addPartial(b, pointerInto(b, frame.partials, offset), frame.partialAddress(b, at.stage),
                 rank);
      ring.release(b, at.stage);
    }
    passRank(b, counter, rank);
  };
  forEachStep(
      b, frame,
      [&](ImplicitLocOpBuilder &b, const AttentionOrderWork &tile, Value step, Value number) {
        emitIf(b, isEqual(b, Int(b, number) % Shape::buffers, parity),
               [&](ImplicitLocOpBuilder &b) { add(b, tile, step, number); });
      });
}
