// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/SharedLibrary.h"
#include "blocksparse/Support/OutputFile.h"
#include "blocksparse/Target/CPU/InstalledLibrary.h"
#include "blocksparse/Target/CPU/OpenMPRuntime.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::OutputFile;

static FailureOr<std::string> findDriver(EmitErrorFn emitError) {
  SmallVector<StringRef> names = {BLOCKSPARSE_CLANG_PATH, "clang", "cc", "gcc"};
  if (const char *chosen = std::getenv("CC"))
    names.insert(names.begin(), chosen);
  for (StringRef name : names)
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return emitError() << "expects a C compiler driver to link with (CC, clang, cc or gcc), but got "
                        "none on the path";
}

/// Owns a file that is removed with the object.
namespace {
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef suffix) {
    error = llvm::sys::fs::createTemporaryFile("blocksparse", suffix, descriptor, path);
  }
  ~TemporaryFile() {
    if (!error)
      llvm::sys::fs::remove(path);
  }
  std::error_code error;
  int descriptor = -1;
  SmallString<128> path;
};
} // namespace

static std::string readText(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : std::string();
}

static LogicalResult runDriver(StringRef driver, ArrayRef<StringRef> arguments,
                               EmitErrorFn emitError) {
  TemporaryFile output("txt");
  if (output.error)
    return emitError() << "expects to write a temporary file, but got: " << output.error.message();
  llvm::raw_fd_ostream(output.descriptor, /*shouldClose=*/true).flush();
  std::string message;
  std::optional<StringRef> redirects[] = {std::nullopt, output.path.str(), output.path.str()};
  int code = llvm::sys::ExecuteAndWait(driver, arguments, std::nullopt, redirects, 0, 0, &message);
  if (code == 0)
    return success();
  return emitError() << "expects '" << driver << "' to link the shared library, but got status "
                     << code << ": " << (message.empty() ? readText(output.path) : message);
}

/// Returns the path of libblocksparse_runtime.so: the environment variable BLOCKSPARSE_RUNTIME,
/// else the one that was installed with this compiler, else the name that the linker finds.
static FailureOr<std::string> findDeviceRuntime(EmitErrorFn emitError) {
  std::string name = "libblocksparse_runtime.so";
  FailureOr<std::string> chosen = readLibraryVariable("BLOCKSPARSE_RUNTIME", name, emitError);
  if (failed(chosen) || !chosen->empty())
    return chosen;
  std::string installed = findInstalledLibrary(name);
  return installed.empty() ? name : installed;
}

/// Appends the library and, if its path is known, its directory to the run path.
static void addLibrary(const std::string &path, SmallVectorImpl<std::string> &arguments) {
  StringRef directory = llvm::sys::path::parent_path(path);
  arguments.push_back(directory.empty() ? "-l:" + path : path);
  if (!directory.empty())
    arguments.push_back(("-Wl,-rpath," + directory).str());
}

/// Writes `object` to a temporary file and links it to the file `output`, which is there.
static LogicalResult link(StringRef object, StringRef output, bool usesDevice,
                          EmitErrorFn emitError) {
  FailureOr<std::string> driver = findDriver(emitError);
  FailureOr<std::string> runtime = findOpenMPRuntime(emitError);
  if (failed(driver) || failed(runtime))
    return failure();
  TemporaryFile input("o");
  if (input.error)
    return emitError() << "expects to write a temporary file, but got: " << input.error.message();
  {
    llvm::raw_fd_ostream stream(input.descriptor, /*shouldClose=*/true);
    stream << object;
    stream.close();
    if (stream.has_error()) {
      std::string message = stream.error().message();
      stream.clear_error();
      return emitError() << "expects to write '" << input.path << "', but got: " << message;
    }
  }
  SmallVector<std::string> words = {
      *driver,          "-shared", "-o", output.str(), input.path.str().str(), "-Wl,-rpath,$ORIGIN",
      "-Wl,--as-needed"};
  addLibrary(*runtime, words);
  if (usesDevice) {
    FailureOr<std::string> device = findDeviceRuntime(emitError);
    if (failed(device))
      return failure();
    addLibrary(*device, words);
  }
  words.push_back("-lm");
  SmallVector<StringRef> arguments(words.begin(), words.end());
  return runDriver(*driver, arguments, emitError);
}

LogicalResult mlir::blocksparse::linkSharedLibrary(StringRef object, StringRef path,
                                                   bool usesDevice, EmitErrorFn emitError) {
  std::string error;
  std::optional<OutputFile> output = OutputFile::create(path.str(), error);
  if (!output)
    return emitError() << error;
  if (failed(link(object, output->temporaryPath(), usesDevice, emitError)))
    return failure();
  if (!output->commit(error))
    return emitError() << error;
  return success();
}

LogicalResult mlir::blocksparse::linkSharedLibrary(StringRef object, SmallVectorImpl<char> &bytes,
                                                   bool usesDevice, EmitErrorFn emitError) {
  TemporaryFile output("so");
  if (output.error)
    return emitError() << "expects to write a temporary file, but got: " << output.error.message();
  llvm::raw_fd_ostream(output.descriptor, /*shouldClose=*/true).flush();
  if (failed(link(object, output.path, usesDevice, emitError)))
    return failure();
  auto linked = llvm::MemoryBuffer::getFile(output.path);
  if (!linked)
    return emitError() << "expects to read '" << output.path
                       << "', but got: " << linked.getError().message();
  llvm::append_range(bytes, (*linked)->getBuffer());
  return success();
}
