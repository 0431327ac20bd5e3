// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `ldmatrix`, `stmatrix`, `movmatrix` and `mma.sync` (PTX ISA, "Warp Level Matrix
// Multiply-Accumulate Instructions").
//
// In an 8 x 8 matrix of 16-bit elements lane t holds elements 2 (t % 4) and 2 (t % 4) + 1 of row
// t / 4, the first in the lower half of the register.

#include "Access.h"
#include "Async.h"
#include "Execute.h"
#include "Float.h"
#include "FusedProducts.h"

#include <cstring>

using namespace blocksparse::sim;

namespace {

enum : unsigned { auxCount, auxTransposed };

/// Finds the 16-byte rows of `count` matrices: lanes 8 i to 8 i + 7 give the addresses of matrix i.
bool findRows(Warp &warp, const Op &op, unsigned count, AccessKind kind, uint8_t *(&rows)[32]) {
  for (unsigned i = 0; i < 8 * count; ++i) {
    rows[i] = access(warp, op, Space::Shared, laneAddress(warp, op, op.a, i), 16, 16, kind);
    if (!rows[i])
      return false;
  }
  if (warp.cta.grid.options.counts) {
    uint64_t addresses[laneCount];
    for (unsigned i = 0; i < 8 * count; ++i)
      addresses[i] = laneAddress(warp, op, op.a, i);
    countRows(warp, addresses, 8 * count, kind == AccessKind::Write);
  }
  return true;
}

/// A kernel may load fragments ahead of the last stage and never use them. A row of which a byte
/// was not written (or is being copied) is therefore no fault; it reads as NaN, which shows in
/// every result that uses it.
void poisonUnwritten(Warp &warp, const Op &op, unsigned count, uint8_t *(&rows)[32]) {
  static uint8_t poison[16] = {255, 255, 255, 255, 255, 255, 255, 255,
                               255, 255, 255, 255, 255, 255, 255, 255};
  for (unsigned i = 0; i < 8 * count; ++i)
    if (!isRowWritten(warp, laneAddress(warp, op, op.a, i)))
      rows[i] = poison;
}

void loadMatrices(Warp &warp, const Op &op) {
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  unsigned count = op.aux[auxCount];
  uint8_t *rows[32];
  if (!findRows(warp, op, count, AccessKind::Peek, rows))
    return;
  poisonUnwritten(warp, op, count, rows);
  for (unsigned i = 0; i < count; ++i) {
    alignas(64) uint32_t values[laneCount];
    for (unsigned lane = 0; lane < laneCount; ++lane) {
      unsigned row = lane / 4, column = 2 * (lane % 4);
      if (!op.aux[auxTransposed]) {
        std::memcpy(&values[lane], rows[8 * i + row] + 2 * column, 4);
        continue;
      }
      uint16_t low, high;
      std::memcpy(&low, rows[8 * i + column] + 2 * row, 2);
      std::memcpy(&high, rows[8 * i + column + 1] + 2 * row, 2);
      values[lane] = low | static_cast<uint32_t>(high) << 16;
    }
    warp.store(slots[i], values);
  }
}

void storeMatrices(Warp &warp, const Op &op) {
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  unsigned count = op.aux[auxCount];
  uint8_t *rows[32];
  if (!findRows(warp, op, count, AccessKind::Write, rows))
    return;
  for (unsigned i = 0; i < count; ++i) {
    const uint32_t *values = warp.in<uint32_t>(slots[i]);
    for (unsigned lane = 0; lane < laneCount; ++lane) {
      unsigned row = lane / 4, column = 2 * (lane % 4);
      if (!op.aux[auxTransposed]) {
        std::memcpy(rows[8 * i + row] + 2 * column, &values[lane], 4);
        continue;
      }
      uint16_t low = static_cast<uint16_t>(values[lane]);
      uint16_t high = static_cast<uint16_t>(values[lane] >> 16);
      std::memcpy(rows[8 * i + column] + 2 * row, &low, 2);
      std::memcpy(rows[8 * i + column + 1] + 2 * row, &high, 2);
    }
  }
}

/// Element (r, c) of the source is in half c % 2 of lane 4 r + c / 2.
void transposeMatrix(Warp &warp, const Op &op) {
  const uint32_t *a = warp.in<uint32_t>(op.a);
  alignas(64) uint32_t values[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    unsigned row = lane / 4, column = 2 * (lane % 4);
    auto element = [&](unsigned r, unsigned c) {
      return a[4 * r + c / 2] >> (16 * (c % 2)) & 0xffff;
    };
    values[lane] = element(column, row) | element(column + 1, row) << 16;
  }
  warp.store(op.d, values);
}

bool decodeMatrixAccess(Decoder &decoder, bool isLoad) {
  Op &op = decoder.op;
  op.opClass = OpClass::Memory;
  op.converges = true;
  bool known = decoder.take("sync") && decoder.take("aligned") && decoder.take("m8n8") &&
               takeSpace(decoder) == Space::Shared && decoder.take("b16");
  op.aux[auxCount] = decoder.take("x1") ? 1 : decoder.take("x2") ? 2 : decoder.take("x4") ? 4 : 0;
  op.aux[auxTransposed] = decoder.take("trans");
  if (!known || !op.aux[auxCount] || !decoder.expectOperands(2))
    return decoder.notModelled();
  op.run = isLoad ? loadMatrices : storeMatrices;
  unsigned count = 0;
  if (!decoder.list(decoder.in.operands[isLoad ? 0 : 1], 32, isLoad, count) ||
      !decoder.address(isLoad ? 1 : 0, op.a))
    return false;
  return count == op.aux[auxCount] ||
         decoder.expected(std::to_string(op.aux[auxCount]) + " registers");
}

bool decodeLoadMatrix(Decoder &decoder) { return decodeMatrixAccess(decoder, true); }
bool decodeStoreMatrix(Decoder &decoder) { return decodeMatrixAccess(decoder, false); }

bool decodeMoveMatrix(Decoder &decoder) {
  decoder.op.converges = true;
  decoder.op.run = transposeMatrix;
  bool known = decoder.take("sync") && decoder.take("aligned") && decoder.take("m8n8") &&
               decoder.take("trans") && decoder.take("b16");
  return known ? decodeSameWidth(decoder, 1, 32) : decoder.notModelled();
}

// The fragments of m16n8kK: a register holds E = 32 / (bits of an element) neighbouring values of
// k, or one f64. With g = lane / 4 and t = lane % 4, register j of A holds row g + 8 (j % 2) and
// k = 4 E (j / 2) + E t + e, register j of B column g and k = 4 E j + E t + e, and accumulator j
// row g + 8 (j / 2) and column 2 t + j % 2.

struct HalfElements {
  using Sum = float;
  using Register = uint32_t;
  static constexpr unsigned perRegister = 2, workBits = 16;
  static float get(uint32_t bits, unsigned e) {
    return halfToFloat(static_cast<uint16_t>(bits >> (16 * e)));
  }
};
struct Bf16Elements {
  using Sum = float;
  using Register = uint32_t;
  static constexpr unsigned perRegister = 2, workBits = 16;
  static float get(uint32_t bits, unsigned e) {
    return bf16ToFloat(static_cast<uint16_t>(bits >> (16 * e)));
  }
};
/// The tensor core reads the upper 19 bits of a tf32 operand.
struct Tf32Elements {
  using Sum = float;
  using Register = uint32_t;
  static constexpr unsigned perRegister = 1, workBits = 32;
  static float get(uint32_t bits, unsigned) { return std::bit_cast<float>(bits & 0xffffe000); }
};
struct Int8Elements {
  using Sum = int32_t;
  using Register = uint32_t;
  static constexpr unsigned perRegister = 4, workBits = 8;
  static int32_t get(uint32_t bits, unsigned e) { return static_cast<int8_t>(bits >> (8 * e)); }
};

/// An H200 multiplies f64 at 1 / 15 of the rate of f16 by `wgmma`, which is 1 / 10 of that by
/// `mma.sync`: the products count as those of 10 * 16 bits.
struct DoubleElements {
  using Sum = double;
  using Register = uint64_t;
  static constexpr unsigned perRegister = 1, workBits = 160;
  static double get(uint64_t bits, unsigned) { return std::bit_cast<double>(bits); }
};

/// Products are added to the accumulator in ascending k with one rounding each. The order and the
/// rounding of a tensor core are not documented.
template <typename Elements, unsigned registersOfA>
void multiply(Warp &warp, const Op &op) {
  using Sum = Elements::Sum;
  using Register = Elements::Register;
  constexpr unsigned packed = Elements::perRegister, depth = 2 * packed * registersOfA;
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  const Slot *d = slots, *a = slots + 4, *b = a + registersOfA, *c = b + registersOfA / 2;
  alignas(64) Sum left[depth][16], right[depth][8], sums[16][8];
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned j = 0; j < registersOfA; ++j)
      for (unsigned e = 0; e < packed; ++e)
        left[4 * packed * (j / 2) + packed * t + e][g + 8 * (j % 2)] =
            Elements::get(warp.in<Register>(a[j])[lane], e);
    for (unsigned j = 0; j < registersOfA / 2; ++j)
      for (unsigned e = 0; e < packed; ++e)
        right[4 * packed * j + packed * t + e][g] = Elements::get(warp.in<Register>(b[j])[lane], e);
    for (unsigned j = 0; j < 4; ++j)
      sums[g + 8 * (j / 2)][2 * t + j % 2] = warp.in<Sum>(c[j])[lane];
  }
  addProducts(sums, left, right, 8);
  countProducts(warp, 2 * 16 * 8 * depth, Elements::workBits, /*ofWarpgroup=*/false);
  for (unsigned j = 0; j < 4; ++j) {
    alignas(64) Sum values[laneCount];
    for (unsigned lane = 0; lane < laneCount; ++lane)
      values[lane] = sums[lane / 4 + 8 * (j / 2)][2 * (lane % 4) + j % 2];
    warp.store(d[j], values);
  }
}

