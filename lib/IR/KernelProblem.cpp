// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/RunTimeStages.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockShape;
using ::blocksparse::ElementType;
using ::blocksparse::KernelProblem;
using ::blocksparse::ProblemKind;

static_assert(::blocksparse::unknownSize == ShapedType::kDynamic);

std::optional<ElementType> mlir::blocksparse::getSupportedElement(Type type) {
  return llvm::TypeSwitch<Type, std::optional<ElementType>>(type)
      .Case([](Float16Type) { return ElementType::f16; })
      .Case([](BFloat16Type) { return ElementType::bf16; })
      .Case([](Float32Type) { return ElementType::f32; })
      .Case([](Float64Type) { return ElementType::f64; })
      .Case([](Float8E4M3FNType) { return ElementType::f8E4M3FN; })
      .Case([](Float8E5M2Type) { return ElementType::f8E5M2; })
      .Case([](IntegerType integer) -> std::optional<ElementType> {
        switch (integer.getWidth()) {
        case 8:
          return ElementType::i8;
        case 32:
          return ElementType::i32;
        case 64:
          return ElementType::i64;
        }
        return std::nullopt;
      })
      .Default([](Type) { return std::nullopt; });
}

static std::optional<ElementType> elementOf(Value value) {
  return getSupportedElement(getElementTypeOrSelf(value.getType()));
}

/// Returns the size of the axis that is the `fromEnd`th from the last one, or 1 if there is none.
static int64_t sizeFromEnd(Value value, int64_t fromEnd) {
  auto type = cast<ShapedType>(value.getType());
  return fromEnd < type.getRank() ? type.getDimSize(type.getRank() - 1 - fromEnd) : 1;
}

static bool isStatic(Value value) { return cast<ShapedType>(value.getType()).hasStaticShape(); }

/// Returns true if every coordinate of an element of `type`, seen as a matrix, is an int32.
static bool hasInt32Coordinates(ShapedType type) {
  int64_t rows = 1;
  for (int64_t size : type.getShape().drop_back())
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(rows, size, rows) ||
        rows > std::numeric_limits<int32_t>::max())
      return false;
  return type.getShape().back() <= std::numeric_limits<int32_t>::max();
}

/// Returns true if `type` is that of value blocks of which only the number is open: kernels check
/// when the program runs that their coordinates are int32.
static bool hasOpenBlockCount(ShapedType type) {
  return type.getRank() == 3 && type.isDynamicDim(0) && !type.isDynamicDim(1) &&
         !type.isDynamicDim(2);
}

/// Returns the type of the stored values of a sparse tensor, the type itself of any other value.
static ShapedType storedType(Value value) {
  if (std::optional<SparseTensor> sparse = SparseTensor::get(value.getType()))
    return sparse->getValuesType();
  return cast<ShapedType>(value.getType());
}

/// Notes what all operations that have it say alike.
static void readAttributes(Operation *op, KernelProblem &problem) {
  if (auto precision = op->getAttrOfType<PrecisionAttr>("precision"))
    problem.roundsF32 = precision.getValue() != Precision::IEEE;
  if (auto alpha = op->getAttrOfType<FloatAttr>("alpha"))
    problem.isZero = alpha.getValue().isZero();
}

static KernelProblem makeProblem(Operation *op, ProblemKind kind, Value a, Value b, Value out) {
  KernelProblem problem;
  problem.kind = kind;
  problem.a = elementOf(a);
  problem.b = elementOf(b);
  problem.out = elementOf(out);
  for (Value value : {a, b, out})
    problem.int32Coordinates =
        problem.int32Coordinates && (hasOpenBlockCount(storedType(value)) ||
                                     (isStatic(value) && hasInt32Coordinates(storedType(value))));
  readAttributes(op, problem);
  return problem;
}

//===----------------------------------------------------------------------===//
// Operations on tensors
//===----------------------------------------------------------------------===//

