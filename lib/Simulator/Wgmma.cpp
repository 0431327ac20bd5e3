// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wgmma` (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions") for
// f16, bf16, e4m3 and e5m2 with f32 accumulators, and s8 with s32 accumulators. Each warp of the
// warpgroup computes its own 16 rows. The product is computed as late as it may be: when its group
// is waited for. A read of an accumulator before the wait sees the old value.

#include "Access.h"
#include "Async.h"
#include "Execute.h"
#include "Float.h"
#include "Float8.h"
#include "FusedProducts.h"
#include "TensorMap.h"

#include <algorithm>
#include <cstring>

using namespace blocksparse::sim;

namespace {

constexpr unsigned sliceBytes = 32; // bytes of a row in the values of k of one instruction
constexpr unsigned chunkBytes = 16;
constexpr unsigned maxColumns = 256;

// The elements of the factors, and the type in which their products are added.
struct HalfFactor {
  using Stored = uint16_t;
  using Sum = float;
  static float get(uint16_t bits) { return halfToFloat(bits); }
};
struct Bf16Factor {
  using Stored = uint16_t;
  using Sum = float;
  static float get(uint16_t bits) { return bf16ToFloat(bits); }
};
struct E4m3Factor {
  using Stored = uint8_t;
  using Sum = float;
  static float get(uint8_t bits) { return e4m3ToFloat(bits); }
};
struct E5m2Factor {
  using Stored = uint8_t;
  using Sum = float;
  static float get(uint8_t bits) { return e5m2ToFloat(bits); }
};
struct SignedByteFactor {
  using Stored = uint8_t;
  using Sum = int32_t;
  static int32_t get(uint8_t bits) { return static_cast<int8_t>(bits); }
};

/// Holds the number of values of k of one instruction.
template <typename Factor>
constexpr unsigned depthOf = sliceBytes / sizeof(typename Factor::Stored);

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

  /// Returns the address of the 16-byte chunk at byte `bytes` = 16 c of row `major` of a K-major
  /// operand (bytes along k) or an M/N-major one (bytes along m or n, major: k).
  ///
  /// With a swizzle the rows of an atom have the length of the span and eight of them follow one
  /// another. K-major: `stride` leads to the next eight rows. M/N-major: `stride` leads to the next
  /// eight k and `leading` to the next span of m or n. Without a swizzle an atom is eight rows of
  /// 16 bytes: K-major has `leading` along k and `stride` along m or n; M/N-major the reverse.
  uint64_t chunk(unsigned major, uint64_t bytes, bool isKMajor) const {
    uint64_t rowInAtom = major % 8, atom = major / 8;
    uint64_t span = uint64_t(16) << swizzle;
    if (swizzle == 0) {
      uint64_t acrossMinor = isKMajor ? leading : stride;
      uint64_t acrossMajor = isKMajor ? stride : leading;
      return start + atom * acrossMajor + rowInAtom * 16 + bytes / 16 * acrossMinor;
    }
    uint64_t inner = isKMajor ? bytes : bytes / span * leading + bytes % span;
    return swizzleAddress(start + atom * stride + rowInAtom * span + inner, swizzle);
  }
};

enum : unsigned { auxColumns, auxElementBytes, auxTransA, auxTransB, auxNegate };
constexpr unsigned registersOfA = 4;

