// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EmulatedTeam.h"

#include "../Device/Elements.h"
#include "../Device/Loops.h"
#include "../Device/Warp.h"
#include "../OperandView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr StringLiteral threadNumberFunction = "omp_get_thread_num";

bool EmulatedTeam::isNeeded(gpu::GPUFuncOp kernel) {
  bool barriers = false, shuffles = false, anyWarp = false;
  kernel.walk([&](Operation *op) {
    barriers |= isa<gpu::BarrierOp>(op);
    shuffles |= isa<gpu::ShuffleOp>(op);
    anyWarp |= isa<NVVM::WarpSizeOp>(op);
  });
  return barriers || (shuffles && !anyWarp);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static Value toPointer(ImplicitLocOpBuilder &b, Value address, unsigned space = 0) {
  Value number = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), space), number);
}

static Value toAddress(ImplicitLocOpBuilder &b, Value pointer) {
  Value number = LLVM::PtrToIntOp::create(b, b.getI64Type(), pointer);
  return arith::IndexCastOp::create(b, b.getIndexType(), number);
}

static Value loadAt(ImplicitLocOpBuilder &b, Type type, Value address) {
  return LLVM::LoadOp::create(b, type, toPointer(b, address));
}

static void storeAt(ImplicitLocOpBuilder &b, Value value, Value address) {
  LLVM::StoreOp::create(b, value, toPointer(b, address));
}

static Value divideBy(ImplicitLocOpBuilder &b, Value number, int64_t divisor) {
  return b.createOrFold<arith::DivUIOp>(number, indexConstant(b, divisor));
}

static Value remainder(ImplicitLocOpBuilder &b, Value number, int64_t divisor) {
  return b.createOrFold<arith::RemUIOp>(number, indexConstant(b, divisor));
}

static Value times(ImplicitLocOpBuilder &b, Value number, int64_t factor) {
  return Int(b, number) * factor;
}

Value EmulatedTeam::lane(ImplicitLocOpBuilder &b) const { return remainder(b, thread, warpSize); }

Value EmulatedTeam::place(ImplicitLocOpBuilder &b, Value lane, Value offset) const {
  Value first = times(b, divideBy(b, thread, warpSize), warpSize);
  Value number = Int(b, first) + lane;
  return Int(b, exchange) + times(b, number, exchangeBytes) + offset;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Emulates cp.async, and completes it at once: copies the first cpSize bytes, then zeros.
void EmulatedTeam::copy(ImplicitLocOpBuilder &b, Operation *op) const {
  auto async = cast<NVVM::CpAsyncOp>(op);
  Value from = toAddress(b, async.getSrc()), to = toAddress(b, async.getDst());
  Value zero = arith::ConstantIntOp::create(b, b.getI8Type(), 0);
  Value size = indexConstant(b, async.getSize());
  Value given = size;
  if (async.getCpSize())
    given = arith::IndexCastOp::create(b, b.getIndexType(), async.getCpSize());
  emitLoop(
      b, indexConstant(b, 0), size, indexConstant(b, 1), [&](ImplicitLocOpBuilder &b, Value place) {
        Value byte = emitChoice(
            b, indexLess(b, place, given),
            [&](ImplicitLocOpBuilder &b) { return loadAt(b, b.getI8Type(), Int(b, from) + place); },
            [&](ImplicitLocOpBuilder &) { return zero; });
        storeAt(b, byte, Int(b, to) + place);
      });
}

/// Emulates ldmatrix.x<num>. Lane l receives the elements (l / 4, 2 (l % 4)) and (l / 4, 2 (l % 4)
/// + 1) of each matrix, or of its transpose with .trans. The address in lane 8 i + r is that of row
/// r of matrix i.
Value EmulatedTeam::loadMatrices(ImplicitLocOpBuilder &b, Operation *op) const {
  auto load = cast<NVVM::LdMatrixOp>(op);
  bool transposed = load.getLayout() == NVVM::MMALayout::col;
  Value zero = indexConstant(b, 0), self = lane(b);
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), load.getPtr());
  storeAt(b, address, place(b, self, zero));
  omp::BarrierOp::create(b);
  Value group = divideBy(b, self, 4), pair = times(b, remainder(b, self, 4), 2);
  auto element = [&](int64_t matrix, Value row, Value col) {
    Value source = Int(b, indexConstant(b, 8 * matrix)) + row;
    Value start = loadAt(b, b.getI64Type(), place(b, source, zero));
    Value base = arith::IndexCastOp::create(b, b.getIndexType(), start);
    Value loaded = loadAt(b, b.getI16Type(), Int(b, base) + times(b, col, 2));
    return arith::ExtUIOp::create(b, b.getI32Type(), loaded).getResult();
  };
  Value result = LLVM::PoisonOp::create(b, load.getType());
  for (int64_t matrix = 0; matrix < load.getNum(); ++matrix) {
    Value second = Int(b, pair) + 1;
    Value low = transposed ? element(matrix, pair, group) : element(matrix, group, pair);
    Value high = transposed ? element(matrix, second, group) : element(matrix, group, second);
    Value sixteen = arith::ConstantIntOp::create(b, b.getI32Type(), 16);
    Value word = arith::OrIOp::create(b, arith::ShLIOp::create(b, high, sixteen), low);
    result = LLVM::InsertValueOp::create(b, result, word, matrix);
  }
  omp::BarrierOp::create(b);
  return result;
}

