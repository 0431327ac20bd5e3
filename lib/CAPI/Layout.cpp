// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Layout.h"
#include "blocksparse/Layout/Patterns.h"

#include "llvm/Support/JSON.h"

using namespace blocksparse;

static llvm::json::Value toJSON(const PatternValue &value) {
  return std::visit(
      [](const auto &alternative) -> llvm::json::Value {
        if constexpr (std::is_same_v<std::decay_t<decltype(alternative)>, std::vector<int64_t>>)
          return llvm::json::Array(alternative);
        else
          return alternative;
      },
      value);
}

static llvm::json::Value toJSON(const std::optional<double> &bound) {
  if (bound)
    return *bound;
  return nullptr;
}

static llvm::json::Array describeParameters(const std::vector<PatternParameter> &parameters) {
  llvm::json::Array result;
  for (const PatternParameter &parameter : parameters)
    result.push_back(llvm::json::Object{{"name", parameter.name},
                                        {"type", std::string(describe(parameter.type))},
                                        {"default", toJSON(parameter.defaultValue)},
                                        {"minimum", toJSON(parameter.minimum)},
                                        {"maximum", toJSON(parameter.maximum)},
                                        {"keywords", llvm::json::Array(parameter.keywords)},
                                        {"doc", parameter.doc}});
  return result;
}

/// Converts a value of JSON. Fails for null, an object, or a list of anything but integers.
static std::optional<PatternValue> fromJSON(const llvm::json::Value &value) {
  if (std::optional<bool> boolean = value.getAsBoolean())
    return *boolean;
  if (std::optional<int64_t> integer = value.getAsInteger())
    return *integer;
  if (std::optional<double> real = value.getAsNumber())
    return *real;
  if (std::optional<llvm::StringRef> word = value.getAsString())
    return word->str();
  const llvm::json::Array *list = value.getAsArray();
  if (!list)
    return std::nullopt;
  std::vector<int64_t> integers;
  for (const llvm::json::Value &entry : *list) {
    std::optional<int64_t> integer = entry.getAsInteger();
    if (!integer)
      return std::nullopt;
    integers.push_back(*integer);
  }
  return integers;
}

/// Reads the parameters of a pattern from a JSON object.
static std::optional<PatternSpec> parseSpec(llvm::StringRef name, llvm::StringRef parameters,
                                            std::string &error) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(parameters);
  if (!parsed) {
    error = "expects parameters as a JSON object, but got '" + parameters.str() +
            "': " + llvm::toString(parsed.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *object = parsed->getAsObject();
  if (!object) {
    error = "expects parameters as a JSON object, but got '" + parameters.str() + "'";
    return std::nullopt;
  }
  PatternSpec spec{name.str(), {}};
  for (const auto &[key, json] : *object) {
    std::optional<PatternValue> value = fromJSON(json);
    if (!value) {
      std::string text;
      llvm::raw_string_ostream(text) << json;
      error = "expects a number, a boolean, a string or a list of integers for the parameter '" +
              key.str() + "', but got " + text;
      return std::nullopt;
    }
    spec.parameters.emplace_back(key.str(), std::move(*value));
  }
  // The order of a JSON object is not that of its text.
  std::ranges::sort(spec.parameters, {}, [](const auto &parameter) { return parameter.first; });
  return spec;
}

extern "C" {

void blocksparseLayoutDescribePatterns(BlocksparseLayoutTextCallback onText, void *userData) {
  llvm::json::Array patterns;
  for (const PatternInfo &info : patternTable())
    patterns.push_back(
        llvm::json::Object{{"name", info.name},
                           {"alias", info.alias},
                           {"doc", info.doc},
                           {"parameters", describeParameters(info.parameters)},
                           {"without_effect", describeParameters(info.withoutEffect)}});
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(patterns));
  onText(text.data(), text.size(), userData);
}

int blocksparseLayoutFromPattern(const int64_t shape[5], const char *name, const char *parameters,
                                 BlocksparseLayoutIndicesCallback onIndices,
                                 BlocksparseLayoutTextCallback onNote,
                                 BlocksparseLayoutTextCallback onError, void *userData) {
  std::string error;
  std::optional<PatternSpec> spec = parseSpec(name, parameters ? parameters : "{}", error);
  std::optional<BlockLayout> layout;
  if (spec)
    layout = buildPattern(*spec, {shape[0], shape[1]}, {shape[2], shape[3], shape[4]}, error);
  if (!layout) {
    if (onError)
      onError(error.data(), error.size(), userData);
    return 1;
  }
  if (onNote)
    for (const std::string &note : patternNotes(*spec))
      onNote(note.data(), note.size(), userData);
  onIndices(layout->rowOffsets().data(), layout->rowOffsets().size(), layout->colIndices().data(),
            layout->colIndices().size(), userData);
  return 0;
}

} // extern "C"
