// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchProgram.h"

#include "BenchLayout.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/ScheduleText.h"
#include "blocksparse/Support/MemoryErrors.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>
#include <cmath>
#include <utility>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

namespace {

/// Builds the function of a point.
class FunctionBuilder {
public:
  FunctionBuilder(const BenchPoint &point, LayoutAttr layout, ModuleOp module)
      : point(point), layout(layout), builder(module.getBodyRegion()), loc(module.getLoc()) {}

  LogicalResult build(ArrayRef<BenchOperand> operands, const BenchTensors &constants);

private:
  Type elementType(::blocksparse::ElementType type) {
    std::string name(::blocksparse::elementName(type));
    return parseType(name, builder.getContext());
  }
  Type elementType() { return elementType(point.type); }
  RankedTensorType tensorType(ArrayRef<int64_t> shape, bool sparse) {
    return RankedTensorType::get(shape, elementType(), sparse ? Attribute(layout) : Attribute());
  }
  Value makeConstant(const BenchOperand &operand, const HostTensor &values);
  Operation *makeOp();
  template <typename OpTy>
  Operation *makeProduct(bool transposeA, bool transposeB);

  const BenchPoint &point;
  LayoutAttr layout;
  OpBuilder builder;
  Location loc;
  llvm::StringMap<Value> values;
};

} // namespace

Value FunctionBuilder::makeConstant(const BenchOperand &operand, const HostTensor &tensor) {
  auto type = RankedTensorType::get(ArrayRef<int64_t>(tensor.shape()), elementType());
  ArrayRef<char> bytes(static_cast<const char *>(tensor.data()), countBytes(tensor));
  auto blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64);
  auto attribute = DenseResourceElementsAttr::get(type, operand.name, std::move(blob));
  Value constant = arith::ConstantOp::create(builder, loc, type, attribute);
  return AssembleOp::create(builder, loc, tensorType(operand.shape, /*sparse=*/true), Value(),
                            Value(), constant);
}

/// Builds dsd, dds or matmul with the point's epilogue.
template <typename OpTy>
Operation *FunctionBuilder::makeProduct(bool transposeA, bool transposeB) {
  auto op = OpTy::create(builder, loc, values["a"], values["b"], transposeA, transposeB);
  if (Value bias = values.lookup("bias")) {
    op.getBiasMutable().assign(bias);
    StringRef activation = point.epilogue;
    if (activation.consume_front("bias_"))
      op.setActivationAttr(
          ActivationAttr::get(builder.getContext(), *symbolizeActivationKind(activation)));
  }
  return op;
}

Operation *FunctionBuilder::makeOp() {
  switch (point.op) {
  case BenchOp::DSD:
    return makeProduct<DSDOp>(false, point.transposeB);
  case BenchOp::DDS:
    return makeProduct<DDSOp>(point.transposeA, false);
  case BenchOp::Matmul:
    return makeProduct<MatmulOp>(point.transposeA, point.transposeB);
  case BenchOp::SDD:
    return SDDOp::create(builder, loc, values["a"], values["b"], layout, point.transposeA,
                         point.transposeB);
  case BenchOp::BsrAddmm:
    return BsrAddmmOp::create(
        builder, loc, values["input"].getType(), values["sparse"], values["dense"], values["input"],
        values["left_alpha"], values["right_alpha"], Value(), Value(), Value(), Value(),
        APFloat(1.0), APFloat(0.5), ActivationAttr(), Precision::IEEE, ScheduleAttr());
  case BenchOp::Softmax:
    return SoftmaxOp::create(builder, loc, values["x"], 1.0, point.causal);
  case BenchOp::SoftmaxGrad:
    return SoftmaxGradOp::create(builder, loc, values["y"].getType(), Type(), values["y"],
                                 values["dy"], /*out=*/Value(), /*dout=*/Value(),
                                 /*dlse=*/Value(), /*dynamic_scale=*/Value(), APFloat(1.0),
                                 ScheduleAttr());
  case BenchOp::Attention:
    return AttentionOp::create(builder, loc, values["q"], values["k"], values["v"], layout,
                               1 / std::sqrt(double(point.k)), point.causal);
  case BenchOp::AttentionGrad:
    return AttentionGradOp::create(
        builder, loc, values["q"].getType(), values["k"].getType(), values["v"].getType(),
        /*drpe=*/Type(), values["q"], values["k"], values["v"], values["out"], values["lse"],
        values["dout"], /*rpe=*/Value(), /*key_padding_mask=*/Value(), /*attention_mask=*/Value(),
        /*key_lengths=*/Value(), /*query_lengths=*/Value(), /*query_segments=*/Value(),
        /*key_segments=*/Value(), /*dlse=*/Value(), /*dynamic_scale=*/Value(), layout,
        APFloat(1 / std::sqrt(double(point.k))), point.causal, /*causal_offset=*/0,
        /*window=*/nullptr, MaskMode::Add, MaskMode::Add, /*soft_cap=*/nullptr,
        /*score_element=*/nullptr, /*schedule=*/nullptr);
  }
  return nullptr;
}

