// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wgmma` (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions") for f16
// and bf16 with f32 accumulators. Each warp of the warpgroup computes its own 16 rows. The product
// is computed as late as it may be: when its group is waited for. A read of an accumulator before
// the wait sees the old value.

#include "Access.h"
#include "Async.h"
#include "Execute.h"
#include "Float.h"
#include "FusedProducts.h"
#include "TensorMap.h"

#include <cstring>

using namespace blocksparse::sim;

namespace {

constexpr unsigned depth = 16; // elements of k for 16-bit types
constexpr unsigned maxColumns = 256;

/// A matrix descriptor (PTX ISA, "Matrix Descriptor Format") holds in bits 0 to 13 the start
/// address, 16 to 29 the leading and 32 to 45 the stride byte offset, each divided by 16; 49 to 51
/// the base offset; 62 and 63 the swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes.
struct Descriptor {
  uint64_t start, leading, stride;
  unsigned baseOffset;
  unsigned swizzle; // the span is 16 << swizzle bytes

  explicit Descriptor(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4), baseOffset(bits >> 49 & 7),
        swizzle(bits >> 62 ? 4 - static_cast<unsigned>(bits >> 62) : 0) {}

  /// Returns the address of the 16-byte chunk that holds element `minor` = 8 c of row `major` of a
  /// K-major operand (minor: k) or an M/N-major one (minor: m or n, major: k).
  ///
  /// With a swizzle the rows of an atom have the length of the span and eight of them follow one
  /// another. K-major: `stride` leads to the next eight rows. M/N-major: `stride` leads to the next
  /// eight k and `leading` to the next span of m or n. Without a swizzle an atom is eight rows of
  /// 16 bytes: K-major has `leading` along k and `stride` along m or n; M/N-major the reverse.
  uint64_t chunk(unsigned major, unsigned minor, bool isKMajor) const {
    uint64_t rowInAtom = major % 8, atom = major / 8;
    uint64_t span = uint64_t(16) << swizzle;
    uint64_t bytes = uint64_t(minor) * 2;
    if (swizzle == 0) {
      uint64_t acrossMinor = isKMajor ? leading : stride;
      uint64_t acrossMajor = isKMajor ? stride : leading;
      return start + atom * acrossMajor + rowInAtom * 16 + bytes / 16 * acrossMinor;
    }
    uint64_t inner = isKMajor ? bytes : bytes / span * leading + bytes % span;
    return swizzleAddress(start + atom * stride + rowInAtom * span + inner, swizzle);
  }
};

enum : unsigned { auxColumns, auxBf16, auxTransA, auxTransB, auxNegate };
constexpr unsigned registersOfA = 4;

float toFloat(uint16_t bits, bool isBf16) { return isBf16 ? bf16ToFloat(bits) : halfToFloat(bits); }

/// Reads `count` rows or columns from `first` on of an operand in shared memory to
/// values[k][first..]. Returns false after a fault. A chunk that was not written is no fault,
/// because a kernel may leave out rows whose results it does not use; it reads as NaN.
template <unsigned width>
bool readOperand(Warp &warp, const Op &op, const Descriptor &descriptor, bool isKMajor,
                 unsigned first, unsigned count, float (&values)[depth][width]) {
  bool isBf16 = op.aux[auxBf16];
  unsigned majors = isKMajor ? count : depth, minors = isKMajor ? depth : count;
  for (unsigned major = 0; major < majors; ++major)
    for (unsigned minor = 0; minor < minors; minor += 8) {
      uint64_t address = isKMajor ? descriptor.chunk(first + major, minor, true)
                                  : descriptor.chunk(major, first + minor, false);
      const uint8_t *place = access(warp, op, Space::Shared, address, 16, 16, AccessKind::Peek);
      if (!place)
        return false;
      uint16_t chunk[8];
      if (isRowWritten(warp, address))
        std::memcpy(chunk, place, 16);
      else
        std::memset(chunk, 0xff, 16);
      for (unsigned i = 0; i < 8; ++i)
        (isKMajor ? values[minor + i][major] : values[major][minor + i]) =
            toFloat(chunk[i], isBf16);
    }
  return true;
}

/// Reads the fragment of A from four registers: that of mma m16n8k16.
void readFragment(Warp &warp, const Op &op, const Slot *slots, float (&left)[depth][16]) {
  for (unsigned j = 0; j < registersOfA; ++j) {
    const uint32_t *values = warp.in<uint32_t>(slots[j]);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned e = 0; e < 2; ++e)
        left[8 * (j / 2) + 2 * (lane % 4) + e][lane / 4 + 8 * (j % 2)] =
            toFloat(static_cast<uint16_t>(values[lane] >> (16 * e)), op.aux[auxBf16]);
  }
}

