// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WarpWork.h"

#include "../../Device/Arith.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

Value mlir::blocksparse::device::valueOfLane(ImplicitLocOpBuilder &b, Value value, Value lane) {
  return gpu::ShuffleOp::create(b, value, lane, i32Constant(b, warpSize), gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

Value mlir::blocksparse::device::sumOfLanes(ImplicitLocOpBuilder &b, Value value) {
  return reduceWarp(b, value, [](ImplicitLocOpBuilder &b, Value own, Value other) -> Value {
    return Int(b, own) + other;
  });
}
