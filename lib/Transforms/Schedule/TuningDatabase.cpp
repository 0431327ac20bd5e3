// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/TuningDatabase.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::blocksparse;
namespace json = llvm::json;

static constexpr StringRef formatName = "blocksparse-tuning";
// Version 1 had schedules of another spelling.
static constexpr int64_t formatVersion = 2;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::string describeValue(const json::Value *value) {
  return value ? llvm::formatv("{0}", *value).str() : "none";
}

/// Reads the entries of a database. Fails, and describes the wrong entry in `found`.
static bool readEntries(const json::Object &object, TuningDatabase &database, std::string &found) {
  for (const auto &[key, value] : object) {
    const json::Object *fields = value.getAsObject();
    std::optional<StringRef> schedule = fields ? fields->getString("schedule") : std::nullopt;
    std::optional<double> time = fields ? fields->getNumber("milliseconds") : std::nullopt;
    if (!schedule || !time || !(*time > 0)) {
      found = "the entry '" + key.str() + "' without a schedule and positive milliseconds";
      return false;
    }
    database.insert(key.str(),
                    {schedule->str(), *time, fields->getString("tool").value_or("").str(),
                     fields->getString("date").value_or("").str(),
                     fields->getBoolean("complete").value_or(false)});
  }
  return true;
}

std::optional<TuningDatabase> TuningDatabase::parse(StringRef text, StringRef name,
                                                    std::string &error) {
  auto fail = [&](const std::string &found) {
    error = "expects a tuning database {\"format\": \"" + formatName.str() +
            "\", \"version\": " + std::to_string(formatVersion) + ", \"entries\": {...}} in '" +
            name.str() + "', but got " + found;
    return std::nullopt;
  };
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return fail("no JSON: " + llvm::toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return fail("JSON that is no object");
  if (object->getString("format") != std::optional<StringRef>(formatName))
    return fail("the format " + describeValue(object->get("format")));
  if (object->getInteger("version") != std::optional<int64_t>(formatVersion))
    return fail("the version " + describeValue(object->get("version")));
  const json::Object *list = object->getObject("entries");
  if (!list)
    return fail("no entries");
  TuningDatabase database;
  if (std::string found; !readEntries(*list, database, found))
    return fail(found);
  return database;
}

std::optional<TuningDatabase> TuningDatabase::load(StringRef path, std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (buffer)
    return parse((*buffer)->getBuffer(), path, error);
  error =
      "expects a tuning database in '" + path.str() + "', but got: " + buffer.getError().message();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

const TuningEntry *TuningDatabase::lookup(StringRef key) const {
  auto entry = entries.find(std::string_view(key));
  return entry == entries.end() ? nullptr : &entry->second;
}

void TuningDatabase::insert(StringRef key, TuningEntry entry) {
  TuningEntry &present = entries[key.str()];
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
  json::Object list;
  for (const auto &[key, entry] : entries)
    list[key] = json::Object{{"schedule", entry.schedule},
                             {"milliseconds", entry.milliseconds},
                             {"tool", entry.tool},
                             {"date", entry.date},
                             {"complete", entry.complete}};
  json::Object object{
      {"format", formatName}, {"version", formatVersion}, {"entries", std::move(list)}};
  return llvm::formatv("{0:2}", json::Value(std::move(object))).str() + "\n";
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

bool TuningDatabase::mergeInto(StringRef path, std::string &error) const {
  auto fail = [&](const std::string &file, const std::string &reason) {
    error = "expects to write '" + file + "', but got: " + reason;
    return false;
  };
  // The file itself is replaced, so another one is locked. It stays, because another process may
  // hold or await it.
  std::string lockPath = path.str() + ".lock";
  FileLock lock(lockPath);
  if (std::error_code code = lock.error())
    return fail(lockPath, code.message());
  TuningDatabase merged;
  if (llvm::sys::fs::exists(path)) {
    std::optional<TuningDatabase> present = load(path, error);
    if (!present)
      return false;
    merged = std::move(*present);
  }
  for (const auto &[key, entry] : entries)
    merged.insert(key, entry);
  std::string text = merged.print();
  // This writes a temporary file and renames it.
  if (llvm::Error failure = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
        os << text;
        return llvm::Error::success();
      }))
    return fail(path.str(), llvm::toString(std::move(failure)));
  return true;
}
