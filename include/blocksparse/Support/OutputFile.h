// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Output files that are replaced as a whole or not at all. Every tool writes its files in this way.

#ifndef BLOCKSPARSE_SUPPORT_OUTPUTFILE_H
#define BLOCKSPARSE_SUPPORT_OUTPUTFILE_H

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace blocksparse {

/// Holds a new version of a file under a temporary name in the same directory, until commit() puts
/// it in the place of the old version. A reader therefore sees the old or the new version, and a
/// full disk or a killed process leaves the old one. The temporary name is unique, so that any
/// number of processes and threads may write the same file; the last commit() counts.
///
/// If the path is a symbolic link, the file that it leads to is replaced. The new version has the
/// mode bits, and where possible the owner, of the old one. A file without write permission is not
/// replaced. What is no regular file (a device, a pipe) is written to directly.
///
/// Errors read "expects to write 'path', but got: reason".
class OutputFile {
public:
  /// Makes an empty temporary file. On failure returns nothing and sets `error`.
  static std::optional<OutputFile> create(const std::string &path, std::string &error);

  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  /// Removes the temporary file if it was not committed.
  ~OutputFile();

  /// Returns the name that another program may write to instead of write(); it begins with "/" or
  /// ".", so that no program takes it for an option or a response file.
  const std::string &temporaryPath() const { return temporary; }

  /// Appends `bytes`. The first failure is kept for commit(), and what follows it is dropped.
  void write(std::string_view bytes);

  /// Brings all bytes to the disk and puts the file in its place. On failure sets `error`, removes
  /// the temporary file and leaves the old version as it is. Called at most once.
  bool commit(std::string &error);

private:
  OutputFile() = default;
  bool fail(int code, std::string &error);

  /// Path as the caller gave it, for errors; the file that is replaced; the temporary name, equal
  /// to `target` if that is written to directly.
  std::string path, target, temporary;
  int descriptor = -1;
  /// First error of write(), an errno value.
  int failure = 0;
  /// Mode bits and owner of the old version; empty if there is none.
  std::optional<mode_t> mode;
  uid_t owner = 0;
  gid_t group = 0;
};

/// Returns the path of the file that `path` leads to by symbolic links; the last one may lead to a
/// file that does not exist yet. A chain that does not end is returned at its 40th link.
std::string followLinks(std::string path);

/// Fails, with the error of OutputFile, if a file could not be written at `path`; writes nothing
/// there. Tools call it before their work begins.
bool checkOutputFile(const std::string &path, std::string &error);

/// Writes a whole file.
bool writeOutputFile(const std::string &path, std::string_view bytes, std::string &error);

/// Appends `bytes` to the file at `path`, which is made if there is none. The bytes of several
/// processes do not mix, and on failure the file is as it was.
bool appendOutputFile(const std::string &path, std::string_view bytes, std::string &error);

/// Returns a file name for any text: characters other than letters, digits, '_', '$', '-' and '.'
/// become '%' and two hexadecimal digits. Different texts have different names; none has a
/// separator of directories.
std::string toFileName(std::string_view text);

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_OUTPUTFILE_H
