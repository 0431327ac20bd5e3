// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionOrderKernel.h"

#include "../../Device/ConstantTable.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../../OperandView.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/MmaFragments.h"
#include "../Kit/SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::AttentionOrderOperands;
using ::blocksparse::AttentionOrderStepTable;
using ::blocksparse::AttentionOrderTileTable;

using Shape = AttentionOrderShape;
using Position = StageRing::Position;

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

Position mlir::blocksparse::device::positionOf(ImplicitLocOpBuilder &b, Value number) {
  static_assert(Shape::buffers == 2);
  return {Int(b, number) % 2, Int(b, Int(b, number) / 2) % 2};
}

Position mlir::blocksparse::device::emptyPosition(ImplicitLocOpBuilder &b,
                                                  const Position &position) {
  return {position.stage, arith::XOrIOp::create(b, position.parity, i32Constant(b, 1))};
}

Position mlir::blocksparse::device::partialPosition(ImplicitLocOpBuilder &b,
                                                    const Position &position, Value group) {
  return {Int(b, Int(b, position.stage) * Shape::groups) + group, position.parity};
}

StageRing AttentionOrderFrame::ringAt(ImplicitLocOpBuilder &b, int number) const {
  int64_t offset = Shape::barrierOffset;
  for (int i = 0; i < number; ++i)
    offset += StageRing::bytes(Shape::stages[i]);
  return {Int(b, base) + offset, Shape::stages[number]};
}

Value AttentionOrderFrame::residentAddress(ImplicitLocOpBuilder &b, int which) const {
  return Int(b, base) + which * Shape::residentBytes;
}

Value AttentionOrderFrame::walkedAddress(ImplicitLocOpBuilder &b, int which, Value buffer) const {
  Value first = Int(b, base) + (Shape::walkedOffset + which * Shape::walkedBytes);
  return Int(b, first) + Int(b, buffer) * (2 * Shape::walkedBytes);
}

Value AttentionOrderFrame::vectorAddress(ImplicitLocOpBuilder &b, int which, Value buffer) const {
  Value first = Int(b, base) + (Shape::vectorOffset + which * Shape::vectorBytes);
  return Int(b, first) + Int(b, buffer) * (2 * Shape::vectorBytes);
}

Value AttentionOrderFrame::gradientAddress(ImplicitLocOpBuilder &b, Value group,
                                           Value buffer) const {
  Value number = Int(b, Int(b, group) * Shape::buffers) + buffer;
  return Int(b, Int(b, base) + Shape::gradientOffset) + Int(b, number) * Shape::tileBytes;
}

Value AttentionOrderFrame::partialAddress(ImplicitLocOpBuilder &b, Value stage) const {
  return Int(b, Int(b, base) + Shape::partialOffset) + Int(b, stage) * Shape::partialBytes;
}

TileRange AttentionOrderFrame::range(ImplicitLocOpBuilder &b) const {
  Value block =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::BlockIdOp::create(b, gpu::Dimension::x));
  Value one = i32Constant(b, 1);
  return {workers.readAt(b, block), workers.readAt(b, Int(b, block) + one), one};
}

AttentionOrderWork AttentionOrderFrame::getTile(ImplicitLocOpBuilder &b, Value number) const {
  SmallVector<Value> row = tiles.read(b, number, 0, AttentionOrderTileTable::used);
  return {number,
          {row[AttentionOrderTileTable::Key], row[AttentionOrderTileTable::Key + 1]},
          row[AttentionOrderTileTable::First],
          row[AttentionOrderTileTable::Count],
          row[AttentionOrderTileTable::Batch],
          row[AttentionOrderTileTable::Head]};
}

SmallVector<Value> AttentionOrderFrame::readStep(ImplicitLocOpBuilder &b,
                                                 const AttentionOrderWork &tile, Value step) const {
  Value last = i32Constant(b, steps.rows() - 1);
  Value row = arith::MinSIOp::create(b, Int(b, tile.first) + step, last);
  return steps.read(b, row, 0, AttentionOrderStepTable::columns);
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

/// Emits the body of the warps that load and that add.
static void emitServices(ImplicitLocOpBuilder &b, const AttentionOrderFrame &frame) {
  NVVM::SetMaxRegisterOp::create(b, Shape::producerRegisters, NVVM::SetMaxRegisterAction::decrease);
  Value warp = makeUniform(b, Int(b, frame.thread) / warpSize);
  auto isWarp = [&](ImplicitLocOpBuilder &b, int64_t number) {
    return isEqual(b, warp, i32Constant(b, number));
  };
  Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
  emitIf(b, elected, [&](ImplicitLocOpBuilder &b) {
    emitIf(b, isWarp(b, 0), [&](ImplicitLocOpBuilder &b) { emitStepLoads(b, frame); });
    emitIf(b, isWarp(b, 1), [&](ImplicitLocOpBuilder &b) { emitTileLoads(b, frame); });
    Value adds = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, warp, i32Constant(b, 2));
    emitIf(b, adds,
           [&](ImplicitLocOpBuilder &b) { emitOrderedSums(b, frame, Int(b, warp) + (-2)); });
  });
}

