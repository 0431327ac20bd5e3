// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of counters. A file of JSON is written once, when the program ends, so that a reader
// sees all lines of a program or none.

#include "DriverState.h"

#include "blocksparse/Support/OutputFile.h"

#include <cstdio>
#include <fstream>
#include <iterator>

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
  std::string text, error;
  if (std::ifstream file(destination, std::ios::binary); file)
    text.assign(std::istreambuf_iterator<char>(file), {});
  if (!writeOutputFile(destination, text + lines, error))
    std::fprintf(stderr, "simulated GPU: %s\n", error.c_str());
  lines.clear();
}