/// Describes a reduction over the block rows of op(sparse). `depthAxis` and `colsAxis` are counted
/// from the last axis, of the dense operand and of the result.
static KernelProblem describeReduction(Operation *op, Value sparse, bool transpose, Value dense,
                                       int64_t depthAxis, int64_t colsAxis) {
  Value result = op->getResult(0);
  KernelProblem problem = makeProblem(op, ProblemKind::Reduction, sparse, dense, result);
  SparseTensor type = *SparseTensor::get(sparse.getType());
  BlockShape block = type.getBlock();
  problem.block = transpose ? BlockShape{block.cols, block.rows} : block;
  problem.rows = sizeFromEnd(result, 1 - colsAxis);
  problem.cols = sizeFromEnd(result, colsAxis);
  problem.depth = sizeFromEnd(dense, depthAxis);
  problem.transposedBlocks = transpose;
  problem.denseKMajor = depthAxis == 0;
  problem.staticPattern = type.isStatic() && type.getLayout().resolve();
  // The device makes the stages of one pattern for all batches, of one head.
  if (!type.isStatic() && type.getRank() == 2 && sizeFromEnd(result, 2) == 1)
    problem.staticPattern = ::blocksparse::hasRunTimeBlocks(problem);
  problem.staticShapes = isStatic(result) && llvm::all_of(op->getOperands(), isStatic);
  return problem;
}

template <typename OpTy>
static KernelProblem describeSampled(OpTy op) {
  Value result = op->getResult(0);
  KernelProblem problem = makeProblem(op, ProblemKind::Sampled, op.getA(), op.getB(), result);
  SparseTensor type = *SparseTensor::get(result.getType());
  problem.block = type.getBlock();
  problem.rows = type.getRows();
  problem.cols = type.getCols();
  problem.depth = sizeFromEnd(op.getA(), op.getTransposeA() ? 1 : 0);
  problem.transposeA = op.getTransposeA();
  problem.transposeB = op.getTransposeB();
  problem.staticPattern = type.isStatic();
  // The device makes the tiles of one pattern without batches and heads.
  if (!type.isStatic() && type.getRank() == 2)
    problem.staticPattern = ::blocksparse::hasRunTimeTiles(problem);
  problem.staticShapes = isStatic(op.getA()) && isStatic(op.getB()) && isStatic(result);
  problem.dynamicAlpha = static_cast<bool>(op.getDynamicAlpha());
  if constexpr (std::is_same_v<OpTy, SampledAddmmOp>)
    problem.addsInput = !op.getBeta().isZero();
  return problem;
}

static KernelProblem describeMatmul(MatmulOp op) {
  Value result = op->getResult(0);
  KernelProblem problem = makeProblem(op, ProblemKind::Dense, op.getA(), op.getB(), result);
  // The context form has its rows, M, in front of the heads.
  problem.rows = sizeFromEnd(result, op.getForm() == MatmulForm::Context ? 2 : 1);
  problem.cols = sizeFromEnd(result, 0);
  problem.staticShapes = isStatic(op.getA()) && isStatic(op.getB()) && isStatic(result);
  return problem;
}

/// Notes the elements and the block of a softmax or of its gradient.
static KernelProblem makeRows(ValueRange inputs, Value out, BlockShape block, int64_t cols) {
  KernelProblem problem;
  problem.kind = ProblemKind::Rows;
  problem.a = elementOf(inputs.front());
  if (inputs.size() > 1)
    problem.b = elementOf(inputs.back());
  problem.out = elementOf(out);
  problem.block = block;
  problem.cols = cols;
  return problem;
}

template <typename OpTy>
static void readRowOperands(OpTy op, KernelProblem &problem) {
  Value operands[] = {op.getRpe(), op.getKeyPaddingMask(), op.getAttentionMask(),
                      op.getKeySegments()};
  for (Value operand : operands)
    if (operand)
      problem.rowOperands.push_back({elementOf(operand), sizeFromEnd(operand, 0) == 1});
}

static KernelProblem describeRows(SoftmaxOp op) {
  SparseTensor type = *SparseTensor::get(op.getX().getType());
  KernelProblem problem = makeRows(op.getX(), op.getY(), type.getBlock(), type.getCols());
  readRowOperands(op, problem);
  return problem;
}

static KernelProblem describeRows(SoftmaxGradOp op) {
  SparseTensor type = *SparseTensor::get(op.getY().getType());
  return makeRows({op.getY(), op.getDy()}, op.getDx(), type.getBlock(), type.getCols());
}

