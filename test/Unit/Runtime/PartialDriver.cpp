// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library that is not a CUDA driver, although it has one of its functions.

extern "C" int cuInit(unsigned) { return 0; }
