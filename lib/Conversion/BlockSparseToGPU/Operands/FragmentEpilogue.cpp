// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FragmentEpilogue.h"

#include "../../Device/Assembly.h"
#include "../../Device/Loops.h"
#include "../../Device/Opaque.h"
#include "../../Device/Warp.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/Chunk.h"
#include "../Kit/SharedTile.h"
#include "../Kit/TensorMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

using OperandKind = Epilogue::OperandKind;

/// Returns `number` (i32) as an index, clamped to 0 .. `last`.
static Value clampTo(ImplicitLocOpBuilder &b, Value number, Value last) {
  return indexMax(b, indexMin(b, toIndex(b, number), last), indexConstant(b, 0));
}

static Value lastOf(ImplicitLocOpBuilder &b, Value size) { return Int(b, size) - 1; }

/// Returns the address of the element of `matrix` for (row, col) of the accumulators.
static Value addressOf(ImplicitLocOpBuilder &b, const MatrixView &matrix, bool transposed,
                       Value row, Value col) {
  return transposed ? globalAddress(b, matrix, col, row) : globalAddress(b, matrix, row, col);
}

/// Returns the bytes from one element of `matrix` to the next along `axis`, 0 for the rows and 1
/// for the columns of the accumulators.
static Value strideOf(ImplicitLocOpBuilder &b, const MatrixView &matrix, bool transposed,
                      int64_t axis) {
  return globalStride(b, matrix, transposed ? 1 - axis : axis);
}

OperandKind mlir::blocksparse::device::kindAmongAccumulators(OperandKind kind, bool transposed) {
  if (kind == OperandKind::Matrix || kind == OperandKind::Scalar || !transposed)
    return kind;
  return kind == OperandKind::Row ? OperandKind::Column : OperandKind::Row;
}

