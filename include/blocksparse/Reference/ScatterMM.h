// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_REFERENCE_SCATTERMM_H
#define BLOCKSPARSE_REFERENCE_SCATTERMM_H

#include "blocksparse/Reference/ErrorBound.h"
#include "blocksparse/Support/HostTensor.h"

#include <optional>
#include <string>

namespace blocksparse::ref {

/// Each function computes a product in one of the three index formats of torch's scatter_mm.
/// `blocks` is [P, Ms, Ks]. Unlike in torch, every format adds to `accumulators`, which are read,
/// not changed; the result has their shape. It is f64, or i32 (wrapped) if blocks and others are
/// i8. Index tensors are of integer type. Each function fails with `error` on shapes that do not
/// fit and on indices out of range.

/// Computes accumulators[r] += blocks[p] @ others[q] for (p, q) = pq[g], g in [cOffsets[r],
/// cOffsets[r + 1]). The shapes are others [Q, Ks, Ns], accumulators [R, Ms, Ns], cOffsets [R + 1],
/// pq [G, 2].
std::optional<HostTensor> scatterMM(const HostTensor &blocks, const HostTensor &others,
                                    const HostTensor &accumulators, const HostTensor &cOffsets,
                                    const HostTensor &pq, std::string &error,
                                    ErrorScale *scale = nullptr);

/// Tiles of matrices. others is [..., K, N], accumulators [..., M, N] with the
/// same one or two leading extents, or none; tiles are Ns = N / splitN wide; an
/// offset r or q is row * N + column of a tile's first element.
struct StridedIndices {
  /// Reduction i has the terms [cIndices[i], cIndices[i + 1]).
  HostTensor cIndices;
  /// First element of accumulator tile i.
  HostTensor rOffsets;
  /// Block of term g.
  HostTensor pOffsets;
  /// First element of the tile of `others` of term g.
  HostTensor qOffsets;
  int64_t splitN = 1;
};

/// Adds to the tile at rOffsets[i] the products blocks[pOffsets[g]] @ (tile of others at
/// qOffsets[g]).
std::optional<HostTensor> bsrStridedMM(const HostTensor &blocks, const HostTensor &others,
                                       const HostTensor &accumulators,
                                       const StridedIndices &indices, std::string &error,
                                       ErrorScale *scale = nullptr);

/// The compressed form has no pOffsets (ignored): the tile at r lies in block
/// row m = (r / N) / Ms and column split n = (r % N) / Ns; its terms are the
/// blocks p in [c0, c1) = [cIndices[m], cIndices[m + 1]), and the i-th one meets
/// the tile of others at qOffsets[n * c1 + (splitN - n) * c0 + i].
std::optional<HostTensor> bsrStridedMMCompressed(const HostTensor &blocks, const HostTensor &others,
                                                 const HostTensor &accumulators,
                                                 const StridedIndices &indices, std::string &error,
                                                 ErrorScale *scale = nullptr);

// Each function checks the operands of one of the products above, without computing it. Returns
// false and sets `error` on what that product fails on.
bool checkScatterMM(const HostTensor &blocks, const HostTensor &others,
                    const HostTensor &accumulators, const HostTensor &cOffsets,
                    const HostTensor &pq, std::string &error);
bool checkStridedMM(const HostTensor &blocks, const HostTensor &others,
                    const HostTensor &accumulators, const StridedIndices &indices,
                    std::string &error);
bool checkStridedMMCompressed(const HostTensor &blocks, const HostTensor &others,
                              const HostTensor &accumulators, const StridedIndices &indices,
                              std::string &error);

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_REFERENCE_SCATTERMM_H
