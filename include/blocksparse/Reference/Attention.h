// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_REFERENCE_ATTENTION_H
#define BLOCKSPARSE_REFERENCE_ATTENTION_H

#include "blocksparse/Reference/Softmax.h"

#include <optional>
#include <string>

namespace blocksparse::ref {

struct AttentionResult {
  /// f64 [B, H, M, Dv]; rows with nothing allowed are 0.
  HostTensor out;
  /// f64 [B, H, M].
  HostTensor lse;
};

struct AttentionScales {
  ErrorScale out, lse;
  /// Given by the caller: the smallest normal number of the type that probabilities are
  /// stored in. The rounding of a smaller one is absolute. 0 where they are not stored.
  double smallestNormal = 0;
};

/// Returns [.., H, R, C] with each head `groups` times in a row.
HostTensor repeatHeads(const HostTensor &tensor, int64_t groups);
/// Returns how many heads of q share each head of `operand` (k or v): 1 unless both have several.
int64_t countGroups(const HostTensor &q, const HostTensor &operand);
/// Sums `full` [.., H, R, C], a gradient for each head of q, over the dimensions in which `like` is
/// broadcast and over the heads that share one of its heads.
HostTensor sumToOperand(const HostTensor &full, const HostTensor &like, int64_t groups);

/// Returns softmax(scale * q k^T + ...) v over the blocks of `pattern` (M x N). With a mask or
/// causal, a probability of 0 adds nothing, whatever its row of v holds. q is
/// [.., M, D], k [.., N, D], v [.., N, Dv]; ranks and broadcasting as in
/// Matmul.h, and each head of k or v may serve several heads of q that follow each other. The
/// options are those of softmax. Rejects duplicate blocks.
std::optional<AttentionResult> attention(const HostTensor &q, const HostTensor &k,
                                         const HostTensor &v, const Pattern &pattern,
                                         const SoftmaxOptions &options, std::string &error,
                                         AttentionScales *scales = nullptr);

/// Gradients, each f64. dq, dk and dv have the shapes of q, k and v (summed
/// over what these broadcast), drpe that of options.rpe.
struct AttentionGradResult {
  HostTensor dq, dk, dv;
  std::optional<HostTensor> drpe;
};

struct AttentionGradScales {
  ErrorScale dq, dk, dv, drpe;
  /// Smallest normal number of the type in which scores are stored, as in AttentionScales;
  /// gradients of scores are stored in that type too.
  double smallestNormal = 0;
};

/// Returns the gradients of attention for `dout` [.., M, Dv]. `forward` is the result of attention
/// over all keys, of which k, v and the pattern may hold a part: P = exp(score - lse), and
/// dS = P (dP - sum of out * dout + dlse). A sink among the options is not used: lse has it.
std::optional<AttentionGradResult>
attentionGrad(const HostTensor &q, const HostTensor &k, const HostTensor &v,
              const AttentionResult &forward, const HostTensor &dout, const Pattern &pattern,
              const SoftmaxOptions &options, std::string &error,
              AttentionGradScales *scales = nullptr, const std::optional<HostTensor> &dlse = {});

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_ATTENTION_H