WarpTilePosition WarpTilePosition::ofWarp(ImplicitLocOpBuilder &b, Value thread) const {
  WarpTilePosition warpTile = *this;
  thread = makeOpaque(b, thread);
  warpTile.row = Int(b, row) + Int(b, thread) / warpSize * 16;
  warpTile.lane = Int(b, thread) % warpSize;
  return warpTile;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

FragmentEpilogue::FragmentEpilogue(ImplicitLocOpBuilder &b, const Epilogue &epilogue,
                                   const WarpTilePosition &warpTile, int64_t fragments,
                                   int64_t registers, OperandSet staged, Accuracy accuracy)
    : epilogue(&epilogue), warpTile(warpTile), fragments(fragments), accuracy(accuracy) {
  groupId = Int(b, warpTile.lane) / 4;
  pair = Int(b, warpTile.lane) % 4 * 2;
  for (int64_t which = 0; which < Epilogue::numOperands; ++which)
    if (const std::optional<Epilogue::BoundOperand> &view =
            epilogue.getOperandOf(static_cast<Epilogue::Operand>(which)))
      addOperand(b, static_cast<Epilogue::Operand>(which), *view, staged.test(which));
  Value paired = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  int64_t perFragment = 0;
  for (const Operand &operand : operands) {
    if (operand.loads() == 0)
      continue;
    perFragment += operand.loads() * llvm::divideCeil(2 * operand.elementBytes(), 4);
    if (operand.pairs[0])
      paired = both(b, paired, hasPairs(b, operand));
  }
  if (perFragment == 0)
    return;
  Value whole = Int(b, warpTile.cols) - toIndex(b, warpTile.col);
  whole = arith::IndexCastOp::create(b, b.getI32Type(), whole);
  whole = arith::ShRSIOp::create(b, whole, i32Constant(b, 4));
  pairFragments = arith::SelectOp::create(b, paired, whole, i32Constant(b, 0));
  if (staged.test(Epilogue::Input))
    registers -= fragmentAccumulators / 2;
  depth = std::max<int64_t>(registers / perFragment - 1, 0);
  loadUntil(b, depth);
}

void FragmentEpilogue::addOperand(ImplicitLocOpBuilder &b, Epilogue::Operand which,
                                  const Epilogue::BoundOperand &view, bool staged) {
  Operand operand;
  operand.which = which;
  operand.staged = staged;
  operand.kind = kindAmongAccumulators(view.kind, warpTile.transposed);
  operand.matrix = view.view.matrix(b, warpTile.batch, warpTile.head);
  operand.element = operand.matrix.elementType();
  if (staged) {
    operands.push_back(std::move(operand));
    return;
  }
  if (operand.isOfRow()) {
    for (int64_t half = 0; half < 2; ++half)
      operand.ofRow[half] = loadElement(b, operand, rowOf(b, half), warpTile.col);
  } else {
    bool crosses = operand.isMatrix() && warpTile.transposed;
    operand.exchanged = crosses && operand.elementBytes() == 2;
    if (crosses == operand.exchanged)
      startPairs(b, operand);
  }
  operands.push_back(std::move(operand));
}

/// Returns the row of the thread among rows 0-7 (half 0) or 8-15 (half 1) of the warpTile.
Value FragmentEpilogue::rowOf(ImplicitLocOpBuilder &b, int64_t half) const {
  return Int(b, warpTile.row) + groupId + (8 * half);
}

Value FragmentEpilogue::hasPairs(ImplicitLocOpBuilder &b, const Operand &operand) const {
  int64_t along = operand.exchanged ? 0 : 1, bytes = operand.elementBytes();
  Value zero = indexConstant(b, 0);
  Value fits = indexEqual(b, strideOf(b, operand.matrix, warpTile.transposed, along),
                          indexConstant(b, bytes));
  Value bits = globalAddress(b, operand.matrix, zero, zero);
  if (operand.isMatrix())
    bits = b.createOrFold<arith::OrIOp>(
        bits, strideOf(b, operand.matrix, warpTile.transposed, 1 - along));
  // If the number of rows is odd, the last row would be loaded with a row past the end.
  if (operand.exchanged)
    bits = b.createOrFold<arith::OrIOp>(bits, Int(b, warpTile.rows) * bytes);
  Value low = b.createOrFold<arith::AndIOp>(bits, indexConstant(b, 2 * bytes - 1));
  return both(b, fits, indexEqual(b, low, zero));
}

void FragmentEpilogue::startPairs(ImplicitLocOpBuilder &b, Operand &operand) const {
  for (int64_t half = 0; half < (operand.isMatrix() ? 2 : 1); ++half) {
    Value row, col;
    if (operand.exchanged) {
      Value first = Int(b, warpTile.row) + pair + (8 * half);
      row = clampTo(b, first, Int(b, warpTile.rows) - 2);
      col = Int(b, warpTile.col) + groupId;
    } else {
      row = operand.isMatrix() ? clampTo(b, rowOf(b, half), lastOf(b, warpTile.rows))
                               : indexConstant(b, 0);
      col = Int(b, warpTile.col) + pair;
    }
    operand.pairs[half] =
        globalPointer(b, addressOf(b, operand.matrix, warpTile.transposed, row, toIndex(b, col)));
  }
  operand.step = operand.exchanged ? Int(b, strideOf(b, operand.matrix, warpTile.transposed, 1)) * 8
                                   : indexConstant(b, 8 * operand.elementBytes());
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

Value FragmentEpilogue::loadElement(ImplicitLocOpBuilder &b, const Operand &operand, Value row,
                                    Value col) const {
  row = clampTo(b, row, lastOf(b, warpTile.rows));
  col = clampTo(b, col, lastOf(b, warpTile.cols));
  if (warpTile.transposed)
    std::swap(row, col);
  return operand.matrix.load(b, row, col);
}

std::array<Value, 2> FragmentEpilogue::loadStaged(ImplicitLocOpBuilder &b, const Operand &operand,
                                                  Value first, int64_t number) const {
  constexpr int64_t bytes = StagedOperands::elementBytes;
  bool ofRow = operand.kind == OperandKind::Row;
  Type type = b.getF32Type();
  if (!ofRow)
    type = VectorType::get(2, type);
  Value start = Int(b, first) + Int(b, ofRow ? groupId : pair) * bytes;
  std::array<Value, 2> loaded;
  for (int64_t half = 0; half < 2; ++half) {
    int64_t element = 8 * half + (ofRow ? 0 : fragment * number);
    Value address = sharedPointer(b, Int(b, start) + (bytes * element));
    loaded[half] = LLVM::LoadOp::create(b, type, address, ofRow ? bytes : 2 * bytes);
  }
  return loaded;
}

Value FragmentEpilogue::loadApart(ImplicitLocOpBuilder &b, const Operand &operand, int64_t number,
                                  int64_t load) const {
  int64_t rowHalf = operand.isMatrix() ? load % 2 : 0;
  int64_t colHalf = operand.isMatrix() ? load / 2 : load;
  Value row = operand.exchanged ? Int(b, warpTile.row) + pair + (8 * rowHalf) : rowOf(b, rowHalf);
  Value col = Int(b, warpTile.col) + (operand.exchanged ? groupId : pair) +
              (fragment * number + 8 * colHalf);
  Value elements = LLVM::PoisonOp::create(b, VectorType::get(2, operand.element));
  for (int64_t i = 0; i < 2; ++i) {
    Value next = i32Constant(b, i);
    Value element = loadElement(b, operand, operand.exchanged ? Int(b, row) + next : row,
                                operand.exchanged ? col : Int(b, col) + next);
    elements = LLVM::InsertElementOp::create(b, elements, element, next);
  }
  return elements;
}

Value FragmentEpilogue::loadPair(ImplicitLocOpBuilder &b, const Operand &operand, int64_t number,
                                 int64_t load) const {
  if (!operand.pairs[0])
    return loadApart(b, operand, number, load);
  Value start = operand.pairs[operand.isMatrix() ? load % 2 : 0];
  int64_t steps = 2 * number + (operand.isMatrix() ? load / 2 : load);
  Value offset = Int(b, operand.step) * steps;
  offset = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), offset);
  Value pointer =
      LLVM::GEPOp::create(b, start.getType(), b.getI8Type(), start, ArrayRef<LLVM::GEPArg>{offset});
  return LLVM::LoadOp::create(b, VectorType::get(2, operand.element), pointer,
                              2 * operand.elementBytes(), /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/true);
}

