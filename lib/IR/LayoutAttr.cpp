// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttrSyntax.h"
#include "LayoutAttrStorage.h"
#include "blocksparse/Layout/Patterns.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockGrid;
using ::blocksparse::BlockLayout;
using ::blocksparse::BlockShape;
using ::blocksparse::PatternSpec;
using ::blocksparse::PatternValue;

// With more offsets and columns than this the canonical form is a resource, so that types stay
// short in print and cheap to hash.
static constexpr int64_t kInlineEntries = 8192;
// A pattern of at most this many grid blocks is printed as a mask, which shows its shape.
static constexpr int64_t kMaskBlocks = 1024;

::blocksparse::BlockShape LayoutAttr::getBlock() const { return getImpl()->block; }
::blocksparse::BlockGrid LayoutAttr::getGrid() const { return getImpl()->grid; }
Attribute LayoutAttr::getContents() const { return getImpl()->contents; }
BlockShape LayoutAttr::getBlockShape() const { return getBlock(); }
BlockGrid LayoutAttr::getBlockGrid() const { return getGrid(); }

//===----------------------------------------------------------------------===//
// Contents <-> BlockLayout
//===----------------------------------------------------------------------===//

/// Makes a layout of row offsets followed by columns. Returns nothing, and sets `error`, if they
/// are not valid.
static std::optional<BlockLayout> layoutFromFlatCsr(BlockShape block, BlockGrid grid,
                                                    ArrayRef<int32_t> flat, std::string &error) {
  int64_t offsets = grid.heads * grid.rows + 1;
  if (static_cast<int64_t>(flat.size()) < offsets) {
    error = ("expects at least " + Twine(offsets) +
             " row offsets (heads x block rows + 1), but got " + Twine(flat.size()) + " values")
                .str();
    return std::nullopt;
  }
  ArrayRef<int32_t> rows = flat.take_front(offsets), cols = flat.drop_front(offsets);
  return BlockLayout::fromCsr(block, grid, std::vector<int32_t>(rows.begin(), rows.end()),
                              std::vector<int32_t>(cols.begin(), cols.end()), error);
}

/// Returns the value of an integer attribute of any width, or nothing if it does not fit in 64
/// bits.
static std::optional<int64_t> toInt64(IntegerAttr integer) {
  const APInt &value = integer.getValue();
  bool isUnsigned = integer.getType().isUnsignedInteger();
  if (isUnsigned ? !value.isIntN(63) : !value.isSignedIntN(64))
    return std::nullopt;
  return isUnsigned ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue();
}

/// Returns a number of any type as one of the types that are printed without it: i1, i64 or f64.
/// Leaves an integer that does not fit, which the pattern will refuse.
static Attribute dropType(Attribute number) {
  Builder builder(number.getContext());
  if (auto real = dyn_cast<FloatAttr>(number))
    return builder.getF64FloatAttr(real.getValueAsDouble());
  if (isa<BoolAttr>(number))
    return number;
  std::optional<int64_t> value = toInt64(cast<IntegerAttr>(number));
  return value ? builder.getI64IntegerAttr(*value) : number;
}

static std::string toString(IntegerAttr integer) {
  return llvm::toString(integer.getValue(), /*Radix=*/10,
                        /*Signed=*/!integer.getType().isUnsignedInteger());
}

/// Reads the name and the parameters of a pattern from a dictionary. Returns nothing, and sets
/// `error`, if a parameter has a type that no pattern takes.
static std::optional<PatternSpec> patternSpec(DictionaryAttr dictionary, std::string &error) {
  PatternSpec spec;
  for (NamedAttribute entry : dictionary) {
    std::string name = entry.getName().str();
    Attribute value = entry.getValue();
    if (auto text = dyn_cast<StringAttr>(value)) {
      if (name == "name")
        spec.name = text.str();
      else
        spec.parameters.emplace_back(name, PatternValue(text.str()));
    } else if (auto flag = dyn_cast<BoolAttr>(value)) {
      spec.parameters.emplace_back(name, PatternValue(flag.getValue()));
    } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
      std::optional<int64_t> number = toInt64(integer);
      if (!number) {
        error = "expects parameter '" + name + "' to fit in a signed 64-bit integer, but got " +
                toString(integer);
        return std::nullopt;
      }
      spec.parameters.emplace_back(name, PatternValue(*number));
    } else if (auto real = dyn_cast<FloatAttr>(value)) {
      spec.parameters.emplace_back(name, PatternValue(real.getValueAsDouble()));
    } else if (auto array = dyn_cast<DenseI64ArrayAttr>(value)) {
      spec.parameters.emplace_back(
          name,
          PatternValue(std::vector<int64_t>(array.asArrayRef().begin(), array.asArrayRef().end())));
    } else {
      error =
          "expects parameter '" + name + "' to be a number, a bool, a keyword or an integer list";
      return std::nullopt;
    }
  }
  return spec;
}

