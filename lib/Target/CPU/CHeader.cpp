// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/CHeader.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Target/Identifiers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace mlir;
using namespace mlir::blocksparse;

static std::string getGuard(StringRef text) {
  std::string guard = "BLOCKSPARSE_COMPILED_";
  for (char c : text)
    guard += llvm::isAlnum(c) ? llvm::toUpper(c) : '_';
  return guard;
}

static void writePrologue(StringRef guard, llvm::raw_ostream &os) {
  os << "/* Entry points of a compiled block-sparse program. Made by blocksparse-compile. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n#include <stdint.h>\n\n"
     << R"(/* A tensor of rank R. `data` is the address of the storage, aligned to its element type;
 * element (i0, i1, ...) is at data[offset + i0 * strides[0] + i1 * strides[1] + ...], everything
 * counted in elements. Any strides are accepted; row-major is fastest. `allocated` is not
 * used. A function reads its arguments and writes all of its results; a result must
 * not overlap anything else, and the caller allocates it with the sizes that stand beside it.
 * Functions return a status: 0, or 1 (BLOCKSPARSE_RT_INVALID_ARGUMENT) where a size is not the one
 * that stands beside its tensor, where one that is '?' is negative or does not fit the other
 * arguments, or where an index is out of range: offsets that do not start at 0, that decrease or end
 * after the last block, a column or a block that is not there, and a column twice in a block row
 * where an operation has no meaning for it. Results then hold anything. The text is that
 * of blocksparseRtLastError() if libblocksparse_runtime.so is in the process, and else on the error
 * stream. Code for a CPU checks all indices before it uses one, unless it was compiled with
 * --no-check-indices; code for a GPU does so if it was compiled with --check-indices. Unchecked
 * indices that are out of range read and write memory anywhere.
 * Element types: f16 and bf16 are 16-bit patterns, f8 are 8-bit patterns, the others C types. */
)";
}

/// Tells a caller what to know about GPUs, in a comment of the header.
static constexpr StringLiteral deviceRules =
    R"(/* A status may be any of libblocksparse_runtime.so (blocksparse-c/Runtime.h). The elements of
 * tensors are in device memory, descriptors in host memory; work is put on the stream of
 * blocksparseRtSetStream() and not waited for. The functions *_on_stream put it on their last
 * argument, a CUstream or cudaStream_t of the device (NULL: the default stream), whatever that
 * stream is. A program that was also compiled for the CPU takes tensors in host memory, too, all
 * of them. The functions *_result_sizes look at descriptors alone.
 */
)";

static void writeDescriptors(ArrayRef<FunctionSignature> signatures, llvm::raw_ostream &os) {
  std::set<int64_t> ranks;
  for (const FunctionSignature &signature : signatures)
    for (const auto *list : {&signature.arguments, &signature.results})
      for (const Parameter &parameter : *list)
        if (parameter.isTensor())
          ranks.insert(parameter.getTensor().getRank());
  if (llvm::any_of(signatures, [](const FunctionSignature &signature) {
        return signature.getSizeFunction().has_value();
      }))
    ranks.insert(1);
  for (int64_t rank : ranks) {
    os << "#ifndef BLOCKSPARSE_TENSOR_" << rank << "\n#define BLOCKSPARSE_TENSOR_" << rank
       << "\ntypedef struct {\n  void *allocated;\n  void *data;\n  int64_t offset;\n";
    if (rank > 0)
      os << "  int64_t sizes[" << rank << "];\n  int64_t strides[" << rank << "];\n";
    os << "} blocksparse_tensor_" << rank << ";\n#endif\n";
  }
}

/// Writes a name in quotes so that it does not end the comment that it stands in.
static void writeCommentText(StringRef text, llvm::raw_ostream &os) {
  os << '\'';
  for (char c : text)
    os << (llvm::isPrint(c) && c != '*' && c != '\\' && c != '?' ? c : '.');
  os << '\'';
}

static void writeShape(ArrayRef<int64_t> shape, llvm::raw_ostream &os) {
  os << '[';
  llvm::interleaveComma(shape, os, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      os << '?';
    else
      os << extent;
  });
  os << ']';
}

static StringRef getNumberType(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isInteger(1))
    return "uint8_t";
  if (type.isInteger(8))
    return "int8_t";
  return type.isInteger(32) ? "int32_t" : "int64_t";
}

/// Writes the strides of a buffer where the function ignores those of the descriptor.
static void writeStrides(MemRefType buffer, llvm::raw_ostream &os) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)buffer.getStridesAndOffset(strides, offset);
  if (llvm::all_of(strides, ShapedType::isDynamic) && ShapedType::isDynamic(offset))
    return;
  os << ", strides ";
  writeShape(strides, os);
  os << ", offset ";
  if (ShapedType::isDynamic(offset))
    os << '?';
  else
    os << offset;
}

