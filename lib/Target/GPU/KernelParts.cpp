// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelParts.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::blocksparse;

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Returns true if the function is one that `joinPTX` finds in a text.
static bool isVisibleKernel(LLVM::LLVMFuncOp function) {
  return !function.isExternal() && function.getLinkage() == LLVM::Linkage::External &&
         function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
         !function.getPersonality() &&
         !function.getLoc()->findInstanceOf<FusedLocWith<LLVM::DISubprogramAttr>>();
}

/// Returns the variables that the kernel names, or nothing if it names something else.
static std::optional<SmallVector<LLVM::GlobalOp>> findVariables(LLVM::LLVMFuncOp kernel) {
  llvm::SmallSetVector<Operation *, 4> variables;
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  WalkResult walked = kernel.walk([&](SymbolUserOpInterface user) {
    if (user == kernel)
      return WalkResult::advance();
    auto address = dyn_cast<LLVM::AddressOfOp>(user.getOperation());
    auto variable =
        address ? module.lookupSymbol<LLVM::GlobalOp>(address.getGlobalName()) : nullptr;
    if (!variable)
      return WalkResult::interrupt();
    variables.insert(variable);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return std::nullopt;
  return llvm::map_to_vector(variables, [](Operation *op) { return cast<LLVM::GlobalOp>(op); });
}

SmallVector<KernelPart> mlir::blocksparse::splitKernels(gpu::GPUModuleOp module) {
  SmallVector<KernelPart> parts;
  llvm::SmallDenseMap<Operation *, unsigned> users;
  for (Operation &op : module.getOps()) {
    if (isa<LLVM::GlobalOp>(op))
      continue;
    auto kernel = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (!kernel || !isVisibleKernel(kernel))
      return {};
    std::optional<SmallVector<LLVM::GlobalOp>> variables = findVariables(kernel);
    if (!variables)
      return {};
    for (LLVM::GlobalOp variable : *variables)
      ++users[variable];
    parts.push_back({kernel, std::move(*variables)});
  }
  // A declaration may be repeated; a definition must belong to one part and name nothing else.
  for (auto variable : module.getOps<LLVM::GlobalOp>()) {
    bool isDeclaration = !variable.getValueOrNull() && variable.getInitializerRegion().empty() &&
                         variable.getLinkage() == LLVM::Linkage::External;
    if (!isDeclaration && (users.lookup(variable) != 1 || !variable.getInitializerRegion().empty()))
      return {};
  }
  return parts;
}

OwningOpRef<gpu::GPUModuleOp> mlir::blocksparse::cloneModule(gpu::GPUModuleOp module,
                                                             const KernelPart &part) {
  OwningOpRef<gpu::GPUModuleOp> clone(cast<gpu::GPUModuleOp>(module->cloneWithoutRegions()));
  Block &body = clone->getBodyRegion().emplaceBlock();
  for (LLVM::GlobalOp variable : part.variables)
    body.push_back(variable->clone());
  body.push_back(part.kernel->clone());
  return clone;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {

/// Holds a text as LLVM writes it: the version and target, a comment with the kernel's name,
/// declarations of variables, an empty line, the kernel.
struct PtxPieces {
  StringRef head, comment, declarations, kernel;
};

} // namespace

static FailureOr<PtxPieces> cutPTX(StringRef text) {
  size_t comment = text.find("\t// .globl\t");
  size_t declarations = text.find('\n', comment);
  size_t kernel = text.find("\n.visible .entry ", comment);
  if (comment == StringRef::npos || kernel == StringRef::npos)
    return failure();
  return PtxPieces{text.take_front(comment), text.slice(comment, declarations + 1),
                   text.slice(declarations + 1, kernel + 1), text.drop_front(kernel + 1)};
}

FailureOr<std::string> mlir::blocksparse::joinPTX(ArrayRef<std::string> parts) {
  SmallVector<PtxPieces> pieces;
  llvm::SmallSetVector<StringRef, 4> declarations;
  for (StringRef part : parts) {
    FailureOr<PtxPieces> cut = cutPTX(part);
    if (failed(cut))
      return failure();
    SmallVector<StringRef> lines;
    cut->declarations.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    declarations.insert_range(lines);
    pieces.push_back(*cut);
  }
  std::string text = pieces.front().head.str();
  for (const auto &[index, piece] : llvm::enumerate(pieces)) {
    text += piece.comment;
    if (index == 0) {
      for (StringRef line : declarations)
        text += (line + "\n").str();
      text += '\n';
    }
    text += piece.kernel;
  }
  return text;
}
