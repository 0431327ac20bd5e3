// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reduce.h"

#include "Float.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

using namespace blocksparse::sim;

namespace {

template <ReduceOperation operation, typename T>
T apply(T old, T value) {
  using enum ReduceOperation;
  if constexpr (operation == Add && std::is_floating_point_v<T>)
    return old + value;
  else if constexpr (operation == Add)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                          static_cast<std::make_unsigned_t<T>>(value));
  else if constexpr (operation == FlushingAdd)
    return flush(flush(old) + flush(value));
  else if constexpr (operation == Min)
    return std::min(old, value);
  else if constexpr (operation == Max)
    return std::max(old, value);
  else if constexpr (operation == And)
    return old & value;
  else if constexpr (operation == Or)
    return old | value;
  else if constexpr (operation == Xor)
    return old ^ value;
  else if constexpr (operation == Exchange)
    return value;
  else if constexpr (operation == Increment) // back to 0 after `value`
    return old >= value ? T(0) : old + 1;
  else // Decrement: back to `value` after 0
    return old == 0 || old > value ? value : old - 1;
}

template <ReduceOperation operation, typename T>
void combine(uint8_t *to, const uint8_t *from) {
  T old, value;
  std::memcpy(&old, to, sizeof(T));
  std::memcpy(&value, from, sizeof(T));
  old = apply<operation>(old, value);
  std::memcpy(to, &old, sizeof(T));
}

/// Combines elements of 16 bits in f32 and rounds once: a sum of two of them that is rounded to f32
/// first rounds to the same value. The smaller of a number and a NaN is the number.
template <ReduceOperation operation, float (*widen)(uint16_t), uint16_t (*narrow)(float)>
void combineHalves(uint8_t *to, const uint8_t *from) {
  uint16_t old, value;
  std::memcpy(&old, to, 2);
  std::memcpy(&value, from, 2);
  float a = widen(old), b = widen(value);
  uint16_t result = narrow(operation == ReduceOperation::Add   ? a + b
                           : operation == ReduceOperation::Min ? std::fmin(a, b)
                                                               : std::fmax(a, b));
  std::memcpy(to, &result, 2);
}

constexpr Type types[] = {{Type::Kind::Unsigned, 32}, {Type::Kind::Signed, 32},
                          {Type::Kind::Unsigned, 64}, {Type::Kind::Signed, 64},
                          {Type::Kind::Float, 32},    {Type::Kind::Float, 64},
                          {Type::Kind::Float, 16},    {Type::Kind::BFloat, 16}};
constexpr size_t typeCount = std::size(types);
constexpr size_t operationCount = static_cast<size_t>(ReduceOperation::count);

using Row = std::array<Reduction, typeCount>;

template <ReduceOperation operation>
constexpr Row rowOf() {
  using enum ReduceOperation;
  Row row{};
  if constexpr (operation != FlushingAdd) {
    row[0] = {combine<operation, uint32_t>, 4};
    row[2] = {combine<operation, uint64_t>, 8};
  }
  if constexpr (operation == Add || operation == Min || operation == Max) {
    row[1] = {combine<operation, int32_t>, 4};
    row[3] = {combine<operation, int64_t>, 8};
    row[6] = {combineHalves<operation, halfToFloat, floatToHalf>, 2};
    row[7] = {combineHalves<operation, bf16ToFloat, floatToBf16>, 2};
  }
  if constexpr (operation == Add || operation == FlushingAdd)
    row[4] = {combine<operation, float>, 4};
  if constexpr (operation == Add)
    row[5] = {combine<operation, double>, 8};
  return row;
}

constexpr std::array<Row, operationCount> rows = [] {
  using enum ReduceOperation;
  return std::array<Row, operationCount>{
      rowOf<Add>(),       rowOf<FlushingAdd>(), rowOf<Min>(), rowOf<Max>(),
      rowOf<And>(),       rowOf<Or>(),          rowOf<Xor>(), rowOf<Exchange>(),
      rowOf<Increment>(), rowOf<Decrement>()};
}();

} // namespace

std::optional<ReduceOperation> blocksparse::sim::parseReduceOperation(std::string_view word) {
  using enum ReduceOperation;
  static constexpr struct {
    std::string_view name;
    ReduceOperation operation;
  } table[] = {{"add", Add}, {"min", Min},       {"max", Max},       {"and", And},      {"or", Or},
               {"xor", Xor}, {"exch", Exchange}, {"inc", Increment}, {"dec", Decrement}};
  for (const auto &[name, operation] : table)
    if (name == word)
      return operation;
  return std::nullopt;
}

std::optional<uint32_t> blocksparse::sim::findReduction(ReduceOperation operation, Type element) {
  if (element.kind == Type::Kind::Bits)
    element.kind = Type::Kind::Unsigned;
  for (size_t i = 0; i < typeCount; ++i)
    if (element.is(types[i].kind, types[i].bits) && rows[static_cast<size_t>(operation)][i].combine)
      return static_cast<uint32_t>(static_cast<size_t>(operation) * typeCount + i);
  return std::nullopt;
}

const Reduction &blocksparse::sim::reductionAt(uint32_t number) {
  return rows[number / typeCount][number % typeCount];
}
