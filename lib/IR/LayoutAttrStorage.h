// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_IR_LAYOUTATTRSTORAGE_H
#define BLOCKSPARSE_LIB_IR_LAYOUTATTRSTORAGE_H

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "mlir/IR/AttributeSupport.h"

#include <mutex>
#include <optional>
#include <string>
#include <tuple>

namespace mlir::blocksparse::detail {

/// The storage of LayoutAttr holds the pattern as it is spelled, which is the key, and its
/// canonical form, which is computed at the first use. A resource blob is parsed after the
/// attributes that name it, so that its contents cannot be read or checked when the attribute is
/// made.
struct LayoutAttrStorage : public AttributeStorage {
  using KeyTy = std::tuple<::blocksparse::BlockShape, ::blocksparse::BlockGrid, Attribute>;

  explicit LayoutAttrStorage(const KeyTy &key)
      : block(std::get<0>(key)), grid(std::get<1>(key)), contents(std::get<2>(key)) {}

  bool operator==(const KeyTy &key) const { return key == KeyTy(block, grid, contents); }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(std::get<0>(key), std::get<1>(key), std::get<2>(key));
  }
  static LayoutAttrStorage *construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<LayoutAttrStorage>()) LayoutAttrStorage(key);
  }
  KeyTy getAsKey() const { return KeyTy(block, grid, contents); }

  ::blocksparse::BlockShape block;
  ::blocksparse::BlockGrid grid;
  Attribute contents;

  /// Guards `resolved` and `error`.
  mutable std::mutex mutex;
  mutable std::optional<::blocksparse::BlockLayout> resolved;
  mutable std::string error;
};

} // namespace mlir::blocksparse::detail

#endif // BLOCKSPARSE_LIB_IR_LAYOUTATTRSTORAGE_H
