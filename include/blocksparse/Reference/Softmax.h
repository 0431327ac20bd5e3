// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_REFERENCE_SOFTMAX_H
#define BLOCKSPARSE_REFERENCE_SOFTMAX_H

#include "blocksparse/Reference/ErrorBound.h"
#include "blocksparse/Reference/Pattern.h"

#include <optional>
#include <string>
#include <vector>

namespace blocksparse::ref {

/// add: the mask is added to the scores; -inf forbids the element.
/// mul: 0 forbids the element, anything else (NaN too) keeps it unchanged.
enum class MaskMode { add, mul };

/// Describes the score of a stored element (i, j): scale * x + rpe + additive masks. An element is
/// forbidden by a mask, or by its position against the diagonal i + causalOffset: a forbidden
/// element has P = 0 whatever x and rpe hold there.
struct SoftmaxOptions {
  double scale = 1;
  /// Forbids j > i + causalOffset.
  bool causal = false;
  int64_t causalOffset = 0;
  /// Columns left and right of the diagonal that are allowed, -1 for all.
  int64_t windowLeft = -1, windowRight = -1;
  /// [1] or [B]: columns from keyLengths on, and rows from queryLengths on, are forbidden.
  std::optional<HostTensor> keyLengths, queryLengths;
  /// [M] and [N], or with a batch of 1 or B in front: elements of different segments are forbidden.
  /// Both are there or neither.
  std::optional<HostTensor> querySegments, keySegments;
  /// If it is not 0, c * tanh(scale * x / c) stands in place of scale * x.
  double softCap = 0;
  /// [H]: the score of one more allowed element of each row, which has no place in P.
  std::optional<HostTensor> sink;
  /// Broadcasts to [B, H, M, N] (rank 2..4).
  std::optional<HostTensor> rpe;
  /// [N] or [B, N].
  std::optional<HostTensor> keyPaddingMask;
  MaskMode keyPaddingMode = MaskMode::add;
  /// Broadcasts to [B, H, M, N] (rank 2..4; rank 3 is [H, M, N]).
  std::optional<HostTensor> attentionMask;
  MaskMode attentionMode = MaskMode::add;
  /// [B, H, M], or of lower rank: the log-sum-exp that normalises each row, in place of that of the
  /// allowed elements. -inf gives P = 0.
  std::optional<HostTensor> knownLse;
  /// The type that a program computes scores and sums in. What exceeds its largest number on the
  /// way to a score is infinite, and its roundoff tells how far an error in a score reaches.
  ElementType accumulator = ElementType::f32;

  /// Returns true if a stored element may be forbidden.
  bool mayForbid() const {
    return causal || windowLeft >= 0 || windowRight >= 0 || keyPaddingMask || attentionMask ||
           keyLengths || queryLengths || querySegments;
  }
};

struct SoftmaxResult {
  /// P, f64 [B, S, bm, bn]; 0 in padding and in rows with nothing allowed.
  HostTensor values;
  /// log of the row's sum of exp(score), f64 [B, H, M]; -inf for rows with no
  /// block or nothing allowed. knownLse itself, if that is given.
  HostTensor lse;
};

/// Computes the row softmax over the stored, allowed elements. Rejects duplicate blocks.
///
/// Error scale of P, to first order (lib/Reference/SoftmaxRows.h derives it): with d the distance
/// of a score to the maximum of its row, e the error of the score in units of u (0 where it is
/// exact) and n the terms of the row, magnitude = P (1 + (4 d + e + sum over the row of
/// P (4 d + e)) / (n + 16)), or what the errors of the scores make of P where that is more.
/// `lseScale` is absolute: 1 + |lse| + |maximum| + the same sum. With
/// knownLse, d is the distance to it, nothing is summed, n is 0, and lseScale is 0.
std::optional<SoftmaxResult> softmax(const SparseTensor &x, const SoftmaxOptions &options,
                                     std::string &error, ErrorScale *scale = nullptr,
                                     ErrorScale *lseScale = nullptr);

struct SoftmaxGradResult {
  /// scale * dS, f64 [B, S, bm, bn], with dS = P (dP - sum over the row of
  /// P dP).
  HostTensor dx;
  /// dS (no scale) summed over the extents that rpe broadcasts, f64 of the
  /// shape asked for; 0 where no block is stored.
  std::optional<HostTensor> drpe;
};

struct SoftmaxGradScales {
  ErrorScale dx, drpe;
};

/// Holds, for each row of attention, the sum of out * dout, which equals that of P dP over all
/// keys.
struct RowDots {
  /// f64 [B, H, M]: the sums, and the sums of |out| |dout|.
  HostTensor sums, sizes;
  /// Number of terms of each sum.
  int64_t terms = 0;

  /// Returns an element of `sums` or `sizes`, of which one batch or head may serve all.
  double sumOf(int64_t batch, int64_t head, int64_t row) const {
    return at(sums, batch, head, row);
  }
  double sizeOf(int64_t batch, int64_t head, int64_t row) const {
    return at(sizes, batch, head, row);
  }

private:
  static double at(const HostTensor &tensor, int64_t batch, int64_t head, int64_t row) {
    return tensor.at({tensor.dim(0) == 1 ? 0 : batch, tensor.dim(1) == 1 ? 0 : head, row});
  }
};

/// Returns the row dots of out and dout, [.., M, Dv] each, broadcast to B batches and H heads.
std::optional<RowDots> rowDots(const HostTensor &out, const HostTensor &dout, std::string &error);

/// Computes the gradient of softmax from its result `y` and the gradient `dy` of that result
/// (values of y's pattern). Where P is 0, as for every forbidden element, dS is 0 and dy is not
/// used. `rpeShape` (rank 2 to 4, broadcasting to [B, H, M, N]) asks for drpe. `dots`, if it is not
/// null, replaces the sums over the rows of P dP. `dlse` [.., M], the gradient of the log-sum-exp,
/// is subtracted from the sums.
std::optional<SoftmaxGradResult>
softmaxGrad(const SparseTensor &y, const HostTensor &dy, double scale,
            const std::optional<std::vector<int64_t>> &rpeShape, std::string &error,
            SoftmaxGradScales *scales = nullptr, const RowDots *dots = nullptr,
            const std::optional<HostTensor> &dlse = {});

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_SOFTMAX_H
