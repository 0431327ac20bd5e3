// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C interface of the compiler for programs that use MLIR's C API: modules in, and registration of
// dialects, passes and pipelines. Such a program and this library must use the same libMLIR.so; a
// library with LLVM inside (the preset `standalone`) takes modules as text or bytecode alone.

#ifndef BLOCKSPARSE_C_MODULE_H
#define BLOCKSPARSE_C_MODULE_H

#include "blocksparse-c/Compiler.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes a program of a copy of `module`. The module's context gets the dialects and interface
/// models that the compiler needs; it must outlive the program, and no other thread may use it
/// during this call and those on the program. `stage` is as for blocksparseProgramParse. Arguments
/// of functions have the names arg0, arg1, ... Returns NULL after an error.
MLIR_CAPI_EXPORTED BlocksparseProgram
blocksparseProgramFromModule(MlirModule module, const char *stage,
                             BlocksparseDiagnosticCallback onDiagnostic, void *userData);

/// Adds the dialect `blocksparse`, the upstream dialects and the interface models that every stage
/// of the compiler needs.
MLIR_CAPI_EXPORTED void blocksparseRegisterAllDialects(MlirDialectRegistry registry);

/// Adds the models by which `one-shot-bufferize` handles planned operations.
MLIR_CAPI_EXPORTED void blocksparseRegisterBufferizationModels(MlirDialectRegistry registry);

/// Registers every pass of this project for use by name; once a process.
MLIR_CAPI_EXPORTED void blocksparseRegisterPasses(void);

/// Registers the pipelines of the stages, such as "blocksparse-to-planned", for use by name; once a
/// process.
MLIR_CAPI_EXPORTED void blocksparseRegisterPipelines(void);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSPARSE_C_MODULE_H
