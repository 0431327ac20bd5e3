// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Execution/RunCall.h"
#include "../Interpreter/RunReport.h"
#include "CommandLine.h"
#include "DeviceOptions.h"
#include "blocksparse/Bench/UsefulWork.h"
#include "blocksparse/Compiler/NumberOption.h"
#include "blocksparse/Compiler/Output.h"
#include "blocksparse/Drivers/Drivers.h"
#include "blocksparse/Execution/HostArguments.h"
#include "blocksparse/Execution/HostProgram.h"
#include "blocksparse/Support/MemoryErrors.h"
#include "blocksparse/Support/Npy.h"
#include "blocksparse/Support/OutputFile.h"
#include "blocksparse/Support/RandomFill.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <new>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("blocksparse-run options");

enum class CheckKind { None, Results, Each };

struct RunOptions {
  cl::opt<std::string> input{cl::Positional, cl::desc("<input.mlir>"), cl::init("-"),
                             cl::cat(category)};
  TuningDatabaseOption tuningDatabase{category};
  IndexCheckOptions checkIndices{category};
  cl::opt<std::string> function{"function", cl::desc("The functions to run"),
                                cl::value_desc("name,..."), cl::cat(category)};
  cl::opt<bool> allFunctions{"all-functions", cl::desc("Run every public function"),
                             cl::cat(category)};
  cl::list<std::string> inputs{"input",
                               cl::desc("A parameter, by name or number, from a .npy file"),
                               cl::value_desc("parameter=file"), cl::cat(category)};
  cl::list<std::string> args{"arg",
                             cl::desc("Fill of one parameter: a name as for --fill, or a "
                                      "number"),
                             cl::value_desc("parameter:fill"), cl::cat(category)};
  cl::list<std::string> shapes{"shape", cl::desc("Sizes where a type leaves some open"),
                               cl::value_desc("parameter=AxBx..."), cl::cat(category)};
  cl::opt<std::string> fill{"fill",
                            cl::desc("Fill of all parameters: uniform, integers, zeros, ones, "
                                     "arange, nan, keep, forbid or a number"),
                            cl::cat(category)};
  NumberOption<uint64_t> seed{"seed", InRange<uint64_t>{0, UINT64_MAX},
                              cl::desc("Seed of random inputs"), cl::init(0), cl::cat(category)};
  NumberOption<double> density{"density", InRange<double>{0, 1},
                               cl::desc("Share of stored blocks of random patterns"), cl::init(0.5),
                               cl::cat(category)};
  cl::opt<Placement> placement{
      "strided",
      cl::desc("Where inputs and results lie in memory"),
      cl::init(Placement::RowMajor),
      cl::ValueOptional,
      cl::values(clEnumValN(Placement::Strided, "", "every second element of every second row"),
                 clEnumValN(Placement::Strided, "elements", "the same"),
                 clEnumValN(Placement::PaddedRows, "rows", "contiguous rows with gaps between"),
                 clEnumValN(Placement::Transposed, "transposed", "last two axes exchanged"),
                 clEnumValN(Placement::RowMajor, "none", "row-major, the default")),
      cl::cat(category)};
  DeviceOptions device{category};
  cl::opt<std::string> target{
      "target",
      cl::desc(
          "What to make code for: cpu, cuda:<chip> or cuda:native, with ,key=value; by default "
          "what suits the device best"),
      cl::cat(category)};
  NumberOption<unsigned> ptxVersion{
      "ptx-version", InRange<unsigned>{0, 999},
      cl::desc("PTX version as 10 * major + minor; 0: the lowest that "
               "knows the chip"),
      cl::init(0), cl::cat(category)};
  cl::opt<CheckKind> check{
      "check",
      cl::desc("Compare with the reference"),
      cl::init(CheckKind::None),
      cl::ValueOptional,
      cl::values(clEnumValN(CheckKind::Results, "", "the results of the program"),
                 clEnumValN(CheckKind::Results, "results", "the same"),
                 clEnumValN(CheckKind::Each, "each",
                            "what every operation makes of what the program gave it"),
                 clEnumValN(CheckKind::None, "none", "nothing, the default")),
      cl::cat(category)};
  cl::opt<bool> repeatCheck{"repeat-check", cl::desc("Run twice; results must be equal bit by bit"),
                            cl::cat(category)};
  NumberOption<unsigned> time{"time",
                              InRange<unsigned>{0, 1000000},
                              OrWithout<unsigned>{10},
                              cl::desc("Measure; the median of N calls"),
                              cl::value_desc("N"),
                              cl::init(0),
                              cl::cat(category)};
  NumberOption<unsigned> threads{"threads", InRange<unsigned>{0, maxThreads},
                                 cl::desc("Number of threads; 0: OpenMP's default"), cl::init(0),
                                 cl::cat(category)};
  cl::opt<std::string> output{"output", cl::desc("Write the results there as .npy files"),
                              cl::value_desc("directory"), cl::cat(category)};
  cl::opt<bool> poison{"poison", cl::desc("NaN in results before a call and in padding of inputs"),
                       cl::init(true), cl::cat(category)};
  cl::list<std::string> libraries{"load-library",
                                  cl::desc("A library that defines functions which the program "
                                           "declares and calls"),
                                  cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> cpu{"cpu", cl::desc("Processor, as LLVM names it, or native"),
                           cl::init("native"), cl::cat(category)};
  cl::opt<std::string> features{"features", cl::desc("Processor features: +avx512f,-fma"),
                                cl::cat(category)};
};

/// Holds one function of the program and its data.
struct Run {
  func::FuncOp source;
  const FunctionSignature &signature;
  std::vector<HostTensor> arguments, results;
  /// Says whether the names of its files begin with its own, as other functions run beside it.
  bool isNamedInFiles;
};

} // namespace

