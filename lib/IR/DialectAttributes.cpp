// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/DialectAttributes.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/LaunchAttributes.h"
#include "blocksparse/IR/OverflowMode.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {
/// Describes an attribute of the dialect.
struct KnownAttribute {
  StringRef name;
  /// The kind of its value, for errors; empty where any will do.
  StringRef kind;
  bool (*hasKind)(Attribute);
};
} // namespace

template <typename AttrTy>
static bool isKind(Attribute attribute) {
  return isa<AttrTy>(attribute);
}
static bool isAny(Attribute) { return true; }

static constexpr KnownAttribute argumentAttributes[] = {
    {fillAttr, "a string", isKind<StringAttr>},
    {valueAttr, "dense elements", isKind<ElementsAttr>},
    {shapeAttr, "array<i64: ...>", isKind<DenseI64ArrayAttr>},
    {crowAttr, "dense elements", isKind<ElementsAttr>},
    {colAttr, "dense elements", isKind<ElementsAttr>}};

static constexpr KnownAttribute resultAttributes[] = {
    {expectAttr, "dense elements", isKind<ElementsAttr>},
    {expectArgumentAttr, "an integer", isKind<IntegerAttr>}};

static constexpr KnownAttribute operationAttributes[] = {
    {hostFunctionAttr, "", isAny}, {overflowModeAttr, "a string", isKind<StringAttr>},
    {kernelsAttr, "", isAny},      {lutsAttr, "", isAny},
    {startsEarlyAttr, "", isAny},  {runsTogetherAttr, "", isAny},
    {tensorMapsAttr, "", isAny}};

/// Emits the error about `name`, which is none of `names`, the attributes of `owner`.
template <typename Names>
static LogicalResult emitUnknown(InFlightDiagnostic diagnostic, const Names &names, StringRef owner,
                                 StringRef name) {
  if (names.empty())
    return diagnostic << "expects no attribute of " << owner << ", but got '" << name << "'";
  StringRef nearest = names.front();
  for (StringRef known : names)
    if (name.edit_distance(known) < name.edit_distance(nearest))
      nearest = known;
  diagnostic << "expects an attribute of " << owner << " (";
  llvm::interleaveComma(names, diagnostic);
  return diagnostic << "), of which '" << nearest << "' is the nearest, but got '" << name << "'";
}

static LogicalResult verifyAttribute(Operation *op, NamedAttribute attribute, StringRef owner,
                                     ArrayRef<KnownAttribute> known) {
  StringRef name = attribute.getName();
  // A program for several targets has the kernels of each.
  if (name.starts_with((kernelsAttr + ".").str()))
    name = kernelsAttr;
  const KnownAttribute *found =
      llvm::find_if(known, [&](const KnownAttribute &entry) { return entry.name == name; });
  if (found == known.end()) {
    SmallVector<StringRef> names;
    for (const KnownAttribute &entry : known)
      names.push_back(entry.name);
    return emitUnknown(op->emitError(), names, owner, name);
  }
  if (!found->hasKind(attribute.getValue()))
    return op->emitError() << "expects " << name << " to be " << found->kind << ", but got "
                           << attribute.getValue();
  return success();
}

LogicalResult BlockSparseDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                           NamedAttribute attribute) {
  return verifyAttribute(op, attribute, "argument " + std::to_string(index), argumentAttributes);
}

LogicalResult BlockSparseDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                              unsigned index,
                                                              NamedAttribute attribute) {
  return verifyAttribute(op, attribute, "result " + std::to_string(index), resultAttributes);
}

LogicalResult BlockSparseDialect::verifyOperationAttribute(Operation *op,
                                                           NamedAttribute attribute) {
  return verifyAttribute(op, attribute, "an operation", operationAttributes);
}

