// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Patterns.h"

#include <algorithm>
#include <functional>

using namespace blocksparse::torch_operators;

/// Is the number of patterns of one operation that are known.
static constexpr size_t maxPatterns = 64;

static uint64_t getHash(const IndexBytes &indices) {
  std::hash<std::string_view> hash;
  return hash(indices.col) + 31 * (hash(indices.crow) + 31 * indices.width);
}

Patterns::Known *Patterns::find(const IndexBytes &indices) {
  // The latest patterns are the likeliest.
  for (size_t i = known.size(); i-- > 0;)
    if (known[i].width == indices.width && known[i].crow == indices.crow &&
        known[i].col == indices.col)
      return &known[i];
  return nullptr;
}

Patterns::Choice Patterns::choose(const IndexBytes &indices, Reference &server) {
  if (const Known *found = find(indices)) {
    server = Reference::share(found->server.get());
    return server ? Choice::Own : Choice::Any;
  }
  if (std::find(seen.begin(), seen.end(), getHash(indices)) != seen.end())
    return Choice::Show;
  see(indices);
  return Choice::Any;
}

void Patterns::see(const IndexBytes &indices) { seen[next++ % seen.size()] = getHash(indices); }

void Patterns::add(const IndexBytes &indices, Reference server) {
  if (Known *found = find(indices)) {
    if (server)
      found->server = std::move(server);
    return;
  }
  if (known.size() == maxPatterns)
    known.erase(known.begin());
  known.push_back(
      {std::string(indices.crow), std::string(indices.col), indices.width, std::move(server)});
}
