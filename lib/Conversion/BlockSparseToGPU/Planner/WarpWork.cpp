// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WarpWork.h"

#include "../../Device/Arith.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

void mlir::blocksparse::device::launchWarpsEarly(
    ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, ValueRange operands,
    Value work,
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value item, Value lane)> body) {
  constexpr int64_t threads = KernelBuilder::simtThreads, warps = threads / warpSize;
  Value blocks = indexCeilDiv(host, work, indexConstant(host, warps));
  LaunchShape shape{indexMax(host, blocks, indexConstant(host, 1)), threads};
  shape.mode = LaunchMode::Early;
  SmallVector<Value> arguments(operands);
  arguments.push_back(work);
  kernels.launch(host, name, arguments, shape,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                   Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
                   Value first = Int(b, gpu::BlockIdOp::create(b, gpu::Dimension::x)) * warps;
                   Value item = Int(b, first) + Int(b, thread) / warpSize;
                   Value lane = Int(b, thread) % warpSize;
                   emitIf(b, indexLess(b, item, mapping.lookup(work)),
                          [&](ImplicitLocOpBuilder &b) { body(b, mapping, item, lane); });
                 });
}

Value mlir::blocksparse::device::sumUpTo(ImplicitLocOpBuilder &b, Value value) {
  for (int32_t distance = 1; distance < warpSize; distance *= 2) {
    auto other = gpu::ShuffleOp::create(b, value, distance, warpSize, gpu::ShuffleMode::UP);
    Value sum = Int(b, value) + other.getShuffleResult();
    value = arith::SelectOp::create(b, other.getValid(), sum, value);
  }
  return value;
}

Value mlir::blocksparse::device::sumOfLanes(ImplicitLocOpBuilder &b, Value value) {
  return reduceWarp(b, value, [](ImplicitLocOpBuilder &b, Value own, Value other) -> Value {
    return Int(b, own) + other;
  });
}

Value mlir::blocksparse::device::findRow(
    ImplicitLocOpBuilder &b, Value rows, Value block,
    function_ref<Value(ImplicitLocOpBuilder &, Value row)> firstBlock) {
  Type type = rows.getType();
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(type, 0));
  auto search = scf::WhileOp::create(
      b, TypeRange{type, type}, ValueRange{zero, rows},
      [&](OpBuilder &builder, Location loc, ValueRange range) {
        ImplicitLocOpBuilder b(loc, builder);
        scf::ConditionOp::create(b, isLess(b, Int(b, range[0]) + 1, range[1]), range);
      },
      [&](OpBuilder &builder, Location loc, ValueRange range) {
        ImplicitLocOpBuilder b(loc, builder);
        Value middle = (Int(b, range[0]) + range[1]) / 2;
        Value behind = isLess(b, block, firstBlock(b, middle));
        scf::YieldOp::create(b, ValueRange{select(b, behind, range[0], middle),
                                           select(b, behind, middle, range[1])});
      });
  return search.getResult(0);
}

ThreadSums mlir::blocksparse::device::sumOverThreads(ImplicitLocOpBuilder &b,
                                                     const SharedWords &shared, int64_t sums,
                                                     Value thread, int64_t threads, Value value) {
  Value lane = Int(b, thread) % warpSize, warp = Int(b, thread) / warpSize;
  Value lastLane = constant(b, warpSize - 1), end = sumUpTo(b, value);
  emitIf(b, isEqual(b, lane, lastLane),
         [&](ImplicitLocOpBuilder &b) { shared.store(b, sums, warp, end); });
  emitBarrier(b);
  Value ofWarp = emitChoice(
      b, isLess(b, lane, constant(b, threads / warpSize)),
      [&](ImplicitLocOpBuilder &b) { return shared.load(b, sums, lane); },
      [&](ImplicitLocOpBuilder &b) { return constant(b, 0); });
  Value ends = sumUpTo(b, ofWarp);
  Value warpsBefore = readLane(b, Int(b, ends) - ofWarp, warp);
  return {Int(b, warpsBefore) + (Int(b, end) - value), readLane(b, ends, lastLane)};
}
