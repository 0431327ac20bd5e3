// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The artefact: what the compiler embeds into a compiled program for the
// runtime. Plain C++, shared by both.
//
// Format 2, all numbers little-endian, no alignment of numbers implied:
//
//   header   8 bytes  magic 89 'B' 'S' 'P' 'A' 0d 0a 1a (a text-mode copy or a
//                     7-bit channel destroys it)
//            u32      format version
//            u32      number of sections
//            u64      total size in bytes
//            u64      checksum of all other bytes
//   table    per section: u32 kind, u32 zero, u64 offset, u64 size
//   payloads in the table's order, which is that of the kinds, each at a
//            multiple of 16 bytes, without overlap, zeros between them
//
//   string   u32 length, bytes
//   blob     zeros up to a multiple of 16 from the section's start, then all
//            bytes to the section's end
//   kind 1   image:  u32 image kind, string target, blob
//   kind 2   LUT:    string name, blob
//   kind 3   kernel: string name, string target, i32 threads[3],
//                    i32 cluster[3], i64 dynamic shared bytes, i32 starts early

#ifndef BLOCKSPARSE_RUNTIME_ARTIFACT_H
#define BLOCKSPARSE_RUNTIME_ARTIFACT_H

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace blocksparse::rt {

/// The newest format that this code writes, and the only one it reads.
inline constexpr uint32_t artifactVersion = 2;

/// Describes the chip of an image: "sm_80" is compute capability 8.0, "sm_100" 10.0.
struct ArtifactTarget {
  int major = 0;
  int minor = 0;
  /// True for a final `a` ("sm_90a"): only this very chip runs the image.
  bool exact = false;
  /// True for a final `f` ("sm_100f"): only this chip and newer ones of its major version run it.
  bool family = false;
  bool operator==(const ArtifactTarget &) const = default;
};

/// Returns the target of such a name; empty for any other text.
std::optional<ArtifactTarget> parseArtifactTarget(std::string_view name);

enum class ImageKind : uint32_t { Ptx = 1, Cubin = 2 };

/// Holds the code for one target; PTX is stored without its final NUL.
struct ArtifactImage {
  ImageKind kind = ImageKind::Ptx;
  std::string_view target;
  std::span<const uint8_t> bytes;
};

/// Holds a look-up table or any other constant that kernels read.
struct ArtifactLut {
  std::string_view name;
  std::span<const uint8_t> bytes;
};

/// Describes how the kernel `name` of the image for `target` is launched.
struct ArtifactKernel {
  std::string_view name;
  std::string_view target;
  std::array<int32_t, 3> threads = {1, 1, 1};
  std::array<int32_t, 3> cluster = {1, 1, 1};
  int64_t dynamicSharedBytes = 0;
  /// Lists the ways to launch a kernel beside the plain one. An early one waits by itself for the
  /// kernel before it on the stream, and may be launched before that has ended. The blocks of one
  /// that runs together all run at the same time.
  enum LaunchMode : int32_t { Plain, Early, Together };
  int32_t mode = Plain;
};

/// Holds the contents of an artefact. Names and bytes are views into memory that others own.
struct Artifact {
  std::vector<ArtifactImage> images;
  std::vector<ArtifactLut> luts;
  std::vector<ArtifactKernel> kernels;
};

/// Returns true if two artefacts have equal contents in the same order.
bool operator==(const Artifact &left, const Artifact &right);

/// Checks the rules that hold for every artefact: names are not empty and
/// unique (images by kind and target, kernels by name and target), targets are
/// names of chips, each kernel's target has an image, 1 to 1024 threads, 1 to 16
/// blocks per cluster, no negative shared memory, early or not. Returns the first violation
/// as "expects ..., but got ...", "" without one.
std::string checkArtifact(const Artifact &artifact);

/// Serialises. Empty, with the reason in `error`, where checkArtifact objects.
std::optional<std::vector<uint8_t>> writeArtifact(const Artifact &artifact, std::string &error);

/// Reads `data` (no copies are made: the result points into it). Empty, with
/// what was expected and found in `error`, for anything that writeArtifact
/// cannot have written.
std::optional<Artifact> parseArtifact(std::span<const uint8_t> data, std::string &error);

/// Returns the indices of the images that a device of this compute capability can run, best first:
/// the newest architecture, then exact targets, then those of a family, then machine code before
/// PTX. Machine code runs on its own major version from its minor version on, PTX on everything
/// from its target on, PTX of a family as machine code, exact targets on themselves only (CUDA
/// programming guide, "Binary" and "PTX compatibility").
std::vector<size_t> rankImages(const Artifact &artifact, int major, int minor);

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_RUNTIME_ARTIFACT_H