/// Emulates mma.m16n8k32 of s8, m16n8k16 of 16-bit floats, and m16n8k8 of tf32. With h = 16, 8 or 4
/// values of k in a register of four lanes, element (row, k) of A is part of register row / 8 + 2
/// (k / h) of lane 4 (row % 8) + (k % h) / (h / 4), and element (k, col) of B of register k / h of
/// lane 4 col + (k % h) / (h / 4). Within a register elements are in the order of k, from the
/// lowest bit. Lane l has the accumulators (l / 4 + 8 (i / 2), 2 (l % 4) + i % 2), i = 0 .. 3. The
/// low 13 bits of a tf32 are ignored. Integers wrap.
Value EmulatedTeam::multiply(ImplicitLocOpBuilder &b, Operation *op) const {
  auto mma = cast<NVVM::MmaOp>(op);
  Value self = lane(b);
  int64_t offset = 0;
  for (ValueRange words : {ValueRange(mma.getOperandA()), ValueRange(mma.getOperandB())})
    for (Value word : words) {
      storeAt(b, word, place(b, self, indexConstant(b, offset)));
      offset += 4;
    }
  omp::BarrierOp::create(b);
  NVVM::MMATypes kind = *mma.getMultiplicandAPtxType();
  bool wide = kind == NVVM::MMATypes::tf32, integer = kind == NVVM::MMATypes::s8;
  Type element = integer                       ? Type(b.getI8Type())
                 : kind == NVVM::MMATypes::f16 ? Type(b.getF16Type())
                                               : Type(b.getBF16Type());
  int64_t half = mma.getShape().getK() / 2, perRegister = half / 4, elementBytes = 4 / perRegister;
  auto get = [&](ImplicitLocOpBuilder &b, Value line, Value k, Value reg) {
    Value source = Int(b, times(b, line, 4)) + divideBy(b, remainder(b, k, half), perRegister);
    Value bytes = Int(b, times(b, reg, 4)) + times(b, remainder(b, k, perRegister), elementBytes);
    if (wide) {
      Value word = loadAt(b, b.getI32Type(), place(b, source, bytes));
      Value mask = arith::ConstantIntOp::create(b, b.getI32Type(), -0x2000);
      word = arith::AndIOp::create(b, word, mask);
      return arith::BitcastOp::create(b, b.getF32Type(), word).getResult();
    }
    Value loaded = loadAt(b, element, place(b, source, bytes));
    if (integer)
      return arith::ExtSIOp::create(b, b.getI32Type(), loaded).getResult();
    return arith::ExtFOp::create(b, b.getF32Type(), loaded).getResult();
  };
  Value result = LLVM::PoisonOp::create(b, mma.getType());
  for (int64_t i = 0; i < 4; ++i) {
    Value row = Int(b, divideBy(b, self, 4)) + (8 * (i / 2));
    Value col = Int(b, times(b, remainder(b, self, 4), 2)) + (i % 2);
    Value sum = emitFold(
        b, indexConstant(b, 0), indexConstant(b, 2 * half), indexConstant(b, 1),
        mma.getOperandC()[i], [&](ImplicitLocOpBuilder &b, Value k, Value sum) {
          Value upper = divideBy(b, k, half);
          Value reg = Int(b, divideBy(b, row, 8)) + times(b, upper, 2);
          Value x = get(b, remainder(b, row, 8), k, reg);
          Value y = get(b, col, k, Int(b, upper) + 4);
          if (integer)
            return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y)).getResult();
          return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, x, y)).getResult();
        });
    result = LLVM::InsertValueOp::create(b, result, sum, i);
  }
  omp::BarrierOp::create(b);
  return result;
}

/// Emulates cvt.rna.tf32.f32: rounds to the nearest number with 10 mantissa bits, halves away from
/// zero. Because the format is sign and magnitude, this adds half a unit to the bits and truncates.
/// NaN becomes 0x7fffffff.
Value EmulatedTeam::roundToTF32(ImplicitLocOpBuilder &b, Operation *op) const {
  Value number = cast<NVVM::ConvertFloatToTF32Op>(op).getSrc();
  Type i32 = b.getI32Type();
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(b, i32, value); };
  Value bits = arith::BitcastOp::create(b, i32, number);
  Value rounded =
      arith::AndIOp::create(b, arith::AddIOp::create(b, bits, constant(0x1000)), constant(-0x2000));
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, number, number);
  return arith::SelectOp::create(b, isNaN, constant(0x7fffffff), rounded);
}

