// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products and sums with one rounding. They are compiled once for every processor and once for
// those with AVX2 and FMA, and the fastest that the processor has is called: without the
// instruction each fma is a call of the C library.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_FUSEDPRODUCTS_H
#define BLOCKSPARSE_LIB_SIMULATOR_FUSEDPRODUCTS_H

namespace blocksparse::sim {

/// Computes results[i] = a[i] * b[i] + c[i] of 32 lanes.
void fuseLanes(float *results, const float *a, const float *b, const float *c);
void fuseLanes(double *results, const double *a, const double *b, const double *c);

/// Adds products to the first `columns` of each row of `sums`, in ascending k with one rounding
/// each: sums[row][column] += left[k][row] * right[k][column]. Sums of integers wrap.
template <typename T, unsigned depth, unsigned width>
void addProducts(T (&sums)[16][width], const T (&left)[depth][16], const T (&right)[depth][width],
                 unsigned columns);

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_FUSEDPRODUCTS_H
