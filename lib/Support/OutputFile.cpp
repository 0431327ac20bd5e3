// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/OutputFile.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace blocksparse;

/// Returns the directory part of a path, with the last separator: "" for a name alone.
static std::string getDirectory(const std::string &path) {
  return path.substr(0, path.find_last_of('/') + 1);
}

std::string blocksparse::followLinks(std::string path) {
  for (int links = 0; links < 40; ++links) {
    char text[4096];
    ssize_t length = ::readlink(path.c_str(), text, sizeof(text));
    if (length <= 0 || length == sizeof(text))
      break;
    const std::string_view next(text, static_cast<size_t>(length));
    path = next.front() == '/' ? std::string() : getDirectory(path);
    path += next;
  }
  return path;
}

namespace {

/// Describes what is at the path of an output file.
struct Place {
  std::string target;
  /// Holds the status of the present file, if `exists`.
  struct stat status;
  bool exists = false;
  /// True for what cannot be replaced by a new file: a device, a pipe, an open file of a process.
  bool direct = false;
};

} // namespace

/// Finds what is at `path`. Returns an errno value: not 0 if a file there could not be replaced.
static int findPlace(const std::string &path, Place &place) {
  place.target = followLinks(path);
  if (::stat(path.c_str(), &place.status) != 0) {
    // The name of a new file may not end like a directory.
    bool isName = !place.target.empty() && place.target.back() != '/';
    return errno == ENOENT && isName ? 0 : errno;
  }
  place.exists = true;
  if (S_ISDIR(place.status.st_mode))
    return EISDIR;
  struct stat target;
  place.direct = !S_ISREG(place.status.st_mode) || ::stat(place.target.c_str(), &target) != 0 ||
                 target.st_ino != place.status.st_ino || target.st_dev != place.status.st_dev;
  if (place.direct)
    place.target = path;
  return ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
}

/// Makes a file with a new name beside `target`. Returns its descriptor, or -1 with errno set.
static int createTemporary(const std::string &target, std::string &temporary) {
  static std::atomic<unsigned> counter = 0;
  std::string directory = getDirectory(target);
  if (directory.empty() || directory.front() != '/')
    directory.insert(0, "./");
  // The name shows what it belongs to, but must not exceed the limit of 255 bytes.
  std::string stem = directory + "." + target.substr(getDirectory(target).size()).substr(0, 100);
  for (;;) {
    temporary = stem + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
    int descriptor = ::open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    // A process of that number on another machine may have left, or may be writing, the file.
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
}

static std::string describeFailure(const std::string &path, int code) {
  return "expects to write '" + path + "', but got: " + std::strerror(code);
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path(std::move(other.path)), target(std::move(other.target)),
      temporary(std::move(other.temporary)), descriptor(std::exchange(other.descriptor, -1)),
      failure(other.failure), mode(other.mode), owner(other.owner), group(other.group) {}

OutputFile::~OutputFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  if (temporary != target)
    ::unlink(temporary.c_str());
}

bool OutputFile::fail(int code, std::string &error) {
  error = describeFailure(path, code);
  return false;
}

std::optional<OutputFile> OutputFile::create(const std::string &path, std::string &error) {
  Place place;
  OutputFile file;
  file.path = path;
  if (int code = findPlace(path, place); code != 0) {
    file.fail(code, error);
    return std::nullopt;
  }
  file.target = place.target;
  if (place.direct) {
    file.temporary = place.target;
    file.descriptor = ::open(file.temporary.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    file.descriptor = createTemporary(file.target, file.temporary);
    if (place.exists) {
      file.mode = place.status.st_mode & 07777;
      file.owner = place.status.st_uid;
      file.group = place.status.st_gid;
    }
  }
  if (file.descriptor < 0) {
    file.fail(errno, error);
    return std::nullopt;
  }
  return file;
}

/// Writes all bytes. Returns an errno value.
static int writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count > 0)
      bytes.remove_prefix(static_cast<size_t>(count));
    else if (count == 0 || errno != EINTR)
      return count == 0 ? EIO : errno;
  }
  return 0;
}

void OutputFile::write(std::string_view bytes) {
  if (failure == 0)
    failure = writeAll(descriptor, bytes);
}

bool OutputFile::commit(std::string &error) {
  if (failure != 0)
    return fail(failure, error);
  bool direct = temporary == target;
  // Another program may have made a new file of that name, so it is opened again.
  if (!direct) {
    int written = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC);
    if (written < 0)
      return fail(errno, error);
    ::close(std::exchange(descriptor, written));
  }
  if (mode) {
    // Only the superuser may give a file to another owner; changing it clears some mode bits.
    if (::fchown(descriptor, owner, group) != 0)
      (void)::fchown(descriptor, static_cast<uid_t>(-1), group);
    if (::fchmod(descriptor, *mode) != 0)
      return fail(errno, error);
  }
  // Devices and pipes have nothing to bring to a disk.
  if (::fsync(descriptor) != 0) {
    const bool hasNoDisk = direct && (errno == EINVAL || errno == EROFS);
    if (!hasNoDisk)
      return fail(errno, error);
  }
  if (!direct && ::rename(temporary.c_str(), target.c_str()) != 0)
    return fail(errno, error);
  if (::close(std::exchange(descriptor, -1)) != 0 && direct)
    return fail(errno, error);
  return true;
}

bool blocksparse::checkOutputFile(const std::string &path, std::string &error) {
  Place place;
  int code = findPlace(path, place);
  // Opening a pipe would wait for its reader, and closing it would end the reader's input.
  if (code == 0 && place.direct)
    return true;
  if (code == 0)
    return OutputFile::create(path, error).has_value();
  error = describeFailure(path, code);
  return false;
}

bool blocksparse::writeOutputFile(const std::string &path, std::string_view bytes,
                                  std::string &error) {
  std::optional<OutputFile> file = OutputFile::create(path, error);
  if (!file)
    return false;
  file->write(bytes);
  return file->commit(error);
}

bool blocksparse::appendOutputFile(const std::string &path, std::string_view bytes,
                                   std::string &error) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    error = describeFailure(path, errno);
    return false;
  }
  // Others wait here until these bytes are written; what has no lock (a pipe) is written to as is.
  const bool isLocked = ::flock(descriptor, LOCK_EX) == 0;
  struct stat before;
  const bool isFile = isLocked && ::fstat(descriptor, &before) == 0 && S_ISREG(before.st_mode);
  int code = writeAll(descriptor, bytes);
  // A full disk may show only when the bytes are brought to it.
  if (code == 0 && isFile && ::fsync(descriptor) != 0)
    code = errno;
  if (code != 0 && isFile && ::ftruncate(descriptor, before.st_size) != 0)
    code = errno;
  if (::close(descriptor) != 0 && code == 0)
    code = errno;
  if (code != 0)
    error = describeFailure(path, code);
  return code == 0;
}

std::string blocksparse::toFileName(std::string_view text) {
  std::string name;
  for (unsigned char c : text) {
    bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                 c == '_' || c == '$' || c == '-' || (c == '.' && !name.empty());
    char escaped[4];
    std::snprintf(escaped, sizeof(escaped), "%%%02x", c);
    name += plain ? std::string(1, static_cast<char>(c)) : escaped;
  }
  return name;
}
