// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C interface of the compiler: it reads MLIR text, and returns the IR after any stage or writes an
// artefact. It needs no other header, and callers need no MLIR. Programs are independent of each
// other; one program must be used by one thread at a time.

#ifndef BLOCKSPARSE_C_COMPILER_H
#define BLOCKSPARSE_C_COMPILER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Holds a parsed and verified module.
typedef struct BlocksparseProgramImpl *BlocksparseProgram;

/// Receives text in consecutive parts, which are not terminated by 0. Each error text is a line
/// "<location>: error: expects X, but got Y".
typedef void (*BlocksparseTextCallback)(const char *text, size_t length, void *userData);

/// Describes the target and the options of a compilation. If all members are zero, code is made for
/// this CPU, fully optimised.
typedef struct BlocksparseCompileOptions {
  /// Target: "cpu", "cuda:<chip>" or "cuda:native"; or several separated by commas, for one library
  /// that selects a target when it is called. NULL: "cpu".
  const char *target;
  /// Processor as LLVM names it. NULL: "native".
  const char *cpu;
  /// Processor features, "+avx512f,-fma". NULL: only those of the processor.
  const char *features;
  /// PTX version as 10 * major + minor. 0: the lowest that supports the chip.
  int ptxVersion;
  /// 1 + the optimisation level (0 to 3) of host code. 0: level 3.
  int optimization;
} BlocksparseCompileOptions;

/// Returns the version of this interface. Callers should refuse a library of another major version.
#define BLOCKSPARSE_COMPILER_API_MAJOR 1
#define BLOCKSPARSE_COMPILER_API_MINOR 1
void blocksparseCompilerApiVersion(int *major, int *minor);

/// Returns the version of the project, "MAJOR.MINOR.PATCH".
const char *blocksparseCompilerVersion(void);

// Functions that return an int return 0, or 1 after errors, which were passed to `onError` (may be
// NULL).

/// Parses and verifies MLIR text or bytecode. Returns NULL after an error. `name` is the name of
/// the file in messages (may be NULL). The caller must destroy the program.
BlocksparseProgram blocksparseProgramParse(const char *text, size_t length, const char *name,
                                           BlocksparseTextCallback onError, void *userData);
/// Destroys a program; NULL is allowed.
void blocksparseProgramDestroy(BlocksparseProgram program);

/// Describes the public functions and their parameters as JSON:
///   {"functions": [{"name": "f", "size_function": "f_result_sizes" or null,
///     "arguments": [P...], "results": [P...]}]}
///   P = {"name": "x", "role": "dense" | "values" | "crow_indices" | "col_indices" |
///        "number", "source": index of the argument or result in the text, "type": its type
///        there, "element": "f32", "shape": extents of the parameter, -1 if dynamic}
/// The arguments of an entry point are, in this order, a pointer to a descriptor for each tensor
/// and a value for each number of arguments and results; see the header that
/// blocksparseProgramEmitHeader writes.
int blocksparseProgramDescribe(BlocksparseProgram program, BlocksparseTextCallback onText,
                               BlocksparseTextCallback onError, void *userData);

/// Prints the IR after a stage: parse, optimise, schedule, plan, bufferize, lower or llvm. The
/// program itself is not changed.
int blocksparseProgramPrintStage(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *stage,
                                 BlocksparseTextCallback onText, BlocksparseTextCallback onError,
                                 void *userData);

/// Compiles to the file at `path`, which must end in .so, .o, .s or .ll. After an error no file is
/// left there. The program itself is not changed.
int blocksparseProgramEmit(BlocksparseProgram program, const BlocksparseCompileOptions *options,
                           const char *path, BlocksparseTextCallback onError, void *userData);

/// Prints the C header of the entry points that blocksparseProgramEmit makes with the same options.
/// `guard` is the name of its include guard.
int blocksparseProgramEmitHeader(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *guard,
                                 BlocksparseTextCallback onText, BlocksparseTextCallback onError,
                                 void *userData);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSPARSE_C_COMPILER_H
