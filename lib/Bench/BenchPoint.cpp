// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchPoint.h"

#include "blocksparse/Reference/Epilogue.h"
#include "blocksparse/Support/Nesting.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::blocksparse;
using ::blocksparse::ElementType;
using llvm::StringRef;
namespace json = llvm::json;

static constexpr std::pair<BenchOp, StringRef> opNames[] = {
    {BenchOp::DSD, "dsd"},
    {BenchOp::DDS, "dds"},
    {BenchOp::SDD, "sdd"},
    {BenchOp::Matmul, "matmul"},
    {BenchOp::BsrAddmm, "bsr_addmm"},
    {BenchOp::Softmax, "softmax"},
    {BenchOp::SoftmaxGrad, "softmax_grad"},
    {BenchOp::Attention, "attention"},
    {BenchOp::AttentionGrad, "attention_grad"}};

StringRef mlir::blocksparse::getName(BenchOp op) {
  return llvm::find_if(opNames, [&](const auto &entry) { return entry.first == op; })->second;
}

int64_t BenchPoint::sparseCols() const {
  return op == BenchOp::DSD || op == BenchOp::BsrAddmm ? k : n;
}

std::string BenchPoint::formatShape() const {
  std::string text = heads == 1 ? "" : llvm::itostr(heads) + "x";
  text += llvm::itostr(m) + "x" + llvm::itostr(n);
  return isSoftmax() ? text : text + "x" + llvm::itostr(k);
}

std::string BenchPoint::formatBlock() const {
  return llvm::itostr(block.rows) + "x" + llvm::itostr(block.cols);
}

json::Object BenchPoint::toJSON() const {
  json::Object object{{"op", getName(op)},
                      {"m", m},
                      {"n", n},
                      {"k", k},
                      {"heads", heads},
                      {"type", StringRef(::blocksparse::elementName(type))}};
  if (hasLayout()) {
    object["block"] = json::Array{block.rows, block.cols};
    object["density"] = density;
    object["layout"] = layout;
    object["seed"] = static_cast<int64_t>(seed);
  }
  if (!schedule.empty())
    object["schedule"] = schedule;
  if (!epilogue.empty())
    object["epilogue"] = epilogue;
  if (precision != "ieee")
    object["precision"] = precision;
  for (auto [name, flag] :
       {std::pair("packed_constant", packedConstant), std::pair("transpose_a", transposeA),
        std::pair("transpose_b", transposeB), std::pair("causal", causal)})
    if (flag)
      object[name] = true;
  return object;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads the members of one object; `error` holds the first error.
class PointReader {
public:
  PointReader(BenchPoint &point, std::string &error) : point(point), error(error) {}

  bool read(StringRef key, const json::Value &value) {
    if (key == "op")
      return readOp(value);
    if (key == "type")
      return readType(value);
    if (key == "block")
      return readBlock(value);
    if (key == "size")
      return readSizes(value);
    for (auto [name, member] : {std::pair("m", &point.m), std::pair("n", &point.n),
                                std::pair("k", &point.k), std::pair("heads", &point.heads)})
      if (key == name)
        return readSize(key, value, *member);
    for (auto [name, member] :
         {std::pair("packed_constant", &point.packedConstant),
          std::pair("transpose_a", &point.transposeA), std::pair("transpose_b", &point.transposeB),
          std::pair("causal", &point.causal)})
      if (key == name)
        return assign(value.getAsBoolean(), *member, key, "true or false", value);
    for (auto [name, member] :
         {std::pair("layout", &point.layout), std::pair("schedule", &point.schedule)})
      if (key == name)
        return assign(value.getAsString(), *member, key, "a string", value);
    if (key == "density")
      return assign(value.getAsNumber(), point.density, key, "a number", value) &&
             ((point.density >= 0 && point.density <= 1) || fail("a density of 0 to 1", value));
    if (key == "seed")
      return assign(value.getAsInteger(), point.seed, key, "an integer", value);
    if (key == "epilogue")
      return readEpilogue(value);
    if (key == "precision")
      return assign(value.getAsString(), point.precision, key, "a string", value) &&
             (llvm::is_contained({"ieee", "tf32", "tf32x3"}, point.precision) ||
              fail("the precision ieee, tf32 or tf32x3", value));
    error =
        "expects a key of a point (op, m, n, k, size, heads, block, density, layout, type, seed, "
        "schedule, packed_constant, transpose_a, transpose_b, epilogue, precision, causal), but "
        "got '" +
        key.str() + "'";
    return false;
  }

private:
  bool fail(const std::string &expected, const json::Value &value) {
    llvm::raw_string_ostream(error) << "expects " << expected << ", but got " << value;
    return false;
  }

  template <typename From, typename To>
  bool assign(std::optional<From> from, To &to, StringRef key, const char *what,
              const json::Value &value) {
    if (!from)
      return fail("'" + key.str() + "' to be " + what, value);
    to = static_cast<To>(*from);
    return true;
  }

  bool readSize(StringRef key, const json::Value &value, int64_t &size) {
    return assign(value.getAsInteger(), size, key, "an integer", value) &&
           (size >= 1 || fail("'" + key.str() + "' of at least 1", value));
  }

  /// Parses 4096, "4096" or "4096x64x1024".
  bool readSizes(const json::Value &value) {
    int64_t *sides[] = {&point.m, &point.n, &point.k};
    llvm::SmallVector<StringRef> texts;
    std::string number;
    if (std::optional<int64_t> integer = value.getAsInteger())
      texts.push_back(number = llvm::itostr(*integer));
    else if (std::optional<StringRef> text = value.getAsString())
      text->split(texts, 'x');
    bool valid = texts.size() == 1 || texts.size() == 3;
    for (size_t axis = 0; valid && axis < std::size(sides); ++axis)
      valid =
          !texts[texts.size() == 3 ? axis : 0].getAsInteger(10, *sides[axis]) && *sides[axis] >= 1;
    return valid || fail("a size n or MxNxK", value);
  }

  bool readOp(const json::Value &value) {
    for (auto [op, name] : opNames)
      if (value.getAsString() == name) {
        point.op = op;
        return true;
      }
    return fail("an op (" + llvm::join(llvm::make_second_range(opNames), ", ") + ")", value);
  }

  bool readType(const json::Value &value) {
    std::optional<ElementType> type;
    if (std::optional<StringRef> name = value.getAsString())
      type = ::blocksparse::parseElementType(*name);
    static constexpr ElementType types[] = {
        ElementType::f16, ElementType::bf16,     ElementType::f32,   ElementType::f64,
        ElementType::i8,  ElementType::f8E4M3FN, ElementType::f8E5M2};
    if (!type || !llvm::is_contained(types, *type))
      return fail("the type f16, bf16, f32, f64, i8, f8E4M3FN or f8E5M2", value);
    point.type = *type;
    return true;
  }

  /// Parses 64, [64, 32] or "64x32".
  bool readBlock(const json::Value &value) {
    int64_t rows = 0, cols = 0;
    if (std::optional<int64_t> side = value.getAsInteger()) {
      rows = cols = *side;
    } else if (const json::Array *sides = value.getAsArray(); sides && sides->size() == 2) {
      rows = (*sides)[0].getAsInteger().value_or(0);
      cols = (*sides)[1].getAsInteger().value_or(0);
    } else if (std::optional<StringRef> text = value.getAsString()) {
      auto [first, second] = text->split('x');
      if (first.getAsInteger(10, rows) || (second.empty() ? first : second).getAsInteger(10, cols))
        rows = 0;
    }
    if (rows < 1 || cols < 1)
      return fail("a block such as 64 or 64x32", value);
    point.block = {rows, cols};
    return true;
  }

  bool readEpilogue(const json::Value &value) {
    if (!assign(value.getAsString(), point.epilogue, "epilogue", "a string", value))
      return false;
    StringRef activation = point.epilogue;
    if (activation.empty() || activation == "bias" ||
        (activation.consume_front("bias_") && ::blocksparse::ref::parseActivation(activation)))
      return true;
    return fail("the epilogue bias or bias_<activation>", value);
  }

  BenchPoint &point;
  std::string &error;
};

} // namespace

