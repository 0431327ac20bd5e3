// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All tools of the GPU bundle as one program, which selects a tool by the name that it is called
// by: statically linked, each tool alone would contain its own copy of LLVM.

#include "blocksparse/Drivers/Drivers.h"

#include <string_view>

int main(int argc, char **argv) {
  if (std::string_view(argv[0]).ends_with("blocksparse-bench"))
    return mlir::blocksparse::benchMain(argc, argv);
  if (std::string_view(argv[0]).ends_with("blocksparse-tune"))
    return mlir::blocksparse::tuneMain(argc, argv);
  return mlir::blocksparse::runMain(argc, argv);
}
