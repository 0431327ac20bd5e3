// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares what the cost model chooses with measurements: measured-schedules.json has the times of
// all candidates at some points, as blocksparse-tune prints them.

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/ScheduleChooser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

struct Point {
  std::string op;
  int64_t size = 0, block = 0;
  double density = 0;
  bool transposeB = false;
  /// By schedule.
  std::map<std::string, double> milliseconds;
};

bool fromJSON(const llvm::json::Value &value, Point &point, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("op", point.op) && map.map("size", point.size) &&
         map.map("block", point.block) && map.map("density", point.density) &&
         map.mapOptional("transpose_b", point.transposeB) &&
         map.map("milliseconds", point.milliseconds);
}

std::vector<Point> readPoints() {
  auto buffer = llvm::MemoryBuffer::getFile(BLOCKSPARSE_MEASURED_SCHEDULES);
  EXPECT_TRUE(buffer);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse((*buffer)->getBuffer());
  EXPECT_TRUE(bool(value));
  std::vector<Point> points;
  llvm::json::Path::Root root;
  EXPECT_TRUE(llvm::json::fromJSON(*value->getAsObject()->get("points"), points, root));
  return points;
}

std::string programOf(const Point &point) {
  int64_t grid = point.size / point.block;
  std::string dense = llvm::formatv("tensor<{0}x{0}xf16>", point.size);
  std::string sparse = llvm::formatv("tensor<{0}x{0}xf16, #layout>", point.size);
  bool sampled = point.op == "sdd";
  std::string a = sampled ? dense : sparse, result = sampled ? sparse : dense;
  return llvm::formatv("#layout = #blocksparse.layout<{0}x{0}, grid {1}x{1}, "
                       "random_balanced(density = {2}, seed = 1)>\n"
                       "func.func @f(%a: {3}, %b: {4}) -> {5} {{\n"
                       "  %0 = blocksparse.{6} %a, %b {7} : ({3}, {4}) -> {5}\n"
                       "  return %0 : {5}\n"
                       "}\n",
                       point.block, grid, point.density, a, dense, result, point.op,
                       point.transposeB ? "{transpose_b}" : "");
}

/// Returns the schedule that is chosen for the one operation of a program, or an empty string.
std::string choose(const std::string &program) {
  MLIRContext context;
  context.loadDialect<BlockSparseDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  if (!module)
    return {};
  PassManager pm = PassManager::on<ModuleOp>(&context);
  pm.addPass(createSelectSchedulePass(::blocksparse::TargetInfo::h100(), /*database=*/"", nullptr));
  if (failed(pm.run(*module)))
    return {};
  std::string chosen;
  module->walk([&](Operation *op) {
    if (auto schedule = op->getAttrOfType<ScheduleAttr>("schedule"))
      llvm::raw_string_ostream(chosen) << Attribute(schedule);
  });
  return chosen;
}

TEST(MeasuredSchedules, ChoicesAreWithinATenthOfTheBest) {
  std::vector<Point> points = readPoints();
  ASSERT_GE(points.size(), 40u);
  for (const Point &point : points) {
    std::string name = llvm::formatv("{0} {1}, blocks of {2}, density {3}{4}", point.op, point.size,
                                     point.block, point.density, point.transposeB ? ", B^T" : "");
    std::string chosen = choose(programOf(point));
    auto found = point.milliseconds.find(chosen);
    ASSERT_NE(found, point.milliseconds.end()) << name << ": not measured: " << chosen;
    double best = found->second;
    for (const auto &[schedule, milliseconds] : point.milliseconds)
      best = std::min(best, milliseconds);
    EXPECT_LE(found->second, 1.1 * best) << name << ": " << chosen;
    RecordProperty(name, llvm::formatv("{0:f3}", found->second / best).str());
  }
}

} // namespace