std::optional<BenchPoint> mlir::blocksparse::parseBenchPoint(const json::Value &value,
                                                             std::string &error) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    llvm::raw_string_ostream(error) << "expects a point to be an object, but got " << value;
    return std::nullopt;
  }
  BenchPoint point;
  PointReader reader(point, error);
  // "size" is read first, because m, n and k override it.
  if (const json::Value *size = object->get("size"); size && !reader.read("size", *size))
    return std::nullopt;
  for (const auto &[key, member] : *object)
    if (StringRef(key) != "size" && !reader.read(key, member))
      return std::nullopt;
  return point;
}

std::optional<std::vector<BenchPoint>> mlir::blocksparse::parseBenchPoints(StringRef text,
                                                                           std::string &error) {
  if (std::optional<size_t> position = ::blocksparse::findDeepNesting(text)) {
    error = "expects brackets at most " + std::to_string(::blocksparse::maxNesting) +
            " deep, but got more at byte " + std::to_string(*position);
    return std::nullopt;
  }
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    error = "expects JSON, but got: " + llvm::toString(value.takeError());
    return std::nullopt;
  }
  const json::Array *list = value->getAsArray();
  if (const json::Object *object = value->getAsObject())
    list = object->getArray("points");
  if (!list) {
    error = "expects a list of points, or an object with one as 'points'";
    return std::nullopt;
  }
  std::vector<BenchPoint> points;
  for (const json::Value &entry : *list) {
    // The entries of a list of results have points as members.
    const json::Object *object = entry.getAsObject();
    const json::Value *member = object ? object->get("point") : nullptr;
    std::optional<BenchPoint> point = parseBenchPoint(member ? *member : entry, error);
    if (!point)
      return std::nullopt;
    points.push_back(*point);
  }
  return points;
}
