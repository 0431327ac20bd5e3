// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostSteps.h"
#include "TensorMapsToRuntime.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/LaunchAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;
namespace json = llvm::json;

namespace {

/// Holds the words of a buffer's descriptor, each a number or the name of a value.
struct Buffer {
  json::Value allocated = nullptr, data = nullptr, offset = 0;
  SmallVector<json::Value> sizes, strides;

  json::Array words() const {
    json::Array all{allocated, data, offset};
    for (const auto *list : {&sizes, &strides})
      for (const json::Value &word : *list)
        all.push_back(word);
    return all;
  }
};

/// Describes the operations of a function as steps.
class Describer {
public:
  Describer(json::Object &kernels, llvm::StringSet<> &tables) : kernels(kernels), tables(tables) {}

  void defineArguments(func::FuncOp function, ArrayRef<std::string> names);
  LogicalResult describe(Block &block, json::Array &steps);

private:
  LogicalResult describe(Operation &op, json::Array &steps);
  LogicalResult describe(gpu::LaunchFuncOp op, json::Array &steps);
  LogicalResult describe(func::CallOp op, json::Array &steps);
  LogicalResult describe(nvgpu::TmaCreateDescriptorOp op, json::Array &steps);
  LogicalResult describe(memref::AllocOp op, json::Array &steps);
  LogicalResult describe(memref::ReinterpretCastOp op);
  LogicalResult describe(scf::IfOp op, json::Array &steps);
  LogicalResult describe(scf::ForOp op, json::Array &steps);
  LogicalResult describeComputation(Operation &op, json::Array &steps);
  /// Lets a value stand for a number or the name of another one.
  void define(Value value, json::Value meaning) {
    scalars.insert_or_assign(value, std::move(meaning));
  }
  /// Describes a region and copies what it yields to the names of its operation's results.
  LogicalResult describeRegion(Block &block, ArrayRef<json::Value> names, json::Array &steps);

  /// Returns the number, if the value is a constant, or the name of a scalar.
  json::Value get(Value value) const;
  json::Value get(OpFoldResult value) const;
  std::string makeName() { return "v" + std::to_string(count++); }
  /// Returns the product of a word and a number.
  json::Value scale(json::Array &steps, const json::Value &word, const json::Value &factor);

  json::Object &kernels;
  llvm::StringSet<> &tables;
  llvm::DenseMap<Value, json::Value> scalars;
  llvm::DenseMap<Value, Buffer> buffers;
  unsigned count = 0;
};

} // namespace

static int64_t getElementBytes(MemRefType type) {
  Type element = type.getElementType();
  return element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

json::Value Describer::get(Value value) const {
  if (APInt number; matchPattern(value, m_ConstantInt(&number)))
    return value.getType().isInteger(1) ? int64_t(number.getZExtValue()) : number.getSExtValue();
  if (APFloat number(0.0); matchPattern(value, m_ConstantFloat(&number)))
    return number.convertToDouble();
  return scalars.find(value)->second;
}

json::Value Describer::get(OpFoldResult value) const {
  if (auto attribute = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attribute).getInt();
  return get(cast<Value>(value));
}

json::Value Describer::scale(json::Array &steps, const json::Value &word,
                             const json::Value &factor) {
  if (word.getAsInteger() && factor.getAsInteger())
    return *word.getAsInteger() * *factor.getAsInteger();
  std::string result = makeName();
  steps.push_back(json::Object{{"set", result}, {"to", json::Array{"muli", word, factor}}});
  return result;
}

void Describer::defineArguments(func::FuncOp function, ArrayRef<std::string> names) {
  for (auto [argument, name] : llvm::zip_equal(function.getArguments(), names)) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      define(argument, name);
      continue;
    }
    Buffer buffer;
    buffer.allocated = name + ".allocated";
    buffer.data = name + ".data";
    buffer.offset = name + ".offset";
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      buffer.sizes.push_back(name + ".size." + std::to_string(axis));
      buffer.strides.push_back(name + ".stride." + std::to_string(axis));
    }
    buffers[argument] = std::move(buffer);
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Returns the kind of a kernel's argument: an address, or the type of a number.
static StringRef getScalarKind(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return "tensor_map";
  if (type.isF32())
    return "f32";
  if (type.isF64())
    return "f64";
  if (type.isInteger(32))
    return "i32";
  if (type.isInteger(8) || type.isInteger(1))
    return "i8";
  return type.isIndex() || type.isInteger(64) ? "i64" : "";
}

