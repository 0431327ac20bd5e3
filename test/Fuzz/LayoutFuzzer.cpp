// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The text of layouts.

#include "Check.h"
#include "FuzzedContext.h"
#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Support/Nesting.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns true if the sizes of the text may make a valid layout that is slow to build: more than a
/// million blocks, or so many positions. A size beyond the limit of a layout is refused at once.
static bool isLarge(StringRef text) {
  constexpr double limit = ::blocksparse::BlockLayout::maxBlocks;
  double previous[2] = {1, 1};
  while (!text.empty()) {
    StringRef digits = text.take_while([](char c) { return c >= '0' && c <= '9'; });
    text = text.drop_front(std::max<size_t>(digits.size(), 1));
    if (digits.empty())
      continue;
    double number = 0;
    for (char c : digits)
      number = 10 * number + (c - '0');
    if (number > limit)
      number = 0;
    if (std::max({number, number * previous[1], number * previous[1] * previous[0]}) > 1e6)
      return true;
    previous[0] = std::exchange(previous[1], std::max(number, 1.0));
  }
  return false;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  if (!text.starts_with("#blocksparse.layout<") || isLarge(text) ||
      ::blocksparse::findDeepNesting(text))
    return -1;
  MLIRContext &context = getFuzzedContext();
  auto layout = dyn_cast_or_null<LayoutAttr>(parseAttribute(text, &context));
  if (!layout)
    return 0;
  std::string printed;
  llvm::raw_string_ostream(printed) << layout;
  // A resource is another one each time that it is named, as long as no file defines it.
  const bool hasResource = StringRef(printed).contains("dense_resource<");
  check(hasResource || parseAttribute(printed, &context) == layout, "a printed layout is itself");
  LayoutAttr expanded = layout.getExpanded();
  check(expanded || !layout.getResolveError().empty(), "what is no layout has an error");
  check(!expanded || expanded.resolve(), "an expanded layout has blocks");
  return 0;
}
