// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Warp.h"

#include "Arith.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

Value mlir::blocksparse::device::laneCount(ImplicitLocOpBuilder &b) {
  // The NVVM operation is used because convert-gpu-to-nvvm does not lower gpu.subgroup_size.
  Value lanes = NVVM::WarpSizeOp::create(b, b.getI32Type());
  return arith::IndexCastOp::create(b, b.getIndexType(), lanes);
}

Value mlir::blocksparse::device::reduceWarp(
    ImplicitLocOpBuilder &b, Value x,
    function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine) {
  for (int32_t distance = 16; distance > 0; distance /= 2) {
    auto other = gpu::ShuffleOp::create(b, x, distance, 32, gpu::ShuffleMode::XOR);
    Value combined = combine(b, x, other.getShuffleResult());
    x = arith::SelectOp::create(b, other.getValid(), combined, x);
  }
  return x;
}

Value mlir::blocksparse::device::readLane(ImplicitLocOpBuilder &b, Value value, Value lane) {
  return NVVM::ShflOp::create(b, b.getI32Type(), i32Constant(b, -1), value, lane,
                              i32Constant(b, 31), NVVM::ShflKind::idx, UnitAttr());
}

Value mlir::blocksparse::device::makeUniform(ImplicitLocOpBuilder &b, Value value) {
  return readLane(b, value, i32Constant(b, 0));
}
