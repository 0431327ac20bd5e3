// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/TargetInfo.h"

#include <charconv>

using namespace blocksparse;

namespace {

constexpr int64_t KiB = 1024;
constexpr int64_t MiB = 1024 * KiB;

// Names as LLVM spells them; vector widths are those that code should be written for.
constexpr CPUChip cpuChips[] = {
    {"generic", {256, 16}},       {"x86-64", {128, 16}},         {"x86-64-v2", {128, 16}},
    {"x86-64-v3", {256, 16}},     {"x86-64-v4", {512, 32}},      {"haswell", {256, 16}},
    {"skylake", {256, 16}},       {"alderlake", {256, 16}},      {"skylake-avx512", {512, 32}},
    {"cascadelake", {512, 32}},   {"icelake-server", {512, 32}}, {"sapphirerapids", {512, 32}},
    {"emeraldrapids", {512, 32}}, {"graniterapids", {512, 32}},  {"znver1", {256, 16}},
    {"znver2", {256, 16}},        {"znver3", {256, 16}},         {"znver4", {512, 32}},
    {"znver5", {512, 32}},        {"apple-m1", {128, 32}},       {"neoverse-n1", {128, 32}},
    {"neoverse-v1", {128, 32}},   {"neoverse-v2", {128, 32}},
};

constexpr GPUFacts sm80{.multiprocessors = 108,
                        .sharedMemoryPerBlock = 163 * KiB,
                        .sharedMemoryPerMultiprocessor = 164 * KiB,
                        .registersPerMultiprocessor = 65536,
                        .maxThreadsPerMultiprocessor = 2048,
                        .l2Bytes = 40 * MiB,
                        .minimumPtx = 70,
                        .cpAsync = true,
                        .bf16 = true,
                        .f8ToF16 = false,
                        .f64MMA = true,
                        .tma = false,
                        .wgmma = false,
                        .dependentLaunch = false,
                        .warpMMA = {16, 8, 16},
                        .warpgroupMMA = {0, 0, 0}};

/// Consumer Ampere and Ada: less shared memory, no f64 tensor cores.
constexpr GPUFacts sm8x(int64_t multiprocessors, int64_t l2, int64_t ptx) {
  GPUFacts facts = sm80;
  facts.multiprocessors = multiprocessors;
  facts.sharedMemoryPerBlock = 99 * KiB;
  facts.sharedMemoryPerMultiprocessor = 100 * KiB;
  facts.maxThreadsPerMultiprocessor = 1536;
  facts.l2Bytes = l2;
  facts.minimumPtx = ptx;
  facts.f64MMA = false;
  return facts;
}

/// `wgmma` exists only in code for the architecture-specific chip ("a").
constexpr GPUFacts sm90(bool specific) {
  GPUFacts facts = sm80;
  facts.multiprocessors = 132;
  facts.sharedMemoryPerBlock = 227 * KiB;
  facts.sharedMemoryPerMultiprocessor = 228 * KiB;
  facts.l2Bytes = 50 * MiB;
  facts.minimumPtx = specific ? 80 : 78;
  facts.f8ToF16 = true;
  facts.tma = true;
  facts.wgmma = specific;
  facts.dependentLaunch = true;
  if (specific)
    facts.warpgroupMMA = {64, 256, 16};
  return facts;
}

constexpr GPUFacts sm100() {
  GPUFacts facts = sm90(false);
  facts.multiprocessors = 148;
  facts.l2Bytes = 126 * MiB;
  facts.minimumPtx = 86;
  return facts;
}

constexpr GPUFacts sm120() {
  GPUFacts facts = sm8x(170, 96 * MiB, 87);
  facts.f8ToF16 = true;
  facts.tma = true;
  facts.dependentLaunch = true;
  return facts;
}

constexpr GPUChip gpuChips[] = {
    {"sm_80", sm80},        {"sm_86", sm8x(84, 6 * MiB, 71)}, {"sm_89", sm8x(128, 72 * MiB, 78)},
    {"sm_90", sm90(false)}, {"sm_90a", sm90(true)},           {"sm_100", sm100()},
    {"sm_120", sm120()},
};

/// "a, b and c"
template <typename Chip>
std::string names(std::span<const Chip> chips) {
  std::string list;
  for (size_t i = 0; i < chips.size(); ++i) {
    if (i)
      list += i + 1 == chips.size() ? " and " : ", ";
    list += chips[i].name;
  }
  return list;
}

template <typename Chip>
const Chip *find(std::span<const Chip> chips, std::string_view name) {
  for (const Chip &chip : chips)
    if (chip.name == name)
      return &chip;
  return nullptr;
}

std::string_view takeUntil(std::string_view &text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return head;
}

/// The facts that follow the chip, as written.
struct Replacements {
  std::optional<int64_t> simd, registers, workers;
};

bool parseReplacements(std::string_view text, bool cpu, Replacements &facts, std::string &error) {
  while (!text.empty()) {
    std::string_view value = takeUntil(text, ',');
    const std::string_view key = takeUntil(value, '=');
    std::optional<int64_t> *field = key == "workers"            ? &facts.workers
                                    : cpu && key == "simd"      ? &facts.simd
                                    : cpu && key == "registers" ? &facts.registers
                                                                : nullptr;
    if (!field) {
      error = std::string("expects ") + (cpu ? "simd, registers or workers" : "workers") +
              " after the chip, but got '" + std::string(key) + "'";
      return false;
    }
    int64_t number = 0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (status != std::errc() || end != value.data() + value.size() || number < 1) {
      error = "expects " + std::string(key) + " to be a positive number, but got '" +
              std::string(value) + "'";
      return false;
    }
    *field = number;
  }
  return true;
}

} // namespace