FragmentEpilogue::Loaded FragmentEpilogue::load(ImplicitLocOpBuilder &b, int64_t number) const {
  auto emit = [&](bool asPairs) {
    return [this, number, asPairs](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder b(loc, builder);
      FragmentEpilogue apart = *this;
      if (!asPairs)
        for (Value *index : {&apart.warpTile.row, &apart.warpTile.col, &apart.groupId, &apart.pair})
          *index = makeOpaque(b, *index);
      Loaded loaded;
      for (const Operand &operand : operands)
        for (int64_t load = 0; load < operand.loads(); ++load)
          loaded.push_back(asPairs ? loadPair(b, operand, number, load)
                                   : apart.loadApart(b, operand, number, load));
      scf::YieldOp::create(b, loaded);
    };
  };
  Value inside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, i32Constant(b, number), pairFragments);
  auto branch = scf::IfOp::create(b, inside, emit(true), emit(false));
  return Loaded(branch.getResults());
}

void FragmentEpilogue::loadUntil(ImplicitLocOpBuilder &b, int64_t end) {
  while (pairFragments && first + static_cast<int64_t>(ahead.size()) < std::min(end, fragments))
    ahead.push_back(load(b, first + static_cast<int64_t>(ahead.size())));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Returns the pair of 16-bit elements of the transpose of an 8 x 8 matrix, from the pair of the
/// matrix itself. All lanes of the warp must call it.
static Value exchangePair(ImplicitLocOpBuilder &b, Value elements) {
  Value word = LLVM::BitcastOp::create(b, b.getI32Type(), elements);
  Value moved = emitAssembly(b, "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r",
                             b.getI32Type(), word);
  return LLVM::BitcastOp::create(b, elements.getType(), moved);
}

void FragmentEpilogue::finish(ImplicitLocOpBuilder &b, int64_t number,
                              MutableArrayRef<Value> accumulators, const StagedOperands &staged) {
  // firstLoads[operand] is the index of the first pair of the operand in `loaded`.
  SmallVector<int64_t> firstLoads(Epilogue::numOperands, 0);
  SmallVector<const Operand *> ofOperand(Epilogue::numOperands, nullptr);
  std::array<std::array<Value, 2>, Epilogue::numOperands> vectors;
  Loaded loaded;
  if (pairFragments) {
    loadUntil(b, number + depth + 1);
    loaded = afterLoads(b, ahead.front());
    ahead.erase(ahead.begin());
    first = number + 1;
  }
  int64_t nextLoad = 0;
  for (const Operand &operand : operands) {
    ofOperand[operand.which] = &operand;
    firstLoads[operand.which] = nextLoad;
    if (operand.staged && !operand.isMatrix())
      vectors[operand.which] = loadStaged(b, operand, staged.vectors[operand.which], number);
    for (int64_t load = 0; load < operand.loads(); ++load, ++nextLoad)
      if (operand.exchanged)
        loaded[nextLoad] = exchangePair(b, loaded[nextLoad]);
  }
  Value always = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  for (int64_t sum = 0; sum < fragmentAccumulators; ++sum) {
    int64_t matrix = sum / 2;
    auto element = [&](Epilogue::Operand which) -> Value {
      const Operand &operand = *ofOperand[which];
      if (operand.isOfRow())
        return (operand.staged ? vectors[which] : operand.ofRow)[matrix % 2];
      Value elements;
      if (!operand.staged)
        elements = loaded[firstLoads[which] + (operand.isMatrix() ? matrix : matrix / 2)];
      else if (operand.isMatrix())
        elements =
            LLVM::BitcastOp::create(b, VectorType::get(2, operand.element), staged.input[matrix]);
      else
        elements = vectors[which][matrix / 2];
      return LLVM::ExtractElementOp::create(b, elements, i32Constant(b, sum % 2));
    };
    accumulators[sum] = epilogue->combine(b, accumulators[sum], always, element, accuracy);
  }
}

//===----------------------------------------------------------------------===//
// Prefetch
//===----------------------------------------------------------------------===//

void mlir::blocksparse::device::prefetchOperands(ImplicitLocOpBuilder &b, const Epilogue &epilogue,
                                                 const WarpTilePosition &warpTile, Value thread,
                                                 int64_t threads, int64_t rows, int64_t cols,
                                                 OperandSet staged) {
  constexpr int64_t lineBytes = 128;
  for (int64_t which = 0; which < Epilogue::numOperands; ++which) {
    const std::optional<Epilogue::BoundOperand> &view =
        epilogue.getOperandOf(static_cast<Epilogue::Operand>(which));
    if (!view || view->kind != OperandKind::Matrix || staged.test(which))
      continue;
    MatrixView matrix = view->view.matrix(b, warpTile.batch, warpTile.head);
    int64_t bytes = matrix.elementType().getIntOrFloatBitWidth() / 8;
    int64_t inMemory = warpTile.transposed ? rows : cols, perLine = lineBytes / bytes;
    int64_t perRow = llvm::divideCeil(inMemory, perLine), lines = rows * cols / inMemory * perRow;
    for (int64_t line = 0; line < lines; line += threads) {
      Value number = toIndex(b, Int(b, thread) + line);
      number = indexMin(b, number, indexConstant(b, lines - 1));
      Value start = b.createOrFold<arith::RemUIOp>(number, indexConstant(b, perRow));
      start = Int(b, start) * perLine;
      Value outer = b.createOrFold<arith::DivUIOp>(number, indexConstant(b, perRow));
      Value row = warpTile.transposed ? start : outer, col = warpTile.transposed ? outer : start;
      auto clamp = [&](Value first, Value offset, Value size) {
        Value index = indexMin(b, Int(b, toIndex(b, first)) + offset, lastOf(b, size));
        return indexMax(b, index, indexConstant(b, 0));
      };
      Value address =
          addressOf(b, matrix, warpTile.transposed, clamp(warpTile.row, row, warpTile.rows),
                    clamp(warpTile.col, col, warpTile.cols));
      NVVM::PrefetchOp::create(
          b, NVVM::PrefetchCacheLevelAttr::get(b.getContext(), NVVM::PrefetchCacheLevel::L2),
          NVVM::CacheEvictionPriorityAttr(), globalPointer(b, address), Value(), UnitAttr(),
          UnitAttr(), UnitAttr());
    }
  }
}
