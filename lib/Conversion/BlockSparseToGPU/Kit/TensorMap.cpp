// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorMap.h"

#include "../../Device/Assembly.h"
#include "../../Device/Loops.h"
#include "SharedTile.h"
#include "blocksparse/IR/DialectAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr unsigned sharedSpace = 3;
static constexpr unsigned clusterSpace = 7;
static constexpr int64_t swizzleBytes = 1024;
/// Strides are multiples of so many bytes.
static constexpr int64_t strideBytes = 16;

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Holds the size and the stride (in elements) of one dimension.
struct MapDimension {
  Value size, stride;
};

/// Creates the map of the array that begins at element `offset` of `memref`. `dimensions` and `box`
/// begin with the slowest dimension. Elements outside of the array are read as 0.
static Value createMap(ImplicitLocOpBuilder &b, Value memref, Value offset,
                       ArrayRef<MapDimension> dimensions, ArrayRef<int64_t> box) {
  using Swizzle = nvgpu::TensorMapSwizzleKind;
  const int64_t rowBytes = box.back() * getElementBytes(memref);
  Swizzle swizzle = rowBytes == 128  ? Swizzle::SWIZZLE_128B
                    : rowBytes == 64 ? Swizzle::SWIZZLE_64B
                                     : Swizzle::SWIZZLE_32B;
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> sizes, strides;
  for (const MapDimension &dimension : dimensions) {
    sizes.push_back(dimension.size);
    strides.push_back(dimension.stride);
  }
  SmallVector<int64_t> dynamic(dimensions.size(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, dynamic);
  auto arrayType = MemRefType::get(dynamic, type.getElementType(), layout);
  Value array =
      memref::ReinterpretCastOp::create(b, arrayType, memref, OpFoldResult(offset), sizes, strides);
  // Tensor maps know bytes as unsigned integers alone.
  Type element = type.getElementType();
  if (getElementBytes(memref) == 1) {
    element = IntegerType::get(b.getContext(), 8, IntegerType::Unsigned);
    auto bytesType = MemRefType::get(dynamic, element, layout);
    array = UnrealizedConversionCastOp::create(b, bytesType, array).getResult(0);
  }
  auto unranked = UnrankedMemRefType::get(element, Attribute());
  Value any = memref::CastOp::create(b, unranked, array);
  auto boxType =
      MemRefType::get(box, element, MemRefLayoutAttrInterface(), b.getI64IntegerAttr(sharedSpace));
  auto descriptor = nvgpu::TensorMapDescriptorType::get(
      b.getContext(), boxType, swizzle, nvgpu::TensorMapL2PromoKind::L2PROMO_256B,
      nvgpu::TensorMapOOBKind::OOB_ZERO, nvgpu::TensorMapInterleaveKind::INTERLEAVE_NONE);
  SmallVector<Value> boxValues =
      llvm::map_to_vector(box, [&](int64_t size) { return indexConstant(b, size); });
  Value map = nvgpu::TmaCreateDescriptorOp::create(b, descriptor, any, boxValues);
  return UnrealizedConversionCastOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), map)
      .getResult(0);
}

Value mlir::blocksparse::device::createTensorMap(ImplicitLocOpBuilder &host, Value memref,
                                                 DenseAxes axes, TensorBox box) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(host, memref);
  // A dimension of size 1 may have any stride in the memref, but a map requires a multiple of 16
  // bytes.
  auto dimension = [&](int axis) {
    MapDimension result{indexConstant(host, 1),
                        indexConstant(host, strideBytes / getElementBytes(memref))};
    if (axis >= 0 && type.getDimSize(axis) != 1)
      result = {memrefDim(host, memref, axis), metadata.getStrides()[axis]};
    return result;
  };
  if (axes.row + 1 == type.getRank())
    std::swap(axes.row, axes.col);
  Value cols = memrefDim(host, memref, axes.col), one = indexConstant(host, 1);
  Value subtile = indexConstant(host, subtileCols);
  SmallVector<MapDimension> dimensions{dimension(axes.batch), dimension(axes.head)};
  SmallVector<int64_t> boxSizes{1, 1};
  if (box.isSplit()) {
    dimensions.push_back({host.createOrFold<arith::DivUIOp>(cols, subtile), subtile});
    boxSizes.push_back(box.subtiles);
    cols = subtile;
  }
  dimensions.push_back(dimension(axes.row));
  dimensions.push_back({cols, one});
  boxSizes.append({box.rows, box.cols});
  return createMap(host, memref, metadata.getOffset(), dimensions, boxSizes);
}

