// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_CODE_H
#define BLOCKSPARSE_TARGET_CPU_CODE_H

#include "blocksparse/Target/CPU/Machine.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class raw_pwrite_stream;
} // namespace llvm

namespace mlir::blocksparse {

enum class CodeFormat { LLVMIR, Assembly, Object };

/// Selects the entry points. `Packed` adds, for each entry point f, a symbol f.packed whose
/// argument is an array of the addresses of the arguments of f. `InMemory` also exports the
/// variable `artifactSlotSymbol` of a GPU program, whose owner closes the artefact; only one such
/// object can be linked into a program.
enum class EntryPoints { Plain, Packed, InMemory };

/// Holds the optimised LLVM IR of a program. Its only visible symbols are its entry points: for
/// each public function f of the source one symbol f, whose arguments the C header describes.
class Code {
public:
  /// Translates a module in the llvm and omp dialects, the output of buildLowerToLLVMPipeline, and
  /// optimises it. Fails with an error that names the operation if there is another one.
  /// Each entry point f of `onStream` gets a form f_on_stream, whose last argument is the stream on
  /// which the runtime puts the work of the call. It has a packed form, too.
  static FailureOr<Code> create(ModuleOp module, const CPUOptions &options,
                                EntryPoints entryPoints = EntryPoints::Plain,
                                ArrayRef<std::string> onStream = {});

  Code(Code &&);
  ~Code();

  /// Appends the program to `bytes`. Assembly and objects consume the IR, so each Code is emitted
  /// once.
  LogicalResult emit(CodeFormat format, SmallVectorImpl<char> &bytes);

private:
  explicit Code(Location location);

  Location location;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_CPU_CODE_H
