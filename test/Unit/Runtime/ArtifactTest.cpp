// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the format of the artefact, without a device.

#include "blocksparse/Runtime/Artifact.h"

#include "ArtifactFormat.h"
#include "Checksum.h"

#include <gtest/gtest.h>

using namespace blocksparse::rt;

namespace {

std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// Returns a small artefact with one of each kind of content.
Artifact sample() {
  Artifact artifact;
  artifact.images = {{ImageKind::Ptx, "sm_80", bytesOf(".version 8.0")},
                     {ImageKind::Cubin, "sm_90a",
                      bytesOf("\x7f"
                              "ELF")}};
  artifact.luts = {{"empty", {}}, {"columns", bytesOf("0123456789abcdefX")}};
  artifact.kernels = {{"dsd", "sm_80", {128, 1, 1}, {1, 1, 1}, 49152},
                      {"dsd", "sm_90a", {384, 1, 1}, {2, 1, 1}, 200000, ArtifactKernel::Early}};
  return artifact;
}

std::vector<uint8_t> write(const Artifact &artifact) {
  std::string error;
  auto data = writeArtifact(artifact, error);
  EXPECT_TRUE(data.has_value()) << error;
  return data.value_or(std::vector<uint8_t>());
}

/// Returns the error of a parse; "" if it succeeds.
std::string parseError(std::span<const uint8_t> data) {
  std::string error;
  bool parsed = parseArtifact(data, error).has_value();
  EXPECT_EQ(parsed, error.empty());
  return error;
}

#define EXPECT_HAS(text, part)                                                                     \
  EXPECT_NE((text).find(part), std::string::npos)                                                  \
      << "expected " << (part) << "\n but got " << (text)

TEST(ArtifactTest, RoundTrip) {
  Artifact artifact = sample();
  std::vector<uint8_t> data = write(artifact);
  std::string error;
  auto parsed = parseArtifact(data, error);
  ASSERT_TRUE(parsed.has_value()) << error;
  EXPECT_TRUE(*parsed == artifact);
  EXPECT_EQ(write(*parsed), data);
  for (const ArtifactLut &lut : parsed->luts)
    if (!lut.bytes.empty())
      EXPECT_EQ((lut.bytes.data() - data.data()) % 16, 0);
}

TEST(ArtifactTest, Empty) {
  std::vector<uint8_t> data = write({});
  EXPECT_EQ(data.size(), headerBytes);
  EXPECT_EQ(parseError(data), "");
}

// The format is fixed: these bytes must always be readable.
TEST(ArtifactTest, KnownBytes) {
  Artifact artifact;
  artifact.luts = {{"L", bytesOf("\x01\x02")}};
  std::vector<uint8_t> expected = {
      0x89, 'B', 'S', 'P', 'A', 13, 10, 26, 2,  0, 0, 0, 1, 0, 0, 0, // magic, version, count
      82,   0,   0,   0,   0,   0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, // size, checksum
      2,    0,   0,   0,   0,   0,  0,  0,  64, 0, 0, 0, 0, 0, 0, 0, // kind, offset
      18,   0,   0,   0,   0,   0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, // size
      1,    0,   0,   0,   'L', 0,  0,  0,  0,  0, 0, 0, 0, 0, 0, 0, 1, 2};
  std::vector<uint8_t> data = write(artifact);
  std::vector<uint8_t> sum(data.begin() + checksumOffset, data.begin() + headerBytes);
  const std::vector<uint8_t> expectedSum = {0x7d, 0x28, 0x73, 0xe2, 0xf8, 0x6b, 0x8f, 0xb4};
  EXPECT_EQ(sum, expectedSum);
  std::copy(sum.begin(), sum.end(), expected.begin() + checksumOffset);
  EXPECT_EQ(data, expected);
}

TEST(ArtifactTest, ForeignAndDamagedInput) {
  std::vector<uint8_t> data = write(sample());
  EXPECT_HAS(parseError({}), "expects at least 32 bytes of artefact, but got 0");
  std::string elf("\x7f"
                  "ELF\x02\x01\x01 and more than thirty-two bytes");
  EXPECT_HAS(parseError(bytesOf(elf)), "begins with 89425350410d0a1a, but got 7f454c4602010120");
  EXPECT_HAS(parseError(std::span(data).first(data.size() - 1)),
             "expects an artefact of " + std::to_string(data.size()) + " bytes, but got " +
                 std::to_string(data.size() - 1));
  std::vector<uint8_t> longer = data;
  longer.push_back(0);
  EXPECT_HAS(parseError(longer), "bytes, but got " + std::to_string(data.size() + 1));
  std::vector<uint8_t> damaged = data;
  damaged.back() ^= 1;
  EXPECT_HAS(parseError(damaged), "expects an artefact with checksum ");
  std::vector<uint8_t> newer = data;
  newer[8] = 3;
  EXPECT_HAS(parseError(newer), "expects an artefact of format 2, but got format 3");
}

TEST(ArtifactTest, CrookedTables) {
  std::vector<uint8_t> data = write(sample());
  auto changed = [&](size_t offset, uint8_t value) {
    std::vector<uint8_t> copy = data;
    copy[offset] = value;
    sealArtifact(copy);
    return parseError(copy);
  };
  EXPECT_HAS(changed(sectionCountOffset, 200), "sections in an artefact of this size, but got 200");
  EXPECT_HAS(changed(sectionCountOffset, 1), "section 0 expects offset 64, but got");
  EXPECT_HAS(changed(headerBytes, 9), "section 0 expects kind 1 to 3 and 0, but got 9 and 0");
  EXPECT_HAS(changed(headerBytes + 4, 1), "but got 1 and 1");
  EXPECT_HAS(changed(headerBytes + 8, 1), "section 0 expects offset");
  EXPECT_HAS(changed(headerBytes + 23, 0xff), "to end within");
  EXPECT_HAS(changed(headerBytes + 16, 3), "with zeros as padding, but got 3");
  // What fills a gap is no contents, so that it is 0: within a payload, and between two.
  EXPECT_HAS(changed(189, 1), "section 0 expects a payload of the length its fields say");
  EXPECT_HAS(changed(204, 7), "section 1 expects zeros before it, but got 7 at offset 204");
  EXPECT_HAS(changed(headerBytes + 3 * 24, 1),
             "section 3 expects kind 2 to 3 and 0, but got 1 and 0");
}

/// Returns the error of checkArtifact for one change of the sample.
template <typename Change>
std::string refusal(Change change) {
  Artifact artifact = sample();
  change(artifact);
  std::string error;
  EXPECT_FALSE(writeArtifact(artifact, error).has_value());
  return error;
}

TEST(ArtifactTest, RulesOfTheContents) {
  EXPECT_HAS(refusal([](Artifact &a) { a.images[0].target = "gfx90a"; }),
             "expects an image target like 'sm_80' or 'sm_90a', but got 'gfx90a'");
  EXPECT_HAS(refusal([](Artifact &a) { a.images[0].kind = static_cast<ImageKind>(3); }),
             "expects an image of kind 1 (PTX) or 2 (cubin), but got 3");
  EXPECT_HAS(refusal([](Artifact &a) { a.images.push_back(a.images[0]); }), "got two for 'sm_80'");
  EXPECT_HAS(refusal([](Artifact &a) { a.images[0].bytes = {}; }), "at least one byte");
  EXPECT_HAS(refusal([](Artifact &a) { a.luts[1].name = "empty"; }), "got two of 'empty'");
  EXPECT_HAS(refusal([](Artifact &a) { a.luts[1].name = ""; }), "a name for each LUT");
  EXPECT_HAS(refusal([](Artifact &a) { a.kernels[0].name = ""; }), "a name for each kernel");
  EXPECT_HAS(refusal([](Artifact &a) { a.kernels[0].target = "sm_86"; }),
             "kernel 'dsd' for 'sm_86' expects an image of its target, but got none");
  EXPECT_HAS(refusal([](Artifact &a) { a.kernels[0].target = "sm_90a"; }),
             "one record, but got two");
  EXPECT_HAS(refusal([](Artifact &a) { a.kernels[0].threads = {1025, 1, 1}; }),
             "1 to 1024 threads, but got 1025");
  EXPECT_HAS(refusal([](Artifact &a) { a.kernels[0].threads = {2147483647, 2147483647, 2}; }),
             "1 to 1024 threads");
  EXPECT_HAS(refusal([](Artifact &a) { a.kernels[0].threads = {32, 0, 1}; }), "but got 0");
  EXPECT_HAS(refusal([](Artifact &a) { a.kernels[0].cluster = {17, 1, 1}; }), "but got 17");
  EXPECT_HAS(refusal([](Artifact &a) { a.kernels[0].dynamicSharedBytes = -1; }), "but got -1");
  EXPECT_HAS(refusal([](Artifact &a) { a.kernels[0].mode = 3; }),
             "a launch mode from 0 to 2, but got 3");
}

TEST(ArtifactTest, Targets) {
  EXPECT_EQ(parseArtifactTarget("sm_80"), (ArtifactTarget{8, 0, false}));
  EXPECT_EQ(parseArtifactTarget("sm_90a"), (ArtifactTarget{9, 0, true}));
  EXPECT_EQ(parseArtifactTarget("sm_121"), (ArtifactTarget{12, 1, false}));
  EXPECT_EQ(parseArtifactTarget("sm_100f"), (ArtifactTarget{10, 0, false, true}));
  for (const char *bad :
       {"", "sm_", "sm_9", "sm_80b", "sm_a", "sm_f", "sm_100af", "sm_-80", "sm_ 80", "compute_80"})
    EXPECT_EQ(parseArtifactTarget(bad), std::nullopt) << bad;
}

TEST(ArtifactTest, BestImageFirst) {
  Artifact artifact;
  auto add = [&](ImageKind kind, const char *target) {
    artifact.images.push_back({kind, target, bytesOf("x")});
  };
  add(ImageKind::Ptx, "sm_80");    // 0
  add(ImageKind::Cubin, "sm_80");  // 1
  add(ImageKind::Ptx, "sm_90");    // 2
  add(ImageKind::Ptx, "sm_90a");   // 3
  add(ImageKind::Cubin, "sm_90a"); // 4
  add(ImageKind::Ptx, "sm_100a");  // 5
  using Order = std::vector<size_t>;
  EXPECT_EQ(rankImages(artifact, 9, 0), (Order{4, 3, 2, 0}));
  EXPECT_EQ(rankImages(artifact, 8, 0), (Order{1, 0}));
  EXPECT_EQ(rankImages(artifact, 8, 6), (Order{1, 0})); // same major: the cubin runs too
  EXPECT_EQ(rankImages(artifact, 10, 0), (Order{5, 2, 0}));
  EXPECT_EQ(rankImages(artifact, 12, 0), (Order{2, 0}));
  EXPECT_EQ(rankImages(artifact, 7, 5), Order{});
  add(ImageKind::Ptx, "sm_100f"); // 6
  EXPECT_EQ(rankImages(artifact, 10, 0), (Order{5, 6, 2, 0}));
  EXPECT_EQ(rankImages(artifact, 10, 3), (Order{6, 2, 0}));
  EXPECT_EQ(rankImages(artifact, 11, 0), (Order{2, 0}));
}

//===----------------------------------------------------------------------===//
// Fuzzing
//===----------------------------------------------------------------------===//

TEST(ArtifactFuzzTest, EveryTruncationIsAnError) {
  std::vector<uint8_t> data = write(sample());
  for (size_t size = 0; size < data.size(); ++size) {
    // The copy has exactly that size, so that a sanitizer detects a read beyond it.
    std::vector<uint8_t> shorter(data.begin(), data.begin() + static_cast<long>(size));
    shorter.shrink_to_fit();
    EXPECT_NE(parseError(shorter), "") << size;
  }
}

TEST(ArtifactFuzzTest, EveryChangedByteIsAnError) {
  std::vector<uint8_t> data = write(sample());
  for (size_t offset = 0; offset < data.size(); ++offset)
    for (int change = 1; change < 256; ++change) {
      data[offset] ^= static_cast<uint8_t>(change);
      EXPECT_NE(parseError(data), "") << offset << " ^ " << change;
      data[offset] ^= static_cast<uint8_t>(change);
    }
}

/// Expects that everything that a parse returns is inside of the data.
void expectWithin(const Artifact &artifact, std::span<const uint8_t> data) {
  auto check = [&](const void *start, size_t size) {
    if (size == 0)
      return;
    const auto *first = static_cast<const uint8_t *>(start);
    EXPECT_GE(first, data.data());
    EXPECT_LE(first + size, data.data() + data.size());
  };
  for (const ArtifactImage &image : artifact.images) {
    check(image.target.data(), image.target.size());
    check(image.bytes.data(), image.bytes.size());
  }
  for (const ArtifactLut &lut : artifact.luts) {
    check(lut.name.data(), lut.name.size());
    check(lut.bytes.data(), lut.bytes.size());
  }
  for (const ArtifactKernel &kernel : artifact.kernels)
    check(kernel.name.data(), kernel.name.size());
}

// With a correct checksum, the parser itself must detect damage: each change is an error or a valid
// artefact whose views stay inside of the data.
TEST(ArtifactFuzzTest, ChangesWithARightChecksum) {
  const std::vector<uint8_t> data = write(sample());
  int legal = 0;
  for (size_t offset = 0; offset < data.size(); ++offset)
    for (int change = 1; change < 256; ++change) {
      std::vector<uint8_t> copy = data;
      copy[offset] ^= static_cast<uint8_t>(change);
      sealArtifact(copy);
      std::string error;
      if (auto parsed = parseArtifact(copy, error)) {
        ++legal;
        expectWithin(*parsed, copy);
        EXPECT_EQ(checkArtifact(*parsed), "");
      }
    }
  EXPECT_GT(legal, 0);
}

// Several bytes are changed at once, by a fixed random generator, and the checksum is corrected.
TEST(ArtifactFuzzTest, ManyChangesWithARightChecksum) {
  const std::vector<uint8_t> data = write(sample());
  uint64_t random = 12345;
  auto next = [&] { return random = random * 6364136223846793005ull + 1442695040888963407ull; };
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> copy = data;
    copy.resize(headerBytes + (next() >> 33) % (data.size() * 2));
    for (int i = 0; i < 4; ++i)
      copy[(next() >> 33) % copy.size()] = static_cast<uint8_t>(next() >> 56);
    std::copy(artifactMagic.begin(), artifactMagic.end(), copy.begin());
    sealArtifact(copy);
    std::string error;
    if (auto parsed = parseArtifact(copy, error))
      expectWithin(*parsed, copy);
  }
}

TEST(ChecksumTest, DependsOnEveryBitAndTheLength) {
  std::vector<uint8_t> data(37, 0x5a);
  uint64_t sum = checksum(data);
  for (size_t bit = 0; bit < data.size() * 8; ++bit) {
    data[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_NE(checksum(data), sum) << bit;
    data[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  std::vector<uint8_t> zeros(16, 0);
  EXPECT_NE(checksum(std::span(zeros).first(8)), checksum(std::span(zeros).first(9)));
  EXPECT_NE(checksum(data, 1), sum);
}

} // namespace