Value mlir::blocksparse::device::createValuesMap(ImplicitLocOpBuilder &host, Value memref,
                                                 TensorBox box) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(host, memref);
  Value rows = indexConstant(host, 1), cols = memrefDim(host, memref, type.getRank() - 1);
  for (int64_t axis = 0; axis + 1 < type.getRank(); ++axis)
    rows = Int(host, rows) * memrefDim(host, memref, axis);
  Value one = indexConstant(host, 1);
  Value idle = indexConstant(host, strideBytes / getElementBytes(memref));
  return createMap(host, memref, metadata.getOffset(),
                   {{one, idle}, {one, idle}, {rows, cols}, {cols, one}},
                   {1, 1, box.rows, box.cols});
}

Value mlir::blocksparse::device::isRowMajor(ImplicitLocOpBuilder &host, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(host, memref);
  Value stride = indexConstant(host, 1);
  Value result = arith::ConstantIntOp::create(host, host.getI1Type(), 1);
  for (int64_t axis = type.getRank(); axis-- > 0;) {
    if (type.getDimSize(axis) == 1)
      continue;
    result = both(host, result, indexEqual(host, metadata.getStrides()[axis], stride));
    stride = Int(host, stride) * memrefDim(host, memref, axis);
  }
  return result;
}

void mlir::blocksparse::device::setTensorMapArguments(gpu::GPUFuncOp kernel, int64_t count) {
  SmallVector<int32_t> arguments(count);
  std::iota(arguments.begin(), arguments.end(), 0);
  kernel->setAttr(tensorMapsAttr, DenseI32ArrayAttr::get(kernel.getContext(), arguments));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static Value clusterPointer(ImplicitLocOpBuilder &b, Value shared) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), clusterSpace);
  return LLVM::AddrSpaceCastOp::create(b, type, sharedPointer(b, shared));
}

/// Returns the coordinates in the order of the instruction, from the fastest dimension.
static SmallVector<Value> getCoordinates(ImplicitLocOpBuilder &b, bool split,
                                         const TensorCoord &coord) {
  if (!split)
    return {coord.col, coord.row, coord.head, coord.batch};
  return {i32Constant(b, 0), coord.row, Int(b, coord.col) / subtileCols, coord.head, coord.batch};
}

/// Returns the cache policy (i64) of data that leaves the L2 cache first.
static Value createEvictFirst(ImplicitLocOpBuilder &b) {
  return emitAssembly(b, "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l",
                      b.getI64Type(), ValueRange(), /*hasSideEffects=*/false);
}

void mlir::blocksparse::device::emitTensorLoad(ImplicitLocOpBuilder &b, Value map, TensorBox box,
                                               const TensorCoord &coord, Value shared,
                                               Value barrier, int64_t cluster, CacheUse use) {
  Value mask, policy;
  if (use == CacheUse::Once)
    policy = createEvictFirst(b);
  if (cluster > 1)
    mask = arith::ConstantIntOp::create(b, b.getI16Type(), (int64_t(1) << cluster) - 1);
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, clusterPointer(b, shared), map, getCoordinates(b, box.isSplit(), coord), barrier,
      ValueRange{}, mask, policy, NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
      NVVM::CTAGroupKindAttr(), Value());
}

void mlir::blocksparse::device::emitPrefetchMap(ImplicitLocOpBuilder &b, Value map) {
  NVVM::PrefetchOp::create(b, NVVM::PrefetchCacheLevelAttr(), NVVM::CacheEvictionPriorityAttr(),
                           map, Value(), /*tensormap=*/b.getUnitAttr(), UnitAttr(), UnitAttr());
}

void mlir::blocksparse::device::emitTensorStore(ImplicitLocOpBuilder &b, Value map,
                                                const TensorCoord &coord, Value shared) {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(b, map, sharedPointer(b, shared),
                                                     getCoordinates(b, /*split=*/false, coord),
                                                     Value(), NVVM::TMAStoreMode::TILE, Value());
}

void mlir::blocksparse::device::emitBulkLoad(ImplicitLocOpBuilder &b, Value source, Value bytes,
                                             Value shared, Value barrier) {
  NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(b, clusterPointer(b, shared), source, barrier,
                                                   bytes, Value(), Value());
}

void mlir::blocksparse::device::emitCommitStores(ImplicitLocOpBuilder &b) {
  NVVM::CpAsyncBulkCommitGroupOp::create(b);
}

void mlir::blocksparse::device::emitWaitStoresRead(ImplicitLocOpBuilder &b) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, 0, b.getUnitAttr());
}

void mlir::blocksparse::device::emitWaitStores(ImplicitLocOpBuilder &b) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, 0, UnitAttr());
}

void mlir::blocksparse::device::emitProxyFence(ImplicitLocOpBuilder &b) {
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::device::sharedPointer(ImplicitLocOpBuilder &b, Value address) {
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), sharedSpace),
                                  address);
}

Value mlir::blocksparse::device::alignedSharedBase(ImplicitLocOpBuilder &b) {
  Value first = SharedMemory::get(b).at(b, i32Constant(b, 0));
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), first);
  Value up = Int(b, address) + (swizzleBytes - 1);
  return arith::AndIOp::create(b, up, i32Constant(b, -swizzleBytes));
}
