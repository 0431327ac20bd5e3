// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Execution/HostArguments.h"
#include "ArgumentIndices.h"
#include "AttributeTensor.h"
#include "GeneratedIndices.h"
#include "HostMemory.h"
#include "blocksparse/Execution/HostProgram.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Reference/Pattern.h"
#include "blocksparse/Support/Npy.h"
#include "blocksparse/Support/RandomFill.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::FillKind;
using ::blocksparse::HostTensor;

std::string mlir::blocksparse::fillNames() {
  return "uniform, integers, zeros, ones, arange, nan, keep, forbid";
}

/// Fills a tensor by the name of a fill or by a number, and returns false for any other text.
/// "keep" is 1 and "forbid" is 0, except that one of four elements has the opposite meaning: 0, or
/// -inf.
static bool fillByName(const HostTensor &tensor, StringRef name, uint64_t seed) {
  double number;
  if (name == "ints")
    name = "integers";
  if (std::optional<FillKind> kind = ::blocksparse::parseFillKind(name)) {
    ::blocksparse::fillTensor(tensor, *kind, seed);
    return true;
  }
  if (name == "keep" || name == "forbid") {
    double most = name == "keep" ? 1 : 0;
    double some = name == "keep" ? 0 : -std::numeric_limits<double>::infinity();
    uint64_t position = 0;
    ::blocksparse::forEachIndex(tensor.shape(), [&](std::span<const int64_t> index) {
      tensor.set(index, ::blocksparse::randomBits(seed, position++) % 4 == 0 ? some : most);
    });
    return true;
  }
  if (!llvm::to_float(name, number))
    return false;
  tensor.fill(number);
  return true;
}

/// Returns the fill that suits the use of the argument: masks forbid some elements, numbers are 1.
static StringRef getDefaultFill(BlockArgument argument) {
  if (!isa<ShapedType>(argument.getType()))
    return "ones";
  for (Operation *user : argument.getUsers()) {
    auto check = [&](auto op) -> StringRef {
      if (op.getKeyPaddingMask() == argument)
        return op.getKeyPaddingMaskMode() == MaskMode::Mul ? "keep" : "forbid";
      if (op.getAttentionMask() == argument)
        return op.getAttentionMaskMode() == MaskMode::Mul ? "keep" : "forbid";
      return "";
    };
    StringRef fill;
    if (auto softmax = dyn_cast<SoftmaxOp>(user))
      fill = check(softmax);
    else if (auto attention = dyn_cast<AttentionOp>(user))
      fill = check(attention);
    else if (auto grad = dyn_cast<AttentionGradOp>(user))
      fill = check(grad);
    if (!fill.empty())
      return fill;
  }
  return "uniform";
}

/// Writes NaN to the elements of stored edge blocks that are outside of rows x cols.
static void poisonPadding(const HostTensor &values, const ::blocksparse::ref::Pattern &pattern,
                          int64_t rows, int64_t cols) {
  int64_t bm = pattern.block().rows, bn = pattern.block().cols;
  if (rows % bm == 0 && cols % bn == 0)
    return;
  bool batched = values.rank() == 4;
  for (int64_t batch = 0; batch < (batched ? values.dim(0) : 1); ++batch)
    for (int64_t head = 0; head < pattern.grid().heads; ++head)
      for (const auto &entry : pattern.entries(batch, head)) {
        HostTensor block = batched ? values.select(0, batch).select(0, entry.value)
                                   : values.select(0, entry.value);
        ::blocksparse::fillTensor(block.slice(0, rows - entry.row * bm, bm), FillKind::nan);
        ::blocksparse::fillTensor(block.slice(1, cols - entry.col * bn, bn), FillKind::nan);
      }
}

