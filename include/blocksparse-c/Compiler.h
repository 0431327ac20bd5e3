// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C interface of the compiler: it reads MLIR text or bytecode, and returns the IR after any stage,
// an artefact as bytes or as a file, or a program in memory that can be called. It needs no other
// header, and callers need no MLIR (blocksparse-c/Module.h is for those that have it). Programs are
// independent of each other; one program must be used by one thread at a time.

#ifndef BLOCKSPARSE_C_COMPILER_H
#define BLOCKSPARSE_C_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

//===-- Versions ------------------------------------------------------------===//

/// Returns the version of this interface. Callers should refuse a library of another major version.
#define BLOCKSPARSE_COMPILER_API_MAJOR 2
#define BLOCKSPARSE_COMPILER_API_MINOR 2
void blocksparseCompilerApiVersion(int *major, int *minor);

/// Returns the version of the project, "MAJOR.MINOR.PATCH".
const char *blocksparseCompilerVersion(void);

//===-- Text and diagnostics ------------------------------------------------===//

/// Receives bytes in consecutive parts, which are not terminated by 0.
typedef void (*BlocksparseTextCallback)(const char *text, size_t length, void *userData);

typedef enum BlocksparseSeverity {
  /// Belongs to the diagnostic before it.
  BLOCKSPARSE_NOTE = 0,
  BLOCKSPARSE_REMARK = 1,
  BLOCKSPARSE_WARNING = 2,
  BLOCKSPARSE_ERROR = 3
} BlocksparseSeverity;

/// Describes one diagnostic. Texts end with 0 and live as long as the call of the callback.
typedef struct BlocksparseDiagnostic {
  /// Size of this struct. Later versions append members.
  size_t size;
  BlocksparseSeverity severity;
  /// The text, "expects X, but got Y", without severity and location.
  const char *message;
  /// The place in the source: the innermost file, line and column that the location names. "", 0
  /// and 0 if it names none.
  const char *file;
  unsigned line, column;
  /// The whole location as MLIR prints it.
  const char *location;
} BlocksparseDiagnostic;

/// Receives every diagnostic of a call: errors, warnings, remarks, and the notes of each behind it.
typedef void (*BlocksparseDiagnosticCallback)(const BlocksparseDiagnostic *diagnostic,
                                              void *userData);

// In every function below `onDiagnostic` may be NULL, and nothing is printed. Functions that return
// an int return 0, or 1 after an error. `userData` is passed to all callbacks of the call.

//===-- Options -------------------------------------------------------------===//

/// Chooses whether compiled code checks something when it runs: one of these numbers. Any other is
/// an error of the call.
typedef int32_t BlocksparseCheck;
enum {
  /// Leaves the choice to the compiler, as a tool does without an option.
  BLOCKSPARSE_CHECK_DEFAULT = 0,
  BLOCKSPARSE_CHECK_ON = 1,
  BLOCKSPARSE_CHECK_OFF = 2
};

/// Describes a compilation with the options of blocksparse-compile. Fill it in with
/// blocksparseCompileOptionsInit first. Wherever options are taken, NULL stands for the defaults.
typedef struct BlocksparseCompileOptions {
  /// Size of the struct in the caller's header. An older, smaller struct is accepted. A newer,
  /// larger one is accepted if the members that this library does not know are 0.
  size_t size;
  /// Target: "cpu", "cuda:<chip>" or "cuda:native", each with ",key=value"; or several separated by
  /// commas, for one artefact that selects a target when it is called. NULL: "cpu".
  const char *target;
  /// Processor as LLVM names it. NULL: "native".
  const char *cpu;
  /// Processor features, "+avx512f,-fma". NULL: only those of the processor.
  const char *features;
  /// PTX version as 10 * major + minor. 0: the lowest that supports the chip.
  int ptxVersion;
  /// Optimisation level, 0 to 3. Default: 3.
  int optLevel;
  /// 1 adds machine code by ptxas to the PTX of GPU programs.
  int cubin;
  /// Checks of the indices of run-time patterns, like --check-indices.
  BlocksparseCheck checkIndices;
  /// Path of a file of measured schedules (blocksparse-tune). NULL: none; the library does not read
  /// the environment variable of the tools.
  const char *tuningDatabase;
  /// Names of the public functions to compile, as in the source, separated by commas. NULL: all.
  const char *functions;
  /// Beginning of the names of all entry points, a C identifier. NULL: none.
  const char *symbolPrefix;
  /// 1 adds for each entry point f a symbol "f.packed", int32_t (*)(void **arguments), whose
  /// argument is an array of the addresses of the arguments of f. Objects in memory are then for
  /// blocksparseExecutableLoad: two for GPUs cannot be linked into one program.
  int packedEntryPoints;
} BlocksparseCompileOptions;

