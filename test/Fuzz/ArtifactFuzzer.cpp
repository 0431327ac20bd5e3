// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Artefacts: as they are, and with the size and the checksum that suit them.

#include "../../lib/Runtime/ArtifactFormat.h"
#include "Check.h"
#include "blocksparse/Runtime/Artifact.h"

using namespace blocksparse::rt;

static void read(std::span<const uint8_t> data) {
  std::string error;
  std::optional<Artifact> artifact = parseArtifact(data, error);
  checkError(artifact.has_value(), error);
  if (!artifact)
    return;
  std::optional<std::vector<uint8_t>> again = writeArtifact(*artifact, error);
  check(again && std::equal(again->begin(), again->end(), data.begin(), data.end()),
        "only what writeArtifact writes is read");
  rankImages(*artifact, 9, 0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read({data, size});
  if (size < headerBytes)
    return 0;
  std::vector<uint8_t> sealed(data, data + size);
  sealArtifact(sealed);
  read(sealed);
  return 0;
}
