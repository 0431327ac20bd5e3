// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The binary interface of version 2 (docs/Compatibility.md). Programs were compiled with these
// numbers: members are appended behind them, and none of them changes.
#include "blocksparse-c/Module.h"

#include <stdint.h>

#if UINTPTR_MAX == 0xffffffffffffffff
#define EXPECT_OFFSET(type, member, offset)                                                        \
  _Static_assert(offsetof(type, member) == offset, "the offset of " #member " has changed")

EXPECT_OFFSET(BlocksparseCompileOptions, size, 0);
EXPECT_OFFSET(BlocksparseCompileOptions, target, 8);
EXPECT_OFFSET(BlocksparseCompileOptions, cpu, 16);
EXPECT_OFFSET(BlocksparseCompileOptions, features, 24);
EXPECT_OFFSET(BlocksparseCompileOptions, ptxVersion, 32);
EXPECT_OFFSET(BlocksparseCompileOptions, optLevel, 36);
EXPECT_OFFSET(BlocksparseCompileOptions, cubin, 40);
EXPECT_OFFSET(BlocksparseCompileOptions, checkIndices, 44);
EXPECT_OFFSET(BlocksparseCompileOptions, tuningDatabase, 48);
EXPECT_OFFSET(BlocksparseCompileOptions, functions, 56);
EXPECT_OFFSET(BlocksparseCompileOptions, symbolPrefix, 64);
EXPECT_OFFSET(BlocksparseCompileOptions, packedEntryPoints, 72);
EXPECT_OFFSET(BlocksparseDiagnostic, severity, 8);
EXPECT_OFFSET(BlocksparseDiagnostic, message, 16);
EXPECT_OFFSET(BlocksparseDiagnostic, file, 24);
EXPECT_OFFSET(BlocksparseDiagnostic, line, 32);
EXPECT_OFFSET(BlocksparseDiagnostic, column, 36);
EXPECT_OFFSET(BlocksparseDiagnostic, location, 40);
#endif

_Static_assert(BLOCKSPARSE_COMPILER_API_MAJOR == 2, "write a new file for a new major version");
_Static_assert(BLOCKSPARSE_NOTE == 0 && BLOCKSPARSE_REMARK == 1 && BLOCKSPARSE_WARNING == 2 &&
                   BLOCKSPARSE_ERROR == 3,
               "a severity has changed");
_Static_assert(BLOCKSPARSE_FORMAT_LLVM_IR == 0 && BLOCKSPARSE_FORMAT_ASSEMBLY == 1 &&
                   BLOCKSPARSE_FORMAT_OBJECT == 2 && BLOCKSPARSE_FORMAT_SHARED_LIBRARY == 3 &&
                   BLOCKSPARSE_FORMAT_PTX == 4,
               "a format has changed");
_Static_assert(BLOCKSPARSE_CHECK_DEFAULT == 0 && BLOCKSPARSE_CHECK_ON == 1 &&
                   BLOCKSPARSE_CHECK_OFF == 2,
               "a choice has changed");