LogicalResult Describer::describe(gpu::LaunchFuncOp op, json::Array &steps) {
  json::Array types, arguments;
  for (Value operand : op.getKernelOperands()) {
    auto buffer = buffers.find(operand);
    if (buffer != buffers.end()) {
      for (auto [i, word] : llvm::enumerate(buffer->second.words())) {
        types.push_back(i < 2 ? "pointer" : "i64");
        arguments.push_back(word);
      }
      continue;
    }
    StringRef kind = getScalarKind(operand.getType());
    if (kind.empty())
      return op.emitOpError("expects kernel arguments that are buffers or numbers for the "
                            "description of launches, but got ")
             << operand.getType();
    types.push_back(kind);
    arguments.push_back(get(operand));
  }
  gpu::KernelDim3 block = op.getBlockSizeOperandValues(), grid = op.getGridSizeOperandValues();
  json::Array cluster{1, 1, 1};
  if (op.hasClusterSize()) {
    gpu::KernelDim3 size = op.getClusterSizeOperandValues();
    cluster = json::Array{get(size.x), get(size.y), get(size.z)};
  }
  Value shared = op.getDynamicSharedMemorySize();
  json::Object kernel{{"block", json::Array{get(block.x), get(block.y), get(block.z)}},
                      {"cluster", std::move(cluster)},
                      {"dynamic_shared_bytes", shared ? get(shared) : json::Value(0)},
                      {"starts_early", op->hasAttr(startsEarlyAttr)},
                      {"runs_together", op->hasAttr(runsTogetherAttr)},
                      {"arguments", std::move(types)}};
  StringRef name = op.getKernelName();
  json::Value record(std::move(kernel));
  if (const json::Value *known = kernels.get(name); known && *known != record)
    return op.emitOpError("expects the kernel to be launched like before for the description of "
                          "launches, but got other blocks or arguments");
  kernels[name] = std::move(record);
  steps.push_back(json::Object{{"launch", name},
                               {"grid", json::Array{get(grid.x), get(grid.y), get(grid.z)}},
                               {"arguments", std::move(arguments)}});
  return success();
}

/// Describes the call of an external function, whose status is checked by what follows.
LogicalResult Describer::describe(func::CallOp op, json::Array &steps) {
  json::Array arguments;
  for (Value operand : op.getOperands()) {
    auto found = buffers.find(operand);
    if (found == buffers.end()) {
      arguments.push_back(get(operand));
      continue;
    }
    const Buffer &buffer = found->second;
    json::Array sizes, strides;
    llvm::append_range(sizes, buffer.sizes);
    llvm::append_range(strides, buffer.strides);
    arguments.push_back(json::Object{{"allocated", buffer.allocated},
                                     {"data", buffer.data},
                                     {"offset", buffer.offset},
                                     {"sizes", std::move(sizes)},
                                     {"strides", std::move(strides)}});
  }
  std::string status = makeName();
  steps.push_back(json::Object{
      {"call", op.getCallee()}, {"arguments", std::move(arguments)}, {"status", status}});
  define(op.getResult(0), status);
  return success();
}

