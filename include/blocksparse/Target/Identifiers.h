// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names of the source as identifiers that C and C++ programs can use.

#ifndef BLOCKSPARSE_TARGET_IDENTIFIERS_H
#define BLOCKSPARSE_TARGET_IDENTIFIERS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::blocksparse {

/// Returns true if `name` consists of ASCII letters, digits and '_' and starts with no digit.
bool isIdentifierText(llvm::StringRef name);

/// Returns true if a declaration cannot have this name: a keyword of C (up to C23) or C++ (up to
/// C++23), a name that <stdint.h> or the emitted header itself defines, or a macro that compilers
/// or common headers define.
bool isReservedWord(llvm::StringRef name);

/// Returns `wanted` as an identifier that is no reserved word: each other character becomes '_',
/// a name that is empty, starts with a digit or has a reserved beginning ("__x", "_X") gets `start`
/// in front, and another reserved word gets a '_' behind it. `start` begins with a letter.
std::string makeIdentifier(llvm::StringRef wanted, llvm::StringRef start);

/// Returns `base`, or the first of `base`_2, `base`_3, ... that `isFree` accepts.
std::string makeUnique(llvm::StringRef base, llvm::function_ref<bool(llvm::StringRef)> isFree);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_IDENTIFIERS_H
