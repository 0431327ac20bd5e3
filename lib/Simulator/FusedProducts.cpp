// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FusedProducts.h"

#include "Warp.h"

#include <cstdlib>

using namespace blocksparse::sim;

// A function with this attribute may use AVX2 and FMA; `hasFma` says whether it may be called.
#if defined(__x86_64__)
#define BLOCKSPARSE_SIM_WITH_FMA __attribute__((target("avx2,fma")))
static bool hasInstructions() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define BLOCKSPARSE_SIM_WITH_FMA
static bool hasInstructions() { return true; }
#endif

// A body takes the instructions of the function that it is inlined into.
#define BLOCKSPARSE_SIM_BODY static inline __attribute__((always_inline))

/// BLOCKSPARSE_SIM_PORTABLE stands for a processor without these instructions.
static const bool hasFma = hasInstructions() && !std::getenv("BLOCKSPARSE_SIM_PORTABLE");

BLOCKSPARSE_SIM_BODY float fuse(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
BLOCKSPARSE_SIM_BODY double fuse(double a, double b, double c) { return __builtin_fma(a, b, c); }
BLOCKSPARSE_SIM_BODY int32_t fuse(int32_t a, int32_t b, int32_t c) {
  return static_cast<int32_t>(static_cast<uint32_t>(a * b) + static_cast<uint32_t>(c));
}

template <typename T>
BLOCKSPARSE_SIM_BODY void fuseAll(T *results, const T *a, const T *b, const T *c) {
  for (unsigned lane = 0; lane < laneCount; ++lane)
    results[lane] = fuse(a[lane], b[lane], c[lane]);
}

template <typename T>
BLOCKSPARSE_SIM_WITH_FMA static void fuseWithFma(T *results, const T *a, const T *b, const T *c) {
  fuseAll(results, a, b, c);
}

template <typename T, unsigned depth, unsigned width>
BLOCKSPARSE_SIM_BODY void addAll(T (&sums)[16][width], const T (&left)[depth][16],
                                 const T (&right)[depth][width], unsigned columns) {
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < columns; ++column)
        sums[row][column] = fuse(left[k][row], right[k][column], sums[row][column]);
}

template <typename T, unsigned depth, unsigned width>
BLOCKSPARSE_SIM_WITH_FMA static void addWithFma(T (&sums)[16][width], const T (&left)[depth][16],
                                                const T (&right)[depth][width], unsigned columns) {
  addAll(sums, left, right, columns);
}

void blocksparse::sim::fuseLanes(float *results, const float *a, const float *b, const float *c) {
  hasFma ? fuseWithFma(results, a, b, c) : fuseAll(results, a, b, c);
}

void blocksparse::sim::fuseLanes(double *results, const double *a, const double *b,
                                 const double *c) {
  hasFma ? fuseWithFma(results, a, b, c) : fuseAll(results, a, b, c);
}

template <typename T, unsigned depth, unsigned width>
void blocksparse::sim::addProducts(T (&sums)[16][width], const T (&left)[depth][16],
                                   const T (&right)[depth][width], unsigned columns) {
  // The fragments of mma have 8 columns.
  if constexpr (width == 8)
    columns = width;
  hasFma ? addWithFma(sums, left, right, columns) : addAll(sums, left, right, columns);
}

// mma.sync m16n8kK, and wgmma m64nNk16 and m64nNk32.
#define BLOCKSPARSE_SIM_PRODUCTS(T, depth, width)                                                  \
  template void blocksparse::sim::addProducts(T(&)[16][width], const T(&)[depth][16],              \
                                              const T(&)[depth][width], unsigned)
BLOCKSPARSE_SIM_PRODUCTS(float, 4, 8);
BLOCKSPARSE_SIM_PRODUCTS(float, 8, 8);
BLOCKSPARSE_SIM_PRODUCTS(float, 16, 8);
BLOCKSPARSE_SIM_PRODUCTS(double, 4, 8);
BLOCKSPARSE_SIM_PRODUCTS(double, 8, 8);
BLOCKSPARSE_SIM_PRODUCTS(double, 16, 8);
BLOCKSPARSE_SIM_PRODUCTS(int32_t, 16, 8);
BLOCKSPARSE_SIM_PRODUCTS(int32_t, 32, 8);
BLOCKSPARSE_SIM_PRODUCTS(float, 16, 256);
BLOCKSPARSE_SIM_PRODUCTS(float, 32, 256);
BLOCKSPARSE_SIM_PRODUCTS(int32_t, 32, 256);