static void emitKernel(ImplicitLocOpBuilder &b, AttentionOrderFrame &frame) {
  constexpr int64_t warps = Shape::groups * Shape::warpsOfWarpgroup;
  Value thread =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  frame.thread = Int(b, thread) % Shape::warpgroupThreads;
  frame.base = alignedSharedBase(b);
  emitIf(b, isEqual(b, thread, i32Constant(b, 0)), [&](ImplicitLocOpBuilder &b) {
    frame.ring(b).emitInit(b, warps);
    frame.residentRing(b).emitInit(b, warps);
    frame.gradientRing(b).emitInit(b, warps, warps);
    frame.partialRing(b).emitInit(b, /*releases=*/1, Shape::warpsOfWarpgroup);
  });
  // The mbarriers must be initialised before any thread waits or arrives there.
  emitBarrier(b);
  Value warpgroup = makeUniform(b, Int(b, thread) / Shape::warpgroupThreads);
  auto serve = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    emitServices(b, frame);
    scf::YieldOp::create(b);
  };
  auto consume = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    NVVM::SetMaxRegisterOp::create(b, Shape::consumerRegisters,
                                   NVVM::SetMaxRegisterAction::increase);
    emitAttentionOrderConsumer(b, frame, Int(b, warpgroup) + (-1));
    scf::YieldOp::create(b);
  };
  scf::IfOp::create(b, isEqual(b, warpgroup, i32Constant(b, 0)), serve, consume);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Returns true if a step of the constant lists holds forbidden elements, or nothing if they are
/// not known.
static std::optional<bool> hasMaskedSteps(PlannedAttentionGradOp op) {
  return hasNonZeroColumn(op.getLists()[AttentionOrderOperands::Steps],
                          AttentionOrderStepTable::Masked, AttentionOrderStepTable::columns);
}

bool mlir::blocksparse::device::supportsAttentionOrder(const ::blocksparse::GPUFacts &facts,
                                                       PlannedAttentionGradOp op) {
  auto colsOf = [](Value memref) { return cast<MemRefType>(memref.getType()).getShape().back(); };
  return ::blocksparse::checkOrderedGradient(op.getBlock()[1], colsOf(op.getQ()), colsOf(op.getV()))
             .empty() &&
         Shape::sharedBytes() <= facts.sharedMemoryPerBlock && hasMaskedSteps(op);
}

/// Emits the kernel that rounds the sums of dQ to dq. Queries to which no step has added are zeros.
/// A thread has eight neighbouring columns of a row: those of an accumulator group of four threads.
static void emitFinish(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                       PlannedAttentionGradOp op, Value partials, Value counters) {
  constexpr int64_t groupCols = 8, groups = Shape::cols / Shape::groups / groupCols, quad = 4;
  auto sizes = [&](ImplicitLocOpBuilder &b, Value counters) -> SmallVector<Value> {
    // Queries of 64, half of the columns, row as (warp, g, half of the warp), group of columns.
    return {memrefDim(b, counters, 0), indexConstant(b, Shape::groups),
            indexConstant(b, 4),       indexConstant(b, 8),
            indexConstant(b, 2),       indexConstant(b, groups)};
  };
  const double scale = op.getScale().convertToDouble();
  kernels.launchForEach(
      host, "attention_grad_finish", {op.getDq(), partials, counters},
      productOf(host, sizes(host, counters)),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
        Value sums = mapping.lookup(partials), added = mapping.lookup(counters);
        DenseView view = DenseView::get(b, mapping.lookup(op.getDq()));
        SmallVector<Value> at = splitIndex(b, item, sizes(b, added));
        Value queries = at[0], warp = at[2], g = at[3], low = at[4], group = at[5];
        Value col =
            Int(b, Int(b, at[1]) * (Shape::cols / Shape::groups)) + Int(b, group) * groupCols;
        emitIf(b, indexLess(b, col, view.cols()), [&](ImplicitLocOpBuilder &b) {
          Value places = Int(b, view.rows()) / Shape::rows;
          SmallVector<Value> matrix =
              splitIndex(b, queries, {view.batches(), view.heads(), places});
          // Accumulators 4 i + {0, 1} are in row g, and 4 i + {2, 3} 8 rows below.
          Value first = Int(b, Int(b, queries) * Shape::groups) + at[1];
          first = Int(b, Int(b, first) * groups) + group;
          Value thread = Int(b, Int(b, warp) * 32) + Int(b, g) * 4;
          first = Int(b, Int(b, Int(b, first) * Shape::warpgroupThreads) + thread) * quad;
          first = Int(b, first) + Int(b, low) * 2;
          Value isAdded = arith::CmpIOp::create(
              b, arith::CmpIPredicate::ne, memref::LoadOp::create(b, added, queries).getResult(),
              i32Constant(b, 0));
          SmallVector<Value> numbers = emitChoices(
              b, isAdded,
              [&](ImplicitLocOpBuilder &b) {
                SmallVector<Value> loaded;
                for (int64_t i = 0; i < groupCols; ++i) {
                  Value place = Int(b, first) + (i / 2 * quad + i % 2);
                  Value sum = memref::LoadOp::create(b, sums, place);
                  loaded.push_back(arith::MulFOp::create(
                      b, sum, arith::ConstantOp::create(b, b.getF32FloatAttr(scale))));
                }
                return loaded;
              },
              [&](ImplicitLocOpBuilder &b) {
                Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
                return SmallVector<Value>(groupCols, zero);
              });
          Value row = Int(b, Int(b, Int(b, warp) * 16) + g) + Int(b, low) * 8;
          row = Int(b, Int(b, matrix[2]) * Shape::rows) + row;
          MatrixView dq = view.matrix(b, matrix[0], matrix[1]);
          SmallVector<Value> words = packPairs(b, view.elementType(), numbers);
          Value vector = LLVM::PoisonOp::create(b, VectorType::get(quad, b.getI32Type()));
          for (auto [i, word] : llvm::enumerate(words))
            vector = LLVM::InsertElementOp::create(b, vector, word, i32Constant(b, i));
          LLVM::StoreOp::create(b, vector, globalPointer(b, globalAddress(b, dq, row, col)),
                                /*alignment=*/16);
        });
      });
}