bool decodeMultiply(Decoder &decoder) {
  static constexpr struct {
    std::string_view shape, types[4];
    unsigned registersOfA;
    void (*run)(Warp &, const Op &);
    unsigned bits = 32;
  } table[] = {
      {"m16n8k16", {"f32", "f16", "f16", "f32"}, 4, multiply<HalfElements, 4>},
      {"m16n8k8", {"f32", "f16", "f16", "f32"}, 2, multiply<HalfElements, 2>},
      {"m16n8k16", {"f32", "bf16", "bf16", "f32"}, 4, multiply<Bf16Elements, 4>},
      {"m16n8k8", {"f32", "bf16", "bf16", "f32"}, 2, multiply<Bf16Elements, 2>},
      {"m16n8k8", {"f32", "tf32", "tf32", "f32"}, 4, multiply<Tf32Elements, 4>},
      {"m16n8k4", {"f32", "tf32", "tf32", "f32"}, 2, multiply<Tf32Elements, 2>},
      {"m16n8k32", {"s32", "s8", "s8", "s32"}, 4, multiply<Int8Elements, 4>},
      {"m16n8k16", {"s32", "s8", "s8", "s32"}, 2, multiply<Int8Elements, 2>},
      {"m16n8k4", {"f64", "f64", "f64", "f64"}, 2, multiply<DoubleElements, 2>, 64},
      {"m16n8k8", {"f64", "f64", "f64", "f64"}, 4, multiply<DoubleElements, 4>, 64},
      {"m16n8k16", {"f64", "f64", "f64", "f64"}, 8, multiply<DoubleElements, 8>, 64},
  };
  Op &op = decoder.op;
  op.opClass = OpClass::Tensor;
  op.converges = true;
  const auto &words = decoder.in.words;
  if (words.size() != 10 || !decoder.take("sync") || !decoder.take("aligned") ||
      !decoder.take("row") || !decoder.take("col") || !decoder.expectOperands(4))
    return decoder.notModelled();
  for (const auto &entry : table) {
    bool same = words[3] == entry.shape;
    for (unsigned i = 0; i < 4; ++i)
      same &= words[6 + i] == entry.types[i];
    if (!same)
      continue;
    while (!decoder.takeNext().empty())
      ;
    op.run = entry.run;
    unsigned d = 0, a = 0, b = 0, c = 0;
    if (!decoder.list(decoder.in.operands[0], entry.bits, true, d) ||
        !decoder.list(decoder.in.operands[1], entry.bits, false, a) ||
        !decoder.list(decoder.in.operands[2], entry.bits, false, b) ||
        !decoder.list(decoder.in.operands[3], entry.bits, false, c))
      return false;
    bool counts = d == 4 && a == entry.registersOfA && b == entry.registersOfA / 2 && c == 4;
    return counts || decoder.expected("the fragments of its shape");
  }
  return decoder.notModelled();
}

} // namespace

void blocksparse::sim::addMatrixInstructions(DecodeTable &table) {
  table["ldmatrix"] = decodeLoadMatrix;
  table["stmatrix"] = decodeStoreMatrix;
  table["movmatrix"] = decodeMoveMatrix;
  table["mma"] = decodeMultiply;
}