const BlockLayout *LayoutAttr::resolve() const {
  detail::LayoutAttrStorage *storage = getImpl();
  std::lock_guard<std::mutex> guard(storage->mutex);
  if (storage->resolved)
    return &*storage->resolved;
  std::string error;
  BlockShape block = storage->block;
  BlockGrid grid = storage->grid;
  if (auto inlined = dyn_cast<DenseI32ArrayAttr>(storage->contents)) {
    storage->resolved = layoutFromFlatCsr(block, grid, inlined.asArrayRef(), error);
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(storage->contents)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      error = ("expects resource '" + resource.getRawHandle().getKey() +
               "' to be defined, but got none")
                  .str();
    else if (static_cast<int64_t>(blob->getData().size()) !=
             resource.getType().getNumElements() * 4)
      error = ("expects resource '" + resource.getRawHandle().getKey() + "' of " +
               Twine(resource.getType().getNumElements() * 4) + " bytes, but got " +
               Twine(blob->getData().size()))
                  .str();
    else
      storage->resolved = layoutFromFlatCsr(
          block, grid,
          ArrayRef<int32_t>(reinterpret_cast<const int32_t *>(blob->getData().data()),
                            blob->getData().size() / 4),
          error);
  } else if (std::optional<PatternSpec> spec =
                 patternSpec(cast<DictionaryAttr>(storage->contents), error)) {
    storage->resolved = ::blocksparse::buildPattern(*spec, block, grid, error);
  }
  storage->error = error;
  return storage->resolved ? &*storage->resolved : nullptr;
}

StringRef LayoutAttr::getResolveError() const {
  // resolve() sets the message. The message is read without the lock, because it changes only when
  // the blob of the resource appears.
  return resolve() ? StringRef() : StringRef(getImpl()->error);
}

static int64_t flatCsrSize(const BlockLayout &layout) {
  return static_cast<int64_t>(layout.rowOffsets().size() + layout.colIndices().size());
}

/// Writes offsets and columns to `flat`. Requires flatCsrSize(layout) entries.
static void copyFlatCsr(const BlockLayout &layout, MutableArrayRef<int32_t> flat) {
  llvm::copy(layout.colIndices(), llvm::copy(layout.rowOffsets(), flat.begin()));
}

static SmallVector<int32_t> flatCsr(const BlockLayout &layout) {
  SmallVector<int32_t> flat(flatCsrSize(layout));
  copyFlatCsr(layout, flat);
  return flat;
}

LayoutAttr LayoutAttr::get(MLIRContext *context, const BlockLayout &layout) {
  int64_t size = flatCsrSize(layout);
  Attribute contents;
  if (size <= kInlineEntries) {
    contents = DenseI32ArrayAttr::get(context, flatCsr(layout));
  } else {
    // The blob is filled in place, so that a large layout is copied once.
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(size * 4, alignof(int32_t));
    MutableArrayRef<char> bytes = blob.getMutableData();
    copyFlatCsr(layout, {reinterpret_cast<int32_t *>(bytes.data()), static_cast<size_t>(size)});
    std::string name =
        "layout_" +
        llvm::utohexstr(llvm::xxh3_64bits(ArrayRef<uint8_t>(
                            reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size())),
                        /*LowerCase=*/true);
    auto type = RankedTensorType::get({size}, IntegerType::get(context, 32));
    // An equal pattern uses the resource that exists, so that equal patterns are one attribute.
    auto &manager = DenseResourceElementsHandle::getManagerInterface(context);
    if (auto *known = manager.getBlobManager().lookup(name);
        known && known->getBlob() && known->getBlob()->getData() == ArrayRef<char>(bytes))
      contents = DenseResourceElementsAttr::get(
          type, DenseResourceElementsHandle(known, context->getLoadedDialect<BuiltinDialect>()));
    else
      contents = DenseResourceElementsAttr::get(type, name, std::move(blob));
  }
  return get(context, layout.block(), layout.grid(), contents);
}