std::optional<HostTensor> mlir::blocksparse::placeTensor(const HostTensor &tensor,
                                                         Placement placement, std::string &error) {
  if (placement == Placement::RowMajor || tensor.rank() == 0)
    return tensor.clone();
  SmallVector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
  bool transposed = placement == Placement::Transposed && shape.size() > 1;
  if (transposed)
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  int64_t step = placement == Placement::Strided ? 2 : 1;
  SmallVector<int64_t> wide(shape);
  for (auto [axis, extent] : llvm::enumerate(wide)) {
    bool matrix = axis + 2 >= shape.size();
    extent = (matrix ? step : 1) * extent + (placement == Placement::Transposed ? 0 : 3);
  }
  std::optional<HostTensor> storage = allocateTensor(tensor.type(), wide, error);
  if (!storage)
    return std::nullopt;
  ::blocksparse::fillTensor(*storage, FillKind::nan);
  HostTensor view = *storage;
  int64_t begin = placement == Placement::Transposed ? 0 : 1;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    int64_t stride = axis + 2 >= shape.size() ? step : 1;
    view = view.slice(axis, begin, begin + stride * extent, stride);
  }
  if (transposed)
    view = view.transpose(view.rank() - 1, view.rank() - 2);
  view.copyFrom(tensor);
  return view;
}

namespace {

class ArgumentMaker {
public:
  ArgumentMaker(func::FuncOp function, const FunctionSignature &signature,
                const ArgumentOptions &options)
      : function(function), signature(signature), options(options) {}

  FailureOr<std::vector<HostTensor>> run();

private:
  InFlightDiagnostic error(size_t index) {
    return function.emitError("argument '") << signature.arguments[index].name << "': ";
  }
  LogicalResult checkKeys();
  /// Returns the index of the parameter that `key` names; empty if there is none.
  std::optional<size_t> resolve(StringRef key) const;
  template <typename Map>
  LogicalResult checkKeys(const Map &map, StringRef option);
  /// Checks that every attribute of an argument is one that its type has a use for.
  LogicalResult checkAttributes();
  template <typename Map>
  auto find(const Map &map, size_t index) const {
    return llvm::find_if(map, [&](const auto &entry) { return resolve(entry.getKey()) == index; });
  }
  Attribute getAttribute(size_t index, StringRef name) {
    return function.getArgAttr(signature.arguments[index].source, name);
  }

  /// Returns the tensor of a file or of the attribute; empty if neither is given.
  FailureOr<std::optional<HostTensor>> getGiven(size_t index, StringRef attribute);
  FailureOr<SmallVector<int64_t>> getShape(size_t index);
  FailureOr<HostTensor> make(size_t index, ArrayRef<int64_t> shape);
  LogicalResult makeTensor(size_t index);
  LogicalResult makeBsr(size_t index);
  LogicalResult finishSparse(size_t index, const HostTensor *crow, const HostTensor *col,
                             ArrayRef<int64_t> sizes);
  uint64_t getSeed(size_t index) const { return ::blocksparse::randomBits(options.seed, index); }

  func::FuncOp function;
  const FunctionSignature &signature;
  const ArgumentOptions &options;
  std::vector<HostTensor> tensors;
};

} // namespace

std::optional<size_t> ArgumentMaker::resolve(StringRef key) const {
  for (auto [index, parameter] : llvm::enumerate(signature.arguments))
    if (parameter.name == key)
      return index;
  size_t number;
  bool isIndex = !key.getAsInteger(10, number) && number < signature.arguments.size();
  return isIndex ? std::optional(number) : std::nullopt;
}

/// Checks that every key of an option names a parameter, and that no two name the same one.
template <typename Map>
LogicalResult ArgumentMaker::checkKeys(const Map &map, StringRef option) {
  SmallVector<StringRef> keys = llvm::to_vector(map.keys());
  llvm::sort(keys);
  SmallVector<StringRef> given(signature.arguments.size());
  for (StringRef key : keys) {
    std::optional<size_t> index = resolve(key);
    if (!index) {
      InFlightDiagnostic diagnostic = function.emitError("expects a parameter of '")
                                      << signature.name << "' (";
      llvm::interleaveComma(llvm::enumerate(signature.arguments), diagnostic, [&](auto entry) {
        diagnostic << entry.index() << ": " << entry.value().name;
      });
      return diagnostic << "), but got '" << key << "'";
    }
    if (!given[*index].empty())
      return error(*index) << "expects one --" << option << ", but got it for '" << given[*index]
                           << "' and for '" << key << "'";
    given[*index] = key;
  }
  return success();
}