/// Reads `count` rows or columns from `first` on of an operand in shared memory to
/// values[k][first..]. Returns false after a fault. A chunk that was not written is no fault,
/// because a kernel may leave out rows whose results it does not use; its bytes read as 255, which
/// is NaN in every floating-point type.
template <typename Factor, unsigned width>
bool readOperand(Warp &warp, const Op &op, const Descriptor &descriptor, bool isKMajor,
                 unsigned first, unsigned count,
                 typename Factor::Sum (&values)[depthOf<Factor>][width]) {
  using Stored = Factor::Stored;
  constexpr unsigned perChunk = chunkBytes / sizeof(Stored), depth = depthOf<Factor>;
  unsigned majors = isKMajor ? count : depth, minors = isKMajor ? depth : count;
  for (unsigned major = 0; major < majors; ++major)
    for (unsigned minor = 0; minor < minors; minor += perChunk) {
      uint64_t address = isKMajor
                             ? descriptor.chunk(first + major, minor * sizeof(Stored), true)
                             : descriptor.chunk(major, (first + minor) * sizeof(Stored), false);
      const uint8_t *place =
          access(warp, op, Space::Shared, address, chunkBytes, chunkBytes, AccessKind::Peek);
      if (!place)
        return false;
      Stored chunk[perChunk];
      if (isRowWritten(warp, address))
        std::memcpy(chunk, place, chunkBytes);
      else
        std::memset(chunk, 0xff, chunkBytes);
      for (unsigned i = 0; i < perChunk; ++i)
        (isKMajor ? values[minor + i][major] : values[major][minor + i]) = Factor::get(chunk[i]);
    }
  return true;
}

/// Reads the fragment of A from four registers: that of mma m16n8k16 or m16n8k32.
template <typename Factor>
void readFragment(Warp &warp, const Slot *slots,
                  typename Factor::Sum (&left)[depthOf<Factor>][16]) {
  using Stored = Factor::Stored;
  constexpr unsigned packed = sizeof(uint32_t) / sizeof(Stored);
  for (unsigned j = 0; j < registersOfA; ++j) {
    const uint32_t *values = warp.in<uint32_t>(slots[j]);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned e = 0; e < packed; ++e)
        left[4 * packed * (j / 2) + packed * (lane % 4) + e][lane / 4 + 8 * (j % 2)] =
            Factor::get(static_cast<Stored>(values[lane] >> (8 * sizeof(Stored) * e)));
  }
}

/// Computes 16 rows by N columns. Products are added in ascending k with one rounding each.
template <typename Factor>
void multiply(Warp &warp, const Op &op, uint64_t descriptorA, uint64_t descriptorB, bool adds) {
  using Sum = Factor::Sum;
  constexpr unsigned depth = depthOf<Factor>;
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  unsigned columns = op.aux[auxColumns];
  bool fromRegisters = op.a == noSlot;
  alignas(64) Sum left[depth][16], right[depth][maxColumns], sums[16][maxColumns];
  Descriptor a(descriptorA), b(descriptorB);
  if ((!fromRegisters && a.baseOffset) || b.baseOffset) {
    warp.fault("expects descriptors of base offset 0, but got another one, which is not modelled");
    return;
  }
  unsigned firstRow = 16 * (warp.index % 4);
  if (fromRegisters)
    readFragment<Factor>(warp, slots + columns / 2, left);
  else if (!readOperand<Factor>(warp, op, a, !op.aux[auxTransA], firstRow, 16, left))
    return;
  if (!readOperand<Factor>(warp, op, b, !op.aux[auxTransB], 0, columns, right))
    return;
  countProducts(warp, uint64_t(2) * 16 * columns * depth, 8 * sizeof(typename Factor::Stored),
                /*ofWarpgroup=*/true);
  Sum sign = (op.aux[auxNegate] & 1) != (op.aux[auxNegate] >> 1) ? -1 : 1;
  // Accumulator 4 j + i: row lane / 4 + 8 (i / 2), column 8 j + 2 (lane % 4) + i % 2.
  for (unsigned j = 0; j < columns / 2; ++j) {
    const Sum *values = warp.in<Sum>(slots[j]);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      sums[lane / 4 + 8 * (j % 4 / 2)][8 * (j / 4) + 2 * (lane % 4) + j % 2] =
          adds ? values[lane] : 0;
  }
  for (auto &factors : left)
    for (Sum &factor : factors)
      factor *= sign;
  addProducts(sums, left, right, columns);
  for (unsigned j = 0; j < columns / 2; ++j) {
    Sum *values = warp.out<Sum>(slots[j]);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      values[lane] = sums[lane / 4 + 8 * (j % 4 / 2)][8 * (j / 4) + 2 * (lane % 4) + j % 2];
  }
}