LayoutAttr LayoutAttr::getExpanded() const {
  const BlockLayout *layout = resolve();
  return layout ? LayoutAttr::get(getContext(), *layout) : LayoutAttr();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, BlockShape block,
                                 BlockGrid grid, Attribute contents) {
  if (block.rows < 1 || block.cols < 1)
    return emitError() << "expects a block of at least 1x1, but got " << block.rows << "x"
                       << block.cols;
  if (grid.heads < 1 || grid.rows < 0 || grid.cols < 0)
    return emitError() << "expects a grid of at least one head and no negative size, but got "
                       << grid.heads << "x" << grid.rows << "x" << grid.cols;
  // The contents may be read later, so that their size is bounded here.
  std::string error;
  if (!BlockLayout::checkShapes(block, grid, error))
    return emitError() << error;
  if (auto inlined = dyn_cast<DenseI32ArrayAttr>(contents)) {
    std::optional<BlockLayout> layout = layoutFromFlatCsr(block, grid, inlined.asArrayRef(), error);
    if (!layout)
      return emitError() << error;
    if (ArrayRef<int32_t>(flatCsr(*layout)) != inlined.asArrayRef())
      return emitError() << "expects inline columns in ascending order in each row";
    return success();
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(contents)) {
    if (!resource.getElementType().isInteger(32) || resource.getType().getRank() != 1)
      return emitError() << "expects a resource of type tensor<Nxi32>, but got "
                         << resource.getType();
    if (resource.getType().getNumElements() > 2 * BlockLayout::maxBlocks + 1)
      return emitError() << "expects a resource of at most " << 2 * BlockLayout::maxBlocks + 1
                         << " offsets and columns, but got " << resource.getType().getNumElements();
    return success();
  }
  auto dictionary = dyn_cast<DictionaryAttr>(contents);
  if (!dictionary)
    return emitError() << "expects an i32 array, an i32 resource or a named pattern, but got "
                       << contents;
  std::optional<PatternSpec> spec = patternSpec(dictionary, error);
  if (!spec || !::blocksparse::buildPattern(*spec, block, grid, error))
    return emitError() << error;
  return success();
}

/// Checks C1 to C3: a sparse tensor has rank 2 to 4, the grid covers its static rows and columns
/// exactly, and the layout has one head or as many as the tensor.
LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() < 2 || shape.size() > 4)
    return emitError() << "expects a sparse tensor of rank 2 to 4, but got rank " << shape.size();
  BlockShape block = getBlock();
  BlockGrid grid = getGrid();
  int64_t rows = shape[shape.size() - 2], cols = shape[shape.size() - 1];
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(cols))
    return emitError() << "expects static rows and columns with a static layout, but got a "
                          "dynamic size";
  auto check = [&](int64_t size, int64_t blockSize, int64_t gridSize,
                   StringRef what) -> LogicalResult {
    int64_t needed = llvm::divideCeil(size, blockSize);
    if (needed == gridSize)
      return success();
    return emitError() << "expects " << needed << " block " << what << "s of " << blockSize
                       << " to cover " << size << " " << what << "s, but got a grid of "
                       << gridSize;
  };
  if (failed(check(rows, block.rows, grid.rows, "row")) ||
      failed(check(cols, block.cols, grid.cols, "column")))
    return failure();
  int64_t heads = shape.size() < 3 ? 1 : shape[shape.size() - 3];
  if (grid.heads != 1 && grid.heads != heads)
    return emitError() << "expects a layout of 1 or " << heads << " heads, but got " << grid.heads;
  return success();
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

// The parsers of the three forms read to the closing `>`, and make the layout after it: text that
// is wrong behind a large pattern is an error before any block is drawn.