LogicalResult Describer::describe(nvgpu::TmaCreateDescriptorOp op, json::Array &steps) {
  FailureOr<TypedValue<MemRefType>> tensor = getMappedTensor(op);
  if (failed(tensor))
    return failure();
  const Buffer &buffer = buffers.find(*tensor)->second;
  nvgpu::TensorMapDescriptorType map = op.getTensorMap().getType();
  int64_t bytes = getElementBytes(tensor->getType());
  json::Value offset = scale(steps, buffer.offset, bytes);
  std::string address = makeName();
  steps.push_back(
      json::Object{{"set", address}, {"to", json::Array{"addi", buffer.data, std::move(offset)}}});
  // Dimension 0 of a tensor map is the innermost one.
  json::Array sizes, strides, box;
  for (int64_t axis = tensor->getType().getRank() - 1; axis >= 0; --axis) {
    sizes.push_back(buffer.sizes[axis]);
    box.push_back(get(op.getBoxDimensions()[axis]));
    if (axis > 0)
      strides.push_back(scale(steps, buffer.strides[axis - 1], bytes));
  }
  std::string name = makeName();
  for (Operation *user : op->getUsers())
    define(user->getResult(0), name);
  steps.push_back(json::Object{{"tensor_map", name},
                               {"type", *getTensorMapType(tensor->getType().getElementType())},
                               {"address", address},
                               {"sizes", std::move(sizes)},
                               {"strides", std::move(strides)},
                               {"box", std::move(box)},
                               {"interleave", int64_t(map.getInterleave())},
                               {"swizzle", int64_t(map.getSwizzle())},
                               {"l2_promotion", int64_t(map.getL2promo())},
                               {"out_of_bounds", int64_t(map.getOob())}});
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

LogicalResult Describer::describe(memref::AllocOp op, json::Array &steps) {
  MemRefType type = op.getType();
  if (!type.getLayout().isIdentity())
    return op.emitOpError("expects a row-major buffer for the description of launches, but got ")
           << type;
  Buffer buffer;
  for (OpFoldResult size : op.getMixedSizes())
    buffer.sizes.push_back(get(size));
  buffer.strides.assign(type.getRank(), json::Value(1));
  json::Value elements = 1;
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    buffer.strides[axis] = elements;
    elements = scale(steps, elements, buffer.sizes[axis]);
  }
  json::Value bytes = scale(steps, elements, getElementBytes(type));
  std::string name = makeName();
  buffer.allocated = buffer.data = name;
  steps.push_back(json::Object{{"allocate", name}, {"bytes", std::move(bytes)}});
  buffers[op.getResult()] = std::move(buffer);
  return success();
}