/// Fills in the defaults and `options->size`. `size` is sizeof(BlocksparseCompileOptions).
void blocksparseCompileOptionsInit(BlocksparseCompileOptions *options, size_t size);

//===-- Programs ------------------------------------------------------------===//

/// Holds a parsed and verified module.
typedef struct BlocksparseProgramImpl *BlocksparseProgram;

/// Parses and verifies MLIR text or bytecode. Returns NULL after an error. `name` is the name of
/// the file in diagnostics (may be NULL). `stage` names the stage that has left the IR (see
/// blocksparseProgramPrintStage), after which each compilation starts; NULL: "parse". The caller
/// must destroy the program.
BlocksparseProgram blocksparseProgramParse(const char *text, size_t length, const char *name,
                                           const char *stage,
                                           BlocksparseDiagnosticCallback onDiagnostic,
                                           void *userData);
/// Destroys a program; NULL is allowed.
void blocksparseProgramDestroy(BlocksparseProgram program);

/// Describes the entry points and their parameters as JSON:
///   {"functions": [{"name": "f", "source_name": name of the function in the source,
///     "size_function": "f_result_sizes" or null, "stream_function": "f_on_stream" or null,
///     "arguments": [P...], "results": [P...]}]}
///   P = {"name": "x", "role": "dense" | "values" | "crow_indices" | "col_indices" |
///        "number" | "buffer", "source": index of the argument or result in the text, "type": its
///        type there, "element": "f32", "shape": extents of the parameter, -1 if dynamic}
/// The arguments of an entry point are, in this order, a pointer to a descriptor for each tensor
/// and a value for each number of arguments and results; see the header that
/// blocksparseProgramEmitHeader writes. A stream function has the stream behind them.
int blocksparseProgramDescribe(BlocksparseProgram program, const BlocksparseCompileOptions *options,
                               BlocksparseTextCallback onText,
                               BlocksparseDiagnosticCallback onDiagnostic, void *userData);

/// Prints a program of the gradients of functions: for each function f of the names in `functions`,
/// separated by commas, f_forward and f_backward as the pass blocksparse-generate-gradients makes
/// them. The program must be at the stage "parse".
int blocksparseProgramPrintGradients(BlocksparseProgram program, const char *functions,
                                     BlocksparseTextCallback onText,
                                     BlocksparseDiagnosticCallback onDiagnostic, void *userData);

/// Prints the IR after a stage: parse, optimise, schedule, plan, bufferize, lower or llvm. Like
/// every function below it leaves the program as it is.
int blocksparseProgramPrintStage(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *stage,
                                 BlocksparseTextCallback onText,
                                 BlocksparseDiagnosticCallback onDiagnostic, void *userData);

/// Lists the operations that schedules are chosen for, each key once, as JSON:
///   {"operations": [{"operation": "dsd", "key": its key in a tuning database,
///                    "schedules": [schedules that are worth a trial, the default choice first]}]}
/// A compilation with a tuning database that has one of them under the key uses it.
int blocksparseProgramListSchedules(BlocksparseProgram program,
                                    const BlocksparseCompileOptions *options,
                                    BlocksparseTextCallback onText,
                                    BlocksparseDiagnosticCallback onDiagnostic, void *userData);

