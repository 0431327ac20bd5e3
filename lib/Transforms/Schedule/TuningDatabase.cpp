// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/TuningDatabase.h"
#include "JSONReader.h"
#include "blocksparse/Support/OutputFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::blocksparse;
namespace json = llvm::json;

static constexpr StringRef formatName = "blocksparse-tuning";
// Version 1 had schedules of another spelling.
static constexpr int64_t formatVersion = 3;

/// The largest file that is read: some million entries.
static constexpr size_t maxFileBytes = size_t{1} << 30;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads one entry, whose members may be of other types than ours. Returns false if the text is no
/// JSON.
static bool readEntry(JSONReader &reader, TuningEntry &entry) {
  return reader.readObject([&](StringRef key) {
    if (reader.isNext('"')) {
      std::optional<std::string> text = reader.readString();
      for (auto [name, member] : {std::pair("schedule", &entry.schedule),
                                  std::pair("tool", &entry.tool), std::pair("date", &entry.date)})
        if (text && key == name)
          *member = std::move(*text);
      return text.has_value();
    }
    bool isNumber = !reader.isNext('{') && !reader.isNext('[') && !reader.isNext('n');
    if (key == "milliseconds" && isNumber && !reader.isNext('t') && !reader.isNext('f')) {
      std::optional<double> number = reader.readNumber();
      entry.milliseconds = number.value_or(0);
      return number.has_value();
    }
    std::optional<StringRef> value = reader.skipValue();
    if (key == "complete")
      entry.complete = value == StringRef("true");
    return value.has_value();
  });
}

/// Holds what stands beside the entries of a database, as it is written.
namespace {
struct Header {
  std::optional<StringRef> format, version, entries;
};
} // namespace

/// Reads the members of the file without looking into the entries. Returns false if it is no JSON.
static bool readHeader(JSONReader &reader, Header &header) {
  return reader.readObject([&](StringRef key) {
    std::optional<StringRef> value = reader.skipValue();
    for (auto [name, member] :
         {std::pair("format", &header.format), std::pair("version", &header.version),
          std::pair("entries", &header.entries)})
      if (key == name)
        *member = value;
    return value.has_value();
  }) && reader.readEnd();
}

/// Reads the entries of a database. Fails, and describes the wrong entry in `found`.
static bool readEntries(StringRef text, TuningDatabase &database, std::string &found) {
  JSONReader reader(text);
  return reader.readObject([&](StringRef key) {
    TuningEntry entry;
    bool isObject = reader.isNext('{');
    if (isObject && readEntry(reader, entry) && !entry.schedule.empty() && entry.milliseconds > 0) {
      database.insert(key, std::move(entry));
      return true;
    }
    found = "the entry '" + key.str() + "' without a schedule and positive milliseconds";
    return false;
  });
}

std::optional<TuningDatabase> TuningDatabase::parse(StringRef text, StringRef name,
                                                    std::string &error) {
  auto fail = [&](const std::string &found) {
    error = "expects a tuning database {\"format\": \"" + formatName.str() +
            "\", \"version\": " + std::to_string(formatVersion) + ", \"entries\": {...}} in '" +
            name.str() + "', but got " + found;
    return std::nullopt;
  };
  JSONReader reader(text);
  bool isObject = reader.isNext('{');
  Header header;
  if (isObject ? !readHeader(reader, header) : !(reader.skipValue() && reader.readEnd()))
    return fail("no JSON: " + reader.error());
  if (!isObject)
    return fail("JSON that is no object");
  auto describe = [](std::optional<StringRef> value) { return value.value_or("none").str(); };
  if (header.format != StringRef("\"blocksparse-tuning\""))
    return fail("the format " + describe(header.format));
  if (header.version != StringRef(std::to_string(formatVersion)))
    return fail("the version " + describe(header.version));
  if (!header.entries || !header.entries->starts_with("{"))
    return fail("no entries");
  TuningDatabase database;
  if (std::string found; !readEntries(*header.entries, database, found))
    return fail(found);
  return database;
}

