// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_REFERENCE_ATTENTIONPARTS_H
#define BLOCKSPARSE_REFERENCE_ATTENTIONPARTS_H

#include "blocksparse/Reference/Attention.h"

namespace blocksparse::ref {

/// Holds the result of an attention over a part of the keys, and bounds of its errors.
struct AttentionPart {
  /// [.., M, Dv] and [.., M].
  HostTensor out, lse;
  /// f64, of the same shapes.
  HostTensor outErrors, lseErrors;
};

/// Returns the attention over the keys of all parts, which have one shape: lse is the logarithm of
/// the sum of exp(lse) of the parts, and out the sum of the parts times exp(their lse - lse). A
/// part of lse = -inf adds nothing. `errors` (may be null) becomes what the errors of the parts
/// make of out and lse.
std::optional<AttentionResult> attentionMerge(std::span<const AttentionPart> parts,
                                              std::string &error, AttentionScales *scales = nullptr,
                                              AttentionResult *errors = nullptr);

/// Returns the gradient [H] of the sink of attention, f64: minus the sum, over batches and rows, of
/// exp(sink - lse) * (sum of out * dout - dlse).
std::optional<HostTensor> attentionSinkGrad(const HostTensor &sink, const AttentionResult &forward,
                                            const HostTensor &dout,
                                            const std::optional<HostTensor> &dlse,
                                            std::string &error, ErrorScale *scale = nullptr);

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_ATTENTIONPARTS_H
