// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/Npy.h"

#include "blocksparse/Support/OutputFile.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

using namespace blocksparse;

static constexpr std::string_view npyMagic = "\x93NUMPY";

namespace {

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Parses the one kind of Python literal that a header contains: a dict of strings, booleans and a
/// tuple of integers. Anything else is an error.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  std::optional<Header> parse() {
    Header header;
    bool seenDescr = false, seenOrder = false, seenShape = false;
    if (!consume('{'))
      return std::nullopt;
    while (!consume('}')) {
      std::optional<std::string> key = parseString();
      if (!key || !consume(':'))
        return std::nullopt;
      bool ok = false;
      if (*key == "descr")
        ok = seenDescr = parseDescr(header.descr);
      else if (*key == "fortran_order")
        ok = seenOrder = parseBool(header.fortranOrder);
      else if (*key == "shape")
        ok = seenShape = parseTuple(header.shape);
      if (!ok)
        return std::nullopt;
      if (!consume(',') && peek() != '}')
        return std::nullopt;
    }
    if (!seenDescr || !seenOrder || !seenShape)
      return std::nullopt;
    return header;
  }

private:
  char peek() {
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())))
      rest.remove_prefix(1);
    return rest.empty() ? '\0' : rest.front();
  }

  bool consume(char wanted) {
    if (peek() != wanted || rest.empty())
      return false;
    rest.remove_prefix(1);
    return true;
  }

  bool consumeWord(std::string_view word) {
    peek();
    if (!rest.starts_with(word))
      return false;
    rest.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string> parseString() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return std::nullopt;
    size_t end = rest.find(quote, 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string text(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return text;
  }

  bool parseDescr(std::string &descr) {
    std::optional<std::string> text = parseString();
    if (text)
      descr = *text;
    return text.has_value();
  }

  bool parseBool(bool &value) {
    value = consumeWord("True");
    return value || consumeWord("False");
  }

  bool parseTuple(std::vector<int64_t> &extents) {
    if (!consume('('))
      return false;
    while (!consume(')')) {
      peek();
      int64_t extent = 0;
      auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
      if (status != std::errc() || extent < 0)
        return false;
      rest.remove_prefix(end - rest.data());
      consumeWord("L"); // written by Python 2
      extents.push_back(extent);
      if (!consume(',') && peek() != ')')
        return false;
    }
    return true;
  }

  std::string_view rest;
};

} // namespace

static std::string_view writtenDescr(ElementType type) {
  switch (type) {
  case ElementType::f16:
    return "<f2";
  case ElementType::bf16:
    return "|V2";
  case ElementType::f32:
    return "<f4";
  case ElementType::f64:
    return "<f8";
  case ElementType::i8:
    return "|i1";
  case ElementType::i32:
    return "<i4";
  case ElementType::i64:
    return "<i8";
  case ElementType::f8E4M3FN:
  case ElementType::f8E5M2:
    return "|V1";
  }
  return "";
}

static std::optional<ElementType> typeOfDescr(std::string_view descr,
                                              std::optional<ElementType> expected) {
  if (descr == "|V1" || descr == "<V1")
    return expected == ElementType::f8E5M2 ? ElementType::f8E5M2 : ElementType::f8E4M3FN;
  if (descr == "<f1")
    return ElementType::f8E5M2;
  if (descr == "<V2")
    return ElementType::bf16;
  if (descr == "|b1" || descr == "<i1")
    return ElementType::i8;
  for (ElementType type : allElementTypes)
    if (descr == writtenDescr(type))
      return type;
  return std::nullopt;
}

/// Returns the first bytes of `text` with those that cannot be printed replaced, for messages.
static std::string printable(std::string_view text) {
  std::string shown;
  for (char c : text.substr(0, 64))
    shown += std::isprint(static_cast<unsigned char>(c)) ? c : '.';
  return shown;
}

namespace {

/// Holds an open file, its size, and its path for messages.
struct Input {
  std::ifstream stream;
  int64_t size = 0;
  std::string path;
  std::string &error;

  bool fail(const std::string &expected, const std::string &got) {
    error = path + ": expects " + expected + ", but got " + got;
    return false;
  }

  bool open() {
    stream.open(path, std::ios::binary | std::ios::ate);
    if (!stream)
      return fail("a readable file", std::strerror(errno));
    // A directory can be opened too, and a pipe has no size.
    std::error_code status;
    if (!std::filesystem::is_regular_file(path, status))
      return fail("a regular file", "a directory or a device");
    size = stream.tellg();
    stream.seekg(0);
    return true;
  }

