// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Drivers/Drivers.h"

int main(int argc, char **argv) { return mlir::blocksparse::optMain(argc, argv); }
