// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TEST_UNIT_SIMULATOR_RUNKERNEL_H
#define BLOCKSPARSE_TEST_UNIT_SIMULATOR_RUNKERNEL_H

#include "Grid.h"
#include "TensorMap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace blocksparse::sim {

/// Runs the body of a kernel and holds its memory.
///
/// The kernel has the parameters `in` and `out` (64-bit addresses) and `map` (a tensor map). Its
/// body begins with %in and %out loaded, %t the thread's index, and %p, %h, %r, %d ranges of 100
/// registers of 1, 16, 32 and 64 bits.
class RunKernel {
public:
  explicit RunKernel(std::string body, std::string declarations = "")
      : text(".version 8.0\n.target sm_90a\n.address_size 64\n" + declarations +
             ".visible .entry test(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128])"
             "{\n.reg .pred %p<100>;.reg .b16 %h<100>;.reg .b32 %r<100>, %t;"
             ".reg .b64 %d<100>, %in, %out;\n"
             "ld.param.b64 %in, [in]; ld.param.b64 %out, [out]; mov.u32 %t, %tid.x;\n" +
             body + "\nret;\n}\n") {
    shape.block[0] = 32;
  }

  /// Executes the kernel with these input bytes. Returns whether it ran without a fault.
  template <typename T>
  bool run(const std::vector<T> &input, size_t outputBytes = 4096) {
    module = parseModule(text, error);
    if (!module)
      return false;
    kernel = decodeKernel(module->functions[0], {}, error);
    if (!kernel)
      return false;
    in = memory.allocate(std::max<size_t>(1, input.size() * sizeof(T)), GlobalMemory::Kind::Device);
    if (!input.empty())
      std::memcpy(reinterpret_cast<void *>(in), input.data(), input.size() * sizeof(T));
    memory.markWritten(in, input.size() * sizeof(T));
    out = memory.allocate(outputBytes, GlobalMemory::Kind::Device);
    std::memset(reinterpret_cast<void *>(out), 0, outputBytes);
    return launch();
  }

  /// Executes the kernel once more, with the memory of the run before.
  bool launch() {
    std::vector<uint8_t> parameters(192);
    std::memcpy(parameters.data(), &in, 8);
    std::memcpy(parameters.data() + 8, &out, 8);
    if (map.magic)
      map.address = mapsOutput ? out : in;
    std::memcpy(parameters.data() + 64, &map, sizeof(map));
    Grid grid(*kernel, memory, shape, parameters, options);
    bool good = grid.run();
    error = grid.getFault();
    time = grid.predictTime();
    counters = grid.counters;
    return good;
  }

  template <typename T>
  T output(size_t index) const {
    T value;
    std::memcpy(&value, reinterpret_cast<const uint8_t *>(out) + index * sizeof(T), sizeof(T));
    return value;
  }

  std::string text, error;
  LaunchShape shape;
  ExecutionOptions options;
  PredictedTime time;
  Counters counters;
  TensorMap map;
  bool mapsOutput = false;

private:
  std::unique_ptr<Module> module;
  std::unique_ptr<Kernel> kernel;
  GlobalMemory memory;
  uint64_t in = 0, out = 0;
};

/// Runs an instruction that makes %r0 from %r1 to %r3, and returns %r0 of lane 0.
inline uint32_t compute(const std::string &instruction, uint32_t a, uint32_t b = 0,
                        uint32_t c = 0) {
  RunKernel kernel("ld.global.b32 %r1, [%in]; ld.global.b32 %r2, [%in+4];"
                   "ld.global.b32 %r3, [%in+8];" +
                   instruction + " st.global.b32 [%out], %r0;");
  EXPECT_TRUE(kernel.run(std::vector<uint32_t>{a, b, c})) << kernel.error;
  return kernel.output<uint32_t>(0);
}

/// Runs an instruction that makes %d0 from %d1 to %d3, and returns %d0 of lane 0.
inline uint64_t compute64(const std::string &instruction, uint64_t a, uint64_t b = 0,
                          uint64_t c = 0) {
  RunKernel kernel("ld.global.b64 %d1, [%in]; ld.global.b64 %d2, [%in+8];"
                   "ld.global.b64 %d3, [%in+16];" +
                   instruction + " st.global.b64 [%out], %d0;");
  EXPECT_TRUE(kernel.run(std::vector<uint64_t>{a, b, c})) << kernel.error;
  return kernel.output<uint64_t>(0);
}

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_TEST_UNIT_SIMULATOR_RUNKERNEL_H
