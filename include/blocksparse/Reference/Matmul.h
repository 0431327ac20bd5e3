// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_REFERENCE_MATMUL_H
#define BLOCKSPARSE_REFERENCE_MATMUL_H

#include "blocksparse/Reference/Epilogue.h"
#include "blocksparse/Reference/ErrorBound.h"
#include "blocksparse/Reference/Pattern.h"

#include <optional>
#include <string>

namespace blocksparse::ref {

/// The following rules hold for every function of this header.
///
/// Dense operands are [M, N], [H, M, N] or [B, H, M, N]; a leading extent that
/// is missing or 1 is broadcast. Dense results are [B, H, M, N], sparse ones
/// [B, S, bm, bn], both row-major and always of rank 4, with B and H the common
/// extents of the operands.
///
/// Sums are made in f64 and results are f64, not yet rounded to anything. i8
/// times i8 is summed exactly and wrapped to i32 (two's complement); the result
/// is i32, as long as an epilogue, if any, has only integer tensors, integral
/// factors and no activation but relu; else the epilogue continues in f64 from
/// the wrapped sum.
///
/// Duplicate blocks of a sparse operand add up. Shapes that don't fit give an
/// empty result and "expects ..., but got ..." in `error`. `scale`, when not
/// null, receives what compareToReference needs.

struct Transposes {
  bool a = false;
  bool b = false;
  /// The result is stored transposed.
  bool out = false;
};

/// Returns the values [B, S, bm, bn] of alpha * op(a) [M, K] op(b) [K, N] at the blocks of
/// `pattern`, which describes the result as it is stored (N x M if transposes.out). If alpha is 0,
/// a and b are not read. Rejects duplicate blocks.
std::optional<HostTensor> sdd(const HostTensor &a, const HostTensor &b, const Pattern &pattern,
                              double alpha, Transposes transposes, std::string &error,
                              ErrorScale *scale = nullptr);

/// Returns op(sparse) [M, K] times op(dense) [K, N]. The pattern describes `a` as it is stored.
/// With `skipZeros`, an element 0 of `a` adds nothing, whatever b holds; else 0 times NaN is NaN.
std::optional<HostTensor> dsd(const SparseTensor &a, const HostTensor &b, Transposes transposes,
                              const Epilogue &epilogue, std::string &error,
                              ErrorScale *scale = nullptr, bool skipZeros = false);

/// Returns op(dense) [M, K] times op(sparse) [K, N].
std::optional<HostTensor> dds(const HostTensor &a, const SparseTensor &b, Transposes transposes,
                              const Epilogue &epilogue, std::string &error,
                              ErrorScale *scale = nullptr);

/// beta * input + left_alpha[:, None] * (alpha * (bsr @ dense)) *
/// right_alpha[None, :]: dsd without transposes; all terms are in `epilogue`.
std::optional<HostTensor> bsrAddmm(const SparseTensor &bsr, const HostTensor &dense,
                                   const Epilogue &epilogue, std::string &error,
                                   ErrorScale *scale = nullptr);

/// Returns beta * sparse + alpha * (op(a) op(b)) at the blocks of `sparse`. If beta is 0, the
/// values of `sparse` are never read; if alpha is 0, a and b are not. Rejects duplicate blocks.
/// `transposes.out` has the same meaning as for sdd.
std::optional<HostTensor> sampledAddmm(const SparseTensor &sparse, const HostTensor &a,
                                       const HostTensor &b, double alpha, double beta,
                                       Transposes transposes, std::string &error,
                                       ErrorScale *scale = nullptr);

enum class MatmulForm {
  /// op(A) [.., M, K] op(B) [.., K, N] -> [B, H, M, N].
  linear,
  /// Q [B, M, H, D], K [B, N, H, D] -> Q K^T [B, H, M, N].
  score,
  /// P [B, H, M, N], V [B, N, H, D] -> P V [B, M, H, D].
  context
};

/// Dense product. score and context take rank-4 operands and no transposes. The
/// epilogue means the result as it is stored, [B, M, H, D] for context.
std::optional<HostTensor> matmul(const HostTensor &a, const HostTensor &b, MatmulForm form,
                                 Transposes transposes, const Epilogue &epilogue,
                                 std::string &error, ErrorScale *scale = nullptr);

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_MATMUL_H
