// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers behind the format that Artifact.h describes.

#ifndef BLOCKSPARSE_LIB_RUNTIME_ARTIFACTFORMAT_H
#define BLOCKSPARSE_LIB_RUNTIME_ARTIFACTFORMAT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace blocksparse::rt {

inline constexpr std::array<uint8_t, 8> artifactMagic = {0x89, 'B',  'S',  'P',
                                                         'A',  '\r', '\n', 0x1a};
inline constexpr size_t sectionCountOffset = 12;
inline constexpr size_t sizeOffset = 16;
inline constexpr size_t checksumOffset = 24;
inline constexpr size_t headerBytes = 32;
inline constexpr size_t tableEntryBytes = 24;

enum class SectionKind : uint32_t { Image = 1, Lut = 2, Kernel = 3 };

inline constexpr uint64_t alignUp(uint64_t offset) { return (offset + 15) / 16 * 16; }

/// Writes the total size and the checksum into a finished artefact.
void sealArtifact(std::span<uint8_t> data);

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_ARTIFACTFORMAT_H