/// Emulates prmt without a mode: byte i of the result is byte s of the two words, of which `lo` is
/// the lower one; s is the low three bits of nibble i of the selector. If the nibble's highest bit
/// is set, the sign bit of that byte is replicated instead.
Value EmulatedTeam::permute(ImplicitLocOpBuilder &b, Operation *op) const {
  auto prmt = cast<NVVM::PermuteOp>(op);
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto constant = [&](Type type, int64_t value) {
    return arith::ConstantIntOp::create(b, type, value).getResult();
  };
  auto shiftRight = [&](Value number, Value bits) {
    return arith::ShRUIOp::create(b, number, bits).getResult();
  };
  Value high =
      arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i64, prmt.getHi()), constant(i64, 32));
  Value bytes = arith::OrIOp::create(b, high, arith::ExtUIOp::create(b, i64, prmt.getLo()));
  Value result = constant(i32, 0);
  for (int64_t i = 0; i < 4; ++i) {
    Value nibble = shiftRight(prmt.getSelector(), constant(i32, 4 * i));
    Value number = arith::AndIOp::create(b, nibble, constant(i32, 7));
    Value shift =
        arith::ExtUIOp::create(b, i64, arith::MulIOp::create(b, number, constant(i32, 8)));
    Value byte = arith::TruncIOp::create(b, b.getI8Type(), shiftRight(bytes, shift));
    Value sign = arith::ShRSIOp::create(b, byte, constant(b.getI8Type(), 7));
    Value asks = arith::TruncIOp::create(b, b.getI1Type(), shiftRight(nibble, constant(i32, 3)));
    byte = arith::SelectOp::create(b, asks, sign, byte);
    Value placed =
        arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i32, byte), constant(i32, 8 * i));
    result = arith::OrIOp::create(b, result, placed);
  }
  return result;
}

/// Emulates cvt.rn.f16x2.e4m3x2 and .e5m2x2, which convert both numbers exactly.
Value EmulatedTeam::widenF8(ImplicitLocOpBuilder &b, Operation *op) const {
  auto convert = cast<NVVM::ConvertF8x2ToF16x2Op>(op);
  Value result = LLVM::PoisonOp::create(b, convert.getType());
  for (int64_t i = 0; i < 2; ++i) {
    Value place = arith::ConstantIntOp::create(b, b.getI32Type(), i);
    Value byte = LLVM::ExtractElementOp::create(b, convert.getSrc(), place);
    Value number = arith::BitcastOp::create(b, convert.getSrcType(), byte);
    number = convertElement(b, convertElement(b, number, b.getF32Type()), b.getF16Type());
    result = LLVM::InsertElementOp::create(b, result, number, place);
  }
  return result;
}

/// Emulates shfl.sync.bfly of a full warp: every lane receives the value of lane (own ^ offset).
Value EmulatedTeam::shuffle(ImplicitLocOpBuilder &b, gpu::ShuffleOp op) const {
  Value zero = indexConstant(b, 0), self = lane(b);
  storeAt(b, op.getValue(), place(b, self, zero));
  omp::BarrierOp::create(b);
  Value offset = arith::IndexCastOp::create(b, b.getIndexType(), op.getOffset());
  Value source = b.createOrFold<arith::XOrIOp>(self, offset);
  Value result = loadAt(b, op.getValue().getType(), place(b, source, zero));
  omp::BarrierOp::create(b);
  return result;
}

bool EmulatedTeam::replace(Operation *op) const {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value result;
  if (isa<gpu::BarrierOp>(op))
    omp::BarrierOp::create(b);
  else if (isa<NVVM::CpAsyncOp>(op))
    copy(b, op);
  else if (isa<NVVM::LdMatrixOp>(op))
    result = loadMatrices(b, op);
  else if (isa<NVVM::MmaOp>(op))
    result = multiply(b, op);
  else if (isa<NVVM::ConvertFloatToTF32Op>(op))
    result = roundToTF32(b, op);
  else if (auto prmt = dyn_cast<NVVM::PermuteOp>(op);
           prmt && prmt.getMode() == NVVM::PermuteMode::DEFAULT && prmt.getHi())
    result = permute(b, op);
  else if (isa<NVVM::ConvertF8x2ToF16x2Op>(op))
    result = widenF8(b, op);
  else if (auto symbol = dyn_cast<LLVM::AddressOfOp>(op))
    result = toPointer(b, shared, symbol.getType().getAddressSpace());
  else if (!isa<NVVM::CpAsyncCommitGroupOp, NVVM::CpAsyncWaitGroupOp>(op))
    return false;
  if (result)
    op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static LLVM::LLVMFuncOp getThreadNumber(ImplicitLocOpBuilder &b) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(threadNumberFunction))
    return function;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), {});
  return LLVM::LLVMFuncOp::create(b, threadNumberFunction, type);
}

void EmulatedTeam::emitThreads(ImplicitLocOpBuilder &b, Value threads,
                               function_ref<void(ImplicitLocOpBuilder &, Value)> body) {
  LLVM::LLVMFuncOp number = getThreadNumber(b);
  omp::ParallelOperands operands;
  operands.numThreads = arith::IndexCastOp::create(b, b.getI32Type(), threads);
  auto parallel = omp::ParallelOp::create(b, operands);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&parallel.getRegion());
  Value self = LLVM::CallOp::create(b, number, ValueRange()).getResult();
  body(b, arith::IndexCastOp::create(b, b.getIndexType(), self));
  omp::TerminatorOp::create(b);
}