/// Fails with an error if the prefix of an attribute is that of no dialect, but nearly ours.
static LogicalResult checkPrefix(Operation *op, NamedAttribute attribute) {
  // Two letters that have changed places are two edits.
  constexpr unsigned mostEdits = 2;
  auto [prefix, rest] = attribute.getName().strref().split('.');
  StringRef own = BlockSparseDialect::getDialectNamespace();
  if (rest.empty() || prefix == own || attribute.getNameDialect() ||
      prefix.edit_distance_insensitive(own, /*AllowReplacements=*/true, mostEdits) > mostEdits)
    return success();
  return op->emitError() << "expects an attribute of a dialect, of which '" << own
                         << "' is the nearest, but got '" << attribute.getName().strref() << "'";
}

static LogicalResult checkPrefixes(Operation *op, DictionaryAttr attributes) {
  return success(!attributes || llvm::all_of(attributes, [&](NamedAttribute attribute) {
    return succeeded(checkPrefix(op, attribute));
  }));
}

LogicalResult mlir::blocksparse::checkAttributePrefixes(Operation *root) {
  return failure(root->walk([](Operation *op) -> WalkResult {
                       if (failed(checkPrefixes(op, op->getDiscardableAttrDictionary())))
                         return failure();
                       auto function = dyn_cast<FunctionOpInterface>(op);
                       if (!function)
                         return success();
                       for (unsigned i = 0; i < function.getNumArguments(); ++i)
                         if (failed(checkPrefixes(op, function.getArgAttrDict(i))))
                           return failure();
                       for (unsigned i = 0; i < function.getNumResults(); ++i)
                         if (failed(checkPrefixes(op, function.getResultAttrDict(i))))
                           return failure();
                       return success();
                     })
                     .wasInterrupted());
}

/// Returns the names that a program may write; MLIR writes the sizes of operand segments.
template <typename Names>
static SmallVector<StringRef> getWritableNames(const Names &names) {
  SmallVector<StringRef> writable;
  for (StringRef name : names)
    if (!name.ends_with("SegmentSizes"))
      writable.push_back(name);
  return writable;
}

/// Fails with an error if a factor is not a number that the operation computes with: one that the
/// accumulation type rounds to infinity, or to 0, would give NaN where a value is 0 or infinite.
static LogicalResult verifyFactors(Operation *op) {
  if (op->getNumOperands() == 0)
    return success();
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  const bool isDouble = element.isF64();
  for (StringRef name : {"alpha", "beta", "scale"}) {
    auto factor = dyn_cast_or_null<FloatAttr>(op->getAttr(name));
    if (!factor)
      continue;
    APFloat rounded = factor.getValue();
    bool losesInfo = false;
    rounded.convert(isDouble ? APFloat::IEEEdouble() : APFloat::IEEEsingle(),
                    APFloat::rmNearestTiesToEven, &losesInfo);
    if (!rounded.isFinite() || rounded.isZero() != factor.getValue().isZero())
      return op->emitOpError() << "expects " << name << " to be a finite number of "
                               << (isDouble ? "f64" : "f32") << ", but got "
                               << factor.getValueAsDouble();
  }
  return success();
}

LogicalResult mlir::blocksparse::detail::verifyKnownAttributes(Operation *op) {
  if (failed(verifyFactors(op)))
    return failure();
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (failed(checkPrefix(op, attribute)))
      return failure();
    if (name.contains('.'))
      continue;
    SmallVector<StringRef> names;
    for (StringAttr own : op->getName().getAttributeNames())
      names.push_back(own);
    return emitUnknown(op->emitOpError(), getWritableNames(names), "this operation", name);
  }
  return success();
}

LogicalResult
mlir::blocksparse::detail::checkKnownProperties(DictionaryAttr properties, StringRef operation,
                                                ArrayRef<StringRef> names,
                                                function_ref<InFlightDiagnostic()> emitError) {
  for (NamedAttribute property : properties) {
    StringRef name = property.getName();
    if (name.contains('.') || llvm::is_contained(names, name) || name == "operandSegmentSizes" ||
        name == "operand_segment_sizes")
      continue;
    if (!emitError)
      return failure();
    return emitUnknown(emitError() << "'" << operation << "' op ", getWritableNames(names),
                       "this operation", name);
  }
  return success();
}