/// Computes 16 rows by N columns. Products are added in ascending k with one rounding each.
void multiply(Warp &warp, const Op &op, uint64_t descriptorA, uint64_t descriptorB, bool adds) {
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  unsigned columns = op.aux[auxColumns];
  bool fromRegisters = op.a == noSlot;
  alignas(64) float left[depth][16], right[depth][maxColumns], sums[16][maxColumns];
  Descriptor a(descriptorA), b(descriptorB);
  if ((!fromRegisters && a.baseOffset) || b.baseOffset) {
    warp.fault("expects descriptors of base offset 0, but got another one, which is not modelled");
    return;
  }
  unsigned firstRow = 16 * (warp.index % 4);
  if (fromRegisters)
    readFragment(warp, op, slots + columns / 2, left);
  else if (!readOperand(warp, op, a, !op.aux[auxTransA], firstRow, 16, left))
    return;
  if (!readOperand(warp, op, b, !op.aux[auxTransB], 0, columns, right))
    return;
  countProducts(warp, uint64_t(2) * 16 * columns * depth, 16, /*ofWarpgroup=*/true);
  float signs = (op.aux[auxNegate] & 1) != (op.aux[auxNegate] >> 1) ? -1.0f : 1.0f;
  // Accumulator 4 j + i: row lane / 4 + 8 (i / 2), column 8 j + 2 (lane % 4) + i % 2.
  for (unsigned j = 0; j < columns / 2; ++j) {
    const float *values = warp.in<float>(slots[j]);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      sums[lane / 4 + 8 * (j % 4 / 2)][8 * (j / 4) + 2 * (lane % 4) + j % 2] =
          adds ? values[lane] : 0.0f;
  }
  for (auto &factors : left)
    for (float &factor : factors)
      factor *= signs;
  addProducts(sums, left, right, columns);
  for (unsigned j = 0; j < columns / 2; ++j) {
    float *values = warp.out<float>(slots[j]);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      values[lane] = sums[lane / 4 + 8 * (j % 4 / 2)][8 * (j / 4) + 2 * (lane % 4) + j % 2];
  }
}

/// Judges the reads of an operand's rows or columns from `first` on, of those whose number is a
/// multiple of `step`.
bool judgeOperand(Warp &warp, const Op &op, const Descriptor &descriptor, bool isKMajor,
                  unsigned first, unsigned count, unsigned step) {
  for (unsigned i = 0; i < count; i += step)
    for (unsigned k = 0; k < depth; k += step < 8 && !isKMajor ? 1 : 8) {
      // A chunk holds 8 values of k of one row, or 8 rows of one k.
      if (!isKMajor && i % 8)
        continue;
      uint64_t address =
          isKMajor ? descriptor.chunk(first + i, k, true) : descriptor.chunk(k, first + i, false);
      if (!access(warp, op, Space::Shared, address, 16, 16, AccessKind::Begin) ||
          !judgeAccess(warp, address, 16, Queue::Products, /*writes=*/false))
        return false;
    }
  return true;
}

/// Judges what the warp's part of the product reads in shared memory. All four warps of the
/// warpgroup read B; the first one is judged for each row of it, the others for every eighth.
bool judgeOperands(Warp &warp, const Op &op, uint64_t a, uint64_t b) {
  if (!judgeOf(warp))
    return true;
  unsigned part = warp.index % 4;
  return (op.a == noSlot ||
          judgeOperand(warp, op, Descriptor(a), !op.aux[auxTransA], 16 * part, 16, 1)) &&
         judgeOperand(warp, op, Descriptor(b), !op.aux[auxTransB], 0, op.aux[auxColumns],
                      part ? 8 : 1);
}

