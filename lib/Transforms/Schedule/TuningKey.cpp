// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductShape.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/TuningDatabase.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockLayout;
using ::blocksparse::TargetInfo;

template <typename T>
static uint64_t hashWords(ArrayRef<T> words) {
  return llvm::xxh3_64bits(
      ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(words.data()), words.size() * sizeof(T)));
}

uint64_t mlir::blocksparse::hashLayout(const BlockLayout &layout) {
  auto signedHash = [](std::span<const int32_t> values) {
    return static_cast<int64_t>(hashWords(ArrayRef<int32_t>(values.data(), values.size())));
  };
  const int64_t words[] = {layout.block().rows,
                           layout.block().cols,
                           layout.grid().heads,
                           layout.grid().rows,
                           layout.grid().cols,
                           signedHash(layout.rowOffsets()),
                           signedHash(layout.colIndices())};
  return hashWords(ArrayRef<int64_t>(words));
}

/// Prints a layout as "<64x64, grid 1x16x16, 64 blocks, rows of 4 to 4, 0123456789abcdef>".
static void printLayout(llvm::raw_ostream &os, const BlockLayout &layout) {
  std::span<const int32_t> offsets = layout.rowOffsets();
  int32_t least = offsets.size() > 1 ? std::numeric_limits<int32_t>::max() : 0, most = 0;
  for (size_t row = 1; row < offsets.size(); ++row) {
    least = std::min(least, offsets[row] - offsets[row - 1]);
    most = std::max(most, offsets[row] - offsets[row - 1]);
  }
  os << '<' << layout.block().rows << 'x' << layout.block().cols << ", grid " << layout.grid().heads
     << 'x' << layout.grid().rows << 'x' << layout.grid().cols << ", " << layout.nnz()
     << " blocks, rows of " << least << " to " << most << ", "
     << llvm::format_hex_no_prefix(hashLayout(layout), 16) << '>';
}

static void printAttribute(llvm::raw_ostream &os, Attribute attribute) {
  if (auto layout = dyn_cast<LayoutAttr>(attribute)) {
    if (const BlockLayout *resolved = layout.resolve())
      return printLayout(os, *resolved);
    os << layout;
  } else if (auto number = dyn_cast<FloatAttr>(attribute)) {
    os << (number.getValue().isZero() ? "0" : number.getValue().isExactlyValue(1) ? "1" : "any");
  } else {
    os << attribute;
  }
}

static void printType(llvm::raw_ostream &os, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding()) {
    os << type;
    return;
  }
  os << RankedTensorType::get(tensor.getShape(), tensor.getElementType());
  printAttribute(os, tensor.getEncoding());
}

/// Prints how many operands there are of each in the definition, as ", operands 1 1 0 1".
/// Numbers at the end that are 0 are left out, so that a new optional operand, which is the last
/// one, keeps the keys of operations that lack it. Nothing is printed if each number is 1.
static void printSegments(llvm::raw_ostream &os, DenseI32ArrayAttr segments) {
  ArrayRef<int32_t> sizes = segments.asArrayRef();
  while (!sizes.empty() && sizes.back() == 0)
    sizes = sizes.drop_back();
  if (llvm::all_of(sizes, [](int32_t size) { return size == 1; }))
    return;
  os << ", operands";
  for (int32_t size : sizes)
    os << ' ' << size;
}

std::string mlir::blocksparse::getTuningKey(Operation *op, const TargetInfo &target) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << op->getName().getStringRef() << " on " << target.toString() << ": (";
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    os << (index ? ", " : "") << (isConstant(operand) ? "constant " : "");
    printType(os, operand.getType());
  }
  os << ')';
  if (auto segments = op->getAttrDictionary().getAs<DenseI32ArrayAttr>("operandSegmentSizes"))
    printSegments(os, segments);
  os << " -> (";
  for (auto [index, type] : llvm::enumerate(op->getResultTypes())) {
    os << (index ? ", " : "");
    printType(os, type);
  }
  os << ") {";
  StringRef separator;
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    // Flags that are not set are as good as absent ones.
    if (auto flag = dyn_cast<BoolAttr>(attribute.getValue());
        attribute.getName() == "schedule" || attribute.getName() == "operandSegmentSizes" ||
        (flag && !flag.getValue()) || op->getDiscardableAttr(attribute.getName()))
      continue;
    os << separator << attribute.getName().getValue() << " = ";
    printAttribute(os, attribute.getValue());
    separator = ", ";
  }
  os << '}';
  return key;
}
