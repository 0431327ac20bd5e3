// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The properties of operations in bytecode whose attributes or operands have grown since version 1
// of the dialect: what version 1 has comes first, in its order, and what is newer stands behind it.

#include "BytecodeInterface.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Bytecode/BytecodeImplementation.h"

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

// Before version 4, sdd has its factors and perhaps a pattern, and no sizes of segments: those of
// one with a pattern come with the upgrade of the file (BytecodeInterface.cpp), as the operands are
// read after the properties.
LogicalResult SDDOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.alpha)) ||
      failed(reader.readOptionalAttribute(properties.precision)) ||
      failed(reader.readOptionalAttribute(properties.schedule)) ||
      failed(reader.readOptionalAttribute(properties.transpose_a)) ||
      failed(reader.readOptionalAttribute(properties.transpose_b)) ||
      failed(reader.readOptionalAttribute(properties.transpose_out)))
    return failure();
  if (mlir::blocksparse::detail::getBytecodeVersion(reader) >= 4)
    return reader.readSparseArray(MutableArrayRef(properties.operandSegmentSizes));
  properties.operandSegmentSizes = {1, 1, 0, 0};
  return success();
}
void SDDOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  writer.writeOptionalAttribute(properties.alpha);
  writer.writeOptionalAttribute(properties.precision);
  writer.writeOptionalAttribute(properties.schedule);
  writer.writeOptionalAttribute(properties.transpose_a);
  writer.writeOptionalAttribute(properties.transpose_b);
  writer.writeOptionalAttribute(properties.transpose_out);
  writer.writeSparseArray(ArrayRef(properties.operandSegmentSizes));
}

// Before version 4, add has its terms alone, and no sizes of segments.
LogicalResult AddOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.alpha)) ||
      failed(reader.readOptionalAttribute(properties.beta)) ||
      failed(reader.readOptionalAttribute(properties.schedule)))
    return failure();
  if (mlir::blocksparse::detail::getBytecodeVersion(reader) >= 4)
    return reader.readSparseArray(MutableArrayRef(properties.operandSegmentSizes));
  properties.operandSegmentSizes = {1, 1, 0, 0};
  return success();
}
void AddOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  writer.writeOptionalAttribute(properties.alpha);
  writer.writeOptionalAttribute(properties.beta);
  writer.writeOptionalAttribute(properties.schedule);
  writer.writeSparseArray(ArrayRef(properties.operandSegmentSizes));
}

// Before version 3, sampled_addmm has its three factors alone, and no sizes of segments.
LogicalResult SampledAddmmOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.alpha)) ||
      failed(reader.readOptionalAttribute(properties.beta)) ||
      failed(reader.readOptionalAttribute(properties.precision)) ||
      failed(reader.readOptionalAttribute(properties.schedule)) ||
      failed(reader.readOptionalAttribute(properties.transpose_a)) ||
      failed(reader.readOptionalAttribute(properties.transpose_b)))
    return failure();
  if (mlir::blocksparse::detail::getBytecodeVersion(reader) >= 3)
    return reader.readSparseArray(MutableArrayRef(properties.operandSegmentSizes));
  properties.operandSegmentSizes = {1, 1, 1, 0, 0};
  return success();
}
void SampledAddmmOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  writer.writeOptionalAttribute(properties.alpha);
  writer.writeOptionalAttribute(properties.beta);
  writer.writeOptionalAttribute(properties.precision);
  writer.writeOptionalAttribute(properties.schedule);
  writer.writeOptionalAttribute(properties.transpose_a);
  writer.writeOptionalAttribute(properties.transpose_b);
  writer.writeSparseArray(ArrayRef(properties.operandSegmentSizes));
}