/// Returns the number of heads of matrices [.., H, M, N].
static int64_t headsOf(Value operand) {
  return cast<ShapedType>(operand.getType()).getRank() < 3 ? 1 : sizeFromEnd(operand, 2);
}

/// Notes what attention and its planned form say alike. `lse` is [.., M].
template <typename OpTy>
static KernelProblem makeAttention(OpTy op, Value out, Value lse, BlockShape block) {
  KernelProblem problem = makeProblem(op, ProblemKind::Attention, op.getQ(), op.getK(), out);
  problem.int32Coordinates &= isStatic(op.getV()) && hasInt32Coordinates(storedType(op.getV()));
  problem.block = block;
  problem.rows = sizeFromEnd(lse, 0);
  problem.cols = sizeFromEnd(op.getK(), 1);
  problem.depth = sizeFromEnd(op.getQ(), 0);
  problem.valueCols = sizeFromEnd(op.getV(), 0);
  problem.staticShapes =
      llvm::all_of(ArrayRef<Value>{op.getQ(), op.getK(), op.getV(), out, lse}, isStatic);
  const int64_t heads = headsOf(op.getQ()), keyHeads = headsOf(op.getK());
  problem.sharedHeads = heads > 0 && keyHeads > 0 ? heads / keyHeads : 1;
  problem.positiveScale =
      op.getScale().isFinite() && !op.getScale().isNegative() && !op.getScale().isZero();
  return problem;
}

/// Returns what attention has that only its decomposition computes, or an empty text.
static std::string findDecomposedFeature(AttentionOp op) {
  return op.getDynamicScale() ? "dynamic_scale" : "";
}

/// Does the same for the gradient.
static std::string findDecomposedFeature(AttentionGradOp op) {
  // An operand or attribute that is new counts until kernels know it.
  constexpr StringLiteral known[] = {"layout",
                                     "scale",
                                     "causal",
                                     "causal_offset",
                                     "window",
                                     "soft_cap",
                                     "score_element",
                                     "schedule",
                                     "key_padding_mask_mode",
                                     "attention_mask_mode",
                                     "operandSegmentSizes"};
  unsigned operands = 6;
  for (Value operand :
       {op.getRpe(), op.getKeyPaddingMask(), op.getAttentionMask(), op.getKeyLengths(),
        op.getQueryLengths(), op.getQuerySegments(), op.getKeySegments(), op.getDlse()})
    operands += operand ? 1 : 0;
  if (op.getDynamicScale())
    return "dynamic_scale";
  if (op.getDrpe())
    return "drpe";
  if (op->getNumOperands() != operands)
    return "another operand";
  for (NamedAttribute attribute : op->getAttrs())
    if (!llvm::is_contained(known, attribute.getName().getValue()) &&
        !attribute.getName().getValue().contains('.'))
      return attribute.getName().str();
  auto q = cast<RankedTensorType>(op.getQ().getType());
  SmallVector<int64_t> leading(
      cast<RankedTensorType>(op.getLse().getType()).getShape().drop_back());
  for (Value operand : {op.getQ(), op.getOut(), op.getDout(), op.getK(), op.getV()}) {
    auto type = cast<RankedTensorType>(operand.getType());
    // Heads of k and v may be fewer.
    if (operand == op.getK() && !leading.empty() && type.getRank() > 2)
      leading.back() = headsOf(operand);
    if (type.getShape().drop_back(2) != ArrayRef(leading))
      return "operands of different leading dimensions";
    if (type.getElementType() != q.getElementType())
      return "operands of different element types";
  }
  if (headsOf(op.getK()) != headsOf(op.getQ()) && op.getLayout().getBlockGrid().heads != 1)
    return "shared heads in a layout of several heads";
  for (Value result : {op.getDq(), op.getDk(), op.getDv()})
    if (cast<RankedTensorType>(result.getType()).getElementType() != q.getElementType())
      return "gradients of another element type";
  return "";
}

