// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Targets.h"
#include "blocksparse/IR/DialectAttributes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

static constexpr StringLiteral wrapperPrefix = "_mlir_ciface_";

/// Returns the name that marks the functions of a target: "sm_90a", "cpu".
static StringRef getName(const TargetInfo &target) {
  return target.isCUDA() ? StringRef(target.chip()) : "cpu";
}

namespace {

/// Puts the programs for several targets, each as the stage `llvm` leaves it, into one module.
class Merger {
public:
  Merger(ModuleOp merged, ArrayRef<TargetInfo> targets) : merged(merged), targets(targets) {}

  void add(ModuleOp program, const TargetInfo &target);
  void finish();

private:
  void moveSymbols(ModuleOp program, StringRef suffix);
  void addDispatcher(LLVM::LLVMFuncOp first, StringRef name);
  Value callSelect(ImplicitLocOpBuilder &b, LLVM::LLVMFuncOp dispatcher, Value choice);
  void callVariant(ImplicitLocOpBuilder &b, LLVM::LLVMFuncOp dispatcher, StringRef name,
                   StringRef chip);
  Value getText(ImplicitLocOpBuilder &b, StringRef text);

  ModuleOp merged;
  ArrayRef<TargetInfo> targets;
  SmallVector<Attribute> objects;
  NamedAttrList luts;
  /// Entry points of the first program, without the prefix.
  SmallVector<std::string> entries;
};

} // namespace

void Merger::add(ModuleOp program, const TargetInfo &target) {
  std::string suffix = ("." + getName(target)).str();
  for (auto binary : llvm::make_early_inc_range(program.getOps<gpu::BinaryOp>())) {
    llvm::append_range(objects, binary.getObjects());
    binary.erase();
  }
  if (auto table = program->getAttrOfType<DictionaryAttr>(lutsAttr))
    for (NamedAttribute lut : table)
      luts.set(lut.getName(), lut.getValue());
  if (Attribute kernels = program->getAttr(kernelsAttr))
    merged->setAttr((kernelsAttr + suffix).str(), kernels);
  if (entries.empty())
    for (auto function : program.getOps<LLVM::LLVMFuncOp>())
      if (StringRef name = function.getName();
          name.consume_front(wrapperPrefix) && !function.isExternal())
        entries.push_back(name.str());
  moveSymbols(program, suffix);
}

/// Returns true if the program does not define this symbol, but expects it from elsewhere.
static bool isDeclaration(Operation *op) {
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
    return function.isExternal();
  auto global = dyn_cast<LLVM::GlobalOp>(op);
  return global && global.getLinkage() == LLVM::Linkage::External && !global.getValueOrNull() &&
         !global.getInitializerBlock();
}

/// Appends the target's name to the names of definitions; declarations are shared.
void Merger::moveSymbols(ModuleOp program, StringRef suffix) {
  // All are renamed before the first is moved: what has left the program is not searched for uses.
  SymbolTable symbols(program);
  for (auto symbol : llvm::make_early_inc_range(program.getOps<SymbolOpInterface>()))
    if (!isDeclaration(symbol))
      (void)symbols.rename(symbol, (symbol.getName() + suffix).str());
  for (Operation &op : llvm::make_early_inc_range(*program.getBody())) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (symbol && isDeclaration(&op) && merged.lookupSymbol(symbol.getName()))
      op.erase();
    else
      op.moveBefore(merged.getBody(), merged.getBody()->end());
  }
}

Value Merger::getText(ImplicitLocOpBuilder &b, StringRef text) {
  std::string name = ("blocksparse.target." + text).str();
  auto global = merged.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(merged.getBody());
    std::string bytes = text.str();
    bytes.push_back('\0');
    global = LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
                                    /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                    b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, global);
}

/// Stores these values in an array of the frame and returns its address.
static Value storeArray(ImplicitLocOpBuilder &b, ArrayRef<Value> values) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value size = LLVM::ConstantOp::create(b, b.getI64Type(), std::max<int64_t>(values.size(), 1));
  Value array = LLVM::AllocaOp::create(b, pointer, pointer, size, /*alignment=*/8);
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(b, value,
                          LLVM::GEPOp::create(b, pointer, pointer, array,
                                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)}));
  return array;
}

/// Calls blocksparseRtCallSelect, which writes the index of a target to `choice`, and returns its
/// i32 status.
Value Merger::callSelect(ImplicitLocOpBuilder &b, LLVM::LLVMFuncOp dispatcher, Value choice) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Value> data, names;
  for (BlockArgument argument : dispatcher.getArguments()) {
    if (!isa<LLVM::LLVMPointerType>(argument.getType()))
      continue;
    // The second member of a descriptor is the address of its elements.
    Value slot = LLVM::GEPOp::create(b, pointer, pointer, argument, ArrayRef<LLVM::GEPArg>{1});
    data.push_back(LLVM::LoadOp::create(b, pointer, slot));
  }
  bool host = false;
  for (const TargetInfo &target : targets)
    if (target.isCUDA())
      names.push_back(getText(b, getName(target)));
    else
      host = true;
  auto address = [&](StringRef name) -> Value {
    return LLVM::AddressOfOp::create(b, pointer, name);
  };
  auto i32 = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(value));
  };
  Value size = LLVM::LoadOp::create(b, b.getI64Type(), address("blocksparse.artifact.size"));
  Value count = LLVM::ConstantOp::create(b, b.getI64Type(), int64_t(data.size()));
  SmallVector<Value> arguments = {address("blocksparse.artifact.slot"),
                                  address("blocksparse.artifact"),
                                  size,
                                  storeArray(b, data),
                                  count,
                                  storeArray(b, names),
                                  i32(names.size()),
                                  i32(host),
                                  choice};
  auto select = merged.lookupSymbol<LLVM::LLVMFuncOp>("blocksparseRtCallSelect");
  if (!select) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(merged.getBody());
    auto type = LLVM::LLVMFunctionType::get(b.getI32Type(),
                                            llvm::to_vector(ValueRange(arguments).getTypes()));
    select = LLVM::LLVMFuncOp::create(b, "blocksparseRtCallSelect", type);
  }
  return LLVM::CallOp::create(b, select, arguments).getResult();
}

