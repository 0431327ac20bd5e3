// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::blocksparse;
namespace json = llvm::json;

double mlir::blocksparse::countBenchWork(const BenchPoint &point, int64_t nnz) {
  double stored =
      double(nnz) * double(point.block.rows) * double(point.block.cols) * double(point.heads);
  switch (point.op) {
  case BenchOp::DSD:
  case BenchOp::BsrAddmm:
    return 2 * stored * double(point.n);
  case BenchOp::DDS:
    return 2 * stored * double(point.m);
  case BenchOp::SDD:
    return 2 * stored * double(point.k);
  case BenchOp::Attention:
    return 4 * stored * double(point.k);
  case BenchOp::AttentionGrad:
    return 10 * stored * double(point.k);
  case BenchOp::Matmul:
    return 2 * double(point.m) * double(point.n) * double(point.k) * double(point.heads);
  case BenchOp::Softmax:
    return 2 * stored * double(::blocksparse::elementSize(point.type));
  case BenchOp::SoftmaxGrad:
    return 3 * stored * double(::blocksparse::elementSize(point.type));
  }
  return 0;
}

/// Returns TFLOP/s, or GB/s for softmax.
static double getRate(const BenchResult &result) {
  if (result.times.median <= 0)
    return 0;
  double perSecond = result.work / (result.times.median * 1e-3);
  return perSecond * (result.point.isSoftmax() ? 1e-9 : 1e-12);
}

/// Returns the rate as a share of the roof; 0 if there is no roof.
static double getShare(const BenchResult &result, const BenchRoofs &roofs) {
  double roof = result.point.isSoftmax() ? roofs.bytes : roofs.operations;
  return roof > 0 ? getRate(result) / roof : 0;
}

static std::string number(const char *format, double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, value);
  return text;
}

static StringRef statusName(BenchResult::Status status) {
  switch (status) {
  case BenchResult::Status::Passed:
    return "passed";
  case BenchResult::Status::Compiled:
    return "compiled";
  case BenchResult::Status::Failed:
    return "failed";
  case BenchResult::Status::Error:
    return "error";
  case BenchResult::Status::Skipped:
    return "skipped";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr StringRef columns[] = {"op",      "shape",    "block", "density", "layout",
                                        "type",    "ms",       "rate",  "roof",    "compile ms",
                                        "host us", "schedule", "check"};

BenchTable::BenchTable(llvm::raw_ostream &os, ArrayRef<BenchPoint> points, BenchRoofs roofs)
    : os(os), roofs(roofs) {
  for (StringRef column : columns)
    widths.push_back(column.size());
  auto widen = [&](size_t column, size_t width) {
    widths[column] = std::max(widths[column], width);
  };
  for (const BenchPoint &point : points) {
    widen(0, getName(point.op).size());
    widen(1, point.formatShape().size());
    widen(2, point.formatBlock().size());
    widen(4, point.layout.size());
    widen(5, ::blocksparse::elementName(point.type).size());
  }
  widen(6, 9);
  widen(7, 14);
  widen(11, 24);
}

void BenchTable::printRow(ArrayRef<std::string> cells) {
  for (auto [index, cell] : llvm::enumerate(cells))
    os << (index ? "  " : "")
       << (index + 1 == cells.size()
               ? cell
               : cell + std::string(widths[index] > cell.size() ? widths[index] - cell.size() : 0,
                                    ' '));
  os << "\n";
  os.flush();
}

void BenchTable::printHeader() {
  printRow(llvm::to_vector(llvm::map_range(columns, [](StringRef name) { return name.str(); })));
}

void BenchTable::print(const BenchResult &result) {
  const BenchPoint &point = result.point;
  bool timed = result.times.median > 0;
  double share = getShare(result, roofs);
  std::string verdict = result.check.describe();
  if (result.status == BenchResult::Status::Compiled)
    verdict = "compiled";
  else if (result.status == BenchResult::Status::Skipped)
    verdict = "skipped: no time left";
  else if (result.status == BenchResult::Status::Error)
    verdict = "ERROR: " + result.error;
  std::string density = point.hasLayout() ? number("%.4f", result.density) : "-";
  printRow(
      {getName(point.op).str(), point.formatShape(), point.hasLayout() ? point.formatBlock() : "-",
       density, point.hasLayout() ? point.layout : "-",
       std::string(::blocksparse::elementName(point.type)),
       timed ? number("%.4g", result.times.median) : "-",
       timed ? number("%.4g", getRate(result)) + (point.isSoftmax() ? " GB/s" : " TFLOP/s") : "-",
       share > 0 ? number("%.3f", share) : "-", number("%.1f", result.compileMilliseconds),
       result.times.hostMicroseconds > 0 ? number("%.2f", result.times.hostMicroseconds) : "-",
       result.schedule.empty() ? "-" : result.schedule, verdict});
}

json::Object mlir::blocksparse::toJSON(const BenchResult &result, const BenchRoofs &roofs) {
  const BenchTimes &times = result.times;
  json::Object object{{"point", result.point.toJSON()},
                      {"status", statusName(result.status)},
                      {"nnz", result.nnz},
                      {"density", result.density},
                      {"schedule", result.schedule},
                      {"compile_ms", result.compileMilliseconds},
                      {"link_ms", result.linkMilliseconds}};
  if (!result.error.empty())
    object["error"] = result.error;
  if (times.median > 0) {
    object["ms"] = times.median;
    object["ms_min"] = times.least;
    object["ms_max"] = times.largest;
    object["first_call_ms"] = times.first;
    object["host_us"] = times.hostMicroseconds;
    object["graph"] = times.graph;
    object["sets"] = times.sets;
    object["calls_per_sample"] = times.callsPerSample;
    object[result.point.isSoftmax() ? "gbps" : "tflops"] = getRate(result);
    if (double share = getShare(result, roofs); share > 0)
      object["roof_share"] = share;
  }
  if (result.status == BenchResult::Status::Passed || result.status == BenchResult::Status::Failed)
    object["check"] = json::Object{{"ok", result.check.ok()},
                                   {"samples", result.check.samples},
                                   {"elements", result.check.elements},
                                   {"failures", result.check.failures},
                                   // JSON has no infinity.
                                   {"worst_ratio", std::min(result.check.worstRatio, 1e300)},
                                   {"non_finite", result.check.nonFinite},
                                   {"repeatable", result.check.repeatable},
                                   {"detail", result.check.detail}};
  return object;
}