LogicalResult ArgumentMaker::checkKeys() {
  return success(succeeded(checkKeys(options.files, "input")) &&
                 succeeded(checkKeys(options.fills, "arg")) &&
                 succeeded(checkKeys(options.shapes, "shape")));
}

FailureOr<std::optional<HostTensor>> ArgumentMaker::getGiven(size_t index, StringRef attribute) {
  const Parameter &parameter = signature.arguments[index];
  RankedTensorType storage =
      parameter.isTensor() ? parameter.getTensor() : RankedTensorType::get({}, parameter.type);
  auto type = *getHostElementType(storage.getElementType());
  std::string message;
  if (auto file = find(options.files, index); file != options.files.end()) {
    std::optional<HostTensor> tensor = ::blocksparse::readNpy(file->second, message, type);
    if (!tensor)
      return error(index) << message;
    bool fits = tensor->rank() == storage.getRank();
    for (int64_t axis = 0; fits && axis < tensor->rank(); ++axis)
      fits = storage.isDynamicDim(axis) || storage.getDimSize(axis) == tensor->dim(axis);
    if (!fits)
      return error(index) << "expects " << storage << ", but got " << tensor->describe() << " in '"
                          << file->second << "'";
    return std::optional(*tensor);
  }
  Attribute value = getAttribute(index, attribute);
  bool overridden = find(options.fills, index) != options.fills.end() || !options.fill.empty();
  if (!value || (overridden && attribute == valueAttr))
    return std::optional<HostTensor>();
  std::optional<HostTensor> tensor = tensorFromAttribute(value, message);
  if (!tensor)
    return error(index) << message;
  return std::optional(tensor->cast(type));
}

/// Returns the shape of the tensor that the argument represents: that of its type, with dynamic
/// extents from --shape or from the attribute.
FailureOr<SmallVector<int64_t>> ArgumentMaker::getShape(size_t index) {
  const Parameter &parameter = signature.arguments[index];
  SmallVector<int64_t> shape(cast<RankedTensorType>(parameter.type).getShape());
  SmallVector<int64_t> given;
  if (auto found = find(options.shapes, index); found != options.shapes.end())
    given.assign(found->second.begin(), found->second.end());
  else if (auto attribute = dyn_cast_or_null<DenseI64ArrayAttr>(getAttribute(index, shapeAttr)))
    given.assign(attribute.asArrayRef().begin(), attribute.asArrayRef().end());
  bool fits = given.empty() || given.size() == shape.size();
  for (size_t axis = 0; fits && axis < given.size(); ++axis)
    fits = given[axis] >= 0 && (ShapedType::isDynamic(shape[axis]) || shape[axis] == given[axis]);
  if (!fits)
    return error(index) << "expects sizes that fit " << parameter.type << ", but got "
                        << ::blocksparse::formatShape(given);
  if (!given.empty())
    return given;
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return error(index) << "expects the sizes that " << parameter.type
                        << " leaves open (--shape=" << parameter.name
                        << "=..., or a file), but got none";
  return shape;
}

/// Returns a row-major tensor that has been filled.
FailureOr<HostTensor> ArgumentMaker::make(size_t index, ArrayRef<int64_t> shape) {
  const Parameter &parameter = signature.arguments[index];
  Type element = parameter.isTensor() ? parameter.getTensor().getElementType() : parameter.type;
  std::string message;
  std::optional<HostTensor> tensor = allocateTensor(*getHostElementType(element), shape, message);
  if (!tensor)
    return error(index) << message;
  BlockArgument argument = function.getArgument(parameter.source);
  StringRef fill = options.fill;
  if (auto found = find(options.fills, index); found != options.fills.end())
    fill = found->second;
  else if (auto attribute = dyn_cast_or_null<StringAttr>(getAttribute(index, fillAttr));
           attribute && fill.empty())
    fill = attribute.getValue();
  if (fill.empty() && generateScatterIndices(argument, *tensor, getSeed(index)))
    return *tensor;
  if (fill.empty())
    fill = getDefaultFill(argument);
  if (!fillByName(*tensor, fill, getSeed(index)))
    return error(index) << "expects a fill (" << fillNames() << ") or a number, but got '" << fill
                        << "'";
  return *tensor;
}