std::span<const CPUChip> blocksparse::knownCPUChips() { return cpuChips; }
std::span<const GPUChip> blocksparse::knownGPUChips() { return gpuChips; }

TargetInfo TargetInfo::cpu(std::string chip, CPUFacts facts, int64_t workers) {
  TargetInfo target;
  target.kind_ = TargetKind::CPU;
  target.chip_ = std::move(chip);
  target.workers_ = workers;
  target.cpu_ = facts;
  return target;
}

std::optional<TargetInfo> TargetInfo::parse(std::string_view text, std::string &error) {
  const std::string whole(text);
  std::string_view rest = text;
  std::string_view head = takeUntil(rest, ',');
  const std::string_view kind = takeUntil(head, ':');
  std::string_view chip = head;
  if (kind != "cpu" && kind != "cuda") {
    error = "expects a target cpu, cpu:<chip> or cuda:<chip>, but got '" + whole + "'";
    return std::nullopt;
  }
  Replacements facts;
  if (!parseReplacements(rest, kind == "cpu", facts, error))
    return std::nullopt;
  TargetInfo target;
  if (kind == "cpu") {
    if (chip.empty())
      chip = "generic";
    const CPUChip *known = find(knownCPUChips(), chip);
    if (!known && !(facts.simd && facts.registers)) {
      error = "expects one of the processors " + names(knownCPUChips()) +
              ", or simd and registers for another, but got '" + std::string(chip) + "'";
      return std::nullopt;
    }
    if (facts.simd && (*facts.simd % 64 != 0)) {
      error = "expects simd to be a multiple of 64 bits, but got " + std::to_string(*facts.simd);
      return std::nullopt;
    }
    CPUFacts unit = known ? known->facts : CPUFacts();
    unit.simdBits = facts.simd.value_or(unit.simdBits);
    unit.vectorRegisters = facts.registers.value_or(unit.vectorRegisters);
    return cpu(std::string(chip), unit, facts.workers.value_or(0));
  }
  const GPUChip *known = find(knownGPUChips(), chip);
  if (!known) {
    error = "expects one of the chips " + names(knownGPUChips()) + ", but got '" +
            std::string(chip) + "'";
    return std::nullopt;
  }
  target.kind_ = TargetKind::CUDA;
  target.chip_ = chip;
  target.gpu_ = known->facts;
  if (facts.workers)
    target.gpu_.multiprocessors = *facts.workers;
  target.workers_ = target.gpu_.multiprocessors;
  return target;
}

std::string TargetInfo::toString() const {
  std::string text = (isCPU() ? "cpu:" : "cuda:") + chip_;
  if (isCPU())
    text += ",simd=" + std::to_string(cpu_.simdBits) +
            ",registers=" + std::to_string(cpu_.vectorRegisters);
  if (workers_ > 0)
    text += ",workers=" + std::to_string(workers_);
  return text;
}
