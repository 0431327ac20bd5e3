// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of counters. A file of JSON is extended once, when the program ends, so that the lines
// of a program stand together, also where several programs write to one file.

#include "DriverState.h"

#include "blocksparse/Support/OutputFile.h"

#include <cstdio>

using namespace blocksparse::sim;

static constexpr const char *errorStream = "-";

std::string CounterReport::open(std::string path) {
  std::string error;
  if (path != errorStream && !checkOutputFile(path, error))
    return error;
  destination = std::move(path);
  return "";
}

void CounterReport::add(const Grid &grid) {
  if (destination == errorStream)
    std::fputs(describeCounters(grid, /*json=*/false).c_str(), stderr);
  else if (isOpen())
    lines += describeCounters(grid, /*json=*/true);
}

void CounterReport::finish() {
  if (lines.empty())
    return;
  std::string error;
  if (!appendOutputFile(destination, lines, error))
    std::fprintf(stderr, "simulated GPU: %s\n", error.c_str());
  lines.clear();
}
