// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramSymbols.h"
#include "blocksparse/Runtime/Artifact.h"
#include "blocksparse/Target/GPU/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <deque>

namespace mlir::blocksparse {
#define GEN_PASS_DEF_EMBEDARTIFACTPASS
#include "blocksparse/Target/GPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
namespace rt = ::blocksparse::rt;

static std::span<const uint8_t> toBytes(StringRef text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

namespace {

/// Collects the artefact of a module, and owns those bytes that no attribute owns.
class Collector {
public:
  explicit Collector(ModuleOp module) : module(module) {}

  FailureOr<std::vector<uint8_t>> write() {
    for (auto binary : module.getOps<gpu::BinaryOp>())
      for (Attribute object : binary.getObjects())
        if (failed(addImage(cast<gpu::ObjectAttr>(object), binary)))
          return failure();
    addKernels();
    if (auto luts = module->getAttrOfType<DictionaryAttr>(lutsAttr))
      for (NamedAttribute lut : luts)
        addLut(lut);
    std::string error;
    std::optional<std::vector<uint8_t>> bytes = rt::writeArtifact(artifact, error);
    if (!bytes)
      return module.emitError("expects a valid artefact: ") << error;
    return std::move(*bytes);
  }

private:
  LogicalResult addImage(gpu::ObjectAttr object, gpu::BinaryOp binary) {
    auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
    bool ptx = object.getFormat() == gpu::CompilationTarget::Assembly;
    if (!target || (!ptx && object.getFormat() != gpu::CompilationTarget::Binary))
      return binary.emitOpError("expects PTX or machine code of an NVVM target, but got ")
             << object.getTarget();
    artifact.images.push_back({ptx ? rt::ImageKind::Ptx : rt::ImageKind::Cubin, target.getChip(),
                               toBytes(object.getObject().getValue())});
    if (!llvm::is_contained(targets, target.getChip()))
      targets.push_back(target.getChip());
    return success();
  }

  /// Adds the records of a target, or of all targets if there is one list.
  void addKernels() {
    for (StringRef target : targets) {
      auto records = module->getAttrOfType<DictionaryAttr>((kernelsAttr + "." + target).str());
      if (!records)
        records = module->getAttrOfType<DictionaryAttr>(kernelsAttr);
      if (!records)
        continue;
      for (NamedAttribute entry : records) {
        ArrayRef<int64_t> record = cast<DenseI64ArrayAttr>(entry.getValue()).asArrayRef();
        rt::ArtifactKernel kernel{entry.getName().getValue(), target};
        for (int i = 0; i < 3; ++i) {
          kernel.threads[i] = static_cast<int32_t>(record[i]);
          kernel.cluster[i] = static_cast<int32_t>(record[3 + i]);
        }
        kernel.dynamicSharedBytes = record[6];
        kernel.mode = static_cast<int32_t>(record[7]);
        artifact.kernels.push_back(kernel);
      }
    }
  }

  void addLut(NamedAttribute lut) {
    SmallVector<char> &bytes = owned.emplace_back();
    copyElementBytes(cast<ElementsAttr>(lut.getValue()), bytes);
    artifact.luts.push_back(
        {lut.getName().getValue(), toBytes(StringRef(bytes.data(), bytes.size()))});
  }

  ModuleOp module;
  rt::Artifact artifact;
  SmallVector<StringRef> targets;
  std::deque<SmallVector<char>> owned;
};

} // namespace

static void defineGlobals(ModuleOp module, ArrayRef<uint8_t> bytes) {
  auto b = ImplicitLocOpBuilder::atBlockBegin(module.getLoc(), module.getBody());
  auto define = [&](StringRef name, Type type, bool constant, Attribute value) {
    if (auto declared = module.lookupSymbol<LLVM::GlobalOp>(name))
      declared.erase();
    return LLVM::GlobalOp::create(b, type, constant, LLVM::Linkage::Internal, name, value,
                                  /*alignment=*/16);
  };
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  define(artifactSymbol, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()), true,
         b.getStringAttr(llvm::toStringRef(bytes)));
  define(artifactSizeSymbol, b.getI64Type(), true, b.getI64IntegerAttr(bytes.size()));
  LLVM::GlobalOp slot = define(artifactSlotSymbol, pointer, false, Attribute());
  b.createBlock(&slot.getInitializerRegion());
  LLVM::ReturnOp::create(b, LLVM::ZeroOp::create(b, pointer).getResult());
}

namespace {

struct EmbedArtifact : mlir::blocksparse::impl::EmbedArtifactPassBase<EmbedArtifact> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<std::vector<uint8_t>> bytes = Collector(module).write();
    if (failed(bytes))
      return signalPassFailure();
    defineGlobals(module, *bytes);
    for (auto binary : llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>()))
      binary.erase();
    for (NamedAttribute attribute : llvm::to_vector(module->getAttrs()))
      if (attribute.getName() == lutsAttr ||
          attribute.getName().getValue().starts_with(kernelsAttr))
        module->removeAttr(attribute.getName());
  }
};

} // namespace
