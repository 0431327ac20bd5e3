// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_COMPILER_PROGRAM_H
#define BLOCKSPARSE_COMPILER_PROGRAM_H

#include "blocksparse/Compiler/Stage.h"
#include "blocksparse/Target/FunctionSignature.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class MemoryBuffer;
class MemoryBufferRef;
class SourceMgr;
} // namespace llvm

namespace mlir::blocksparse {

/// Holds a module as it stands in the source, and the signatures of its public functions, which
/// the compiled program keeps.
struct Program {
  OwningOpRef<ModuleOp> module;
  SmallVector<FunctionSignature> signatures;

  /// Returns the signature of a function of the source; null when there is none of this name.
  const FunctionSignature *find(StringRef name) const;

  /// Returns the signatures of the functions that the program calls and another library defines.
  /// None after the stage `schedule`, which is the last one with tensors of the source.
  SmallVector<FunctionSignature> getExternals() const;

  /// Returns a copy, which may be compiled while this one stays as it is.
  Program clone() const;
};

/// Fails, with an error at the bracket, if the text of a program has more brackets open at one
/// place than MLIR's recursive parser is sure to have stack for. Bytecode passes.
LogicalResult checkNesting(llvm::MemoryBufferRef text, MLIRContext &context);

/// Parses and verifies the file at `path` ("-": standard input), text or bytecode, that the stage
/// `passed` has left. Names of parameters are those of the text. After `llvm` there are no
/// signatures. `sourceMgr` must outlive the context's diagnostics.
FailureOr<Program> parseProgram(StringRef path, llvm::SourceMgr &sourceMgr, MLIRContext &context,
                                Stage passed = Stage::Parse);

/// Parses and verifies the contents of a buffer in the same way.
FailureOr<Program> parseProgram(std::unique_ptr<llvm::MemoryBuffer> text,
                                llvm::SourceMgr &sourceMgr, MLIRContext &context,
                                Stage passed = Stage::Parse);

/// Reads the signatures of a module that the stage `passed` has left, and copies the module.
FailureOr<Program> readProgram(ModuleOp module, Stage passed = Stage::Parse);

/// Removes every public function but those of `names` (separated by commas) from the program, with
/// the private ones that only the others use. An unknown name is an error that lists those there
/// are.
LogicalResult keepFunctions(Program &program, StringRef names);

/// Gives each public function the name of its entry point, in the module and in its signature. That
/// is `prefix` and the name in the source where they make a C identifier that is no reserved word;
/// a name that another symbol has is then an error. Any other name is made an identifier
/// (makeIdentifier), with _2, _3, ... behind it where it, or the name of a function that belongs to
/// it (getSizeFunctionName, getStreamFunctionName), is taken. Fails if `prefix` starts no
/// identifier.
LogicalResult nameEntryPoints(Program &program, StringRef prefix);

/// Removes what says what to run functions with (docs/Testing.md); the compiler has no use for it.
void dropRunAttributes(ModuleOp module);

/// Makes each public function return what every operation in it computes, in their order, before
/// results that are no operation's. Those that it returned keep their names and attributes; the
/// others are named "sdd (3:8)" by operation and place. A body of more than one block is an error.
LogicalResult returnEveryResult(Program &program);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_COMPILER_PROGRAM_H