LogicalResult Describer::describe(memref::ReinterpretCastOp op) {
  auto source = buffers.find(op.getSource());
  if (source == buffers.end())
    return op.emitOpError("expects a ranked buffer for the description of launches");
  Buffer buffer;
  buffer.allocated = source->second.allocated;
  buffer.data = source->second.data;
  buffer.offset = get(op.getMixedOffsets().front());
  for (OpFoldResult size : op.getMixedSizes())
    buffer.sizes.push_back(get(size));
  for (OpFoldResult stride : op.getMixedStrides())
    buffer.strides.push_back(get(stride));
  buffers[op.getResult()] = std::move(buffer);
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult Describer::describeRegion(Block &block, ArrayRef<json::Value> names,
                                        json::Array &steps) {
  if (failed(describe(block, steps)))
    return failure();
  auto set = [&](json::Value value) {
    steps.push_back(json::Object{{"set", names.front()}, {"to", std::move(value)}});
    names = names.drop_front();
  };
  for (Value value : block.getTerminator()->getOperands()) {
    auto buffer = buffers.find(value);
    if (buffer == buffers.end()) {
      set(get(value));
      continue;
    }
    for (const json::Value &word : buffer->second.words())
      set(word);
  }
  return success();
}

LogicalResult Describer::describe(scf::IfOp op, json::Array &steps) {
  // A result is a name, or the names of the words of a descriptor, that both branches set.
  SmallVector<json::Value> names;
  for (Value result : op.getResults()) {
    auto type = dyn_cast<MemRefType>(result.getType());
    if (!type) {
      names.push_back(makeName());
      define(result, names.back());
      continue;
    }
    Buffer buffer;
    auto makeWord = [&] { return names.emplace_back(makeName()); };
    buffer.allocated = makeWord();
    buffer.data = makeWord();
    buffer.offset = makeWord();
    for (auto *list : {&buffer.sizes, &buffer.strides})
      for (int64_t axis = 0; axis < type.getRank(); ++axis)
        list->push_back(makeWord());
    buffers[result] = std::move(buffer);
  }
  json::Array taken, other;
  if (failed(describeRegion(*op.thenBlock(), names, taken)) ||
      (op.elseBlock() && failed(describeRegion(*op.elseBlock(), names, other))))
    return failure();
  steps.push_back(json::Object{
      {"if", get(op.getCondition())}, {"then", std::move(taken)}, {"else", std::move(other)}});
  return success();
}

LogicalResult Describer::describe(scf::ForOp op, json::Array &steps) {
  if (op.getNumResults() != 0)
    return op.emitOpError(
               "expects a loop without results for the description of launches, but got ")
           << op.getNumResults();
  std::string name = makeName();
  define(op.getInductionVar(), name);
  json::Array body;
  if (failed(describe(*op.getBody(), body)))
    return failure();
  steps.push_back(json::Object{{"for", name},
                               {"from", get(op.getLowerBound())},
                               {"to", get(op.getUpperBound())},
                               {"step", get(op.getStep())},
                               {"do", std::move(body)}});
  return success();
}

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

/// Returns true for a cast whose result is the same number of 64 bits: numbers that are narrower
/// are extended by their sign, and truth values are 0 or 1.
static bool keepsNumber(Operation *cast) {
  Type from = cast->getOperand(0).getType(), to = cast->getResult(0).getType();
  bool isSigned = isa<arith::IndexCastOp, arith::ExtSIOp>(cast);
  bool isWide = from.isIndex() || from.isInteger(64);
  return (to.isIndex() || to.isInteger(64)) && (isWide || isSigned != from.isInteger(1));
}

/// Returns the name of a computation on integers of 64 bits; "" for one that the form lacks.
static StringRef getComputation(Operation &op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::stringifyCmpIPredicate(compare.getPredicate());
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::DivSIOp,
          arith::CeilDivSIOp, arith::FloorDivSIOp, arith::RemUIOp, arith::RemSIOp, arith::MinSIOp,
          arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::AndIOp, arith::OrIOp,
          arith::XOrIOp, arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp, arith::CeilDivUIOp,
          arith::SelectOp>(op))
    return op.getName().stripDialect();
  return "";
}

LogicalResult Describer::describeComputation(Operation &op, json::Array &steps) {
  StringRef name = getComputation(op);
  // Narrower numbers wrap elsewhere; comparing and selecting them is the same.
  Type type = op.getResult(0).getType();
  if (name.empty() || !(type.isIndex() || type.isInteger(64) || type.isInteger(1)))
    return op.emitOpError(
               "expects host code that the description of launches can express, but got ")
           << op.getName() << " on " << op.getOperandTypes();
  json::Array expression{name};
  for (Value operand : op.getOperands())
    expression.push_back(get(operand));
  std::string result = makeName();
  steps.push_back(json::Object{{"set", result}, {"to", std::move(expression)}});
  define(op.getResult(0), result);
  return success();
}

