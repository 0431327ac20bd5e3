// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_TENSORMAPSTORUNTIME_H
#define BLOCKSPARSE_LIB_TARGET_GPU_TENSORMAPSTORUNTIME_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::blocksparse {

/// Turns the `nvgpu.tma.create.descriptor` ops of a function into calls of
/// blocksparseRtCallTensorMap; `call` is the state of the function's call. Their casts to !llvm.ptr
/// become addresses of 128-byte variables in the frame, which are added to `maps`. Fails for a
/// tensor without known strides, an element type without a tensor map, and a rank above 5.
LogicalResult lowerTensorMaps(func::FuncOp function, Value call, ModuleOp module,
                              llvm::DenseSet<Value> &maps);

/// Returns the blocksparseRtTensorMapType of an element type; bytes without arithmetic are U8.
/// Empty for a type that no map has.
std::optional<int32_t> getTensorMapType(Type type);

/// Returns the tensor under the op's cast to an unranked buffer. Fails for one that no map
/// describes.
FailureOr<TypedValue<MemRefType>> getMappedTensor(nvgpu::TmaCreateDescriptorOp op);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_TENSORMAPSTORUNTIME_H