/// Parses the text after `mask`, as in "1010/0111": one row of digits for each block row, the heads
/// one after another.
static FailureOr<LayoutAttr> parseMask(AsmParser &parser, SMLoc loc, BlockShape block,
                                       BlockGrid grid) {
  std::string text, error;
  if (parser.parseString(&text) || parser.parseGreater())
    return failure();
  if (!BlockLayout::checkShapes(block, grid, error))
    return parser.emitError(loc) << error;
  StringRef rest = text;
  int64_t rows = text.empty() ? 0 : rest.count('/') + 1;
  if (rows != grid.heads * grid.rows)
    return parser.emitError(loc) << "expects " << grid.heads * grid.rows
                                 << " mask rows (heads x block rows), but got " << rows;
  // The text bounds the memory: the grid may claim any number of columns.
  std::vector<uint8_t> mask;
  mask.reserve(text.size());
  for (int64_t index = 0; index < rows; ++index) {
    auto [row, others] = rest.split('/');
    rest = others;
    if (static_cast<int64_t>(row.size()) != grid.cols)
      return parser.emitError(loc) << "expects " << grid.cols << " digits in mask row " << index
                                   << ", but got " << row.size();
    for (char digit : row) {
      if (digit != '0' && digit != '1')
        return parser.emitError(loc)
               << "expects 0 or 1 in mask row " << index << ", but got '" << Twine(digit) << "'";
      mask.push_back(digit == '1');
    }
  }
  std::optional<BlockLayout> layout = BlockLayout::fromMask(block, grid, mask, error);
  if (!layout)
    return parser.emitError(loc) << error;
  return LayoutAttr::get(parser.getContext(), *layout);
}

/// Parses the rest of an integer list after its `[`.
static ParseResult parseIndexList(AsmParser &parser, std::vector<int32_t> &values) {
  if (succeeded(parser.parseOptionalRSquare()))
    return success();
  do {
    if (parser.parseInteger(values.emplace_back()))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRSquare();
}

/// Parses what follows `csr`: `[offsets] [columns]`, or a resource.
static FailureOr<LayoutAttr> parseCsr(AsmParser &parser, SMLoc loc, BlockShape block,
                                      BlockGrid grid) {
  if (failed(parser.parseOptionalLSquare())) {
    Attribute resource;
    if (parser.parseAttribute(resource) || parser.parseGreater())
      return failure();
    return parser.getChecked<LayoutAttr>(loc, parser.getContext(), block, grid, resource);
  }
  std::vector<int32_t> offsets, columns;
  if (parseIndexList(parser, offsets) || parser.parseLSquare() || parseIndexList(parser, columns) ||
      parser.parseGreater())
    return failure();
  std::string error;
  std::optional<BlockLayout> layout =
      BlockLayout::fromCsr(block, grid, std::move(offsets), std::move(columns), error);
  if (!layout)
    return parser.emitError(loc) << error;
  return LayoutAttr::get(parser.getContext(), *layout);
}

/// Parses one `name = value`. The value is a number, a bool, an integer list or a keyword, which
/// may be quoted.
static ParseResult parsePatternParameter(AsmParser &parser, NamedAttrList &entries) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  if (name == "name" || entries.get(name))
    return parser.emitError(loc) << "expects each parameter once, but got '" << name << "' again";
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalLSquare())) {
    SmallVector<int64_t> values;
    if (failed(parser.parseOptionalRSquare())) {
      do {
        if (parser.parseInteger(values.emplace_back()))
          return failure();
      } while (succeeded(parser.parseOptionalComma()));
      if (parser.parseRSquare())
        return failure();
    }
    entries.append(name, builder.getDenseI64ArrayAttr(values));
    return success();
  }
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (keyword == "true" || keyword == "false")
      entries.append(name, builder.getBoolAttr(keyword == "true"));
    else
      entries.append(name, builder.getStringAttr(keyword));
    return success();
  }
  std::string quoted;
  if (succeeded(parser.parseOptionalString(&quoted))) {
    entries.append(name, builder.getStringAttr(quoted));
    return success();
  }
  // A number without a type is an i64 if it is an integer and an f64 if it is real.
  Attribute number;
  SMLoc valueLoc = parser.getCurrentLocation();
  if (parser.parseAttribute(number))
    return failure();
  if (!isa<IntegerAttr, FloatAttr>(number))
    return parser.emitError(valueLoc)
           << "expects parameter '" << name << "' to be a number, a keyword or an integer list";
  entries.append(name, dropType(number));
  return success();
}

