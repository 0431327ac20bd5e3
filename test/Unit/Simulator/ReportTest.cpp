// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of counters.

#include "DriverState.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

using namespace blocksparse::sim;

namespace {

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(SimulatorReport, WritesLinesAfterThoseOfTheFile) {
  std::string path = testing::TempDir() + "simulator-report.json", error;
  std::ofstream(path) << "first\n";
  std::unique_ptr<Module> module = parseModule(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n", error);
  ASSERT_NE(module, nullptr) << error;
  std::unique_ptr<Kernel> kernel = decodeKernel(module->functions[0], {}, error);
  ASSERT_NE(kernel, nullptr) << error;
  GlobalMemory memory;
  ExecutionOptions options;
  options.counts = true;
  Grid grid(*kernel, memory, {}, {}, options);
  ASSERT_TRUE(grid.run());

  CounterReport report;
  EXPECT_FALSE(report.isOpen());
  EXPECT_EQ(report.open(path), "");
  report.add(grid);
  report.add(grid);
  // The file is replaced as a whole, when the program ends.
  EXPECT_EQ(contentsOf(path), "first\n");
  report.finish();
  std::string text = contentsOf(path);
  EXPECT_TRUE(text.starts_with("first\n{\"kernel\": \"k\", \"warp_instructions\": {")) << text;
  EXPECT_TRUE(text.ends_with("\"limit\": \"issue\"}\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  report.finish();
  EXPECT_EQ(contentsOf(path), text);
}

TEST(SimulatorReport, SaysWhereItCannotWrite) {
  CounterReport report;
  EXPECT_EQ(report.open(testing::TempDir() + "none/x.json"),
            "expects to write '" + testing::TempDir() +
                "none/x.json', but got: No such file or directory");
  EXPECT_FALSE(report.isOpen());
}

} // namespace