static KernelProblem describeAttention(AttentionOp op) {
  KernelProblem problem =
      makeAttention(op, op.getOut(), op.getLse(), op.getLayout().getBlockShape());
  problem.staticPattern = op.getLayout().resolve() != nullptr;
  problem.decomposedFeature = findDecomposedFeature(op);
  return problem;
}

static KernelProblem describeAttention(AttentionGradOp op) {
  KernelProblem problem =
      makeAttention(op, op.getOut(), op.getLse(), op.getLayout().getBlockShape());
  problem.staticPattern = op.getLayout().resolve() != nullptr;
  problem.decomposedFeature = findDecomposedFeature(op);
  problem.isGradient = true;
  return problem;
}

//===----------------------------------------------------------------------===//
// Planned operations
//===----------------------------------------------------------------------===//

static KernelProblem describePlanned(PlannedDSDOp op) {
  KernelProblem problem =
      makeProblem(op, ProblemKind::Reduction, op.getValues(), op.getDense(), op.getInit());
  BlockShape block{op.getBlock()[0], op.getBlock()[1]};
  problem.block = op.getTransposeValues() ? BlockShape{block.cols, block.rows} : block;
  problem.rows = sizeFromEnd(op.getInit(), op.getTransposeOut() ? 0 : 1);
  problem.cols = sizeFromEnd(op.getDense(), op.getTransposeB() ? 1 : 0);
  problem.depth = sizeFromEnd(op.getDense(), op.getTransposeB() ? 0 : 1);
  problem.transposedBlocks = op.getTransposeValues();
  problem.denseKMajor = op.getTransposeB();
  problem.staticPattern = !op.getStages().empty() ||
                          (isPlannedAtRunTime(op) && ::blocksparse::hasRunTimeBlocks(problem));
  problem.staticShapes =
      (isStatic(op.getValues()) || hasOpenBlockCount(storedType(op.getValues()))) &&
      isStatic(op.getDense()) && isStatic(op.getInit());
  return problem;
}

static KernelProblem describePlanned(PlannedSDDOp op) {
  KernelProblem problem = makeProblem(op, ProblemKind::Sampled, op.getA(), op.getB(), op.getInit());
  problem.block = {op.getBlock()[0], op.getBlock()[1]};
  problem.rows = sizeFromEnd(op.getA(), op.getTransposeA() ? 0 : 1);
  problem.cols = sizeFromEnd(op.getB(), op.getTransposeB() ? 1 : 0);
  problem.depth = sizeFromEnd(op.getA(), op.getTransposeA() ? 1 : 0);
  problem.transposeA = op.getTransposeA();
  problem.transposeB = op.getTransposeB();
  problem.addsInput = static_cast<bool>(op.getInput());
  problem.dynamicAlpha = static_cast<bool>(op.getDynamicAlpha());
  problem.staticPattern =
      !op.getTiles().empty() || (isPlannedAtRunTime(op) && ::blocksparse::hasRunTimeTiles(problem));
  problem.staticShapes = isStatic(op.getA()) && isStatic(op.getB()) &&
                         (isStatic(op.getInit()) || hasOpenBlockCount(storedType(op.getInit())));
  return problem;
}

static KernelProblem describeRows(PlannedSoftmaxOp op) {
  KernelProblem problem = makeRows(op.getX(), op.getInits().front(),
                                   {op.getBlock()[0], op.getBlock()[1]}, op.getShape()[1]);
  readRowOperands(op, problem);
  return problem;
}

static KernelProblem describeRows(PlannedSoftmaxGradOp op) {
  return makeRows({op.getY(), op.getDy()}, op.getInits().front(),
                  {op.getBlock()[0], op.getBlock()[1]}, op.getShape()[1]);
}

static KernelProblem describeAttention(PlannedAttentionOp op) {
  KernelProblem problem = makeAttention(op, op.getInits().front(), op.getInits().back(),
                                        {op.getBlock()[0], op.getBlock()[1]});
  problem.staticPattern = !op.getLists().empty();
  return problem;
}

static KernelProblem describeAttention(PlannedAttentionGradOp op) {
  KernelProblem problem =
      makeAttention(op, op.getDq(), op.getLse(), {op.getBlock()[0], op.getBlock()[1]});
  problem.staticPattern = !op.getLists().empty();
  problem.isGradient = true;
  return problem;
}

