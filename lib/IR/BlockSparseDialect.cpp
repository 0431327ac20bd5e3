// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseDialect.h"
#include "BytecodeInterface.h"
#include "ShapeReification.h"
#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/Tables.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::blocksparse;

#include "blocksparse/IR/BlockSparseDialect.cpp.inc"

namespace {
/// Gives layouts an alias, because every type that carries one would repeat it in print.
struct AliasInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<LayoutAttr>(attr)) {
      os << "layout";
      return AliasResult::FinalAlias;
    }
    if (isa<BsrAttr>(attr)) {
      os << "bsr";
      return AliasResult::FinalAlias;
    }
    return AliasResult::NoAlias;
  }
};

/// Allows every operation to be inlined into a caller.
struct MayInline : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

namespace {
/// Is `OpTy` for the registration of its hooks. MLIR ignores what it does not know in the
/// properties of the generic form, `<{...}>`; here that is an error, as in an attribute dictionary.
template <typename OpTy>
struct StrictProperties : OpTy {
  using OpTy::OpTy;

  template <typename Properties>
  static LogicalResult setPropertiesFromAttr(Properties &properties, Attribute attribute,
                                             function_ref<InFlightDiagnostic()> emitError) {
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute);
        dictionary &&
        failed(mlir::blocksparse::detail::checkKnownProperties(
            dictionary, OpTy::getOperationName(), OpTy::getAttributeNames(), emitError)))
      return failure();
    return OpTy::setPropertiesFromAttr(properties, attribute, emitError);
  }
};
} // namespace

/// Gives the hooks of an operation the identity of the operation.
template <typename OpTy>
struct mlir::detail::TypeIDResolver<StrictProperties<OpTy>> {
  static TypeID resolveTypeID() { return TypeID::get<OpTy>(); }
};

template <typename... OpTys>
static void registerOperations(Dialect *dialect) {
  (RegisteredOperationName::insert(
       std::make_unique<RegisteredOperationName::Model<StrictProperties<OpTys>>>(dialect),
       OpTys::getAttributeNames()),
   ...);
}

void BlockSparseDialect::initialize() {
  registerAttributes();
  registerOperations<
#define GET_OP_LIST
#include "blocksparse/IR/BlockSparseOps.cpp.inc"
      >(this);
  addInterfaces<AliasInterface, MayInline>();
  detail::addBytecodeInterface(*this);
  detail::attachShapeReification(*getContext());
}

#define GET_OP_CLASSES
#include "blocksparse/IR/BlockSparseOps.cpp.inc"
