// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_COMPILER_COMMANDLINE_H
#define BLOCKSPARSE_LIB_COMPILER_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"

namespace mlir::blocksparse {

/// Takes the options of LLVM's own libraries off the command line, all but --help and
/// --version. Some have names that our tools want (--stop-after), and none is part of their
/// interface. To be called before a tool makes its options.
inline void removeLibraryOptions() {
  for (llvm::cl::Option *option :
       llvm::to_vector(llvm::make_second_range(llvm::cl::getRegisteredOptions())))
    if (llvm::none_of(option->Categories, [](const llvm::cl::OptionCategory *category) {
          return category->getName() == "Generic Options";
        }))
      option->removeArgument();
}

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_COMPILER_COMMANDLINE_H