/// Emits the launch of the kernel itself.
static void emitGradients(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                          PlannedAttentionGradOp op, Value partials, Value counters) {
  Shape shape;
  Value factors[] = {op.getQ(), op.getV()};
  for (int which = 0; which < 2; ++which)
    shape.depthSteps[which] = llvm::divideCeil(
        cast<MemRefType>(factors[which].getType()).getShape().back(), WgmmaTile::stepDepth);
  shape.element = cast<MemRefType>(op.getQ().getType()).getElementType();
  shape.queries = cast<MemRefType>(op.getQ().getType()).getShape().end()[-2];
  OperandRange tables = op.getLists();
  shape.masked = *hasMaskedSteps(op);
  const Value matrices[] = {op.getK(), op.getV(), op.getQ(), op.getDout(), op.getDk(), op.getDv()};
  SmallVector<Value> maps = llvm::map_to_vector(matrices, [&](Value memref) {
    return createTensorMap(host, memref, DenseAxes::ofMatrices(memref), {Shape::rows});
  });
  SmallVector<Value> arguments(maps);
  llvm::append_range(arguments, tables);
  arguments.append({op.getRows(), partials, counters});
  if (shape.masked)
    llvm::append_range(arguments, presentOperands(getMaskOperands(op)));
  const int64_t workers =
      cast<MemRefType>(tables[AttentionOrderOperands::Workers].getType()).getDimSize(0) - 1;
  LaunchShape launch{indexConstant(host, workers), Shape::threads, Shape::sharedBytes()};
  launch.mode = LaunchMode::Together;
  gpu::GPUFuncOp kernel = kernels.launch(
      host, "attention_grad_ordered", arguments, launch,
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
        auto matrixOf = [&](size_t index) -> AttentionOrderFrame::Matrices {
          return {matrices[index], mapping.lookup(maps[index])};
        };
        auto table = [&](int index) { return IntTable::get(b, mapping.lookup(tables[index])); };
        AttentionOrderFrame frame{op,
                                  shape,
                                  {matrixOf(0), matrixOf(1)},
                                  {matrixOf(2), matrixOf(3)},
                                  {matrixOf(4), matrixOf(5)},
                                  table(AttentionOrderOperands::Tiles),
                                  table(AttentionOrderOperands::Workers),
                                  table(AttentionOrderOperands::Steps),
                                  mapping.lookup(op.getRows()),
                                  mapping.lookup(partials),
                                  mapping.lookup(counters),
                                  {}};
        if (shape.masked)
          frame.masks.emplace(
              b, op, [&](Value operand) { return operand ? mapping.lookup(operand) : Value(); },
              /*transposed=*/true);
        emitKernel(b, frame);
      });
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(1));
  setTensorMapArguments(kernel, maps.size());
}

void mlir::blocksparse::device::emitAttentionOrder(ImplicitLocOpBuilder &host,
                                                   KernelBuilder &kernels,
                                                   PlannedAttentionGradOp op) {
  const int64_t queries = cast<MemRefType>(op.getLse().getType()).getNumElements() / Shape::rows;
  auto allocate = [&](int64_t size, Type type) -> Value {
    return memref::AllocOp::create(host, MemRefType::get({size}, type),
                                   host.getI64IntegerAttr(/*alignment=*/16));
  };
  Value partials = allocate(queries * Shape::rows * Shape::cols, host.getF32Type());
  Value counters = allocate(queries, host.getI32Type());
  kernels.launchForEach(host, "attention_grad_clear", counters, memrefDim(host, counters, 0),
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          memref::StoreOp::create(b, i32Constant(b, 0), mapping.lookup(counters),
                                                  item);
                        });
  emitGradients(host, kernels, op, partials, counters);
  emitFinish(host, kernels, op, partials, counters);
  for (Value memory : {partials, counters})
    memref::DeallocOp::create(host, memory);
}
