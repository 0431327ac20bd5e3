// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the kernel that transposes a factor, emulated on the host: tiles beyond the edge, batches
// and heads, views with gaps.

#include "Conversion/BlockSparseToGPU/Wgmma/TransposeDense.h"
#include "../../ElementMap.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <numeric>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

using Sizes = std::vector<int64_t>;

int64_t productOf(const Sizes &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Returns the row-major strides of an array whose rows have `pitch` elements.
Sizes stridesOf(const Sizes &sizes, int64_t pitch) {
  Sizes strides(sizes.size(), 1);
  int64_t stride = pitch;
  for (size_t axis = sizes.size() - 1; axis-- > 0; stride *= sizes[axis])
    strides[axis] = stride;
  return strides;
}

Sizes transposed(Sizes sizes) {
  std::swap(sizes[sizes.size() - 2], sizes.back());
  return sizes;
}

std::string memrefType(const Sizes &sizes, bool isStatic, const std::string &element) {
  std::string text = "memref<", strides;
  for (int64_t size : sizes) {
    text += (isStatic ? std::to_string(size) : "?") + "x";
    strides += strides.empty() ? "?" : ", ?";
  }
  return text + element + ", strided<[" + strides + "], offset: ?>>";
}

/// Allocates elements after which any access faults, because the next page is not mapped.
class GuardedArray {
public:
  explicit GuardedArray(int64_t count) {
    const int64_t page = sysconf(_SC_PAGESIZE), bytes = count * sizeof(uint16_t);
    size = (bytes + page - 1) / page * page + page;
    mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED ||
        mprotect(static_cast<char *>(mapped) + size - page, page, PROT_NONE))
      std::abort();
    elements = {reinterpret_cast<uint16_t *>(static_cast<char *>(mapped) + size - page - bytes),
                static_cast<size_t>(count)};
  }
  GuardedArray(const GuardedArray &) = delete;
  ~GuardedArray() { munmap(mapped, size); }

  std::span<uint16_t> elements;

private:
  void *mapped;
  int64_t size;
};

std::vector<int64_t> descriptorOf(std::span<uint16_t> data, int64_t offset, const Sizes &sizes,
                                  const Sizes &strides) {
  auto address = reinterpret_cast<int64_t>(data.data());
  std::vector<int64_t> descriptor{address, address, offset};
  descriptor.insert(descriptor.end(), sizes.begin(), sizes.end());
  descriptor.insert(descriptor.end(), strides.begin(), strides.end());
  return descriptor;
}

/// Transposes matrices of `sizes` with `gap` elements between rows, and checks the result and that
/// nothing else is written.
void check(const Sizes &sizes, int64_t gap, bool isStatic = true, std::string element = "f16") {
  SCOPED_TRACE(memrefType(sizes, isStatic, element));
  MLIRContext context;
  loadAllDialects(context);
  std::string source = "func.func @turn(%in: " + memrefType(sizes, isStatic, element) +
                       ", %out: " + memrefType(transposed(sizes), isStatic, element) +
                       ") {\n  return\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(module);
  auto function = module->lookupSymbol<func::FuncOp>("turn");
  std::string error;
  device::KernelBuilder kernels(*module, *::blocksparse::TargetInfo::parse("cuda:sm_90a", error));
  ImplicitLocOpBuilder host(function.getLoc(), function.getBody().front().getTerminator());
  device::emitTransposeDense(host, kernels, function.getArgument(0), function.getArgument(1));
  HostFunction run(*module, "turn", createEmulateKernelsPass());
  ASSERT_TRUE(run.isReady());

  constexpr int64_t offset = 8;
  const Sizes outSizes = transposed(sizes);
  const int64_t pitch = sizes.back() + gap, outPitch = outSizes.back() + gap;
  const Sizes strides = stridesOf(sizes, pitch), outStrides = stridesOf(outSizes, outPitch);
  const int64_t rows = sizes[sizes.size() - 2], cols = sizes.back();
  const int64_t matrices = productOf(sizes) / (rows * cols);
  GuardedArray inMemory(offset + matrices * rows * pitch);
  GuardedArray outMemory(offset + matrices * cols * outPitch);
  std::span<uint16_t> in = inMemory.elements, out = outMemory.elements;
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<uint16_t>(i * 40503 % 65521);
  constexpr uint16_t untouched = 65535;
  std::fill(out.begin(), out.end(), untouched);
  std::vector<uint16_t> expected(out.begin(), out.end());
  for (int64_t matrix = 0; matrix < matrices; ++matrix)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t col = 0; col < cols; ++col)
        expected[offset + (matrix * cols + col) * outPitch + row] =
            in[offset + (matrix * rows + row) * pitch + col];
  std::vector<int64_t> from = descriptorOf(in, offset, sizes, strides);
  std::vector<int64_t> to = descriptorOf(out, offset, outSizes, outStrides);
  void *pointers[] = {from.data(), to.data()};
  void *arguments[] = {&pointers[0], &pointers[1]};
  run(arguments);
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], expected[i]) << "element " << i;
}

TEST(TransposeDense, TilesOfAnySize) {
  check({64, 64}, 0);
  check({8, 16}, 0);
  check({200, 144}, 0);
  check({72, 328}, 0, /*isStatic=*/true, "bf16");
}

TEST(TransposeDense, ViewsWithGaps) { check({136, 80}, 24); }

TEST(TransposeDense, SizesThatTheTypeDoesNotKnow) { check({3, 72, 80}, 8, /*isStatic=*/false); }

TEST(TransposeDense, BatchesAndHeads) {
  check({3, 72, 80}, 0);
  check({2, 3, 40, 144}, 8);
  check({2, 1, 40, 80}, 0);
  check({1, 3, 80, 40}, 0);
}

} // namespace