static FailureOr<LayoutAttr> parsePattern(AsmParser &parser, SMLoc loc, StringRef name,
                                          BlockShape block, BlockGrid grid) {
  NamedAttrList entries;
  entries.append("name", parser.getBuilder().getStringAttr(name));
  if (succeeded(parser.parseOptionalLParen()) && failed(parser.parseOptionalRParen())) {
    do {
      if (parsePatternParameter(parser, entries))
        return failure();
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRParen())
      return failure();
  }
  if (parser.parseGreater())
    return failure();
  DictionaryAttr dictionary = entries.getDictionary(parser.getContext());
  auto layout = parser.getChecked<LayoutAttr>(loc, parser.getContext(), block, grid, dictionary);
  std::string error;
  if (layout)
    for (const std::string &note : ::blocksparse::patternNotes(*patternSpec(dictionary, error)))
      emitRemark(parser.getEncodedSourceLoc(loc)) << note;
  return layout;
}

ParseResult mlir::blocksparse::detail::parseBlockShape(AsmParser &parser, BlockShape &block) {
  SmallVector<int64_t, 2> sizes;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return failure();
  if (sizes.size() != 2)
    return parser.emitError(loc) << "expects a block of 2 sizes, but got " << sizes.size();
  block = {sizes[0], sizes[1]};
  return success();
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  BlockShape block;
  SmallVector<int64_t, 3> sizes;
  if (parser.parseLess() || detail::parseBlockShape(parser, block) || parser.parseComma() ||
      parser.parseKeyword("grid"))
    return {};
  SMLoc gridLoc = parser.getCurrentLocation();
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return {};
  if (sizes.size() != 2 && sizes.size() != 3) {
    parser.emitError(gridLoc) << "expects a grid of 2 or 3 sizes, but got " << sizes.size();
    return {};
  }
  BlockGrid grid{sizes.size() == 3 ? sizes[0] : 1, sizes[sizes.size() - 2], sizes.back()};
  StringRef form;
  if (parser.parseComma())
    return {};
  SMLoc formLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&form))
    return {};
  FailureOr<LayoutAttr> layout = form == "mask"  ? parseMask(parser, formLoc, block, grid)
                                 : form == "csr" ? parseCsr(parser, formLoc, block, grid)
                                                 : parsePattern(parser, formLoc, form, block, grid);
  return failed(layout) ? LayoutAttr() : *layout;
}

static void printMask(AsmPrinter &printer, const BlockLayout &layout) {
  BlockGrid grid = layout.grid();
  printer << "mask \"";
  for (int64_t flat = 0; flat < grid.heads * grid.rows; ++flat) {
    if (flat)
      printer << '/';
    std::string digits(grid.cols, '0');
    for (int32_t col : layout.row(flat / grid.rows, flat % grid.rows))
      digits[col] = '1';
    printer << digits;
  }
  printer << '"';
}

static void printPattern(AsmPrinter &printer, DictionaryAttr dictionary) {
  printer << dictionary.getAs<StringAttr>("name").getValue();
  bool first = true;
  for (NamedAttribute entry : dictionary) {
    if (entry.getName() == "name")
      continue;
    printer << (first ? "(" : ", ") << entry.getName().getValue() << " = ";
    first = false;
    if (auto array = dyn_cast<DenseI64ArrayAttr>(entry.getValue()))
      printer << '[' << array.asArrayRef() << ']';
    else if (auto keyword = dyn_cast<StringAttr>(entry.getValue()))
      printer << keyword.getValue();
    else
      printer.printAttributeWithoutType(entry.getValue());
  }
  if (!first)
    printer << ')';
}

void LayoutAttr::print(AsmPrinter &printer) const {
  BlockShape block = getBlock();
  BlockGrid grid = getGrid();
  printer << '<' << block.rows << 'x' << block.cols << ", grid ";
  if (grid.heads != 1)
    printer << grid.heads << 'x';
  printer << grid.rows << 'x' << grid.cols << ", ";
  if (auto dictionary = dyn_cast<DictionaryAttr>(getContents())) {
    printPattern(printer, dictionary);
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(getContents())) {
    printer << "csr " << resource;
  } else {
    ArrayRef<int32_t> flat = cast<DenseI32ArrayAttr>(getContents()).asArrayRef();
    int64_t offsets = grid.heads * grid.rows + 1;
    if (const BlockLayout *layout = resolve();
        layout && grid.heads * grid.rows * grid.cols <= kMaskBlocks && grid.cols > 0)
      printMask(printer, *layout);
    else
      printer << "csr [" << flat.take_front(offsets) << "] [" << flat.drop_front(offsets) << ']';
  }
  printer << '>';
}