LogicalResult ArgumentMaker::makeTensor(size_t index) {
  const Parameter &parameter = signature.arguments[index];
  FailureOr<std::optional<HostTensor>> given = getGiven(index, valueAttr);
  if (failed(given))
    return failure();
  if (!parameter.isTensor()) {
    FailureOr<HostTensor> number = *given ? FailureOr<HostTensor>(**given) : make(index, {});
    if (succeeded(number))
      tensors.push_back(*number);
    return number;
  }
  bool isFile = find(options.files, index) != options.files.end();
  SmallVector<int64_t> shape(parameter.getTensor().getShape());
  if (isFile) {
    tensors.push_back(**given);
  } else {
    if (parameter.role == Parameter::Role::Dense) {
      FailureOr<SmallVector<int64_t>> sizes = getShape(index);
      if (failed(sizes))
        return failure();
      shape = *sizes;
    } else if (llvm::any_of(shape, ShapedType::isDynamic)) {
      return error(index) << "expects a static number of batches, but got " << parameter.type;
    }
    std::string message;
    FailureOr<HostTensor> tensor = make(index, shape);
    if (failed(tensor))
      return failure();
    if (*given) {
      std::optional<HostTensor> wide = (*given)->broadcastTo(shape, message);
      if (!wide)
        return error(index) << message;
      tensor->copyFrom(*wide);
    }
    tensors.push_back(*tensor);
  }
  if (parameter.role == Parameter::Role::Values)
    return finishSparse(index, nullptr, nullptr, cast<RankedTensorType>(parameter.type).getShape());
  return success();
}

/// Makes the three parameters of a dynamic sparse argument; `index` is that of the first.
LogicalResult ArgumentMaker::makeBsr(size_t index) {
  size_t valuesIndex = index + 2;
  SparseTensor sparse = *SparseTensor::get(signature.arguments[index].type);
  FailureOr<std::optional<HostTensor>> crow = getGiven(index, crowAttr);
  FailureOr<std::optional<HostTensor>> col = getGiven(index + 1, colAttr);
  FailureOr<std::optional<HostTensor>> values = getGiven(valuesIndex, valueAttr);
  if (failed(crow) || failed(col) || failed(values))
    return failure();
  if (crow->has_value() != col->has_value())
    return error(valuesIndex) << "expects crow_indices and col_indices together, but got one of "
                                 "them";
  SmallVector<int64_t> sizes(sparse.getType().getShape());
  if (*crow && ShapedType::isDynamic(sparse.getRows()))
    sizes[sizes.size() - 2] = ((*crow)->dim((*crow)->rank() - 1) - 1) * sparse.getBlock().rows;
  if (llvm::any_of(sizes, ShapedType::isDynamic)) {
    FailureOr<SmallVector<int64_t>> given = getShape(valuesIndex);
    if (failed(given))
      return failure();
    sizes = *given;
  }
  std::string message;
  if (!*crow) {
    std::optional<BsrIndices> indices =
        generateBsr(sparse, sizes, options.density, getSeed(index), message);
    if (!indices)
      return error(valuesIndex) << message;
    *crow = indices->crow;
    *col = indices->col;
  }
  tensors.push_back(**crow);
  tensors.push_back(**col);
  bool isFile = find(options.files, valuesIndex) != options.files.end();
  int64_t heads = sizes.size() > 2 ? sizes[sizes.size() - 3] : 1;
  SmallVector<int64_t> shape = {(*col)->dim((*col)->rank() - 1) * heads, sparse.getBlock().rows,
                                sparse.getBlock().cols};
  if (sizes.size() == 4)
    shape.insert(shape.begin(), sizes[0]);
  if (isFile) {
    tensors.push_back(**values);
  } else {
    FailureOr<HostTensor> tensor = make(valuesIndex, shape);
    if (failed(tensor))
      return failure();
    if (*values) {
      std::optional<HostTensor> wide = (*values)->broadcastTo(shape, message);
      if (!wide)
        return error(valuesIndex) << message;
      tensor->copyFrom(*wide);
    }
    tensors.push_back(*tensor);
  }
  if (!llvm::equal(tensors.back().shape(), shape))
    return error(valuesIndex) << "expects values of shape " << ::blocksparse::formatShape(shape)
                              << " for these indices, but got " << tensors.back().describe();
  return finishSparse(valuesIndex, &**crow, &**col, sizes);
}