/// Returns "values of bf16 [12, 900, 16, 16] of a sparse tensor [1, 12, 512, 512], ...".
static void writeMeaning(const Parameter &parameter, llvm::raw_ostream &os) {
  if (!parameter.isTensor()) {
    os << parameter.type;
    return;
  }
  RankedTensorType storage = parameter.getTensor();
  os << storage.getElementType() << ' ';
  writeShape(storage.getShape(), os);
  if (auto buffer = dyn_cast<MemRefType>(parameter.type))
    return writeStrides(buffer, os);
  std::optional<SparseTensor> sparse = SparseTensor::get(parameter.type);
  if (!sparse)
    return;
  switch (parameter.role) {
  case Parameter::Role::CrowIndices:
    os << ": row offsets";
    break;
  case Parameter::Role::ColIndices:
    os << ": block columns";
    break;
  default:
    os << ": value blocks";
  }
  ::blocksparse::BlockShape block = sparse->getBlock();
  os << " of a sparse tensor ";
  writeShape(sparse->getType().getShape(), os);
  os << " in blocks of " << block.rows << " x " << block.cols;
  if (!sparse->isStatic() || parameter.role != Parameter::Role::Values)
    return;
  ::blocksparse::BlockGrid grid = sparse->getLayout().getBlockGrid();
  os << ",\n *     " << sparse->getStoredBlocks() << " stored in (head, row, column) order";
  if (const ::blocksparse::BlockLayout *layout = sparse->getLayout().resolve())
    os << "; the layout has " << layout->nnz() << " of " << grid.heads << " x " << grid.rows
       << " x " << grid.cols << llvm::format(" (%.2f %%)", 100 * layout->density());
}

/// Writes the declaration of a function with this name; `onStream` adds the argument `stream`.
static void writeDeclaration(const FunctionSignature &signature, StringRef name, bool onStream,
                             llvm::raw_ostream &os) {
  os << "int32_t " << name << '(';
  bool first = true;
  auto writeParameter = [&](const Parameter &parameter, bool isResult) {
    os << (first ? "" : ",\n    ");
    first = false;
    bool isConst = !isResult && parameter.role != Parameter::Role::Buffer;
    if (!parameter.isTensor())
      os << getNumberType(parameter.type) << ' ' << parameter.name;
    else
      os << (isConst ? "const " : "") << "blocksparse_tensor_" << parameter.getTensor().getRank()
         << " *" << parameter.name;
  };
  for (const Parameter &parameter : signature.arguments)
    writeParameter(parameter, false);
  for (const Parameter &parameter : signature.results)
    writeParameter(parameter, true);
  if (onStream)
    os << (first ? "" : ",\n    ") << "void *" << signature.getStreamParameter();
  os << (first && !onStream ? "void);\n" : ");\n");
}

/// Writes the comment with the meaning of each parameter.
static void writeComment(const FunctionSignature &signature, llvm::raw_ostream &os) {
  os << "\n/* " << signature.name;
  if (signature.name != signature.sourceName) {
    os << ": the function ";
    writeCommentText(signature.sourceName, os);
    os << " of the program";
  }
  for (const Parameter &parameter : signature.arguments) {
    os << "\n *   " << parameter.name << ": ";
    writeMeaning(parameter, os);
  }
  for (const Parameter &parameter : signature.results) {
    os << "\n *   " << parameter.name << " (result): ";
    writeMeaning(parameter, os);
  }
  os << " */\n";
}

/// Writes what a user defines: a function on the stream where the program computes on a GPU.
static void writeExternal(const FunctionSignature &signature, bool usesDevice,
                          llvm::raw_ostream &os) {
  writeComment(signature, os);
  std::string name = usesDevice ? getStreamFunctionName(signature.name) : signature.name;
  writeDeclaration(signature, name, usesDevice, os);
}

static void writeFunction(const FunctionSignature &signature, bool usesDevice,
                          llvm::raw_ostream &os) {
  writeComment(signature, os);
  writeDeclaration(signature, signature.name, /*onStream=*/false, os);
  if (usesDevice && !signature.onHost)
    writeDeclaration(signature, getStreamFunctionName(signature.name), /*onStream=*/true, os);
}

LogicalResult mlir::blocksparse::emitCHeader(ArrayRef<FunctionSignature> signatures,
                                             StringRef guard, llvm::raw_ostream &os,
                                             EmitErrorFn emitError, bool usesDevice,
                                             ArrayRef<FunctionSignature> externals) {
  for (const FunctionSignature &signature : signatures)
    if (!isIdentifierText(signature.name) || isReservedWord(signature.name))
      return emitError() << "expects a C identifier that is no reserved word as the name of an "
                            "entry point, but got '"
                         << signature.name << "'";
  std::string macro = getGuard(guard);
  writePrologue(macro, os);
  if (usesDevice)
    os << deviceRules;
  SmallVector<FunctionSignature> all(signatures);
  llvm::append_range(all, externals);
  writeDescriptors(all, os);
  os << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const FunctionSignature &signature : signatures) {
    writeFunction(signature, usesDevice, os);
    if (std::optional<FunctionSignature> sizes = signature.getSizeFunction()) {
      os << "\n/* The extents of " << signature.name << "'s results that are '?', in order. */";
      writeFunction(*sizes, usesDevice, os);
    }
  }
  if (!externals.empty())
    os << "\n/* The functions below are called by the program, and defined elsewhere. Each returns "
          "0, "
          "or a\n * status that ends the call of the program. */\n";
  for (const FunctionSignature &signature : externals)
    writeExternal(signature, usesDevice, os);
  os << "\n#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n#endif /* " << macro << " */\n";
  return success();
}