/// Splits each text "key<separator>value" into the map. Fails with an error for a text without the
/// separator and for a key that occurs twice.
template <typename Value, typename Parse>
static LogicalResult parsePairs(ArrayRef<std::string> texts, char separator, StringRef option,
                                llvm::StringMap<Value> &map, Parse &&parse, EmitErrorFn emitError) {
  for (StringRef text : texts) {
    auto [key, value] = text.split(separator);
    std::optional<Value> parsed = parse(value);
    if (key.empty() || value.empty() || !parsed)
      return emitError() << "expects --" << option << " with parameter" << StringRef(&separator, 1)
                         << "value, but got '" << text << "'";
    if (!map.try_emplace(key, std::move(*parsed)).second)
      return emitError() << "expects one --" << option << " for each parameter, but got '" << key
                         << "' again";
  }
  return success();
}

static std::optional<std::vector<int64_t>> parseSizes(StringRef text) {
  SmallVector<StringRef> parts;
  std::vector<int64_t> sizes;
  text.split(parts, 'x');
  for (StringRef part : parts)
    if (part.getAsInteger(10, sizes.emplace_back()) || sizes.back() < 0)
      return std::nullopt;
  return sizes;
}

static FailureOr<ArgumentOptions> getArgumentOptions(const RunOptions &options,
                                                     EmitErrorFn emitError) {
  ArgumentOptions result;
  auto text = [](StringRef value) { return std::optional(value.str()); };
  if (failed(parsePairs(ArrayRef<std::string>(options.inputs), '=', "input", result.files, text,
                        emitError)) ||
      failed(parsePairs(ArrayRef<std::string>(options.args), ':', "arg", result.fills, text,
                        emitError)) ||
      failed(parsePairs(ArrayRef<std::string>(options.shapes), '=', "shape", result.shapes,
                        parseSizes, emitError)))
    return failure();
  result.fill = options.fill;
  result.seed = options.seed;
  result.density = options.density;
  result.placement = options.placement;
  result.poison = options.poison;
  return result;
}

/// Places the results in memory like the arguments, and fills them with NaN.
static LogicalResult placeResults(Run &run, const RunOptions &options) {
  for (HostTensor &result : run.results) {
    std::string error;
    std::optional<HostTensor> placed = placeTensor(result, options.placement, error);
    if (!placed)
      return run.source.emitError() << error;
    result = *placed;
    if (options.poison)
      ::blocksparse::fillTensor(result, ::blocksparse::FillKind::nan);
  }
  return success();
}

static LogicalResult reportTime(Run &run, RunCall &call, unsigned count, EmitErrorFn emitError) {
  FailureOr<double> milliseconds = call.measure(count, emitError);
  if (failed(milliseconds))
    return failure();
  llvm::outs() << llvm::format("  time %.4g ms (median of %u)", *milliseconds, count);
  std::optional<double> work = countUsefulOperations(run.source, run.signature, run.arguments);
  if (work && *work > 0)
    llvm::outs() << llvm::format(", %.4g GFLOP/s useful", *work / *milliseconds * 1e-6);
  llvm::outs() << "\n";
  return success();
}

