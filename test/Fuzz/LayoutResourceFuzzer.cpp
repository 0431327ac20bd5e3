// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layouts whose offsets and columns are a resource of any bytes.

#include "Check.h"
#include "FuzzedContext.h"
#include "blocksparse/IR/BlockSparseAttrs.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <fuzzer/FuzzedDataProvider.h>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockGrid;
using ::blocksparse::BlockShape;

/// Returns a small size, or any.
static int64_t takeSize(FuzzedDataProvider &provider) {
  return provider.ConsumeBool() ? provider.ConsumeIntegralInRange<int64_t>(0, 8)
                                : provider.ConsumeIntegral<int64_t>();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider provider(data, size);
  BlockShape block{takeSize(provider), takeSize(provider)};
  BlockGrid grid{takeSize(provider), takeSize(provider), takeSize(provider)};
  int64_t count = takeSize(provider);
  std::vector<char> bytes = provider.ConsumeRemainingBytes<char>();
  // The copy below takes no null pointer, even for no bytes.
  bytes.reserve(1);
  if (count < 0)
    return -1;

  MLIRContext &context = getFuzzedContext();
  auto type = RankedTensorType::get({count}, IntegerType::get(&context, 32));
  const Attribute contents = DenseResourceElementsAttr::get(
      type, "fuzzed", HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, alignof(int32_t)));
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  // The types are those of the function that is declared: a template would need the storage.
  auto layout = LayoutAttr::getChecked(function_ref<InFlightDiagnostic()>(emitError), &context,
                                       block, grid, contents);
  if (!layout)
    return 0;
  const auto *resolved = layout.resolve();
  check(resolved || !layout.getResolveError().empty(), "what is no layout has an error");
  check(!resolved || LayoutAttr::get(&context, *resolved).resolve(), "a layout is canonical");
  return 0;
}
