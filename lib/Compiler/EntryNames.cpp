// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Program.h"
#include "blocksparse/Target/Identifiers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Assigns the names of entry points in a module.
class EntryNames {
public:
  /// Reads the names of all symbols but those of the functions that get new names.
  explicit EntryNames(const Program &program) : program(program) {
    for (Operation &op : *program.module.get().getBody())
      if (auto symbol = dyn_cast<SymbolOpInterface>(op); symbol && !program.find(symbol.getName()))
        used.insert(symbol.getName());
  }

  /// Fills in the names of all signatures.
  LogicalResult assign(StringRef prefix, SmallVectorImpl<FunctionSignature> &signatures) {
    // Names that stay as they are come first, so that they do not depend on the others.
    SmallVector<FunctionSignature *> plain, escaped;
    for (FunctionSignature &signature : signatures) {
      std::string wanted = prefix.str() + signature.sourceName;
      signature.name = makeIdentifier(wanted, "f");
      (signature.name == wanted ? plain : escaped).push_back(&signature);
      if (signature.name == wanted && used.contains(wanted))
        return program.module.get().emitError("expects the name '")
               << wanted << "' to be free for the entry point of '" << signature.sourceName
               << "', but got a symbol of this name";
    }
    for (FunctionSignature *signature : plain)
      insert(*signature);
    for (FunctionSignature *signature : escaped) {
      signature->name =
          makeUnique(signature->name, [&](StringRef name) { return isFree(*signature, name); });
      insert(*signature);
    }
    return success();
  }

private:
  static SmallVector<std::string> getAllNames(const FunctionSignature &signature, StringRef name) {
    SmallVector<std::string> names = {name.str(), getStreamFunctionName(name)};
    if (signature.getSizeFunction())
      names.push_back(getSizeFunctionName(name));
    return names;
  }

  bool isFree(const FunctionSignature &signature, StringRef name) const {
    return llvm::none_of(getAllNames(signature, name),
                         [&](const std::string &each) { return used.contains(each); });
  }

  void insert(const FunctionSignature &signature) {
    for (const std::string &name : getAllNames(signature, signature.name))
      used.insert(name);
  }

  const Program &program;
  llvm::StringSet<> used;
};

} // namespace

/// Renames the functions whose signatures have new names. They get names that no symbol has first,
/// because one may get the name that another had.
static void renameFunctions(Program &program) {
  SymbolTable symbols(*program.module);
  SmallVector<std::pair<Operation *, StringRef>> renamed;
  for (const FunctionSignature &signature : program.signatures)
    if (signature.name != signature.sourceName)
      renamed.push_back({symbols.lookup(signature.sourceName), signature.name});
  for (auto [index, entry] : llvm::enumerate(renamed)) {
    std::string name = makeUnique("blocksparse.entry." + llvm::utostr(index),
                                  [&](StringRef candidate) { return !symbols.lookup(candidate); });
    (void)symbols.rename(entry.first, name);
  }
  for (auto [function, name] : renamed)
    (void)symbols.rename(function, name);
}

LogicalResult mlir::blocksparse::nameEntryPoints(Program &program, StringRef prefix) {
  if (!prefix.empty() && !isIdentifierText(prefix))
    return program.module->emitError("expects a C identifier as the prefix of symbols, but got '")
           << prefix << "'";
  if (failed(EntryNames(program).assign(prefix, program.signatures)))
    return failure();
  renameFunctions(program);
  return success();
}
