// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// JSON: tuning databases, and points of the benchmark.

#include "../../lib/Bench/BenchPoint.h"
#include "Check.h"
#include "blocksparse/Transforms/TuningDatabase.h"

using namespace mlir::blocksparse;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  std::string error;
  std::optional<TuningDatabase> database = TuningDatabase::parse(text, "fuzzed.json", error);
  checkError(database.has_value(), error);
  if (database) {
    std::optional<TuningDatabase> again = TuningDatabase::parse(database->print(), "again", error);
    check(again && again->print() == database->print(), "print() is a text for parse()");
  }
  error.clear();
  std::optional<std::vector<BenchPoint>> points = parseBenchPoints(text, error);
  checkError(points.has_value(), error);
  for (const BenchPoint &point : points.value_or(std::vector<BenchPoint>())) {
    std::optional<BenchPoint> again = parseBenchPoint(point.toJSON(), error);
    check(again && again->toJSON() == point.toJSON(), "toJSON() is a value for parseBenchPoint()");
  }
  return 0;
}