LogicalResult Describer::describe(Operation &op, json::Array &steps) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<gpu::LaunchFuncOp, func::CallOp, nvgpu::TmaCreateDescriptorOp, memref::AllocOp,
            scf::IfOp, scf::ForOp>(
          [&](auto each) -> LogicalResult { return describe(each, steps); })
      .Case([&](memref::ReinterpretCastOp cast) -> LogicalResult { return describe(cast); })
      .Case([&](memref::CastOp cast) -> LogicalResult {
        // A cast to an unranked buffer has a tensor map as its only user.
        if (auto buffer = buffers.find(cast.getSource()); buffer != buffers.end()) {
          Buffer copy = buffer->second;
          buffers[cast.getResult()] = std::move(copy);
        }
        return success();
      })
      .Case([&](memref::DeallocOp dealloc) -> LogicalResult {
        steps.push_back(
            json::Object{{"free", buffers.find(dealloc.getMemref())->second.allocated}});
        return success();
      })
      .Case([&](memref::GetGlobalOp global) -> LogicalResult {
        Buffer buffer;
        buffer.allocated = buffer.data = ("tables." + global.getName()).str();
        auto type = cast<MemRefType>(global.getType());
        SmallVector<int64_t> strides = computeStrides(type.getShape());
        for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
          buffer.sizes.push_back(size);
          buffer.strides.push_back(stride);
        }
        tables.insert(global.getName());
        buffers[global.getResult()] = std::move(buffer);
        return success();
      })
      .Case([&](memref::ExtractStridedMetadataOp parts) -> LogicalResult {
        const Buffer source = buffers.find(parts.getSource())->second;
        Buffer base;
        base.allocated = source.allocated;
        base.data = source.data;
        buffers[parts.getBaseBuffer()] = std::move(base);
        define(parts.getOffset(), source.offset);
        for (auto [value, word] : llvm::zip_equal(parts.getSizes(), source.sizes))
          define(value, word);
        for (auto [value, word] : llvm::zip_equal(parts.getStrides(), source.strides))
          define(value, word);
        return success();
      })
      .Case([&](memref::ExtractAlignedPointerAsIndexOp pointer) -> LogicalResult {
        define(pointer.getResult(), buffers.find(pointer.getSource())->second.data);
        return success();
      })
      .Case([&](memref::DimOp dim) -> LogicalResult {
        std::optional<int64_t> axis = dim.getConstantIndex();
        if (!axis)
          return dim.emitOpError("expects a constant axis for the description of launches");
        define(dim.getResult(), buffers.find(dim.getSource())->second.sizes[*axis]);
        return success();
      })
      .Case([&](cf::AssertOp assertion) -> LogicalResult {
        json::Array values;
        if (auto comparison = assertion.getArg().getDefiningOp<arith::CmpIOp>())
          values = json::Array{get(comparison.getLhs()), get(comparison.getRhs())};
        steps.push_back(json::Object{{"check", get(assertion.getArg())},
                                     {"message", assertion.getMsg()},
                                     {"values", std::move(values)}});
        return success();
      })
      .Case([&](RefuseOp refuse) -> LogicalResult {
        const Buffer &record = buffers.find(refuse.getRecord())->second;
        steps.push_back(json::Object{{"refuse", record.data}, {"subject", refuse.getSubject()}});
        return success();
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(
          [&](auto cast) -> LogicalResult {
            if (!keepsNumber(cast))
              return describeComputation(op, steps);
            define(cast.getOut(), get(cast.getIn()));
            return success();
          })
      .Case<arith::ConstantOp, UnrealizedConversionCastOp>(
          [](auto) -> LogicalResult { return success(); })
      .Default(
          [&](Operation *other) -> LogicalResult { return describeComputation(*other, steps); });
}

LogicalResult Describer::describe(Block &block, json::Array &steps) {
  for (Operation &op : block.without_terminator())
    if (failed(describe(op, steps)))
      return failure();
  return success();
}

FailureOr<json::Array> mlir::blocksparse::describeHostSteps(func::FuncOp function,
                                                            ArrayRef<std::string> names,
                                                            json::Object &kernels,
                                                            llvm::StringSet<> &tables) {
  if (!function.getBody().hasOneBlock())
    return function.emitError(
               "expects a body of one block for the description of launches, but got ")
           << function.getBody().getBlocks().size();
  Describer describer(kernels, tables);
  describer.defineArguments(function, names);
  json::Array steps;
  if (failed(describer.describe(function.getBody().front(), steps)))
    return failure();
  return steps;
}
