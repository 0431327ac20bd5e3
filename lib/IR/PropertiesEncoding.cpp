// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The properties of operations in bytecode whose attributes or operands have grown since version 1
// of the dialect: what version 1 has comes first, in its order, and what is newer stands behind it.

#include "BytecodeInterface.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Bytecode/BytecodeImplementation.h"

#include <tuple>

using namespace mlir;
using namespace mlir::blocksparse;

template <typename OpTy>
static constexpr bool hasLayout = !std::is_same_v<OpTy, SoftmaxOp>;

template <typename OpTy>
static LogicalResult readMaskedOp(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<typename OpTy::Properties>();
  if (failed(reader.readOptionalAttribute(properties.attention_mask_mode)) ||
      failed(reader.readOptionalAttribute(properties.causal)) ||
      failed(reader.readOptionalAttribute(properties.key_padding_mask_mode)))
    return failure();
  if constexpr (hasLayout<OpTy>)
    if (failed(reader.readAttribute(properties.layout)))
      return failure();
  if (failed(reader.readOptionalAttribute(properties.scale)) ||
      failed(reader.readOptionalAttribute(properties.schedule)) ||
      failed(reader.readSparseArray(MutableArrayRef(properties.operandSegmentSizes))))
    return failure();
  if (mlir::blocksparse::detail::getBytecodeVersion(reader) < 2)
    return success();
  if (failed(reader.readOptionalAttribute(properties.causal_offset)) ||
      failed(reader.readOptionalAttribute(properties.window)))
    return failure();
  if constexpr (hasLayout<OpTy>)
    if (failed(reader.readOptionalAttribute(properties.soft_cap)) ||
        failed(reader.readOptionalAttribute(properties.score_element)))
      return failure();
  return success();
}

template <typename OpTy>
static void writeMaskedOp(OpTy op, DialectBytecodeWriter &writer) {
  auto &properties = op.getProperties();
  writer.writeOptionalAttribute(properties.attention_mask_mode);
  writer.writeOptionalAttribute(properties.causal);
  writer.writeOptionalAttribute(properties.key_padding_mask_mode);
  if constexpr (hasLayout<OpTy>)
    writer.writeAttribute(properties.layout);
  writer.writeOptionalAttribute(properties.scale);
  writer.writeOptionalAttribute(properties.schedule);
  writer.writeSparseArray(ArrayRef(properties.operandSegmentSizes));
  writer.writeOptionalAttribute(properties.causal_offset);
  writer.writeOptionalAttribute(properties.window);
  if constexpr (hasLayout<OpTy>) {
    writer.writeOptionalAttribute(properties.soft_cap);
    writer.writeOptionalAttribute(properties.score_element);
  }
}

LogicalResult SoftmaxOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  return readMaskedOp<SoftmaxOp>(reader, state);
}
void SoftmaxOp::writeProperties(DialectBytecodeWriter &writer) { writeMaskedOp(*this, writer); }

LogicalResult AttentionOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  return readMaskedOp<AttentionOp>(reader, state);
}
void AttentionOp::writeProperties(DialectBytecodeWriter &writer) { writeMaskedOp(*this, writer); }

LogicalResult AttentionGradOp::readProperties(DialectBytecodeReader &reader,
                                              OperationState &state) {
  return readMaskedOp<AttentionGradOp>(reader, state);
}
void AttentionGradOp::writeProperties(DialectBytecodeWriter &writer) {
  writeMaskedOp(*this, writer);
}

/// Reads the attributes of an operation and the sizes of its segments, which are `before` in files
/// of versions below `since`.
template <typename Sizes, typename... Attributes>
static LogicalResult readSegmentedOp(DialectBytecodeReader &reader, Sizes &sizes, uint64_t since,
                                     const Sizes &before, std::tuple<Attributes &...> attributes) {
  const bool readAll = std::apply(
      [&](auto &...each) { return (succeeded(reader.readOptionalAttribute(each)) && ...); },
      attributes);
  if (!readAll)
    return failure();
  if (mlir::blocksparse::detail::getBytecodeVersion(reader) >= since)
    return reader.readSparseArray(MutableArrayRef(sizes));
  sizes = before;
  return success();
}

template <typename Sizes, typename... Attributes>
static void writeSegmentedOp(DialectBytecodeWriter &writer, const Sizes &sizes,
                             std::tuple<Attributes &...> attributes) {
  std::apply([&](auto &...each) { (writer.writeOptionalAttribute(each), ...); }, attributes);
  writer.writeSparseArray(ArrayRef(sizes));
}

// Each function returns the attributes of an operation in the order of a file.
static auto attributesOf(SDDOp::Properties &own) {
  return std::tie(own.alpha, own.precision, own.schedule, own.transpose_a, own.transpose_b,
                  own.transpose_out);
}
static auto attributesOf(AddOp::Properties &own) {
  return std::tie(own.alpha, own.beta, own.schedule);
}
static auto attributesOf(SampledAddmmOp::Properties &own) {
  return std::tie(own.alpha, own.beta, own.precision, own.schedule, own.transpose_a,
                  own.transpose_b);
}

// Before version 4, sdd has its factors and perhaps a pattern, and no sizes of segments: those of
// one with a pattern come with the upgrade of the file (BytecodeInterface.cpp), as the operands are
// read after the properties.
LogicalResult SDDOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  return readSegmentedOp(reader, own.operandSegmentSizes, 4, {1, 1, 0, 0}, attributesOf(own));
}
void SDDOp::writeProperties(DialectBytecodeWriter &writer) {
  writeSegmentedOp(writer, getProperties().operandSegmentSizes, attributesOf(getProperties()));
}

// Before version 4, add has its terms alone, and no sizes of segments.
LogicalResult AddOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  return readSegmentedOp(reader, own.operandSegmentSizes, 4, {1, 1, 0, 0}, attributesOf(own));
}
void AddOp::writeProperties(DialectBytecodeWriter &writer) {
  writeSegmentedOp(writer, getProperties().operandSegmentSizes, attributesOf(getProperties()));
}

// Before version 3, sampled_addmm has its three factors alone, and no sizes of segments.
LogicalResult SampledAddmmOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  return readSegmentedOp(reader, own.operandSegmentSizes, 3, {1, 1, 1, 0, 0}, attributesOf(own));
}
void SampledAddmmOp::writeProperties(DialectBytecodeWriter &writer) {
  writeSegmentedOp(writer, getProperties().operandSegmentSizes, attributesOf(getProperties()));
}
