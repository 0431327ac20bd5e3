// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/JIT.h"
#include "blocksparse/Target/CPU/OpenMPRuntime.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::blocksparse;

JIT::JIT(std::unique_ptr<llvm::orc::LLJIT> engine) : engine(std::move(engine)) {}
JIT::JIT(JIT &&) = default;
JIT::~JIT() = default;

static LogicalResult report(llvm::Error error, EmitErrorFn emitError) {
  if (!error)
    return success();
  return emitError() << "expects to link the program in memory, but got: "
                     << llvm::toString(std::move(error));
}

static llvm::Error define(llvm::orc::LLJIT &engine, llvm::orc::JITDylib &libraries,
                          ArrayRef<JITSymbol> symbols) {
  llvm::orc::SymbolMap map;
  for (const JITSymbol &symbol : symbols)
    map[engine.mangleAndIntern(symbol.name)] = {llvm::orc::ExecutorAddr::fromPtr(symbol.address),
                                                llvm::JITSymbolFlags::Exported |
                                                    llvm::JITSymbolFlags::Callable};
  return libraries.define(llvm::orc::absoluteSymbols(std::move(map)));
}

/// Returns an empty library that the program is linked with before any other. Its symbols are those
/// that the program calls: a lookup of the program's own does not find them.
static llvm::orc::JITDylib &addLibraries(llvm::orc::LLJIT &engine) {
  llvm::orc::JITDylib &program = engine.getMainJITDylib();
  llvm::orc::JITDylib &libraries = engine.getExecutionSession().createBareJITDylib("libraries");
  llvm::orc::JITDylibSearchOrder order{
      {&libraries, llvm::orc::JITDylibLookupFlags::MatchExportedSymbolsOnly}};
  program.withLinkOrderDo([&](const llvm::orc::JITDylibSearchOrder &own) {
    llvm::copy_if(own, std::back_inserter(order),
                  [&](const auto &link) { return link.first != &program; });
  });
  program.setLinkOrder(std::move(order));
  return libraries;
}

/// Fails for a function that the program calls and nobody defines. The linker would say so, too,
/// but to the error stream of the process.
static LogicalResult checkSymbols(StringRef object, ArrayRef<JITSymbol> symbols,
                                  llvm::sys::DynamicLibrary &openMP, EmitErrorFn emitError) {
  auto file =
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "blocksparse"));
  if (!file)
    return report(file.takeError(), emitError);
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return report(llvm::joinErrors(flags.takeError(), name.takeError()), emitError);
    using Symbol = llvm::object::SymbolRef;
    if (!(*flags & Symbol::SF_Undefined) || (*flags & Symbol::SF_Weak) || name->empty() ||
        *name == "_GLOBAL_OFFSET_TABLE_" ||
        llvm::any_of(symbols, [&](const JITSymbol &known) { return known.name == *name; }))
      continue;
    std::string text = name->str();
    if (!openMP.getAddressOfSymbol(text.c_str()) &&
        !llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(text))
      return emitError() << "expects a library of the process to define '" << text
                         << "', which the program calls, but got none that does";
  }
  return success();
}

FailureOr<JIT> JIT::create(Code code, EmitErrorFn emitError, ArrayRef<JITSymbol> symbols) {
  SmallVector<char, 0> object;
  if (failed(code.emit(CodeFormat::Object, object)))
    return failure();
  return create(StringRef(object.data(), object.size()), emitError, symbols);
}

FailureOr<JIT> JIT::create(StringRef object, EmitErrorFn emitError, ArrayRef<JITSymbol> symbols) {
  // An object of another process may come before anything is compiled in this one, and the linker
  // asks LLVM for the target of the host.
  if (failed(checkCPUOptions(CPUOptions(), emitError)))
    return failure();
  FailureOr<std::string> runtime = findOpenMPRuntime(emitError);
  if (failed(runtime))
    return failure();
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> engine = llvm::orc::LLJITBuilder().create();
  if (!engine)
    return report(engine.takeError(), emitError);
  char prefix = (*engine)->getDataLayout().getGlobalPrefix();
  auto openMP = llvm::orc::DynamicLibrarySearchGenerator::Load(runtime->c_str(), prefix);
  if (!openMP)
    return report(openMP.takeError(), emitError);
  llvm::orc::JITDylib &libraries = addLibraries(**engine);
  libraries.addGenerator(std::move(*openMP));
  // The JIT must not look these up, because a program may have functions of these names.
  auto library = llvm::sys::DynamicLibrary::getPermanentLibrary(runtime->c_str());
  auto *setThreads =
      reinterpret_cast<SetThreads>(library.getAddressOfSymbol("omp_set_num_threads"));
  auto *getThreads =
      reinterpret_cast<GetThreads>(library.getAddressOfSymbol("omp_get_max_threads"));
  if (!setThreads || !getThreads)
    return emitError() << "expects an OpenMP runtime in '" << *runtime
                       << "', but got a library without omp_set_num_threads";
  if (failed(checkSymbols(object, symbols, library, emitError)) ||
      failed(report(define(**engine, libraries, symbols), emitError)))
    return failure();
  // Functions of other libraries that the program calls.
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process)
    return report(process.takeError(), emitError);
  libraries.addGenerator(std::move(*process));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "blocksparse");
  if (failed(report((*engine)->addObjectFile(std::move(buffer)), emitError)))
    return failure();
  JIT jit(std::move(*engine));
  jit.setNumThreads = setThreads;
  jit.getMaxThreads = getThreads;
  return jit;
}

FailureOr<void *> JIT::lookupSymbol(StringRef name, EmitErrorFn emitError) {
  llvm::Expected<llvm::orc::ExecutorAddr> address = engine->lookup(name);
  if (address)
    return address->toPtr<void *>();
  llvm::Error error = address.takeError();
  if (!error.isA<llvm::orc::SymbolsNotFound>())
    return report(std::move(error), emitError);
  llvm::consumeError(std::move(error));
  return emitError() << "expects an entry point of the program, but got '" << name << "'";
}

FailureOr<PackedFunction> JIT::lookup(StringRef name, EmitErrorFn emitError) {
  FailureOr<void *> address = lookupSymbol((name + ".packed").str(), emitError);
  if (failed(address))
    return failure();
  return reinterpret_cast<PackedFunction>(*address);
}

void *JIT::findSymbol(StringRef name) {
  llvm::Expected<llvm::orc::ExecutorAddr> address = engine->lookup(name);
  if (address)
    return address->toPtr<void *>();
  llvm::consumeError(address.takeError());
  return nullptr;
}
