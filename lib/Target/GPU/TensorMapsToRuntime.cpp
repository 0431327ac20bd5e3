// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorMapsToRuntime.h"

#include "RuntimeCalls.h"
#include "blocksparse-c/Runtime.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::blocksparse;

static constexpr int64_t maxRank = 5;

// The dialect, the runtime and the driver use the same numbers for the kinds of a tensor map.
static_assert(int(nvgpu::TensorMapSwizzleKind::SWIZZLE_128B) == BLOCKSPARSE_RT_SWIZZLE_128B &&
              int(nvgpu::TensorMapL2PromoKind::L2PROMO_256B) == BLOCKSPARSE_RT_L2_256B &&
              int(nvgpu::TensorMapOOBKind::OOB_NAN) == BLOCKSPARSE_RT_FILL_NAN &&
              int(nvgpu::TensorMapInterleaveKind::INTERLEAVE_32B) == BLOCKSPARSE_RT_INTERLEAVE_32B);

std::optional<int32_t> mlir::blocksparse::getTensorMapType(Type type) {
  if (type.isF16())
    return BLOCKSPARSE_RT_TENSOR_F16;
  if (type.isBF16())
    return BLOCKSPARSE_RT_TENSOR_BF16;
  if (type.isF32())
    return BLOCKSPARSE_RT_TENSOR_F32;
  if (type.isF64())
    return BLOCKSPARSE_RT_TENSOR_F64;
  if (type.isInteger(32))
    return BLOCKSPARSE_RT_TENSOR_I32;
  if (type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 8)
    return BLOCKSPARSE_RT_TENSOR_U8;
  return std::nullopt;
}

namespace {

/// Builds a blocksparseRtTensorMapConfig in the frame.
class Config {
public:
  /// Names the members of the struct in its order.
  enum Member {
    ElementType,
    Rank,
    Address,
    Sizes,
    Strides,
    Box,
    Steps,
    Interleave,
    Swizzle,
    L2,
    Fill
  };

  Config(ImplicitLocOpBuilder &b, func::FuncOp function) : b(b) {
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto array = [](Type type, unsigned count) { return LLVM::LLVMArrayType::get(type, count); };
    type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                            {i32, i32, pointer, array(i64, 5), array(i64, 4),
                                             array(i32, 5), array(i32, 5), i32, i32, i32, i32});
    variable = makeVariable(b, b.getLoc(), function, type);
  }

  void set(Member member, Value value) { store(value, {0, member}); }
  void set(Member member, int32_t value) { set(member, number(value)); }
  void set(Member member, int32_t i, Value value) { store(value, {0, member, i}); }
  void set(Member member, int32_t i, int32_t value) { set(member, i, number(value)); }

  Value getVariable() const { return variable; }

private:
  Value number(int32_t value) {
    return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(value));
  }
  void store(Value value, ArrayRef<LLVM::GEPArg> position) {
    Value slot = LLVM::GEPOp::create(b, variable.getType(), type, variable, position);
    LLVM::StoreOp::create(b, value, slot);
  }

  ImplicitLocOpBuilder &b;
  Type type;
  Value variable;
};
static_assert(sizeof(blocksparseRtTensorMapConfig) == 144 &&
              offsetof(blocksparseRtTensorMapConfig, box) == 88 &&
              offsetof(blocksparseRtTensorMapConfig, outOfBounds) == 140);

} // namespace

/// Returns the distance between neighbours in a row, if it is known.
static std::optional<int64_t> getLastStride(TypedValue<MemRefType> tensor) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (auto view = tensor.getDefiningOp<memref::ReinterpretCastOp>())
    return getConstantIntValue(view.getMixedStrides().back());
  if (failed(tensor.getType().getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(strides.back()))
    return std::nullopt;
  return strides.back();
}

FailureOr<TypedValue<MemRefType>>
mlir::blocksparse::getMappedTensor(nvgpu::TmaCreateDescriptorOp op) {
  auto cast = op.getTensor().getDefiningOp<memref::CastOp>();
  auto tensor = cast ? dyn_cast<TypedValue<MemRefType>>(cast.getSource()) : nullptr;
  if (!tensor)
    return op.emitOpError("expects a buffer of known rank under a memref.cast, but got ")
           << op.getTensor();
  MemRefType type = tensor.getType();
  if (type.getRank() < 1 || type.getRank() > maxRank)
    return op.emitOpError("expects a tensor of 1 to ")
           << maxRank << " dimensions, but got " << type.getRank();
  if (int64_t(op.getBoxDimensions().size()) != type.getRank())
    return op.emitOpError("expects a box of ")
           << type.getRank() << " dimensions, but got " << op.getBoxDimensions().size();
  if (!getTensorMapType(type.getElementType()))
    return op.emitOpError("expects elements of f16, bf16, f32, f64, i32 or of 8 bits, but got ")
           << type.getElementType();
  if (std::optional<int64_t> stride = getLastStride(tensor); stride && *stride != 1)
    return op.emitOpError("expects rows of consecutive elements, but got the stride ") << *stride;
  return tensor;
}

