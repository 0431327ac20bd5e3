// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/GPU/Ptxas.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;
namespace sys = llvm::sys;

FailureOr<std::string> mlir::blocksparse::findPtxas(EmitErrorFn emitError) {
  if (std::optional<std::string> named = sys::Process::GetEnv("BLOCKSPARSE_PTXAS");
      named && !named->empty()) {
    if (sys::fs::can_execute(*named))
      return *named;
    return emitError() << "expects BLOCKSPARSE_PTXAS to name a program, but got '" << *named << "'";
  }
  if (llvm::ErrorOr<std::string> found = sys::findProgramByName("ptxas"))
    return *found;
  SmallVector<std::string> folders;
  if (std::optional<std::string> toolkit = sys::Process::GetEnv("CUDA_PATH");
      toolkit && !toolkit->empty())
    folders.push_back(*toolkit + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string &folder : folders)
    if (llvm::ErrorOr<std::string> found = sys::findProgramByName("ptxas", {folder}))
      return *found;
  return emitError() << "expects ptxas for machine code (in BLOCKSPARSE_PTXAS, PATH, CUDA_PATH/bin "
                        "or /usr/local/cuda/bin), but got none";
}

namespace {

/// Owns an empty file that is removed at the end of the scope.
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef ending) {
    error = sys::fs::createTemporaryFile("blocksparse", ending, path);
    remover.setFile(path, /*deleteIt=*/!error);
  }
  StringRef getPath() const { return path; }
  std::error_code getError() const { return error; }

private:
  SmallString<128> path;
  std::error_code error;
  llvm::FileRemover remover;
};

} // namespace

static std::error_code writeText(StringRef path, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return error;
  stream << text;
  stream.close();
  error = stream.error();
  stream.clear_error();
  return error;
}

static std::string readText(StringRef path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

namespace {
struct SharedExcess {
  StringRef kernel;
  uint64_t used = 0, limit = 0;
};
} // namespace

/// Parses "Entry function 'k' uses too much shared data (0x186a0 bytes, 0xc000 max)".
static std::optional<SharedExcess> parseSharedExcess(StringRef line) {
  auto [head, tail] = line.split(" uses too much shared data (0x");
  auto [used, limit] = tail.split(" bytes, 0x");
  SharedExcess excess{head.split('\'').second.split('\'').first};
  if (used.getAsInteger(16, excess.used) || limit.split(' ').first.getAsInteger(16, excess.limit))
    return std::nullopt;
  return excess;
}

FailureOr<std::string> mlir::blocksparse::assemblePTX(StringRef ptx, StringRef chip,
                                                      StringRef ptxas, PtxasReport &report,
                                                      EmitErrorFn emitError) {
  TemporaryFile input("ptx"), output("cubin"), log("log");
  for (const TemporaryFile *file : {&input, &output, &log})
    if (std::error_code error = file->getError())
      return emitError() << "expects a temporary file for ptxas, but got: " << error.message();
  if (std::error_code error = writeText(input.getPath(), ptx))
    return emitError() << "expects to write '" << input.getPath()
                       << "', but got: " << error.message();
  std::string arch = ("-arch=" + chip).str();
  StringRef arguments[] = {ptxas, arch, "-O3", "-v", input.getPath(), "-o", output.getPath()};
  std::optional<StringRef> redirects[] = {StringRef(), log.getPath(), log.getPath()};
  std::string reason;
  int status = sys::ExecuteAndWait(ptxas, arguments, /*Env=*/std::nullopt, redirects,
                                   /*SecondsToWait=*/0, /*MemoryLimit=*/0, &reason);
  std::string text = readText(log.getPath());
  report = parsePtxasReport(text);
  if (status == 0)
    return readText(output.getPath());
  // ptxas reports the use before it refuses the kernel; our errors name the limit.
  for (StringRef error : report.errors)
    if (std::optional<SharedExcess> excess = parseSharedExcess(error))
      return emitError() << "kernel '" << excess->kernel << "' expects at most " << excess->limit
                         << " bytes of static shared memory on " << chip << ", but got "
                         << excess->used;
  std::string errors = llvm::join(report.errors, "\n");
  StringRef why = !reason.empty() ? StringRef(reason) : errors.empty() ? StringRef(text) : errors;
  return emitError() << "expects ptxas (" << ptxas << ") to take the kernels for " << chip
                     << ", but got status " << status << ": " << why.trim();
}