std::optional<TuningDatabase> TuningDatabase::load(StringRef path, std::string &error) {
  auto fail = [&](const std::string &found) {
    error = "expects a tuning database in '" + path.str() + "', but got: " + found;
    return std::nullopt;
  };
  llvm::Expected<llvm::sys::fs::file_t> file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return fail(llvm::errorToErrorCode(file.takeError()).message());
  llvm::scope_exit closes([&] { llvm::sys::fs::closeFile(*file); });
  // A device or a pipe has no size and perhaps no end.
  std::string text;
  while (text.size() <= maxFileBytes) {
    constexpr size_t chunk = 1 << 16;
    const size_t used = text.size();
    text.resize(used + chunk);
    llvm::Expected<size_t> count =
        llvm::sys::fs::readNativeFile(*file, {text.data() + used, chunk});
    if (!count)
      return fail(llvm::errorToErrorCode(count.takeError()).message());
    text.resize(used + *count);
    if (*count == 0)
      return parse(text, path, error);
  }
  return fail("more than " + std::to_string(maxFileBytes) + " bytes");
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

const TuningEntry *TuningDatabase::lookup(StringRef key) const {
  auto entry = entries.find(std::string_view(key));
  return entry == entries.end() ? nullptr : &entry->second;
}

void TuningDatabase::insert(StringRef key, TuningEntry entry) {
  // Files hold their keys in order, so that the end is where most belong.
  TuningEntry &present = entries.try_emplace(entries.end(), key.str())->second;
  bool sameTool = present.milliseconds > 0 && present.tool == entry.tool;
  bool complete = entry.complete || (sameTool && present.complete);
  if (!sameTool || entry.milliseconds < present.milliseconds)
    present = std::move(entry);
  present.complete = complete;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string TuningDatabase::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream writer(stream, /*IndentSize=*/2);
  writer.object([&] {
    writer.attributeObject("entries", [&] {
      for (const auto &[key, entry] : entries)
        writer.attributeObject(key, [&, &entry = entry] {
          writer.attribute("complete", entry.complete);
          writer.attribute("date", entry.date);
          writer.attribute("milliseconds", entry.milliseconds);
          writer.attribute("schedule", entry.schedule);
          writer.attribute("tool", entry.tool);
        });
    });
    writer.attribute("format", formatName);
    writer.attribute("version", formatVersion);
  });
  stream << "\n";
  return text;
}

namespace {

/// Holds an exclusive lock by flock while it lives. The lock belongs to the open file, not to the
/// process, so that threads exclude each other too, and it ends with a process that dies.
class FileLock {
public:
  explicit FileLock(const std::string &path)
      : file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    if (file < 0) {
      errorNumber = errno;
      return;
    }
    while (::flock(file, LOCK_EX) != 0)
      if (errno != EINTR) {
        errorNumber = errno;
        return;
      }
  }
  FileLock(const FileLock &) = delete;
  ~FileLock() {
    if (file >= 0)
      ::close(file);
  }
  std::error_code error() const { return {errorNumber, std::generic_category()}; }

private:
  int file;
  int errorNumber = 0;
};

} // namespace

/// Returns the path of the file that is locked, which stays, because another process may hold or
/// await it; the database itself is replaced. Links to one database share it.
static std::string getLockPath(StringRef path) {
  return ::blocksparse::followLinks(path.str()) + ".lock";
}

static std::string describeLockFailure(const std::string &path, std::error_code code) {
  return "expects to write '" + path + "', but got: " + code.message();
}

bool TuningDatabase::checkPlace(StringRef path, std::string &error) {
  std::string lockPath = getLockPath(path);
  FileLock lock(lockPath);
  if (std::error_code code = lock.error()) {
    error = describeLockFailure(lockPath, code);
    return false;
  }
  return ::blocksparse::checkOutputFile(path.str(), error);
}

bool TuningDatabase::mergeInto(StringRef path, std::string &error) const {
  std::string lockPath = getLockPath(path);
  FileLock lock(lockPath);
  if (std::error_code code = lock.error()) {
    error = describeLockFailure(lockPath, code);
    return false;
  }
  TuningDatabase merged;
  if (llvm::sys::fs::exists(path)) {
    std::optional<TuningDatabase> present = load(path, error);
    if (!present)
      return false;
    merged = std::move(*present);
  }
  for (const auto &[key, entry] : entries)
    merged.insert(key, entry);
  return ::blocksparse::writeOutputFile(path.str(), merged.print(), error);
}
