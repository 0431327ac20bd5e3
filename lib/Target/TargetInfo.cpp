// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/TargetInfo.h"

#include <algorithm>
#include <charconv>
#include <vector>

using namespace blocksparse;

namespace {

constexpr int64_t maxFact = 65536;

/// Returns "a, b and c".
std::string join(const std::vector<std::string_view> &names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i)
      list += i + 1 == names.size() ? " and " : ", ";
    list += names[i];
  }
  return list;
}

template <typename Row>
std::string namesOf(std::span<const Row> rows) {
  std::vector<std::string_view> names;
  for (const Row &row : rows)
    names.push_back(row.name);
  return join(names);
}

template <typename Row>
const Row *find(std::span<const Row> rows, std::string_view name) {
  for (const Row &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

/// Returns the text before the first separator and removes both from `text`.
std::string_view takeUntil(std::string_view &text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return head;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// Holds the facts that follow a chip, as written.
struct Replacements {
  std::optional<int64_t> simd, registers, workers;
  std::optional<std::string_view> device;
};

bool parseCount(std::string_view key, std::string_view value, std::optional<int64_t> &field,
                std::string &error) {
  int64_t number = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (status != std::errc() || end != value.data() + value.size() || number < 1 ||
      number > maxFact) {
    error = "expects " + std::string(key) + " to be a number from 1 to " + std::to_string(maxFact) +
            ", but got " + quoted(value);
    return false;
  }
  field = number;
  return true;
}

/// Parses ",key=value" any number of times.
bool parseReplacements(std::string_view text, bool cpu, Replacements &facts, std::string &error) {
  while (!text.empty()) {
    text.remove_prefix(1); // the comma
    const size_t comma = text.find(',');
    std::string_view value = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma);
    const std::string_view key = takeUntil(value, '=');
    std::optional<int64_t> *count = key == "workers"            ? &facts.workers
                                    : cpu && key == "simd"      ? &facts.simd
                                    : cpu && key == "registers" ? &facts.registers
                                                                : nullptr;
    const bool isDevice = !cpu && key == "device";
    if (!count && !isDevice) {
      error = std::string("expects ") + (cpu ? "simd, registers or workers" : "device or workers") +
              " after the chip, but got " + quoted(key);
      return false;
    }
    if (count ? count->has_value() : facts.device.has_value()) {
      error = "expects " + std::string(key) + " once, but got " + quoted(value) + " as well";
      return false;
    }
    if (isDevice)
      facts.device = value;
    else if (!parseCount(key, value, *count, error))
      return false;
  }
  return true;
}

/// Replaces SMs, L2 and rates by those of a device of the same compute capability.
bool setDevice(GPUFacts &facts, std::string_view chip, std::string_view name, std::string &error) {
  std::vector<std::string_view> able;
  for (const GPUDevice &device : knownGPUDevices()) {
    if (device.computeCapability != facts.computeCapability)
      continue;
    able.push_back(device.name);
    if (device.name != name)
      continue;
    facts.device = device.name;
    facts.multiprocessors = device.multiprocessors;
    facts.l2Bytes = device.l2Bytes;
    facts.rates = device.rates;
    return true;
  }
  error =
      "expects a device of " + std::string(chip) + " (" + join(able) + "), but got " + quoted(name);
  return false;
}

/// Returns true if a device of this compute capability runs the PTX of the chip: that of a chip
/// without suffix runs on every newer one, with "f" on newer ones of its family, with "a" on no
/// other.
bool runsOn(const GPUChip &chip, int64_t computeCapability) {
  const int64_t own = chip.facts.computeCapability;
  if (chip.name.back() == 'a')
    return own == computeCapability;
  return own <= computeCapability &&
         (chip.name.back() != 'f' || own / 10 == computeCapability / 10);
}

const GPUFacts &factsOfChip(std::string_view chip) { return find(knownGPUChips(), chip)->facts; }

} // namespace

TargetInfo TargetInfo::cpu(std::string chip, CPUFacts facts, int64_t workers) {
  TargetInfo target;
  target.kind_ = TargetKind::CPU;
  target.chip_ = std::move(chip);
  target.workers_ = workers;
  target.cpu_ = facts;
  return target;
}

TargetInfo TargetInfo::ofChip(const GPUChip &chip) {
  TargetInfo target;
  target.kind_ = TargetKind::CUDA;
  target.chip_ = chip.name;
  target.gpu_ = chip.facts;
  target.workers_ = chip.facts.multiprocessors;
  return target;
}

TargetInfo TargetInfo::oldestGPU() { return ofChip(knownGPUChips().front()); }

TargetInfo TargetInfo::h100() { return ofChip(*find(knownGPUChips(), "sm_90a")); }

std::optional<TargetInfo> TargetInfo::parse(std::string_view text, std::string &error) {
  const size_t comma = text.find(',');
  std::string_view chip = text.substr(0, comma);
  const std::string_view rest =
      comma == std::string_view::npos ? std::string_view() : text.substr(comma);
  const bool hasChip = chip.find(':') != std::string_view::npos;
  const std::string_view kind = takeUntil(chip, ':');
  if (kind == "cuda" && hasChip) {
    const GPUChip *known = find(knownGPUChips(), chip);
    if (known)
      return replace(ofChip(*known), rest, error);
    error = "expects one of the chips " + namesOf(knownGPUChips()) + ", but got " + quoted(chip);
    return std::nullopt;
  }
  if (kind != "cpu") {
    error = "expects a target cpu, cpu:<chip> or cuda:<chip>, but got " + quoted(text);
    return std::nullopt;
  }
  if (!hasChip)
    chip = "generic";
  const CPUChip *known = find(knownCPUChips(), chip);
  if (Replacements facts; !known) {
    if (!parseReplacements(rest, /*cpu=*/true, facts, error))
      return std::nullopt;
    if (chip.empty() || !facts.simd || !facts.registers) {
      error = "expects one of the processors " + namesOf(knownCPUChips()) +
              ", or simd and registers for another, but got " + quoted(chip);
      return std::nullopt;
    }
  }
  return replace(cpu(std::string(chip), known ? known->facts : CPUFacts()), rest, error);
}

std::optional<TargetInfo> TargetInfo::replace(TargetInfo base, std::string_view replacements,
                                              std::string &error) {
  Replacements facts;
  if (!parseReplacements(replacements, base.isCPU(), facts, error))
    return std::nullopt;
  if (facts.simd && *facts.simd % 64 != 0) {
    error = "expects simd to be a multiple of 64 bits, but got " + std::to_string(*facts.simd);
    return std::nullopt;
  }
  if (facts.device && !setDevice(base.gpu_, base.chip_, *facts.device, error))
    return std::nullopt;
  base.cpu_.simdBits = facts.simd.value_or(base.cpu_.simdBits);
  base.cpu_.vectorRegisters = facts.registers.value_or(base.cpu_.vectorRegisters);
  if (base.isCPU()) {
    base.workers_ = facts.workers.value_or(base.workers_);
    return base;
  }
  base.gpu_.multiprocessors = facts.workers.value_or(base.gpu_.multiprocessors);
  base.workers_ = base.gpu_.multiprocessors;
  return base;
}

std::optional<TargetInfo> TargetInfo::ofDevice(const DeviceDescription &device,
                                               std::string &error) {
  const GPUChip *best = nullptr;
  for (const GPUChip &chip : knownGPUChips()) {
    if (!runsOn(chip, device.computeCapability))
      continue;
    const int64_t capability = chip.facts.computeCapability;
    const int64_t other = best ? best->facts.computeCapability : 0;
    // A suffix gives instructions; that of the one chip comes before that of its family.
    if (capability > other ||
        (capability == other && chip.facts.setmaxnreg && !best->facts.setmaxnreg))
      best = &chip;
  }
  if (!best) {
    error = "expects a GPU of compute capability 8.0 or newer, but got " +
            std::to_string(device.computeCapability / 10) + "." +
            std::to_string(device.computeCapability % 10);
    return std::nullopt;
  }
  TargetInfo target = ofChip(*best);
  // The longest name that matches tells the device: "H200" is no "H20".
  const GPUDevice *known = nullptr;
  for (const GPUDevice &candidate : knownGPUDevices())
    if (candidate.computeCapability == target.gpu_.computeCapability &&
        device.name.find(candidate.driverName) != std::string_view::npos &&
        (!known || candidate.driverName.size() > known->driverName.size()))
      known = &candidate;
  if (known && !setDevice(target.gpu_, target.chip_, known->name, error))
    return std::nullopt;
  if (device.multiprocessors > 0)
    target.gpu_.multiprocessors = std::min(device.multiprocessors, maxFact);
  target.workers_ = target.gpu_.multiprocessors;
  return target;
}

std::string TargetInfo::toString() const {
  std::string text = (isCPU() ? "cpu:" : "cuda:") + chip_;
  if (isCPU())
    text += ",simd=" + std::to_string(cpu_.simdBits) +
            ",registers=" + std::to_string(cpu_.vectorRegisters);
  else if (gpu_.device != factsOfChip(chip_).device)
    text += ",device=" + std::string(gpu_.device);
  if (workers_ > 0)
    text += ",workers=" + std::to_string(workers_);
  return text;
}

std::string TargetInfo::describe() const {
  if (isCPU()) {
    const CPUChip *known = find(knownCPUChips(), chip_);
    const bool implied = known && known->facts.simdBits == cpu_.simdBits &&
                         known->facts.vectorRegisters == cpu_.vectorRegisters;
    if (!implied)
      return toString();
    return (chip_ == "generic" ? "cpu" : "cpu:" + chip_) +
           (workers_ > 0 ? ",workers=" + std::to_string(workers_) : "");
  }
  std::string text = "cuda:" + chip_;
  if (gpu_.device != factsOfChip(chip_).device)
    text += ",device=" + std::string(gpu_.device);
  if (workers_ != find(knownGPUDevices(), gpu_.device)->multiprocessors)
    text += ",workers=" + std::to_string(workers_);
  return text;
}
