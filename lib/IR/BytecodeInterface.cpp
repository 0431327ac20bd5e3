// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bytecode encoding of layouts. An attribute without an encoding is written as text, in which a
// resource is only a name, and the reader cannot connect it with the blob of the same file. Every
// other attribute of the dialect is written as text.

#include "BytecodeInterface.h"
#include "blocksparse/IR/BlockSparseAttrs.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Tells the kind of an attribute: the first number of its encoding.
enum class AttrCode : uint64_t { Layout = 0 };

/// Is the version of the dialect in bytecode that this code writes, and the newest one that it
/// reads (docs/Compatibility.md). Raise it in the commit that changes what an operation or an
/// attribute of a file means, and add the step from the version before to upgradeFromVersion.
constexpr uint64_t currentVersion = 4;

/// Is the version in bytecode of this dialect.
struct BytecodeVersion : DialectVersion {
  explicit BytecodeVersion(uint64_t number) : number(number) {}
  uint64_t number;
};

struct BytecodeInterface : BytecodeDialectInterface {
  explicit BytecodeInterface(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override;
  LogicalResult writeAttribute(Attribute attr, DialectBytecodeWriter &writer) const override;
  void writeVersion(DialectBytecodeWriter &writer) const override;
  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override;
  LogicalResult upgradeFromVersion(Operation *root, const DialectVersion &version) const override;
};

} // namespace

LogicalResult BytecodeInterface::writeAttribute(Attribute attr,
                                                DialectBytecodeWriter &writer) const {
  auto layout = dyn_cast<LayoutAttr>(attr);
  if (!layout)
    return failure(); // The writer falls back to text.
  writer.writeVarInt(static_cast<uint64_t>(AttrCode::Layout));
  ::blocksparse::BlockShape block = layout.getBlock();
  ::blocksparse::BlockGrid grid = layout.getGrid();
  for (int64_t size : {block.rows, block.cols, grid.heads, grid.rows, grid.cols})
    writer.writeSignedVarInt(size);
  writer.writeAttribute(layout.getContents());
  return success();
}

Attribute BytecodeInterface::readAttribute(DialectBytecodeReader &reader) const {
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return {};
  if (code != static_cast<uint64_t>(AttrCode::Layout)) {
    reader.emitError() << "expects attribute code 0, but got " << code;
    return {};
  }
  ::blocksparse::BlockShape block;
  ::blocksparse::BlockGrid grid;
  for (int64_t *size : {&block.rows, &block.cols, &grid.heads, &grid.rows, &grid.cols})
    if (failed(reader.readSignedVarInt(*size)))
      return {};
  Attribute contents;
  if (failed(reader.readAttribute(contents)))
    return {};
  return LayoutAttr::getChecked([&] { return reader.emitError(); }, getContext(), block, grid,
                                contents);
}

void BytecodeInterface::writeVersion(DialectBytecodeWriter &writer) const {
  writer.writeVarInt(currentVersion);
}

std::unique_ptr<DialectVersion>
BytecodeInterface::readVersion(DialectBytecodeReader &reader) const {
  uint64_t number;
  if (failed(reader.readVarInt(number)))
    return nullptr;
  if (number == 0 || number > currentVersion) {
    reader.emitError() << "expects bytecode of the dialect 'blocksparse' in version 1 to "
                       << currentVersion << ", but got " << number;
    return nullptr;
  }
  return std::make_unique<BytecodeVersion>(number);
}

LogicalResult BytecodeInterface::upgradeFromVersion(Operation *root,
                                                    const DialectVersion &version) const {
  // Version 1 is the first. A step for version n turns its operations, which MLIR has not verified
  // yet, into those of version n + 1. Version 2 adds attributes to operations with masks, and means
  // what version 1 does where they are absent (PropertiesEncoding.cpp); versions 3 and 4 do so with
  // factors that are operands. Before version 4, the operand that may follow the factors of an sdd
  // is its pattern.
  uint64_t number = static_cast<const BytecodeVersion &>(version).number;
  if (number >= 1 && number <= currentVersion) {
    if (number < 4)
      root->walk([](SDDOp op) {
        op.getProperties().operandSegmentSizes = {1, 1, op->getNumOperands() > 2 ? 1 : 0, 0};
      });
    return success();
  }
  return root->emitError("expects bytecode of the dialect 'blocksparse' in version ")
         << currentVersion << ", but got " << number;
}

uint64_t mlir::blocksparse::detail::getBytecodeVersion(DialectBytecodeReader &reader) {
  FailureOr<const DialectVersion *> version = reader.getDialectVersion<BlockSparseDialect>();
  return succeeded(version) ? static_cast<const BytecodeVersion *>(*version)->number : 1;
}

void mlir::blocksparse::detail::addBytecodeInterface(BlockSparseDialect &dialect) {
  dialect.addInterfaces<BytecodeInterface>();
}
