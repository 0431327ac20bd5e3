// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Output.h"
#include "blocksparse/Support/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;

LogicalResult mlir::blocksparse::checkOutput(StringRef path, EmitErrorFn emitError) {
  std::string error;
  if (path.empty() || path == "-" || ::blocksparse::checkOutputFile(path.str(), error))
    return success();
  return emitError() << error;
}

LogicalResult mlir::blocksparse::writeOutput(StringRef path, StringRef bytes,
                                             EmitErrorFn emitError) {
  if (path == "-") {
    llvm::outs() << bytes;
    return success();
  }
  std::string error;
  if (::blocksparse::writeOutputFile(path.str(), std::string_view(bytes), error))
    return success();
  return emitError() << error;
}

LogicalResult mlir::blocksparse::makeOutputDirectory(StringRef path, StringRef name,
                                                     EmitErrorFn emitError) {
  if (std::error_code code = llvm::sys::fs::create_directories(path))
    return emitError() << "expects to make the directory '" << path
                       << "', but got: " << code.message();
  SmallString<128> file(path);
  llvm::sys::path::append(file, name);
  return checkOutput(file, emitError);
}
