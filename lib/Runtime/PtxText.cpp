// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxText.h"

#include <charconv>

using namespace blocksparse::rt;

/// Drops white space and comments in front.
static std::string_view skipBlank(std::string_view text) {
  while (true) {
    size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos)
      return {};
    text.remove_prefix(start);
    std::string_view end;
    if (text.starts_with("//"))
      end = "\n";
    else if (text.starts_with("/*"))
      end = "*/";
    else
      return text;
    size_t stop = text.find(end, 2);
    if (stop == std::string_view::npos)
      return {};
    text.remove_prefix(stop + end.size());
  }
}

/// Drops `word` and the blanks after it; false if the text starts otherwise.
static bool consume(std::string_view &text, std::string_view word) {
  if (!text.starts_with(word))
    return false;
  text = skipBlank(text.substr(word.size()));
  return true;
}

static std::optional<int> consumeNumber(std::string_view &text) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value > 1000)
    return std::nullopt;
  text.remove_prefix(end - text.data());
  return value;
}

std::optional<int> blocksparse::rt::ptxVersionOf(std::string_view text) {
  text = skipBlank(text);
  if (!consume(text, ".version"))
    return std::nullopt;
  std::optional<int> major = consumeNumber(text);
  if (!major || !consume(text, "."))
    return std::nullopt;
  std::optional<int> minor = consumeNumber(text);
  if (!minor)
    return std::nullopt;
  return *major * 10 + *minor;
}

std::string_view blocksparse::rt::ptxTargetOf(std::string_view text) {
  size_t start = text.find(".target");
  if (start == std::string_view::npos)
    return {};
  text.remove_prefix(start);
  consume(text, ".target");
  return text.substr(0, text.find_first_of(" \t\r\n,"));
}

int blocksparse::rt::ptxParameterCount(std::string_view text, std::string_view name) {
  constexpr std::string_view entry = ".entry", parameter = ".param";
  for (size_t at = text.find(entry); at != text.npos; at = text.find(entry, at + 1)) {
    std::string_view rest = text.substr(at);
    consume(rest, entry);
    if (!rest.starts_with(name))
      continue;
    rest = rest.substr(name.size());
    bool whole = rest.empty() || std::string_view(" \t\r\n({/.").find(rest[0]) != rest.npos;
    if (!whole)
      continue;
    rest = skipBlank(rest);
    if (!rest.starts_with("("))
      return 0;
    rest = rest.substr(0, rest.find(')'));
    int count = 0;
    for (size_t next = rest.find(parameter); next != rest.npos;
         next = rest.find(parameter, next + 1))
      ++count;
    return count;
  }
  return -1;
}

int blocksparse::rt::newestPtxVersion(int cudaVersion) {
  static constexpr struct {
    int cuda, ptx;
  } table[] = {
      {11000, 70}, {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76},
      {11070, 77}, {11080, 78}, {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84},
      {12050, 85}, {12060, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}, {13010, 91},
  };
  int newest = 0;
  for (const auto &[cuda, ptx] : table)
    if (cuda <= cudaVersion)
      newest = ptx;
  return newest;
}
