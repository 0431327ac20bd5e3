// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Runtime/Artifact.h"

#include "ArtifactFormat.h"
#include "Checksum.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <set>
#include <tuple>

using namespace blocksparse::rt;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

std::optional<ArtifactTarget> blocksparse::rt::parseArtifactTarget(std::string_view name) {
  if (!name.starts_with("sm_"))
    return std::nullopt;
  name.remove_prefix(3);
  ArtifactTarget target;
  if (name.ends_with("a")) {
    target.exact = true;
    name.remove_suffix(1);
  } else if (name.ends_with("f")) {
    target.family = true;
    name.remove_suffix(1);
  }
  int number = 0;
  const char *end = name.data() + name.size();
  auto [stop, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || stop != end || number < 10 || number > 9999)
    return std::nullopt;
  target.major = number / 10;
  target.minor = number % 10;
  return target;
}

static std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

static std::string checkImages(const Artifact &artifact) {
  std::set<std::pair<ImageKind, std::string_view>> seen;
  for (const ArtifactImage &image : artifact.images) {
    if (image.kind != ImageKind::Ptx && image.kind != ImageKind::Cubin)
      return "expects an image of kind 1 (PTX) or 2 (cubin), but got " +
             std::to_string(static_cast<uint32_t>(image.kind));
    if (!parseArtifactTarget(image.target))
      return "expects an image target like 'sm_80' or 'sm_90a', but got " + quoted(image.target);
    if (!seen.emplace(image.kind, image.target).second)
      return "expects one image of a kind per target, but got two for " + quoted(image.target);
    if (image.bytes.empty())
      return "expects an image of at least one byte for " + quoted(image.target) + ", but got none";
  }
  return {};
}

static std::string checkLuts(const Artifact &artifact) {
  std::set<std::string_view> seen;
  for (const ArtifactLut &lut : artifact.luts) {
    if (lut.name.empty())
      return "expects a name for each LUT, but got ''";
    if (!seen.insert(lut.name).second)
      return "expects one LUT per name, but got two of " + quoted(lut.name);
  }
  return {};
}

/// Returns the product of three counts, or 0 if one of them is below 1.
static int64_t volume(const std::array<int32_t, 3> &counts) {
  int64_t product = 1;
  for (int32_t count : counts) {
    if (count < 1)
      return 0;
    product = std::min<int64_t>(product, int64_t(1) << 31) * count;
  }
  return product;
}

static std::string checkKernels(const Artifact &artifact) {
  std::set<std::string_view> targets;
  for (const ArtifactImage &image : artifact.images)
    targets.insert(image.target);
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ArtifactKernel &kernel : artifact.kernels) {
    std::string subject =
        "kernel " + quoted(kernel.name) + " for " + quoted(kernel.target) + " expects ";
    if (kernel.name.empty())
      return "expects a name for each kernel, but got ''";
    if (!targets.contains(kernel.target))
      return subject + "an image of its target, but got none";
    if (!seen.emplace(kernel.name, kernel.target).second)
      return subject + "one record, but got two";
    int64_t threads = volume(kernel.threads);
    if (threads < 1 || threads > 1024)
      return subject + "1 to 1024 threads, but got " + std::to_string(threads);
    int64_t blocks = volume(kernel.cluster);
    if (blocks < 1 || blocks > 16)
      return subject + "1 to 16 blocks per cluster, but got " + std::to_string(blocks);
    if (kernel.dynamicSharedBytes < 0)
      return subject + "no less than 0 bytes of shared memory, but got " +
             std::to_string(kernel.dynamicSharedBytes);
    if (kernel.mode < ArtifactKernel::Plain || kernel.mode > ArtifactKernel::Together)
      return subject + "a launch mode from 0 to 2, but got " + std::to_string(kernel.mode);
  }
  return {};
}

std::string blocksparse::rt::checkArtifact(const Artifact &artifact) {
  for (auto check : {checkImages, checkLuts, checkKernels})
    if (std::string error = check(artifact); !error.empty())
      return error;
  return {};
}