  bool read(void *bytes, int64_t count, const char *what) {
    int64_t left = size - stream.tellg();
    if (left < count || !stream.read(static_cast<char *>(bytes), count))
      return fail(std::to_string(count) + " bytes of " + what, std::to_string(left));
    return true;
  }
};

} // namespace

static std::optional<Header> readHeader(Input &input) {
  unsigned char start[8];
  if (!input.read(start, sizeof(start), "npy magic and version"))
    return std::nullopt;
  std::string_view magic(reinterpret_cast<char *>(start), npyMagic.size());
  if (magic != npyMagic) {
    input.fail("a file that starts with \\x93NUMPY", "'" + printable(magic) + "'");
    return std::nullopt;
  }
  int major = start[6];
  if (major < 1 || major > 3) {
    input.fail("npy version 1, 2 or 3", std::to_string(major));
    return std::nullopt;
  }
  unsigned char lengthBytes[4] = {};
  if (!input.read(lengthBytes, major == 1 ? 2 : 4, "npy header length"))
    return std::nullopt;
  uint32_t length;
  std::memcpy(&length, lengthBytes, sizeof(length));
  // Checked before the allocation, so that a damaged length does not allocate 4 GiB.
  int64_t left = input.size - input.stream.tellg();
  if (length > left) {
    input.fail(std::to_string(length) + " bytes of npy header", std::to_string(left));
    return std::nullopt;
  }
  std::string text(length, '\0');
  if (!input.read(text.data(), length, "npy header"))
    return std::nullopt;
  std::optional<Header> header = HeaderParser(text).parse();
  if (!header)
    input.fail("an npy header with descr, fortran_order and shape", "'" + printable(text) + "'");
  return header;
}

/// Reverses the axes of a tensor without a copy.
static HostTensor reverseAxes(HostTensor tensor) {
  for (int64_t low = 0, high = tensor.rank() - 1; low < high; ++low, --high)
    tensor = tensor.transpose(low, high);
  return tensor;
}

std::optional<HostTensor> blocksparse::readNpy(const std::string &path, std::string &error,
                                               std::optional<ElementType> expected) {
  Input input{{}, 0, path, error};
  if (!input.open())
    return std::nullopt;
  std::optional<Header> header = readHeader(input);
  if (!header)
    return std::nullopt;
  std::optional<ElementType> type = typeOfDescr(header->descr, expected);
  if (!type) {
    input.fail("descr <f2, <f4, <f8, |i1, <i4, <i8, |b1, |V2 or |V1",
               "'" + printable(header->descr) + "'");
    return std::nullopt;
  }
  if (expected && *type != *expected) {
    input.fail(std::string(elementName(*expected)), std::string(elementName(*type)));
    return std::nullopt;
  }
  if (header->fortranOrder)
    std::reverse(header->shape.begin(), header->shape.end());

  // Compare with the size of the file before allocating what the header claims.
  int64_t left = input.size - input.stream.tellg();
  int64_t bytes = elementSize(*type);
  bool overflow = false;
  for (int64_t extent : header->shape)
    overflow |= __builtin_mul_overflow(bytes, extent, &bytes);
  if (overflow || bytes != left) {
    input.fail((overflow ? "less than 2^63" : std::to_string(bytes)) + " bytes of data for " +
                   std::string(elementName(*type)) + formatShape(header->shape),
               std::to_string(left));
    return std::nullopt;
  }
  std::optional<HostTensor> tensor = HostTensor::allocate(*type, header->shape, error);
  if (!tensor) {
    error = path + ": " + error;
    return std::nullopt;
  }
  if (!input.read(tensor->data(), bytes, "data"))
    return std::nullopt;
  return header->fortranOrder ? reverseAxes(*tensor) : *tensor;
}

bool blocksparse::writeNpy(const std::string &path, const HostTensor &tensor, std::string &error) {
  std::string header = "{'descr': '" + std::string(writtenDescr(tensor.type())) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : tensor.shape())
    header += std::to_string(extent) + ", ";
  header += "), }";
  // The data start at a multiple of 64: magic, version and length are 10 bytes, and a newline ends
  // the header.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';

  std::optional<OutputFile> file = OutputFile::create(path, error);
  if (!file)
    return false;
  uint16_t length = static_cast<uint16_t>(header.size());
  file->write(npyMagic);
  file->write(std::string_view("\x01\x00", 2));
  file->write({reinterpret_cast<const char *>(&length), sizeof(length)});
  file->write(header);
  HostTensor packed = tensor.contiguous();
  int64_t bytes = packed.numElements() * elementSize(packed.type());
  file->write({static_cast<const char *>(packed.data()), static_cast<size_t>(bytes)});
  return file->commit(error);
}