/// Judges the reads of an operand's rows or columns from `first` on, of those whose number is a
/// multiple of `step`.
bool judgeOperand(Warp &warp, const Op &op, const Descriptor &descriptor, bool isKMajor,
                  unsigned first, unsigned count, unsigned step) {
  unsigned elementBytes = op.aux[auxElementBytes], perChunk = chunkBytes / elementBytes;
  unsigned stepDepth = step < 8 && !isKMajor ? 1 : perChunk;
  for (unsigned i = 0; i < count; i += step)
    for (unsigned k = 0; k < sliceBytes / elementBytes; k += stepDepth) {
      // A chunk holds 16 bytes along k of one row, or 16 bytes along the rows of one k.
      if (!isKMajor && i % perChunk)
        continue;
      uint64_t address = isKMajor ? descriptor.chunk(first + i, uint64_t(k) * elementBytes, true)
                                  : descriptor.chunk(k, uint64_t(first + i) * elementBytes, false);
      if (!access(warp, op, Space::Shared, address, chunkBytes, chunkBytes, AccessKind::Begin) ||
          !judgeAccess(warp, address, chunkBytes, Queue::Products, /*writes=*/false))
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

template <typename Factor>
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
    performFor(warp, op, allLanes, [&] { multiply<Factor>(warp, op, a, b, adds); });
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

/// Describes the instructions of one type of factors.
struct Variant {
  std::string_view sum, factor;
  unsigned elementBytes;
  void (*run)(Warp &, const Op &);
};

constexpr Variant variants[] = {
    {"f32", "f16", 2, issue<HalfFactor>},      {"f32", "bf16", 2, issue<Bf16Factor>},
    {"f32", "e4m3", 1, issue<E4m3Factor>},     {"f32", "e5m2", 1, issue<E5m2Factor>},
    {"s32", "s8", 1, issue<SignedByteFactor>},
};

/// Takes the shape and the types. Returns null if the simulator does not know them.
const Variant *takeVariant(Decoder &decoder) {
  const auto &words = decoder.in.words;
  for (const Variant &variant : variants) {
    auto count = [&](std::string_view word) {
      return std::count(words.begin(), words.end(), word);
    };
    if (count(variant.factor) != 2 || count(variant.sum) != 1)
      continue;
    const std::string depth = "k" + std::to_string(sliceBytes / variant.elementBytes);
    // Products of integers have every multiple of 16 columns from 32 on.
    for (unsigned n = 8; n <= maxColumns; n += variant.sum == "s32" && n >= 32 ? 16 : 8)
      if (decoder.take("m64n" + std::to_string(n) + depth)) {
        decoder.op.aux[auxColumns] = n;
        decoder.take(variant.sum);
        decoder.take(variant.factor);
        decoder.take(variant.factor);
        return &variant;
      }
  }
  return nullptr;
}

bool decodeMultiply(Decoder &decoder) {
  Op &op = decoder.op;
  op.opClass = OpClass::Tensor;
  const auto &operands = decoder.in.operands;
  const Variant *variant = takeVariant(decoder);
  if (!variant || operands.size() < 4)
    return decoder.notModelled();
  op.run = variant->run;
  op.aux[auxElementBytes] = variant->elementBytes;
  // Only products of floats have signs, and only those of 16-bit floats transpositions.
  const bool hasSigns = variant->sum == "f32", hasTransposes = variant->elementBytes == 2;
  bool fromRegisters = operands[1].kind == Operand::Kind::Vector;
  if (!decoder.expectOperands(4 + (hasSigns ? 2 : 0) +
                              (hasTransposes ? (fromRegisters ? 1 : 2) : 0)))
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
  if (!decoder.source(2, 64, op.b) || !decoder.source(3, 1, op.c))
    return false;
  if (hasSigns) {
    uint32_t negateA = 0, negateB = 0;
    if (!takeFlag(decoder, 4, true, negateA) || !takeFlag(decoder, 5, true, negateB))
      return false;
    op.aux[auxNegate] = negateA | negateB << 1;
  }
  if (!hasTransposes)
    return true;
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
