// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../Operands/Epilogue.h"
#include "../Operands/MatmulAxes.h"
#include "MmaKernels.h"
#include "MmaProduct.h"
#include "blocksparse/IR/KernelProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static int64_t getRank(Value memref) { return cast<MemRefType>(memref.getType()).getRank(); }

/// Returns true if `axis` is the last axis of `memref`, whose elements are neighbours in memory.
static bool isLast(Value memref, int axis) { return axis + 1 == getRank(memref); }

namespace {

/// Describes a planned_matmul, on the host or in a kernel.
class MatmulView {
public:
  MatmulView(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const IRMapping &mapping)
      : op(op), kind(getFactorKind(op.getA(), op.getPrecision(), op.getSchedule())),
        axes(MatmulAxes::get(op)), limits(MmaLimits::get(op.getSchedule(), kind)),
        left(DenseView::get(b, mapOperand(mapping, op.getA()), axes.a)),
        right(DenseView::get(b, mapOperand(mapping, op.getB()), axes.b)),
        out(DenseView::get(b, mapOperand(mapping, op.getInit()), axes.out)),
        epilogue(Epilogue::get(b, op, mapping)) {}

  /// Returns the extents (batch, head, column tile, row tile) of the tiles.
  SmallVector<Value> extents(ImplicitLocOpBuilder &b) const;
  void emitTile(ImplicitLocOpBuilder &b, const MmaProduct &product, Value number, Value wide) const;

  bool aKMajor() const { return isLast(PlannedMatmulOp(op).getA(), axes.a.col); }
  bool bKMajor() const { return isLast(PlannedMatmulOp(op).getB(), axes.b.row); }
  bool rowsFastest() const { return isLast(PlannedMatmulOp(op).getInit(), axes.out.row); }
  int64_t tileM() const { return MmaProduct::fitTile(knownIndex(out.rows()), limits.m); }
  int64_t tileN() const { return MmaProduct::fitTile(knownIndex(out.cols()), limits.n); }
  int64_t stages() const { return limits.stages; }
  const FactorKind &getKind() const { return kind; }

private:
  void emitStore(ImplicitLocOpBuilder &b, const MmaProduct &product, Value batch, Value head,
                 Value row, Value col, Value wide) const;

  PlannedMatmulOp op;
  FactorKind kind;
  MatmulAxes axes;
  MmaLimits limits;
  DenseView left, right, out;
  Epilogue epilogue;
};

} // namespace

SmallVector<Value> MatmulView::extents(ImplicitLocOpBuilder &b) const {
  return {out.batches(), out.heads(), indexCeilDiv(b, out.cols(), indexConstant(b, tileN())),
          indexCeilDiv(b, out.rows(), indexConstant(b, tileM()))};
}

void MatmulView::emitTile(ImplicitLocOpBuilder &b, const MmaProduct &product, Value number,
                          Value wide) const {
  PlannedMatmulOp op = this->op;
  SmallVector<Value> index = splitIndex(b, number, extents(b));
  Value batch = index[0], head = index[1];
  Value col = Int(b, index[2]) * tileN();
  Value row = Int(b, index[3]) * tileM();
  MatrixView a = left.matrix(b, batch, head), c = right.matrix(b, batch, head);
  int64_t stepDepth = MmaProduct::getStepDepth(kind);
  auto getStep = [&](ImplicitLocOpBuilder &b, Value step, ValueRange) {
    Value k = Int(b, step) * stepDepth;
    Value depth = MmaProduct::getLimit(b, a.cols, k, stepDepth);
    ReductionStep result;
    result.a.push_back({globalAddress(b, a, row, k), depth});
    result.b.push_back({globalAddress(b, c, k, col), depth});
    return result;
  };
  TileReduction reduction{{aKMajor(), globalStride(b, a, aKMajor() ? 0 : 1),
                           MmaProduct::getLimit(b, a.rows, row, tileM()), kind.bytes()},
                          {bKMajor(), globalStride(b, c, bKMajor() ? 1 : 0),
                           MmaProduct::getLimit(b, c.cols, col, tileN()), kind.bytes()},
                          indexConstant(b, 0),
                          /*runs=*/1,
                          nullptr,
                          getStep};
  if (!op.getAlpha().isZero())
    reduction.steps = indexCeilDiv(b, a.cols, indexConstant(b, stepDepth));
  product.emitReduction(b, reduction);
  emitStore(b, product, batch, head, row, col, wide);
}

void MatmulView::emitStore(ImplicitLocOpBuilder &b, const MmaProduct &product, Value batch,
                           Value head, Value row, Value col, Value wide) const {
  PlannedMatmulOp op = this->op;
  Value hasProducts = indexLess(b, indexConstant(b, 0), left.cols());
  if (op.getAlpha().isZero())
    hasProducts = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  ResultTile result{out.matrix(b, batch, head), row, col, wide, rowsFastest()};
  product.emitResult(b, result, [&](ImplicitLocOpBuilder &b, Value sum, Value row, Value col) {
    // The context form stores [B, M, H, D].
    StoredPosition position{batch, head, row, col};
    if (op.getForm() == MatmulForm::Context)
      std::swap(position.head, position.row);
    return convertElement(b, epilogue.apply(b, sum, hasProducts, position), out.elementType());
  });
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsMma(const ::blocksparse::GPUFacts &facts,
                                            PlannedMatmulOp op) {
  return asksForMma(facts, op);
}

Value mlir::blocksparse::device::fitsMma(ImplicitLocOpBuilder &host,
                                         const ::blocksparse::GPUFacts &, PlannedMatmulOp op) {
  return both(host, isAligned16(host, op.getA()), isAligned16(host, op.getB()));
}

void mlir::blocksparse::device::emitMma(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                        PlannedMatmulOp op) {
  MatmulView view(host, op, IRMapping());
  Value wide = arith::ConstantIntOp::create(host, host.getI1Type(), 0);
  if (!view.rowsFastest())
    wide = isAligned16(host, op.getInit());
  SmallVector<Value> operands{op.getA(), op.getB(), op.getInit(), wide};
  llvm::append_range(operands, Epilogue::operands(op));
  MmaProduct product(view.tileM(), view.tileN(), view.stages(), view.getKind(), view.aKMajor(),
                     view.bKMajor());
  product.launch(host, kernels, "matmul", operands, productOf(host, view.extents(host)),
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value number) {
                   MatmulView(b, op, mapping).emitTile(b, product, number, mapping.lookup(wide));
                 });
}
