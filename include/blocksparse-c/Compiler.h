// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The compiler as a C library: text in, IR after any stage or an artefact out. Needs no
// other header and no MLIR of the caller's. Programs are independent of each other; one
// program is used by one thread at a time.

#ifndef BLOCKSPARSE_C_COMPILER_H
#define BLOCKSPARSE_C_COMPILER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parsed and verified module.
typedef struct BlocksparseProgramImpl *BlocksparseProgram;

/// Receives text in pieces, in order; not terminated by 0. Error texts are lines
/// "<place>: error: expects X, but got Y".
typedef void (*BlocksparseTextCallback)(const char *text, size_t length, void *userData);

/// What to compile for. All zeros is the default: this CPU, fully optimised.
typedef struct BlocksparseCompileOptions {
  /// "cpu", "cuda:<chip>", "cuda:native", or several of them separated by commas for one
  /// library that chooses when it is called; NULL: "cpu".
  const char *target;
  /// Processor as LLVM names it; NULL: "native".
  const char *cpu;
  /// Processor features, "+avx512f,-fma"; NULL: none on top of the processor's.
  const char *features;
  /// PTX version as 10 * major + minor; 0: the lowest that knows the chip.
  int ptxVersion;
  /// 1 + the optimisation level (0 to 3) of host code; 0: level 3.
  int optimization;
} BlocksparseCompileOptions;

/// Version of this interface. A library of another major version is refused by its callers.
#define BLOCKSPARSE_COMPILER_API_MAJOR 1
#define BLOCKSPARSE_COMPILER_API_MINOR 0
void blocksparseCompilerApiVersion(int *major, int *minor);

// Functions that give an int give 0, or 1 after errors that went to `onError` (may be NULL).

/// Parses and verifies MLIR text or bytecode; NULL on an error. `name` stands for the file
/// in messages (may be NULL). To be destroyed by the caller.
BlocksparseProgram blocksparseProgramParse(const char *text, size_t length, const char *name,
                                           BlocksparseTextCallback onError, void *userData);
void blocksparseProgramDestroy(BlocksparseProgram program);

/// The public functions with their parameters, as JSON:
///   {"functions": [{"name": "f", "size_function": "f_result_sizes" or null,
///     "arguments": [P...], "results": [P...]}]}
///   P = {"name": "x", "role": "dense" | "values" | "crow_indices" | "col_indices" |
///        "number", "source": number of the argument or result in the text, "type": its type
///        there, "element": "f32", "shape": what is passed, -1 where open}
/// An entry point takes, in this order, a pointer to a descriptor for each parameter
/// (numbers by value) of arguments and results; see the header that
/// blocksparseProgramEmitHeader writes.
int blocksparseProgramDescribe(BlocksparseProgram program, BlocksparseTextCallback onText,
                               BlocksparseTextCallback onError, void *userData);

/// The IR after a stage: parse, optimise, schedule, plan, bufferize, lower or llvm. The
/// program itself is not changed.
int blocksparseProgramPrintStage(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *stage,
                                 BlocksparseTextCallback onText, BlocksparseTextCallback onError,
                                 void *userData);

/// Compiles to the file at `path`, which ends in .so, .o, .s or .ll. Nothing is left there
/// on an error. The program itself is not changed.
int blocksparseProgramEmit(BlocksparseProgram program, const BlocksparseCompileOptions *options,
                           const char *path, BlocksparseTextCallback onError, void *userData);

/// The C header of the entry points of what blocksparseProgramEmit makes with the same options.
/// `guard` names its include guard.
int blocksparseProgramEmitHeader(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *guard,
                                 BlocksparseTextCallback onText, BlocksparseTextCallback onError,
                                 void *userData);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSPARSE_C_COMPILER_H
