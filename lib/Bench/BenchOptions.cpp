// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchOptions.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::blocksparse;
namespace json = llvm::json;

/// Returns the product of the options' lists. Points pass through the JSON parser, which checks
/// them.
static std::optional<std::vector<BenchPoint>> expandOptions(const BenchPointOptions &options,
                                                            std::string &error) {
  auto orDefault = [](const auto &list, auto value) {
    std::vector<decltype(value)> values(list.begin(), list.end());
    if (values.empty())
      values.push_back(value);
    return values;
  };
  std::vector<BenchPoint> points;
  llvm::StringSet<> seen;
  for (const auto &op : orDefault(options.ops, std::string("dsd")))
    for (const auto &type : orDefault(options.types, std::string("f16")))
      for (const auto &size : orDefault(options.sizes, std::string("4096")))
        for (const auto &layout : orDefault(options.layouts, std::string("random_balanced")))
          for (const auto &block : orDefault(options.blocks, std::string("64")))
            for (double density : orDefault(options.densities, 0.25)) {
              json::Object object{{"op", op},
                                  {"size", size},
                                  {"type", type},
                                  {"layout", layout},
                                  {"block", block},
                                  {"density", density},
                                  {"heads", options.heads.getValue()},
                                  {"seed", options.seed.getValue()},
                                  {"schedule", options.schedule.getValue()},
                                  {"packed_constant", options.packed.getValue()},
                                  {"transpose_a", options.transposeA.getValue()},
                                  {"transpose_b", options.transposeB.getValue()},
                                  {"causal", options.causal.getValue()},
                                  {"epilogue", options.epilogue.getValue()},
                                  {"precision", options.precision.getValue()}};
              std::optional<BenchPoint> point = parseBenchPoint(std::move(object), error);
              if (!point)
                return std::nullopt;
              // matmul has no layout, so several layouts give the same point.
              std::string text = llvm::formatv("{0}", json::Value(point->toJSON()));
              if (seen.insert(text).second)
                points.push_back(*point);
            }
  return points;
}

std::optional<std::vector<BenchPoint>> BenchPointOptions::get(std::string &error) const {
  if (points.empty())
    return expandOptions(*this, error);
  auto buffer = llvm::MemoryBuffer::getFile(points.getValue());
  if (!buffer) {
    error = "expects a file of points, but got '" + points.getValue() +
            "': " + buffer.getError().message();
    return std::nullopt;
  }
  return parseBenchPoints((*buffer)->getBuffer(), error);
}

BenchMeasure BenchMeasureOptions::get() const {
  BenchMeasure measure;
  measure.settings.samples = samples;
  measure.settings.sampleMilliseconds = sampleTime;
  measure.settings.rotateBytes = rotate * (1 << 20);
  measure.settings.memoryBytes = memory * (1 << 20);
  measure.settings.eager = eager;
  measure.checks = checks;
  measure.dataSeed = dataSeed;
  measure.damage = damage;
  return measure;
}
