// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiles an elementwise function for the host, to test builders of arithmetic.

#ifndef BLOCKSPARSE_TEST_UNIT_CONVERSION_ELEMENTMAP_H
#define BLOCKSPARSE_TEST_UNIT_CONVERSION_ELEMENTMAP_H

#include "HostFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <functional>
#include <optional>
#include <vector>

namespace mlir::blocksparse {

/// Emits the code that computes an element of the result from an element of the source.
using Emit = std::function<Value(ImplicitLocOpBuilder &, Value)>;

/// Compiles a map from elements of one type to those of another for the host.
class ElementMap {
public:
  ElementMap(Type (*from)(Builder &), Type (*to)(Builder &), const Emit &emit) {
    loadAllDialects(context);
    OwningOpRef<ModuleOp> module = build(from, to, emit);
    function.emplace(*module, "map");
  }

  /// Returns true if the map was compiled.
  bool isReady() const { return function->isReady(); }

  /// Returns the map of the elements of `in`.
  template <typename To, typename From>
  std::vector<To> operator()(std::vector<From> in) const {
    std::vector<To> out(in.size());
    auto size = static_cast<int64_t>(in.size());
    int64_t source[] = {address(in.data()), address(in.data()), 0, size, 1};
    int64_t target[] = {address(out.data()), address(out.data()), 0, size, 1};
    void *pointers[] = {source, target};
    void *arguments[] = {&pointers[0], &pointers[1]};
    (*function)(arguments);
    return out;
  }

private:
  static int64_t address(const void *data) { return reinterpret_cast<int64_t>(data); }

  OwningOpRef<ModuleOp> build(Type (*from)(Builder &), Type (*to)(Builder &), const Emit &emit) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    ImplicitLocOpBuilder b(module->getLoc(), module->getBodyRegion());
    Type in = MemRefType::get({ShapedType::kDynamic}, from(b));
    Type out = MemRefType::get({ShapedType::kDynamic}, to(b));
    auto function = func::FuncOp::create(b, "map", b.getFunctionType({in, out}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value size = memref::DimOp::create(b, function.getArgument(0), zero);
    scf::ForOp::create(b, zero, size, one, ValueRange{},
                       [&](OpBuilder &builder, Location loc, Value i, ValueRange) {
                         ImplicitLocOpBuilder inner(loc, builder);
                         Value x = memref::LoadOp::create(inner, function.getArgument(0), i);
                         memref::StoreOp::create(inner, emit(inner, x), function.getArgument(1), i);
                         scf::YieldOp::create(inner);
                       });
    func::ReturnOp::create(b);
    return module;
  }

  MLIRContext context;
  std::optional<HostFunction> function;
};

inline Type f32(Builder &b) { return b.getF32Type(); }
inline Type f64(Builder &b) { return b.getF64Type(); }

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TEST_UNIT_CONVERSION_ELEMENTMAP_H