/// Fills sizes, strides and address. Dimension 0 of a tensor map is the innermost one.
static void describeTensor(ImplicitLocOpBuilder &b, Config &config, TypedValue<MemRefType> tensor) {
  auto toI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  };
  int64_t rank = tensor.getType().getRank();
  auto parts = memref::ExtractStridedMetadataOp::create(b, tensor);
  Value bytes = arith::ConstantIndexOp::create(
      b, tensor.getType().getElementType().getIntOrFloatBitWidth() / 8);
  for (int64_t i = 0; i < rank; ++i) {
    config.set(Config::Sizes, i, toI64(parts.getSizes()[rank - 1 - i]));
    if (i + 1 < rank) {
      Value stride = arith::MulIOp::create(b, parts.getStrides()[rank - 2 - i], bytes);
      config.set(Config::Strides, i, toI64(stride));
    }
  }
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, tensor);
  Value offset = arith::MulIOp::create(b, parts.getOffset(), bytes);
  address = arith::AddIOp::create(b, address, offset);
  config.set(Config::Address, LLVM::IntToPtrOp::create(
                                  b, LLVM::LLVMPointerType::get(b.getContext()), toI64(address)));
}

static void describeMap(ImplicitLocOpBuilder &b, Config &config, nvgpu::TmaCreateDescriptorOp op,
                        MemRefType tensor) {
  nvgpu::TensorMapDescriptorType map = op.getTensorMap().getType();
  int64_t rank = tensor.getRank();
  config.set(Config::ElementType, *getTensorMapType(tensor.getElementType()));
  config.set(Config::Rank, static_cast<int32_t>(rank));
  for (int64_t i = 0; i < rank; ++i) {
    Value size = op.getBoxDimensions()[rank - 1 - i];
    config.set(Config::Box, i, arith::IndexCastOp::create(b, b.getI32Type(), size));
  }
  for (int32_t i = 0; i < maxRank; ++i)
    config.set(Config::Steps, i, 0);
  config.set(Config::Interleave, static_cast<int32_t>(map.getInterleave()));
  config.set(Config::Swizzle, static_cast<int32_t>(map.getSwizzle()));
  config.set(Config::L2, static_cast<int32_t>(map.getL2promo()));
  config.set(Config::Fill, static_cast<int32_t>(map.getOob()));
}

/// Replaces a map by its address; fails if it is used otherwise.
static LogicalResult replaceCasts(nvgpu::TmaCreateDescriptorOp op, Value variable) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    auto cast = dyn_cast<UnrealizedConversionCastOp>(user);
    if (!cast || cast->getNumResults() != 1 || cast.getResult(0).getType() != variable.getType())
      return op.emitOpError("expects the tensor map to be cast to !llvm.ptr, but got a use by ")
             << user->getName();
    cast.getResult(0).replaceAllUsesWith(variable);
    cast.erase();
  }
  op.erase();
  return success();
}

LogicalResult mlir::blocksparse::lowerTensorMaps(func::FuncOp function, Value call, ModuleOp module,
                                                 llvm::DenseSet<Value> &maps) {
  SmallVector<nvgpu::TmaCreateDescriptorOp> ops;
  function.walk([&](nvgpu::TmaCreateDescriptorOp op) { ops.push_back(op); });
  for (nvgpu::TmaCreateDescriptorOp op : ops) {
    FailureOr<TypedValue<MemRefType>> tensor = getMappedTensor(op);
    if (failed(tensor))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Config config(b, function);
    describeMap(b, config, op, tensor->getType());
    describeTensor(b, config, *tensor);
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), sizeof(blocksparseRtTensorMap));
    Value map = makeVariable(b, b.getLoc(), function, bytes, 1, alignof(blocksparseRtTensorMap));
    callRuntime(b, b.getLoc(), module, "blocksparseRtCallTensorMap", Type(),
                {call, config.getVariable(), map});
    maps.insert(map);
    if (failed(replaceCasts(op, map)))
      return failure();
  }
  return success();
}