/// Compiles to the file at `path`, which must end in .so, .o, .s, .ll or .ptx. After an error the
/// file is as it was before.
int blocksparseProgramEmit(BlocksparseProgram program, const BlocksparseCompileOptions *options,
                           const char *path, BlocksparseDiagnosticCallback onDiagnostic,
                           void *userData);

/// Chooses the form of an output: one of these numbers. Any other is an error of the call.
typedef int32_t BlocksparseFormat;
enum {
  BLOCKSPARSE_FORMAT_LLVM_IR = 0,
  BLOCKSPARSE_FORMAT_ASSEMBLY = 1,
  BLOCKSPARSE_FORMAT_OBJECT = 2,
  /// Is linked in the folder of temporary files by a C compiler (the environment's CC, clang, cc or
  /// gcc). The other formats need neither files nor programs.
  BLOCKSPARSE_FORMAT_SHARED_LIBRARY = 3,
  /// The kernels of a program for one GPU.
  BLOCKSPARSE_FORMAT_PTX = 4
};

/// Compiles to memory and passes the bytes to `onBytes`.
int blocksparseProgramEmitToMemory(BlocksparseProgram program,
                                   const BlocksparseCompileOptions *options,
                                   BlocksparseFormat format, BlocksparseTextCallback onBytes,
                                   BlocksparseDiagnosticCallback onDiagnostic, void *userData);

/// Compiles the kernels of a program for one GPU, and passes their PTX to `onPtx` and the JSON that
/// says how to launch them (docs/Launching.md) to `onJson`.
int blocksparseProgramEmitKernels(BlocksparseProgram program,
                                  const BlocksparseCompileOptions *options,
                                  BlocksparseTextCallback onPtx, BlocksparseTextCallback onJson,
                                  BlocksparseDiagnosticCallback onDiagnostic, void *userData);

/// Prints the C header of the entry points that a compilation with the same options makes. `guard`
/// is the name of its include guard.
int blocksparseProgramEmitHeader(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *guard,
                                 BlocksparseTextCallback onText,
                                 BlocksparseDiagnosticCallback onDiagnostic, void *userData);

//===-- Programs in memory --------------------------------------------------===//

/// Holds compiled code that can be called. Its entry points may be called by any thread.
typedef struct BlocksparseExecutableImpl *BlocksparseExecutable;

/// Compiles a program into memory. Needs LLVM's OpenMP runtime (BLOCKSPARSE_LIBOMP). Returns NULL
/// after an error. The program may be destroyed before the executable.
BlocksparseExecutable blocksparseProgramLoad(BlocksparseProgram program,
                                             const BlocksparseCompileOptions *options,
                                             BlocksparseDiagnosticCallback onDiagnostic,
                                             void *userData);

/// Loads an object that blocksparseProgramEmitToMemory made for this processor, with
/// packedEntryPoints; nothing is compiled. The bytes are copied.
BlocksparseExecutable blocksparseExecutableLoad(const void *object, size_t size,
                                                BlocksparseDiagnosticCallback onDiagnostic,
                                                void *userData);

/// Removes the code from memory; NULL is allowed. None of it may be running.
void blocksparseExecutableDestroy(BlocksparseExecutable executable);

/// Returns the address of an entry point, whose type the C header says: "f", "f_result_sizes",
/// "f_on_stream"; and of a packed one, "f.packed". Executables of blocksparseProgramLoad have
/// packed entry points. Returns NULL after an error.
void *blocksparseExecutableLookup(BlocksparseExecutable executable, const char *name,
                                  BlocksparseDiagnosticCallback onDiagnostic, void *userData);

/// Sets the number of threads of later calls from this thread. Fails for a number below 1.
int blocksparseExecutableSetThreads(BlocksparseExecutable executable, int count);

/// Returns the text of the latest failure of a call of executables in this thread, "" before the
/// first. The runtime of executables is inside this library: blocksparseRtLastError() and
/// blocksparseRtSetStream() of libblocksparse_runtime.so have no part in their calls, and the
/// stream functions choose the stream.
const char *blocksparseExecutableLastError(void);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSPARSE_C_COMPILER_H
