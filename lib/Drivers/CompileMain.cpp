// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"
#include "blocksparse/Compiler/Compiler.h"
#include "blocksparse/Compiler/NumberOption.h"
#include "blocksparse/Compiler/Output.h"
#include "blocksparse/Drivers/Drivers.h"
#include "blocksparse/Execution/NativeTarget.h"
#include "blocksparse/Layout/PatternReference.h"
#include "blocksparse/Target/CPU/CHeader.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("blocksparse-compile options");

struct Arguments {
  cl::opt<std::string> input{cl::Positional, cl::desc("<input.mlir>"), cl::init("-"),
                             cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::desc("Output: x.so, x.o, x.s, x.ll, x.ptx, or IR with --stop-after"),
      cl::value_desc("file"), cl::init("-"), cl::cat(category)};
  cl::opt<std::string> header{"emit-header", cl::desc("Write a C header of the entry points"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> launchJson{
      "emit-launch-json", cl::desc("Write JSON that says how to launch the kernels of an x.ptx"),
      cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> stopAfter{"stop-after",
                                 cl::desc("Print the IR after this stage: parse, optimise, "
                                          "schedule, plan, bufferize, lower, llvm"),
                                 cl::value_desc("stage"), cl::cat(category)};
  cl::opt<std::string> startAfter{
      "start-after",
      cl::desc("The input is IR that this stage has left: parse, optimise, schedule, plan, "
               "bufferize, lower, llvm"),
      cl::value_desc("stage"), cl::cat(category)};
  cl::opt<std::string> symbolPrefix{"symbol-prefix",
                                    cl::desc("Beginning of the names of all entry points"),
                                    cl::value_desc("identifier"), cl::cat(category)};
  cl::opt<std::string> target{
      "target",
      cl::desc("What to make code for: cpu, cuda:<chip>, cuda:native, each with "
               ",key=value, or several of them, separated by commas"),
      cl::init("cpu"), cl::cat(category)};
  NumberOption<unsigned> ptxVersion{
      "ptx-version", InRange<unsigned>{0, 999},
      cl::desc("PTX version as 10 * major + minor; 0: the lowest that "
               "knows the chip"),
      cl::init(0), cl::cat(category)};
  cl::opt<bool> cubin{"cubin", cl::desc("Machine code beside the PTX, made by ptxas"),
                      cl::cat(category)};
  cl::opt<std::string> cpu{"cpu", cl::desc("Processor, as LLVM names it, or native"),
                           cl::init("native"), cl::cat(category)};
  cl::opt<std::string> features{"features", cl::desc("Processor features: +avx512f,-fma"),
                                cl::cat(category)};
  TuningDatabaseOption tuningDatabase{category};
  IndexCheckOptions checkIndices{category};
  cl::opt<std::string> function{"function", cl::desc("Compile these public functions only"),
                                cl::value_desc("name,..."), cl::cat(category)};
  cl::opt<bool> printPatterns{"print-patterns",
                              cl::desc("Print the reference of the named patterns and exit"),
                              cl::cat(category)};
  NumberOption<unsigned> optLevel{"O",         InRange<unsigned>{0, 3},
                                  cl::Prefix,  cl::desc("Optimisation level, 0 to 3"),
                                  cl::init(3), cl::cat(category)};
};

} // namespace

static LogicalResult emit(Program &program, const CompileOptions &options,
                          const Arguments &arguments, EmitErrorFn emitError) {
  ModuleOp module = *program.module;
  if (options.stopAfter != Stage::Emit) {
    if (failed(compile(module, options)))
      return failure();
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    stream << "\n";
    return writeOutput(arguments.output, text, emitError);
  }
  std::optional<OutputFormat> format = getOutputFormat(arguments.output);
  if (!format && arguments.output == "-")
    format = OutputFormat::LLVMIR;
  if (!format)
    return emitError() << "expects an output that ends in .so, .o, .s, .ll or .ptx, but got '"
                       << arguments.output << "'";
  if (arguments.launchJson.empty())
    return emitProgram(module, options, *format, arguments.output);
  FailureOr<Kernels> kernels = compileKernels(program, options);
  return success(succeeded(kernels) &&
                 succeeded(writeOutput(arguments.output, kernels->ptx, emitError)) &&
                 succeeded(writeOutput(arguments.launchJson, kernels->launches, emitError)));
}

/// Fails if a description of launches is wanted for another output than PTX.
static LogicalResult checkLaunchJson(const Arguments &arguments, EmitErrorFn emitError) {
  if (arguments.launchJson.empty() ||
      (arguments.stopAfter.empty() && getOutputFormat(arguments.output) == OutputFormat::PTX))
    return success();
  return emitError() << "expects an output that ends in .ptx for --emit-launch-json, but got '"
                     << (arguments.stopAfter.empty() ? arguments.output : arguments.stopAfter)
                     << "'";
}

/// Fails if IR, which --stop-after prints, would get the name of a file of another format.
static LogicalResult checkTextOutput(const Arguments &arguments, EmitErrorFn emitError) {
  if (arguments.stopAfter.empty() || !getOutputFormat(arguments.output))
    return success();
  return emitError() << "expects a file for IR with --stop-after=" << arguments.stopAfter
                     << ", like 'x.mlir', but got '" << arguments.output << "'";
}

/// Returns the file of a path, however its directories are written; nothing for a stream.
static std::string getOutputPlace(StringRef path) {
  if (path.empty() || path == "-")
    return "";
  SmallString<128> place(path);
  if (!llvm::sys::fs::make_absolute(place))
    llvm::sys::path::remove_dots(place, /*remove_dot_dot=*/true);
  return place.str().str();
}

/// Fails if an output would replace another one.
static LogicalResult checkDistinctOutputs(const Arguments &arguments, EmitErrorFn emitError) {
  llvm::StringMap<StringRef> options;
  for (const cl::opt<std::string> *option :
       {&arguments.output, &arguments.header, &arguments.launchJson}) {
    std::string place = getOutputPlace(*option);
    if (place.empty())
      continue;
    auto [other, isNew] = options.try_emplace(place, option->ArgStr);
    if (!isNew)
      return emitError() << "expects a file of its own for each output, but got '" << *option
                         << "' for both " << other->second << " and " << option->ArgStr;
  }
  return success();
}

/// Fails for options that need the functions of the source, which IR after the stage `llvm` lacks.
static LogicalResult checkLLVMOptions(const Arguments &arguments, EmitErrorFn emitError) {
  for (const cl::opt<std::string> *option :
       {&arguments.function, &arguments.header, &arguments.symbolPrefix})
    if (!option->empty())
      return emitError() << "expects no --" << option->ArgStr
                         << " for IR after the stage 'llvm', but got '" << *option << "'";
  return success();
}

static LogicalResult run(const Arguments &arguments, llvm::SourceMgr &sourceMgr,
                         MLIRContext &context) {
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  CompileOptions options;
  FailureOr<::blocksparse::Target> target = parseTarget(arguments.target, emitError);
  if (failed(target))
    return failure();
  options.target = *target;
  options.gpu.ptxVersion = arguments.ptxVersion;
  options.gpu.cubin = arguments.cubin;
  FailureOr<std::optional<bool>> checkIndices = arguments.checkIndices.get(emitError);
  if (failed(checkIndices))
    return failure();
  options.checkIndices = *checkIndices;
  options.tuningDatabase = arguments.tuningDatabase;
  options.gpu.optLevel = arguments.optLevel;
  options.cpu = {arguments.cpu, arguments.features, arguments.optLevel};
  options.configurePasses = [](PassManager &pm) {
    if (failed(applyPassManagerCLOptions(pm)))
      return failure();
    applyDefaultTimingPassManagerCLOptions(pm);
    return success();
  };
  if (!arguments.stopAfter.empty()) {
    FailureOr<Stage> stage = parseStage(arguments.stopAfter, emitError);
    if (failed(stage))
      return failure();
    options.stopAfter = *stage;
  }
  if (!arguments.startAfter.empty()) {
    FailureOr<Stage> stage = parseStartStage(arguments.startAfter, emitError);
    if (failed(stage))
      return failure();
    options.startAfter = *stage;
  }
  // Check the target before any work, so that a mistyped processor is reported at once.
  if (failed(checkTarget(options, emitError)))
    return failure();
  if (failed(checkLaunchJson(arguments, emitError)) ||
      failed(checkTextOutput(arguments, emitError)) ||
      failed(checkDistinctOutputs(arguments, emitError)) ||
      failed(checkOutput(arguments.launchJson, emitError)) ||
      failed(checkOutput(arguments.output, emitError)) ||
      failed(checkOutput(arguments.header, emitError)))
    return failure();
  if (options.startAfter == Stage::LLVM && failed(checkLLVMOptions(arguments, emitError)))
    return failure();
  FailureOr<Program> program =
      parseProgram(arguments.input, sourceMgr, context, options.startAfter);
  if (failed(program) ||
      (arguments.function.getNumOccurrences() &&
       failed(keepFunctions(*program, arguments.function))) ||
      failed(nameEntryPoints(*program, arguments.symbolPrefix)))
    return failure();
  std::string header;
  llvm::raw_string_ostream stream(header);
  StringRef guard = llvm::sys::path::filename(arguments.header);
  if (!arguments.header.empty() &&
      failed(emitCHeader(program->signatures, guard, stream, emitError, options.target.usesDevice(),
                         program->getExternals())))
    return failure();
  if (failed(emit(*program, options, arguments, emitError)))
    return failure();
  return arguments.header.empty() ? success() : writeOutput(arguments.header, header, emitError);
}

int mlir::blocksparse::compileMain(int argc, char **argv) {
  CommandLineTool tool(argc, argv);
  Arguments arguments;
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  tool.parseOptions(category, "Compiles block-sparse programs.\n");
  if (arguments.printPatterns) {
    llvm::outs() << ::blocksparse::describePatterns();
    return succeeded(flushStandardOutput()) ? 0 : 1;
  }
  return tool.run([&](llvm::SourceMgr &sourceMgr, MLIRContext &context) {
    return run(arguments, sourceMgr, context);
  });
}