/// Checks the pattern of the sparse argument whose values were added last, and writes NaN to its
/// padding.
LogicalResult ArgumentMaker::finishSparse(size_t index, const HostTensor *crow,
                                          const HostTensor *col, ArrayRef<int64_t> sizes) {
  SparseTensor sparse = *SparseTensor::get(signature.arguments[index].type);
  int64_t rows = sizes[sizes.size() - 2], cols = sizes.back();
  int64_t heads = sizes.size() > 2 ? sizes[sizes.size() - 3] : 1;
  ::blocksparse::BlockShape block = sparse.getBlock();
  std::string message;
  std::optional<::blocksparse::ref::Pattern> pattern;
  if (crow)
    pattern = ::blocksparse::ref::Pattern::fromCsr(
        block, {heads, (rows + block.rows - 1) / block.rows, (cols + block.cols - 1) / block.cols},
        *crow, *col, message);
  else if (const ::blocksparse::BlockLayout *layout = sparse.getLayout().resolve())
    pattern = ::blocksparse::ref::Pattern::fromLayout(*layout, heads, message);
  else
    message = sparse.getLayout().getResolveError().str();
  if (!pattern ||
      (crow && needsUniqueColumns(function.getArgument(signature.arguments[index].source)) &&
       !pattern->checkUnique(message)))
    return error(index) << message;
  bool isFile = find(options.files, index) != options.files.end();
  if (options.poison && !isFile)
    poisonPadding(tensors.back(), *pattern, rows, cols);
  return success();
}

LogicalResult ArgumentMaker::checkAttributes() {
  for (auto [index, parameter] : llvm::enumerate(signature.arguments)) {
    std::optional<SparseTensor> sparse = SparseTensor::get(parameter.type);
    bool isDynamic = sparse && !sparse->isStatic();
    for (StringRef name : {crowAttr, colAttr})
      if (!isDynamic && getAttribute(index, name))
        return error(index) << "expects " << name
                            << " on an argument of dynamic pattern alone, but got it on "
                            << parameter.type;
    if (getAttribute(index, shapeAttr)) {
      if (!parameter.isTensor())
        return error(index) << "expects " << shapeAttr << " on a tensor, but got it on "
                            << parameter.type;
      if (failed(getShape(index)))
        return failure();
    }
    if (getAttribute(index, fillAttr) && getAttribute(index, valueAttr))
      return error(index) << "expects " << fillAttr << " or " << valueAttr << ", but got both";
  }
  return success();
}

FailureOr<std::vector<HostTensor>> ArgumentMaker::run() {
  if (failed(checkKeys()) || failed(checkAttributes()))
    return failure();
  while (tensors.size() < signature.arguments.size()) {
    size_t index = tensors.size();
    bool isBsr = signature.arguments[index].role == Parameter::Role::CrowIndices;
    if (failed(isBsr ? makeBsr(index) : makeTensor(index)))
      return failure();
  }
  if (failed(checkScatterArguments(function, [&](BlockArgument argument) -> const HostTensor * {
        for (auto [index, parameter] : llvm::enumerate(signature.arguments))
          if (parameter.role == Parameter::Role::Dense &&
              parameter.source == argument.getArgNumber())
            return &tensors[index];
        return nullptr;
      })))
    return failure();
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    std::string message;
    if (!signature.arguments[index].isTensor())
      continue;
    std::optional<HostTensor> placed = placeTensor(tensor, options.placement, message);
    if (!placed)
      return error(index) << message;
    tensor = *placed;
  }
  return std::move(tensors);
}

FailureOr<std::vector<HostTensor>>
mlir::blocksparse::makeArguments(func::FuncOp function, const FunctionSignature &signature,
                                 const ArgumentOptions &options) {
  return ArgumentMaker(function, signature, options).run();
}