LogicalResult FunctionBuilder::build(ArrayRef<BenchOperand> operands,
                                     const BenchTensors &constants) {
  SmallVector<Type> arguments;
  for (const BenchOperand &operand : operands)
    if (!constants.contains(operand.name))
      arguments.push_back(
          operand.sparse
              ? tensorType(operand.shape, true)
              : RankedTensorType::get(operand.shape, elementType(operand.elementType(point))));
  auto function =
      func::FuncOp::create(builder, loc, "bench", builder.getFunctionType(arguments, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  unsigned next = 0;
  for (const BenchOperand &operand : operands) {
    auto constant = constants.find(operand.name);
    values[operand.name] = constant == constants.end() ? Value(body->getArgument(next++))
                                                       : makeConstant(operand, constant->second);
  }
  Operation *op = makeOp();
  if (point.precision != "ieee")
    op->setAttr("precision",
                PrecisionAttr::get(builder.getContext(), *symbolizePrecision(point.precision)));
  if (!point.schedule.empty()) {
    std::string fault;
    ScheduleAttr schedule = parseSchedule(point.schedule, builder.getContext(), fault);
    if (!schedule)
      return function.emitError("expects a schedule #blocksparse.schedule<...>, but got '")
             << StringRef(point.schedule).take_front(200) << "': " << fault;
    op->setAttr("schedule", schedule);
  }
  func::ReturnOp::create(builder, loc, op->getResults());
  function.setFunctionType(builder.getFunctionType(arguments, op->getResultTypes()));
  return success();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

namespace {

/// Records the schedule that was chosen, and the time at which the last pass ended.
struct CompileObserver : PassInstrumentation {
  CompileObserver(std::string &schedule, Clock::time_point &last)
      : schedule(schedule), last(last) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    last = Clock::now();
    if (pass->getArgument() != "blocksparse-select-schedule")
      return;
    op->walk([&](Operation *inner) {
      auto chosen = inner->getAttrOfType<ScheduleAttr>("schedule");
      if (!chosen)
        return;
      // Attention consists of several operations.
      schedule +=
          (schedule.empty() ? "" : ", ") + ::blocksparse::describeSchedule(chosen.getSchedule());
    });
  }

  std::string &schedule;
  Clock::time_point &last;
};

} // namespace

BenchProgram::BenchProgram(const BenchPoint &point, const DialectRegistry &registry)
    : benchPoint(point),
      context(std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED)) {
  context->printOpOnDiagnostic(false);
  context->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && errorText.empty())
      errorText = diagnostic.str();
  });
  emit = [this] { return mlir::emitError(UnknownLoc::get(context.get())); };
}