/// Calls the program again with fresh memory and returns the number of results that differ. The
/// references, if given, tell which elements are unspecified.
static FailureOr<int> checkRepeat(Run &run, HostProgram &program, const RunOptions &options,
                                  const RunPlace &place, ArrayRef<ReferenceResult> references,
                                  EmitErrorFn emitError) {
  Run again = run;
  if (failed(placeResults(again, options)))
    return failure();
  FailureOr<RunCall> call =
      RunCall::create(place, program, run.signature, run.arguments, again.results, emitError);
  if (failed(call) || failed(call->run(emitError)))
    return failure();
  int failures = 0;
  for (auto [index, parameter] : llvm::enumerate(run.signature.results)) {
    HostTensor first = run.results[index], second = again.results[index];
    if (!references.empty()) {
      first = withoutUnspecified(first, references[index]);
      second = withoutUnspecified(second, references[index]);
    }
    bool equal = ::blocksparse::bitwiseEqual(first.contiguous(), second.contiguous());
    failures += !equal;
    llvm::outs() << "  " << parameter.name << " of a second call: "
                 << (equal ? "equal bit by bit  PASS\n" : "differs  FAIL\n");
  }
  return failures;
}

static LogicalResult writeResults(const Run &run, const RunOptions &options,
                                  EmitErrorFn emitError) {
  for (auto [index, result] : llvm::enumerate(run.results)) {
    SmallString<128> path(options.output);
    std::string name = "result" + llvm::utostr(index) + ".npy";
    if (run.isNamedInFiles)
      name = ::blocksparse::toFileName(run.signature.name) + "." + name;
    llvm::sys::path::append(path, name);
    std::string error;
    if (!::blocksparse::writeNpy(path.str().str(), result, error))
      return emitError() << error;
    llvm::outs() << "  wrote " << path << "\n";
  }
  return success();
}

/// Runs one function and returns the verdicts on its results.
static FailureOr<RunVerdicts> runFunction(Run &run, HostProgram &program,
                                          const ArgumentOptions &argumentOptions,
                                          const RunOptions &options, const RunPlace &place) {
  auto emitError = [&] { return run.source.emitError(); };
  FailureOr<std::vector<HostTensor>> arguments =
      makeArguments(run.source, run.signature, argumentOptions);
  if (failed(arguments))
    return failure();
  run.arguments = std::move(*arguments);
  // The reference runs before the call, because it also checks the data.
  FailureOr<std::vector<ReferenceResult>> references = std::vector<ReferenceResult>();
  bool isChecked = options.check != CheckKind::None, isExpected = hasExpectations(run.source);
  if (isExpected)
    references = interpretForExpectations(run.source, run.signature, run.arguments, isChecked);
  else if (isChecked)
    references = interpretWithReference(run.source, run.signature, run.arguments);
  if (failed(references))
    return failure();
  FailureOr<std::vector<HostTensor>> results =
      allocateResults(program, run.signature, run.arguments, emitError);
  if (failed(results))
    return failure();
  run.results = std::move(*results);
  if (failed(placeResults(run, options)))
    return failure();
  FailureOr<RunCall> call =
      RunCall::create(place, program, run.signature, run.arguments, run.results, emitError);
  if (failed(call) || failed(call->run(emitError)))
    return failure();

  if (options.check == CheckKind::Each && !references->empty())
    references = interpretEachWithReference(run.source, run.signature, run.arguments, run.results);
  if (failed(references))
    return failure();
  FailureOr<RunVerdicts> verdicts = reportComparisons(run.source, run.signature, run.arguments,
                                                      run.results, *references, isChecked);
  if (failed(verdicts))
    return failure();
  if (options.repeatCheck) {
    FailureOr<int> repeated = checkRepeat(run, program, options, place, *references, emitError);
    if (failed(repeated))
      return failure();
    *verdicts += {*repeated, 0, int(run.results.size())};
  }
  if (!options.output.empty() && failed(writeResults(run, options, emitError)))
    return failure();
  if (options.time && failed(reportTime(run, *call, options.time, emitError)))
    return failure();
  return verdicts;
}

static LogicalResult loadLibraries(const RunOptions &options, EmitErrorFn emitError) {
  for (const std::string &path : options.libraries) {
    std::string message;
    if (llvm::sys::DynamicLibrary::LoadLibraryPermanently(path.c_str(), &message))
      return emitError() << "expects a library to load, but got: " << message;
  }
  return success();
}

