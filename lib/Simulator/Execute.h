// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over 32 lanes for instructions that compute one register from others. `F::apply` computes
// one lane. Lanes that are not active are computed too and not stored, so `apply` must be defined
// for every value.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_EXECUTE_H
#define BLOCKSPARSE_LIB_SIMULATOR_EXECUTE_H

#include "Decode.h"
#include "Warp.h"

namespace blocksparse::sim {

template <typename R, typename A, typename F>
void executeUnary(Warp &warp, const Op &op) {
  const A *a = warp.in<A>(op.a);
  alignas(64) R results[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    results[lane] = F::apply(a[lane]);
  warp.store(op.d, results);
}

template <typename R, typename A, typename B, typename F>
void executeBinary(Warp &warp, const Op &op) {
  const A *a = warp.in<A>(op.a);
  const B *b = warp.in<B>(op.b);
  alignas(64) R results[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    results[lane] = F::apply(a[lane], b[lane]);
  warp.store(op.d, results);
}

template <typename R, typename A, typename B, typename C, typename F>
void executeTernary(Warp &warp, const Op &op) {
  const A *a = warp.in<A>(op.a);
  const B *b = warp.in<B>(op.b);
  const C *c = warp.in<C>(op.c);
  alignas(64) R results[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    results[lane] = F::apply(a[lane], b[lane], c[lane]);
  warp.store(op.d, results);
}

/// Decodes "opcode d, a[, b[, c]]" where all operands have the width `bits`.
inline bool decodeSameWidth(Decoder &decoder, unsigned sources, unsigned bits) {
  Slot *slots[] = {&decoder.op.a, &decoder.op.b, &decoder.op.c};
  if (!decoder.expectOperands(sources + 1) || !decoder.target(0, bits, decoder.op.d))
    return false;
  if (decoder.op.d == noSlot)
    return decoder.expected("a destination register");
  for (unsigned i = 0; i < sources; ++i)
    if (!decoder.source(i + 1, bits, *slots[i]))
      return false;
  return true;
}

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_EXECUTE_H