FailureOr<OwningOpRef<ModuleOp>> BenchProgram::parseSource() {
  FailureOr<Program> program = parseProgram(
      llvm::MemoryBuffer::getMemBufferCopy(benchPoint.sourceText), sourceMgr, *context);
  if (failed(program) || failed(keepFunctions(*program, benchPoint.function)))
    return failure();
  sourceProgram = std::move(*program);
  functionSignature = sourceProgram->signatures.front();
  sourceFunction = sourceProgram->module->lookupSymbol<func::FuncOp>(benchPoint.function);
  OwningOpRef<ModuleOp> module = sourceProgram->module->clone();
  dropRunAttributes(*module);
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> BenchProgram::makeModule(uint64_t dataSeed) {
  if (!benchPoint.sourceText.empty())
    return parseSource();
  if (benchPoint.hasLayout()) {
    std::string error;
    std::optional<::blocksparse::BlockLayout> made = makeBenchLayout(benchPoint, error);
    if (!made)
      return emit() << error;
    blockLayout = *made;
  }
  std::vector<BenchOperand> operands = getBenchOperands(benchPoint, blockLayout);
  BenchTensors constants;
  if (benchPoint.packedConstant) {
    if (benchPoint.op != BenchOp::DSD && benchPoint.op != BenchOp::DDS)
      return emit() << "expects packed_constant for dsd or dds, but got " << getName(benchPoint.op);
    std::string error;
    std::optional<BenchTensors> tensors =
        makeBenchTensors(benchPoint, blockLayout, dataSeed, error);
    if (!tensors)
      return emit() << error;
    for (const BenchOperand &operand : operands)
      if (operand.sparse)
        constants.emplace(operand.name, tensors->find(operand.name)->second);
  }
  context->loadAllAvailableDialects();
  LayoutAttr layout =
      benchPoint.hasLayout() ? LayoutAttr::get(context.get(), blockLayout) : LayoutAttr();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context.get()));
  FunctionBuilder function(benchPoint, layout, *module);
  if (failed(function.build(operands, constants)) || failed(verify(*module)))
    return failure();
  auto source = *module->getOps<func::FuncOp>().begin();
  SmallVector<std::string> names;
  for (const BenchOperand &operand : operands)
    if (!constants.contains(operand.name))
      names.push_back(operand.name);
  FailureOr<FunctionSignature> made = FunctionSignature::get(source, names);
  if (failed(made))
    return failure();
  functionSignature = std::move(*made);
  return module;
}

void BenchProgram::build(const CompileOptions &options, uint64_t dataSeed, bool compileOnly) {
  FailureOr<OwningOpRef<ModuleOp>> module = makeModule(dataSeed);
  if (succeeded(module)) {
    CompileOptions observed = options;
    Clock::time_point start = Clock::now(), last = start;
    observed.configurePasses = [&](PassManager &pm) {
      pm.addInstrumentation(std::make_unique<CompileObserver>(scheduleText, last));
      return success();
    };
    if (compileOnly) {
      if (failed(compile(**module, observed)) && errorText.empty())
        errorText = "the compiler failed without a reason";
    } else if (FailureOr<HostProgram> made = HostProgram::create(**module, observed);
               succeeded(made)) {
      hostProgram.emplace(std::move(*made));
    }
    compileMilliseconds = std::chrono::duration<double, std::milli>(last - start).count();
    linkMilliseconds = millisecondsSince(last);
  }
  if (!compileOnly && !hostProgram && errorText.empty())
    errorText = "the compiler failed without a reason";
}

std::unique_ptr<BenchProgram> BenchProgram::create(const BenchPoint &point,
                                                   const CompileOptions &options,
                                                   const DialectRegistry &registry,
                                                   uint64_t dataSeed, bool compileOnly) {
  std::unique_ptr<BenchProgram> program(new BenchProgram(point, registry));
  auto build = [&] { program->build(options, dataSeed, compileOnly); };
  if (std::string error; !::blocksparse::catchMemoryErrors(build, error))
    program->setError(error);
  return program;
}