void issue(Warp &warp, const Op &op) {
  unsigned lane = static_cast<unsigned>(__builtin_ctz(warp.active));
  uint64_t a = op.a == noSlot ? 0 : warp.in<uint64_t>(op.a)[lane];
  uint64_t b = warp.in<uint64_t>(op.b)[lane];
  bool adds = warp.predicate(op.c) >> lane & 1;
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  const Judge *judge = judgeOf(warp);
  unsigned count = op.aux[auxColumns] / 2, fragments = op.a == noSlot ? registersOfA : 0;
  if (judge && warp.productJudge &&
      !warp.productJudge->begin(warp, op, slots, count, slots + count, fragments,
                                judge->committed(warp, Queue::Products) + 1))
    return;
  if (!judgeOperands(warp, op, a, b))
    return;
  warp.openWgmma.push_back([&warp, &op, a, b, adds] {
    performFor(warp, op, allLanes, [&] { multiply(warp, op, a, b, adds); });
  });
}

void commit(Warp &warp, const Op &) {
  commitGroup(warp, Queue::Products, warp.openWgmma, warp.wgmmaGroups);
}

void wait(Warp &warp, const Op &op) {
  finishGroups(warp, Queue::Products, warp.wgmmaGroups, static_cast<size_t>(op.immediate));
}

void fence(Warp &warp, const Op &) {
  if (warp.productJudge)
    warp.productJudge->fence();
}

bool takeFlag(Decoder &decoder, size_t index, bool isSign, uint32_t &flag) {
  int64_t value = 0;
  if (!decoder.immediate(index, value))
    return false;
  if (isSign ? value != 1 && value != -1 : value != 0 && value != 1)
    return decoder.expected(isSign ? "a scale of 1 or -1" : "a transposition of 0 or 1");
  flag = isSign ? value == -1 : value == 1;
  return true;
}

bool decodeMultiply(Decoder &decoder) {
  Op &op = decoder.op;
  op.run = issue;
  op.opClass = OpClass::Tensor;
  const auto &operands = decoder.in.operands;
  bool known = decoder.take("f32");
  if (decoder.take("bf16") && decoder.take("bf16"))
    op.aux[auxBf16] = 1;
  else
    known = known && decoder.take("f16") && decoder.take("f16");
  for (unsigned n = 8; n <= maxColumns && !op.aux[auxColumns]; n += 8)
    if (decoder.take("m64n" + std::to_string(n) + "k16"))
      op.aux[auxColumns] = n;
  if (!known || !op.aux[auxColumns] || operands.size() < 7)
    return decoder.notModelled();
  bool fromRegisters = operands[1].kind == Operand::Kind::Vector;
  if (!decoder.expectOperands(fromRegisters ? 7 : 8))
    return false;
  unsigned count = 0;
  if (!decoder.list(operands[0], 32, true, count) || count != op.aux[auxColumns] / 2)
    return decoder.expected(std::to_string(op.aux[auxColumns] / 2) + " accumulators");
  if (fromRegisters) {
    if (!decoder.list(operands[1], 32, false, count) || count != registersOfA)
      return decoder.expected("4 registers of A");
  } else if (!decoder.source(1, 64, op.a)) {
    return false;
  }
  uint32_t negateA = 0, negateB = 0;
  if (!decoder.source(2, 64, op.b) || !decoder.source(3, 1, op.c) ||
      !takeFlag(decoder, 4, true, negateA) || !takeFlag(decoder, 5, true, negateB))
    return false;
  op.aux[auxNegate] = negateA | negateB << 1;
  if (!fromRegisters && !takeFlag(decoder, 6, false, op.aux[auxTransA]))
    return false;
  return takeFlag(decoder, fromRegisters ? 6 : 7, false, op.aux[auxTransB]);
}

bool decodeWgmma(Decoder &decoder) {
  Op &op = decoder.op;
  op.opClass = OpClass::Async;
  op.converges = true;
  if (!decoder.take("sync") || !decoder.take("aligned"))
    return decoder.notModelled();
  if (decoder.take("mma_async"))
    return decodeMultiply(decoder);
  if (decoder.take("fence")) {
    op.run = fence;
    return decoder.expectOperands(0);
  }
  if (decoder.take("commit_group")) {
    op.run = commit;
    return decoder.expectOperands(0);
  }
  op.run = wait;
  return decoder.take("wait_group")
             ? decoder.expectOperands(1) && decoder.immediate(0, op.immediate)
             : decoder.notModelled();
}

} // namespace

void blocksparse::sim::addWgmmaInstructions(DecodeTable &table) { table["wgmma"] = decodeWgmma; }
