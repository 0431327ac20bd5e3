// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttributeTensor.h"
#include "blocksparse/Execution/HostProgram.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;

static void copyElements(DenseElementsAttr elements, const HostTensor &flat) {
  int64_t position = 0;
  if (!isa<FloatType>(elements.getElementType())) {
    for (const APInt &value : elements.getValues<APInt>()) {
      APInt wide = value.getBitWidth() == 1 ? value.zext(64) : value.sext(64);
      flat.set({position++}, double(wide.getSExtValue()));
    }
    return;
  }
  for (APFloat value : elements.getValues<APFloat>()) {
    bool lost;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    flat.set({position++}, value.convertToDouble());
  }
}

std::optional<HostTensor> mlir::blocksparse::tensorFromAttribute(Attribute attribute,
                                                                 std::string &error) {
  auto elements = dyn_cast<ElementsAttr>(attribute);
  auto type = elements ? getHostElementType(elements.getElementType()) : std::nullopt;
  if (!type || !isa<DenseElementsAttr, DenseResourceElementsAttr>(attribute)) {
    error = "expects dense elements of a type that host tensors have, but got ";
    llvm::raw_string_ostream(error) << attribute;
    return std::nullopt;
  }
  std::optional<HostTensor> tensor =
      HostTensor::allocate(*type, elements.getShapedType().getShape(), error);
  if (!tensor)
    return std::nullopt;
  std::optional<HostTensor> flat = tensor->reshape({{tensor->numElements()}}, error);
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    copyElements(dense, *flat);
    return tensor;
  }
  auto resource = cast<DenseResourceElementsAttr>(attribute);
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  size_t expected = tensor->numElements() * ::blocksparse::elementSize(*type);
  if (!blob || blob->getData().size() != expected) {
    error = "expects a resource of " + std::to_string(expected) + " bytes, but got " +
            (blob ? std::to_string(blob->getData().size()) : std::string("none"));
    return std::nullopt;
  }
  std::memcpy(tensor->data(), blob->getData().data(), expected);
  return tensor;
}