std::optional<KernelProblem> mlir::blocksparse::getKernelProblem(Operation *op) {
  auto product = [&](ProblemKind kind, Value out) {
    return makeProblem(op, kind, op->getOperand(0), op->getOperand(1), out);
  };
  return llvm::TypeSwitch<Operation *, std::optional<KernelProblem>>(op)
      .Case([](DSDOp dsd) {
        return describeReduction(dsd, dsd.getA(), dsd.getTransposeA(), dsd.getB(),
                                 dsd.getTransposeB() ? 0 : 1, dsd.getTransposeOut() ? 1 : 0);
      })
      .Case([](DDSOp dds) {
        return describeReduction(dds, dds.getB(), !dds.getTransposeB(), dds.getA(),
                                 dds.getTransposeA() ? 1 : 0, dds.getTransposeOut() ? 0 : 1);
      })
      .Case([](BsrAddmmOp addmm) {
        return describeReduction(addmm, addmm.getSparse(), /*transpose=*/false, addmm.getDense(),
                                 /*depthAxis=*/1, /*colsAxis=*/0);
      })
      .Case<SDDOp, SampledAddmmOp>([](auto sampled) { return describeSampled(sampled); })
      .Case([](MatmulOp matmul) { return describeMatmul(matmul); })
      .Case([&](ScatterMMOp) { return product(ProblemKind::Scatter, op->getResult(0)); })
      .Case<PlannedDSDOp, PlannedSDDOp>([](auto planned) { return describePlanned(planned); })
      .Case([&](PlannedMatmulOp matmul) { return product(ProblemKind::Dense, matmul.getInit()); })
      .Case([&](PlannedScatterMMOp scatter) {
        return product(ProblemKind::Scatter, scatter.getInit());
      })
      .Case<SoftmaxOp, SoftmaxGradOp, PlannedSoftmaxOp, PlannedSoftmaxGradOp>(
          [](auto softmax) { return describeRows(softmax); })
      .Case<AttentionOp, AttentionGradOp, PlannedAttentionOp, PlannedAttentionGradOp>(
          [](auto attention) { return describeAttention(attention); })
      .Case<ToDenseOp, FromDenseOp, TransposeOp, AddOp, PlannedToDenseOp, PlannedFromDenseOp,
            PlannedTransposeOp, PlannedAddOp>([&](Operation *) {
        KernelProblem problem;
        problem.kind = ProblemKind::Blocks;
        problem.a = elementOf(op->getOperand(0));
        return problem;
      })
      .Default([](Operation *) { return std::nullopt; });
}

bool mlir::blocksparse::hasPlannedForm(Operation *op) {
  if (!getKernelProblem(op)->staticShapes)
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AttentionOp, AttentionGradOp>(
          [](auto attention) { return findDecomposedFeature(attention).empty(); })
      .Default([](Operation *) { return false; });
}

bool mlir::blocksparse::isScheduledFor(Operation *op, ::blocksparse::KernelFamily family,
                                       const ::blocksparse::GPUFacts &facts) {
  auto schedule = op->getAttrOfType<ScheduleAttr>("schedule");
  std::optional<KernelProblem> problem = getKernelProblem(op);
  return schedule && problem && schedule.getFamily() == family &&
         ::blocksparse::checkSupport(family, *problem, facts).empty();
}

bool mlir::blocksparse::allowsFamily(Operation *op, ::blocksparse::KernelFamily family,
                                     const ::blocksparse::GPUFacts &facts) {
  if (op->hasAttr("schedule"))
    return isScheduledFor(op, family, facts);
  std::optional<KernelProblem> problem = getKernelProblem(op);
  return problem && ::blocksparse::checkSupport(family, *problem, facts).empty();
}

std::string mlir::blocksparse::checkMmaSupport(Operation *op,
                                               const ::blocksparse::GPUFacts &facts) {
  std::optional<KernelProblem> problem = getKernelProblem(op);
  if (!problem)
    return "expects a product, but got " + op->getName().getStringRef().str();
  return ::blocksparse::checkSupport(::blocksparse::KernelFamily::CUDAMma, *problem, facts);
}