/// Calls the entry point for `chip` and returns its status.
void Merger::callVariant(ImplicitLocOpBuilder &b, LLVM::LLVMFuncOp dispatcher, StringRef name,
                         StringRef chip) {
  auto variant = merged.lookupSymbol<LLVM::LLVMFuncOp>((wrapperPrefix + name + "." + chip).str());
  auto call = LLVM::CallOp::create(b, variant, dispatcher.getArguments());
  LLVM::ReturnOp::create(b, call.getResult());
}

void Merger::addDispatcher(LLVM::LLVMFuncOp first, StringRef name) {
  auto b = ImplicitLocOpBuilder::atBlockEnd(merged.getLoc(), merged.getBody());
  auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), first.getFunctionType().getParams());
  auto dispatcher = LLVM::LLVMFuncOp::create(b, (wrapperPrefix + name).str(), type);
  Block *entry = dispatcher.addEntryBlock(b);
  Region &body = dispatcher.getBody();
  Block *failed = b.createBlock(&body, body.end(), {b.getI32Type()}, {b.getLoc()});
  Block *chosen = b.createBlock(&body, body.end());
  SmallVector<int32_t> numbers;
  SmallVector<Block *> variants;
  Block *fallback = failed;
  int32_t number = 0;
  for (const TargetInfo &target : targets) {
    Block *block = b.createBlock(&body, body.end());
    callVariant(b, dispatcher, name, getName(target));
    if (!target.isCUDA()) {
      fallback = block;
      continue;
    }
    numbers.push_back(number++);
    variants.push_back(block);
  }
  b.setInsertionPointToEnd(failed);
  LLVM::ReturnOp::create(b, failed->getArgument(0));

  b.setInsertionPointToEnd(entry);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value one = LLVM::ConstantOp::create(b, b.getI64Type(), int64_t(1));
  Value choice = LLVM::AllocaOp::create(b, pointer, b.getI32Type(), one, /*alignment=*/8);
  Value status = callSelect(b, dispatcher, choice);
  Value zero = LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(0));
  Value bad = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, status, zero);
  LLVM::CondBrOp::create(b, bad, failed, ValueRange{status}, chosen, ValueRange{});
  b.setInsertionPointToEnd(chosen);
  Value value = LLVM::LoadOp::create(b, b.getI32Type(), choice);
  // Without code for the host the runtime chooses one of the numbers or fails.
  ValueRange fallbackOperands = fallback == failed ? ValueRange(status) : ValueRange();
  LLVM::SwitchOp::create(b, value, fallback, fallbackOperands, numbers, BlockRange(variants),
                         SmallVector<ValueRange>(variants.size()));
}

void Merger::finish() {
  for (StringRef name : entries) {
    std::string variant = (name + "." + getName(targets.front())).str();
    auto wrapper = merged.lookupSymbol<LLVM::LLVMFuncOp>((wrapperPrefix + variant).str());
    auto body = merged.lookupSymbol<LLVM::LLVMFuncOp>(variant);
    // Sizes are computed on the host, by every program in the same way.
    if (body && body->hasAttr(hostFunctionAttr))
      SymbolTable::setSymbolName(wrapper, (wrapperPrefix + name).str());
    else
      addDispatcher(wrapper, name);
  }
  // Only the dispatchers keep the names that make entry points.
  for (auto function : merged.getOps<LLVM::LLVMFuncOp>())
    if (StringRef name = function.getName(); name.consume_front(wrapperPrefix) &&
                                             !function.isExternal() &&
                                             !llvm::is_contained(entries, name))
      (void)SymbolTable(merged).rename(function, ("entry." + name).str());
  OpBuilder b = OpBuilder::atBlockBegin(merged.getBody());
  if (!objects.empty())
    gpu::BinaryOp::create(b, merged.getLoc(), "blocksparse_kernels", Attribute(), objects);
  merged->setAttr(lutsAttr, luts.getDictionary(merged.getContext()));
}

void mlir::blocksparse::mergePrograms(ModuleOp merged, ArrayRef<OwningOpRef<ModuleOp>> programs,
                                      ArrayRef<TargetInfo> targets) {
  Merger merger(merged, targets);
  for (auto [program, target] : llvm::zip_equal(programs, targets))
    merger.add(*program, target);
  merger.finish();
}