static bool sameBytes(std::span<const uint8_t> left, std::span<const uint8_t> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

bool blocksparse::rt::operator==(const Artifact &left, const Artifact &right) {
  auto sameImage = [](const ArtifactImage &a, const ArtifactImage &b) {
    return a.kind == b.kind && a.target == b.target && sameBytes(a.bytes, b.bytes);
  };
  auto sameLut = [](const ArtifactLut &a, const ArtifactLut &b) {
    return a.name == b.name && sameBytes(a.bytes, b.bytes);
  };
  auto sameKernel = [](const ArtifactKernel &a, const ArtifactKernel &b) {
    return std::tie(a.name, a.target, a.threads, a.cluster, a.dynamicSharedBytes, a.mode) ==
           std::tie(b.name, b.target, b.threads, b.cluster, b.dynamicSharedBytes, b.mode);
  };
  return std::ranges::equal(left.images, right.images, sameImage) &&
         std::ranges::equal(left.luts, right.luts, sameLut) &&
         std::ranges::equal(left.kernels, right.kernels, sameKernel);
}

std::vector<size_t> blocksparse::rt::rankImages(const Artifact &artifact, int major, int minor) {
  // Larger is better.
  using Rank = std::tuple<int, int, bool, bool, bool>;
  std::vector<std::pair<Rank, size_t>> fitting;
  for (size_t i = 0; i < artifact.images.size(); ++i) {
    const ArtifactImage &image = artifact.images[i];
    std::optional<ArtifactTarget> target = parseArtifactTarget(image.target);
    if (!target)
      continue;
    bool binary = image.kind == ImageKind::Cubin;
    bool same = target->major == major && target->minor == minor;
    bool older = target->major < major || (target->major == major && target->minor <= minor);
    bool bound = binary || target->family; // to its major version
    bool runs = target->exact ? same : older && (!bound || target->major == major);
    if (runs)
      fitting.push_back({{target->major, target->minor, target->exact, target->family, binary}, i});
  }
  std::ranges::sort(fitting, std::greater<>());
  std::vector<size_t> result;
  for (const auto &[rank, index] : fitting)
    result.push_back(index);
  return result;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Writes little-endian numbers to a growing byte string.
class Writer {
public:
  void number(uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      data.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void string(std::string_view text) {
    number(text.size(), 4);
    data.insert(data.end(), text.begin(), text.end());
  }
  void align() { data.resize(alignUp(data.size()), 0); }
  void blob(std::span<const uint8_t> bytes) {
    align();
    raw(bytes);
  }
  void raw(std::span<const uint8_t> bytes) { data.insert(data.end(), bytes.begin(), bytes.end()); }
  void triple(const std::array<int32_t, 3> &values) {
    for (int32_t value : values)
      number(static_cast<uint32_t>(value), 4);
  }

  std::vector<uint8_t> data;
};

struct Section {
  SectionKind kind;
  std::vector<uint8_t> payload;
};
} // namespace

static std::vector<Section> makeSections(const Artifact &artifact) {
  std::vector<Section> sections;
  for (const ArtifactImage &image : artifact.images) {
    Writer writer;
    writer.number(static_cast<uint32_t>(image.kind), 4);
    writer.string(image.target);
    writer.blob(image.bytes);
    sections.push_back({SectionKind::Image, std::move(writer.data)});
  }
  for (const ArtifactLut &lut : artifact.luts) {
    Writer writer;
    writer.string(lut.name);
    writer.blob(lut.bytes);
    sections.push_back({SectionKind::Lut, std::move(writer.data)});
  }
  for (const ArtifactKernel &kernel : artifact.kernels) {
    Writer writer;
    writer.string(kernel.name);
    writer.string(kernel.target);
    writer.triple(kernel.threads);
    writer.triple(kernel.cluster);
    writer.number(static_cast<uint64_t>(kernel.dynamicSharedBytes), 8);
    writer.number(static_cast<uint32_t>(kernel.mode), 4);
    sections.push_back({SectionKind::Kernel, std::move(writer.data)});
  }
  return sections;
}

std::optional<std::vector<uint8_t>> blocksparse::rt::writeArtifact(const Artifact &artifact,
                                                                   std::string &error) {
  error = checkArtifact(artifact);
  if (!error.empty())
    return std::nullopt;
  std::vector<Section> sections = makeSections(artifact);
  Writer writer;
  writer.raw(artifactMagic);
  writer.number(artifactVersion, 4);
  writer.number(sections.size(), 4);
  // Total size and checksum, known at the end.
  writer.number(0, 8);
  writer.number(0, 8);
  size_t offset = alignUp(headerBytes + sections.size() * tableEntryBytes);
  for (const Section &section : sections) {
    writer.number(static_cast<uint32_t>(section.kind), 4);
    writer.number(0, 4);
    writer.number(offset, 8);
    writer.number(section.payload.size(), 8);
    offset = alignUp(offset + section.payload.size());
  }
  for (const Section &section : sections)
    writer.blob(section.payload);
  sealArtifact(writer.data);
  return std::move(writer.data);
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

static void storeWord(std::span<uint8_t> data, size_t offset, uint64_t value) {
  for (size_t i = 0; i < 8; ++i)
    data[offset + i] = static_cast<uint8_t>(value >> (8 * i));
}

static uint64_t checksumOf(std::span<const uint8_t> data) {
  return checksum(data.subspan(headerBytes), checksum(data.first(checksumOffset)));
}

void blocksparse::rt::sealArtifact(std::span<uint8_t> data) {
  if (data.size() < headerBytes)
    return;
  storeWord(data, sizeOffset, data.size());
  storeWord(data, checksumOffset, checksumOf(data));
}

/// Returns the position of the first byte that is not 0; empty if there is none.
static std::optional<size_t> findNonZero(std::span<const uint8_t> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != 0)
      return i;
  return std::nullopt;
}

namespace {
/// Reads little-endian numbers and never leaves its bytes; `failed` stays set
/// once something did not fit.
class Reader {
public:
  explicit Reader(std::span<const uint8_t> data) : data(data) {}

  uint64_t number(size_t bytes) {
    std::span<const uint8_t> field = take(bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < field.size(); ++i)
      value |= static_cast<uint64_t>(field[i]) << (8 * i);
    return value;
  }
  std::string_view string() {
    std::span<const uint8_t> text = take(number(4));
    return {reinterpret_cast<const char *>(text.data()), text.size()};
  }
  std::span<const uint8_t> blob() {
    if (findNonZero(take(alignUp(position) - position)))
      failed = true;
    return take(data.size() - position);
  }
  std::array<int32_t, 3> triple() {
    std::array<int32_t, 3> values;
    for (int32_t &value : values)
      value = static_cast<int32_t>(number(4));
    return values;
  }
  size_t rest() const { return data.size() - position; }
  bool failed = false;

private:
  std::span<const uint8_t> take(uint64_t bytes) {
    if (failed || bytes > rest()) {
      failed = true;
      return {};
    }
    position += bytes;
    return data.subspan(position - bytes, bytes);
  }

  std::span<const uint8_t> data;
  size_t position = 0;
};
} // namespace

static std::string hexOf(std::span<const uint8_t> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

static std::string hexOf(uint64_t value) {
  uint8_t bytes[8];
  for (size_t i = 0; i < 8; ++i)
    bytes[i] = static_cast<uint8_t>(value >> (56 - 8 * i));
  return hexOf(std::span<const uint8_t>(bytes));
}

static std::string checkHeader(std::span<const uint8_t> data) {
  if (data.size() < headerBytes)
    return "expects at least " + std::to_string(headerBytes) + " bytes of artefact, but got " +
           std::to_string(data.size());
  std::span<const uint8_t> magic = data.first(artifactMagic.size());
  if (!sameBytes(magic, artifactMagic))
    return "expects an artefact that begins with " + hexOf(artifactMagic) + ", but got " +
           hexOf(magic);
  Reader reader(data.subspan(artifactMagic.size()));
  uint64_t version = reader.number(4);
  uint64_t sections = reader.number(4);
  uint64_t size = reader.number(8);
  uint64_t sum = reader.number(8);
  if (version != artifactVersion)
    return "expects an artefact of format " + std::to_string(artifactVersion) +
           ", but got format " + std::to_string(version);
  if (size != data.size())
    return "expects an artefact of " + std::to_string(size) + " bytes, but got " +
           std::to_string(data.size());
  if (uint64_t found = checksumOf(data); found != sum)
    return "expects an artefact with checksum " + hexOf(sum) + ", but got " + hexOf(found);
  uint64_t room = (data.size() - headerBytes) / tableEntryBytes;
  if (sections > room)
    return "expects at most " + std::to_string(room) +
           " sections in an artefact of this size, but got " + std::to_string(sections);
  return {};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Adds what a payload holds. False where it is too short or too long.
static bool readSection(SectionKind kind, std::span<const uint8_t> payload, Artifact &artifact) {
  Reader reader(payload);
  switch (kind) {
  case SectionKind::Image: {
    ArtifactImage image;
    image.kind = static_cast<ImageKind>(reader.number(4));
    image.target = reader.string();
    image.bytes = reader.blob();
    artifact.images.push_back(image);
    break;
  }
  case SectionKind::Lut: {
    ArtifactLut lut;
    lut.name = reader.string();
    lut.bytes = reader.blob();
    artifact.luts.push_back(lut);
    break;
  }
  case SectionKind::Kernel: {
    ArtifactKernel kernel;
    kernel.name = reader.string();
    kernel.target = reader.string();
    kernel.threads = reader.triple();
    kernel.cluster = reader.triple();
    kernel.dynamicSharedBytes = static_cast<int64_t>(reader.number(8));
    kernel.mode = static_cast<int32_t>(reader.number(4));
    artifact.kernels.push_back(kernel);
    break;
  }
  }
  return !reader.failed && reader.rest() == 0;
}

static std::string readSections(std::span<const uint8_t> data, Artifact &artifact) {
  Reader table(data.subspan(sectionCountOffset));
  uint64_t count = table.number(4);
  table = Reader(data.subspan(headerBytes));
  uint64_t end = headerBytes + count * tableEntryBytes, free = alignUp(end), previous = 1;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t kind = table.number(4);
    uint64_t reserved = table.number(4);
    uint64_t offset = table.number(8);
    uint64_t size = table.number(8);
    std::string subject = "artefact section " + std::to_string(i) + " expects ";
    if (kind < previous || kind > 3 || reserved != 0)
      return subject + "kind " + std::to_string(previous) + " to 3 and 0, but got " +
             std::to_string(kind) + " and " + std::to_string(reserved);
    previous = kind;
    if (offset != free)
      return subject + "offset " + std::to_string(free) + ", but got " + std::to_string(offset);
    if (offset > data.size() || size > data.size() - offset)
      return subject + "to end within " + std::to_string(data.size()) + " bytes, but got " +
             std::to_string(size) + " bytes at offset " + std::to_string(offset);
    if (std::optional<size_t> gap = findNonZero(data.subspan(end, offset - end)))
      return subject + "zeros before it, but got " + std::to_string(data[end + *gap]) +
             " at offset " + std::to_string(end + *gap);
    end = offset + size;
    if (!readSection(static_cast<SectionKind>(kind), data.subspan(offset, size), artifact))
      return subject + "a payload of the length its fields say with zeros as padding, but got " +
             std::to_string(size) + " bytes";
    free = i + 1 < count ? alignUp(end) : end;
  }
  if (count == 0 ? data.size() != headerBytes : free != data.size())
    return "expects an artefact to end with its last section, but got " +
           std::to_string(data.size()) + " bytes";
  return {};
}

std::optional<Artifact> blocksparse::rt::parseArtifact(std::span<const uint8_t> data,
                                                       std::string &error) {
  Artifact artifact;
  error = checkHeader(data);
  if (error.empty())
    error = readSections(data, artifact);
  if (error.empty())
    error = checkArtifact(artifact);
  if (!error.empty())
    return std::nullopt;
  return artifact;
}
