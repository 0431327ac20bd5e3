// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramSymbols.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

bool mlir::blocksparse::copyElementBytes(ElementsAttr value, SmallVectorImpl<char> &bytes) {
  Type element = value.getElementType();
  if (!element.isIntOrIndexOrFloat())
    return false;
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (bits % 8 != 0)
    return false;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return false;
    llvm::append_range(bytes, blob->getData());
    return true;
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return false;
  ArrayRef<char> raw = dense.getRawData();
  int64_t copies = dense.isSplat() ? dense.getNumElements() : 1;
  for (int64_t i = 0; i < copies; ++i)
    llvm::append_range(bytes, raw);
  return true;
}

std::string mlir::blocksparse::makeLutName(ArrayRef<char> bytes) {
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(StringRef(bytes.data(), bytes.size())));
  return "lut_" + llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) +
         llvm::utohexstr(hash.low64, /*LowerCase=*/true, 16) + "_" + llvm::utostr(bytes.size());
}
