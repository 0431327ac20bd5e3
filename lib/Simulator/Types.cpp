// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Types.h"

using namespace blocksparse::sim;

std::optional<Type> blocksparse::sim::parseType(std::string_view word) {
  using Kind = Type::Kind;
  static constexpr struct {
    std::string_view name;
    Type type;
  } table[] = {
      {"b8", {Kind::Bits, 8}},
      {"b16", {Kind::Bits, 16}},
      {"b32", {Kind::Bits, 32}},
      {"b64", {Kind::Bits, 64}},
      {"b128", {Kind::Bits, 128}},
      {"u8", {Kind::Unsigned, 8}},
      {"u16", {Kind::Unsigned, 16}},
      {"u32", {Kind::Unsigned, 32}},
      {"u64", {Kind::Unsigned, 64}},
      {"s8", {Kind::Signed, 8}},
      {"s16", {Kind::Signed, 16}},
      {"s32", {Kind::Signed, 32}},
      {"s64", {Kind::Signed, 64}},
      {"f16", {Kind::Float, 16}},
      {"f32", {Kind::Float, 32}},
      {"f64", {Kind::Float, 64}},
      {"bf16", {Kind::BFloat, 16}},
      {"tf32", {Kind::TFloat, 32}},
      {"f16x2", {Kind::Float, 32, true}},
      {"bf16x2", {Kind::BFloat, 32, true}},
      {"e4m3x2", {Kind::E4M3, 16, true}},
      {"e5m2x2", {Kind::E5M2, 16, true}},
      {"pred", {Kind::Predicate, 1}},
  };
  for (const auto &[name, type] : table)
    if (name == word)
      return type;
  return std::nullopt;
}
