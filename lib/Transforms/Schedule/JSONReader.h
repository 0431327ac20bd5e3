// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A reader of JSON that keeps nothing of what it has passed. A tree of llvm::json takes 4 KB for a
// small object.

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_JSONREADER_H
#define BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_JSONREADER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::blocksparse {

/// Walks a JSON text from its beginning to its end. After the first error every function fails, and
/// error() says what was expected and at which byte.
class JSONReader {
public:
  /// Reads `text`, which outlives the reader. It is an error if that is no UTF-8.
  explicit JSONReader(StringRef text);

  /// Returns true if the next value begins with `bracket` ("{" or "["); passes nothing.
  bool isNext(char bracket);
  /// Passes a string, a number, or "true" or "false". Fails for any other value.
  std::optional<std::string> readString();
  std::optional<double> readNumber();
  std::optional<bool> readBoolean();
  /// Passes an object and calls `readMember` with each key; that passes the member's value. Fails
  /// if it returns false.
  bool readObject(llvm::function_ref<bool(StringRef key)> readMember);
  /// Passes any value and returns its text. Values may be nested `maxDepth` deep.
  std::optional<StringRef> skipValue();
  /// Fails unless only spaces are left.
  bool readEnd();

  const std::string &error() const { return message; }

  static constexpr unsigned maxDepth = 64;

private:
  bool fail(const std::string &expected);
  void skipSpace();
  bool consume(char character);
  bool expect(char character);
  /// Passes a string and returns it with its quotes, as it is written.
  std::optional<StringRef> takeString();
  bool skip();
  bool skipArray();

  StringRef text;
  size_t position = 0;
  unsigned depth = 0;
  std::string message;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_JSONREADER_H