static FailureOr<HostProgram> compileProgram(ModuleOp source, const RunOptions &options,
                                             const RunPlace &place) {
  OwningOpRef<ModuleOp> module = source.clone();
  dropRunAttributes(*module);
  CompileOptions compileOptions;
  compileOptions.target = place.target;
  compileOptions.cpu = {options.cpu, options.features};
  compileOptions.gpu.ptxVersion = options.ptxVersion;
  FailureOr<std::optional<bool>> checkIndices =
      options.checkIndices.get([&] { return source.emitError(); });
  if (failed(checkIndices))
    return failure();
  compileOptions.checkIndices = *checkIndices;
  compileOptions.tuningDatabase = options.tuningDatabase;
  return HostProgram::create(*module, compileOptions);
}

static LogicalResult selectFunctions(Program &program, const RunOptions &options,
                                     EmitErrorFn emitError) {
  const bool isNamed = options.function.getNumOccurrences() > 0;
  if (isNamed && options.allFunctions)
    return emitError() << "expects one of --function and --all-functions, but got both";
  if (isNamed)
    return keepFunctions(program, options.function);
  if (program.signatures.size() == 1 || (options.allFunctions && !program.signatures.empty()))
    return success();
  return emitError() << "expects a module with one public function, or --function or "
                        "--all-functions, but got "
                     << program.signatures.size();
}

static LogicalResult runProgram(const RunOptions &options, llvm::SourceMgr &sourceMgr,
                                MLIRContext &context) {
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  FailureOr<RunPlace> place =
      RunPlace::get(options.device.device, options.target, emitError, options.device.simulator());
  if (failed(place))
    return failure();
  FailureOr<ArgumentOptions> argumentOptions = getArgumentOptions(options, emitError);
  if (failed(argumentOptions))
    return failure();
  FailureOr<Program> program = parseProgram(options.input, sourceMgr, context);
  if (failed(program) || failed(selectFunctions(*program, options, emitError)) ||
      (options.check == CheckKind::Each && failed(returnEveryResult(*program))) ||
      failed(checkOutput(options.device.simReport, emitError)) ||
      (!options.output.empty() &&
       failed(makeOutputDirectory(options.output, "result0.npy", emitError))))
    return failure();
  if (failed(loadLibraries(options, emitError)))
    return failure();
  FailureOr<HostProgram> host = compileProgram(*program->module, options, *place);
  if (failed(host))
    return failure();
  if (options.threads)
    host->getJIT().setThreads(options.threads);
  int threads = host->getJIT().getThreads();

  RunVerdicts verdicts;
  int errors = 0;
  for (const FunctionSignature &signature : program->signatures) {
    llvm::outs() << "@" << signature.name << " on ";
    if (place->device)
      llvm::outs() << place->device->name << ", " << place->target.describe() << "\n";
    else
      llvm::outs() << "the cpu, " << threads << (threads == 1 ? " thread\n" : " threads\n");
    Run run{program->module->lookupSymbol<func::FuncOp>(signature.name),
            signature,
            {},
            {},
            options.allFunctions || program->signatures.size() > 1};
    FailureOr<RunVerdicts> result = failure();
    auto runOne = [&] { result = runFunction(run, *host, *argumentOptions, options, *place); };
    if (std::string error; !::blocksparse::catchMemoryErrors(runOne, error))
      run.source.emitError() << error;
    errors += failed(result);
    if (succeeded(result))
      verdicts += *result;
  }
  if (options.check != CheckKind::None || options.repeatCheck || verdicts.comparisons)
    llvm::outs() << (errors && !verdicts.failures ? "ERROR" : verdicts.describe()) << "\n";
  return success(verdicts.failures == 0 && verdicts.inconclusive == 0 && errors == 0);
}

int mlir::blocksparse::runMain(int argc, char **argv) {
  CommandLineTool tool(argc, argv);
  // The new-handler of InitLLVM would abort when a tensor tests whether there is enough memory.
  std::set_new_handler(nullptr);
  RunOptions options;
  tool.parseOptions(category, "Runs functions of block-sparse programs.\n");
  return tool.run([&](llvm::SourceMgr &sourceMgr, MLIRContext &context) {
    return runProgram(options, sourceMgr, context);
  });
}
