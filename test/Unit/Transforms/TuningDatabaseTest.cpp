// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/TuningDatabase.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockLayout;
using ::blocksparse::TargetInfo;

namespace {

TuningEntry entry(double milliseconds, StringRef tool = "tool 1") {
  return {llvm::formatv("#blocksparse.schedule<k{0}>", milliseconds), milliseconds, tool.str(),
          "2026-01-31"};
}

TEST(TuningDatabase, TextGivesTheSameEntries) {
  TuningDatabase database;
  database.insert("a \"key\"", entry(1.5));
  database.insert("b", entry(0.25));
  std::string error;
  std::optional<TuningDatabase> again = TuningDatabase::parse(database.print(), "here", error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(again->size(), 2u);
  ASSERT_TRUE(again->lookup("a \"key\""));
  EXPECT_EQ(*again->lookup("a \"key\""), entry(1.5));
  EXPECT_EQ(again->lookup("c"), nullptr);
}

TEST(TuningDatabase, FasterEntryOfTheSameToolStays) {
  TuningDatabase database;
  database.insert("key", entry(2));
  database.insert("key", entry(3));
  EXPECT_EQ(*database.lookup("key"), entry(2));
  database.insert("key", entry(1));
  EXPECT_EQ(*database.lookup("key"), entry(1));
  // The search was complete, whichever trial of it was the fastest.
  TuningEntry last = entry(5);
  last.complete = true;
  database.insert("key", last);
  last = entry(1);
  last.complete = true;
  EXPECT_EQ(*database.lookup("key"), last);
  // A time of another version's kernels says nothing about this one's.
  database.insert("key", entry(4, "tool 2"));
  EXPECT_EQ(*database.lookup("key"), entry(4, "tool 2"));
}

TEST(TuningDatabase, OtherFilesAreErrors) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"{", "no JSON"},
      {"[]", "JSON that is no object"},
      {"{}", "the format none"},
      {R"({"format": "other"})", "the format \"other\""},
      {R"({"format": "blocksparse-tuning", "version": 2})", "the version 2"},
      {R"({"format": "blocksparse-tuning", "version": 3})", "no entries"},
      {R"({"format": "blocksparse-tuning", "version": 3, "entries": {"k": {"milliseconds": 1}}})",
       "the entry 'k' without"},
      {R"({"format": "blocksparse-tuning", "version": 3,
           "entries": {"k": {"schedule": "s", "milliseconds": 0}}})",
       "the entry 'k' without"},
      {R"({"format": "blocksparse-tuning", "version": 3,
           "entries": {"k": {"schedule": "s", "milliseconds": 1e999}}})",
       "no JSON: expects a finite number at byte"},
      {R"({"format": "blocksparse-tuning", "version": 3, "entries": {"k": 1, "k"}})",
       "no JSON: expects ':' at byte"},
      {"{\"format\": \"\xff\"}", "no JSON: expects UTF-8 at byte 12"},
      {"{\"format\": \"\\x\"}", "no JSON: expects a string of valid characters at byte 11"},
      {"{} x", "no JSON: expects the end of the text at byte 3"},
      {"{\"format\": nul}", "no JSON: expects a"},
      {"\"", "no JSON: expects the end of the string at byte 0"},
      {"", "no JSON: expects a"},
  };
  for (auto [text, found] : cases) {
    std::string error;
    EXPECT_FALSE(TuningDatabase::parse(text, "file.json", error)) << text.str();
    EXPECT_NE(error.find("expects a tuning database"), std::string::npos) << error;
    EXPECT_NE(error.find("in 'file.json', but got " + found.str()), std::string::npos) << error;
  }
  std::string error;
  EXPECT_FALSE(TuningDatabase::load("/nowhere/file.json", error));
  EXPECT_NE(error.find("'/nowhere/file.json', but got: "), std::string::npos) << error;
}

TEST(TuningDatabase, DepthIsBounded) {
  for (const char *open : {"[", "{\"a\":", "[[], {\"b\": 1, \"c\": "}) {
    std::string text, error;
    for (int i = 0; i < 100000; ++i)
      text += open;
    EXPECT_FALSE(TuningDatabase::parse(text, "file.json", error));
    EXPECT_NE(error.find("no JSON: expects values nested at most 64 deep at byte "),
              std::string::npos)
        << error;
    EXPECT_FALSE(TuningDatabase::parse("{\"entries\": " + text, "file.json", error));
  }
}

TEST(TuningDatabase, OrderAndOtherMembersDoNotMatter) {
  std::string error;
  std::optional<TuningDatabase> database = TuningDatabase::parse(
      R"( {"other": [null, {"a": [1e3, -2.5, "\u00e9\n", true]}, {}, []], "version": 3, "entries":
        {"k\u0041\"": {"tool": "t", "milliseconds": 2, "date": null, "complete": true,
                        "more": {"schedule": "wrong"}, "schedule": "s"}, "empty": {"schedule": "e",
         "milliseconds": 1, "complete": "yes"}}, "format": "blocksparse-tuning"} )",
      "file.json", error);
  ASSERT_TRUE(database) << error;
  ASSERT_EQ(database->size(), 2u);
  ASSERT_TRUE(database->lookup("kA\""));
  EXPECT_EQ(*database->lookup("kA\""), (TuningEntry{"s", 2, "t", "", true}));
  EXPECT_FALSE(database->lookup("empty")->complete);
}

// A tree of the whole file would take a gigabyte, and the test then its time limit.
TEST(TuningDatabase, ManyEntriesAreReadInLinearTime) {
  TuningDatabase database;
  for (int i = 0; i < 200000; ++i)
    database.insert("key " + std::to_string(1000000 + i), entry(1.5));
  std::string error, text = database.print();
  std::optional<TuningDatabase> again = TuningDatabase::parse(text, "here", error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(again->size(), database.size());
  EXPECT_EQ(again->print(), text);
}

/// Provides a path in a directory that is removed with the test.
class TuningFile : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("blocksparse-tuning", directory));
    SmallString<128> file(directory);
    llvm::sys::path::append(file, "tuning.json");
    path = file.str().str();
  }
  void TearDown() override { llvm::sys::fs::remove_directories(directory); }

  /// Merges entries "<writer>-<i>", one at a time.
  bool write(int writer, int count) {
    for (int i = 0; i < count; ++i) {
      TuningDatabase database;
      database.insert(llvm::formatv("{0}-{1}", writer, i).str(), entry(1 + i));
      std::string error;
      if (!database.mergeInto(path, error))
        return false;
    }
    return true;
  }
  size_t countEntries() {
    std::string error;
    std::optional<TuningDatabase> database = TuningDatabase::load(path, error);
    EXPECT_TRUE(database) << error;
    return database ? database->size() : 0;
  }

  SmallString<128> directory;
  std::string path;
};

TEST_F(TuningFile, ThreadsLoseNothing) {
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int writer = 0; writer < 4; ++writer)
    threads.emplace_back([&, writer] { failures += !write(writer, 25); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(countEntries(), 100u);
}

TEST_F(TuningFile, ProcessesLoseNothing) {
  std::vector<pid_t> children;
  for (int writer = 0; writer < 4; ++writer) {
    pid_t child = fork();
    if (child == 0)
      _exit(write(writer, 25) ? 0 : 1);
    ASSERT_GT(child, 0);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(countEntries(), 100u);
}

TEST_F(TuningFile, OtherFileIsNotOverwritten) {
  {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << "a letter";
    ASSERT_FALSE(code);
  }
  TuningDatabase database;
  database.insert("key", entry(1));
  std::string error;
  EXPECT_FALSE(database.mergeInto(path, error));
  EXPECT_NE(error.find(path), std::string::npos) << error;
  uint64_t size = 0;
  ASSERT_FALSE(llvm::sys::fs::file_size(path, size));
  EXPECT_EQ(size, 8u);
  EXPECT_FALSE(TuningDatabase::checkPlace("/nowhere/tuning.json", error));
  EXPECT_EQ(error,
            "expects to write '/nowhere/tuning.json.lock', but got: No such file or directory");
  EXPECT_FALSE(database.mergeInto("/nowhere/tuning.json", error));
  EXPECT_NE(error.find("expects to write '/nowhere/tuning.json.lock', but got: "),
            std::string::npos)
      << error;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

TEST(LayoutHash, IsTheSameInEveryProcess) {
  std::string error;
  std::optional<BlockLayout> layout =
      BlockLayout::fromCsr({16, 16}, {1, 2, 3}, {0, 2, 3}, {2, 0, 1}, error);
  ASSERT_TRUE(layout) << error;
  EXPECT_EQ(hashLayout(*layout), 11765289855146290146u);
  // This is the same pattern with its columns in order.
  EXPECT_EQ(hashLayout(*layout),
            hashLayout(*BlockLayout::fromCsr({16, 16}, {1, 2, 3}, {0, 2, 3}, {0, 2, 1}, error)));
  for (std::optional<BlockLayout> other :
       {BlockLayout::fromCsr({16, 32}, {1, 2, 3}, {0, 2, 3}, {0, 2, 1}, error),
        BlockLayout::fromCsr({16, 16}, {1, 2, 4}, {0, 2, 3}, {0, 2, 1}, error),
        BlockLayout::fromCsr({16, 16}, {2, 1, 3}, {0, 2, 3}, {0, 2, 1}, error),
        BlockLayout::fromCsr({16, 16}, {1, 2, 3}, {0, 1, 3}, {0, 1, 2}, error),
        BlockLayout::fromCsr({16, 16}, {1, 2, 3}, {0, 2, 3}, {0, 2, 2}, error)}) {
    ASSERT_TRUE(other) << error;
    EXPECT_NE(hashLayout(*layout), hashLayout(*other));
  }
}

class TuningKey : public testing::Test {
protected:
  TuningKey() {
    context.loadDialect<BlockSparseDialect, func::FuncDialect>();
    context.allowUnregisteredDialects();
  }

  /// Returns the key of the operation with `attributes` on a 2 x 2 layout.
  std::string key(StringRef attributes, StringRef layout = "mask \"10/11\"", StringRef type = "f16",
                  int64_t n = 128, StringRef target = "cuda:sm_90a") {
    std::string text = llvm::formatv(R"(
      #l = #blocksparse.layout<16x16, grid 2x2, {1}>
      func.func @f(%a: tensor<32x32x{2}, #l>, %b: tensor<32x{3}x{2}>) -> tensor<32x{3}x{2}> {{
        %0 = blocksparse.dsd %a, %b {0}
          : (tensor<32x32x{2}, #l>, tensor<32x{3}x{2}>) -> tensor<32x{3}x{2}>
        return %0 : tensor<32x{3}x{2}>
      })",
                                     attributes, layout, type, n);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    std::string error, result;
    std::optional<TargetInfo> info = TargetInfo::parse(target.str(), error);
    EXPECT_TRUE(module && info) << text << error;
    if (module && info)
      module->walk([&](DSDOp op) { result = getTuningKey(op, *info); });
    return result;
  }

  MLIRContext context;
};

TEST_F(TuningKey, HoldsWhatChangesTheAnswer) {
  std::string plain = key("");
  EXPECT_EQ(plain,
            "blocksparse.dsd on cuda:sm_90a,workers=132: (tensor<32x32xf16><16x16, grid 1x2x2, "
            "3 blocks, rows of 1 to 2, 1683400330bc9fcd>, tensor<32x128xf16>) -> "
            "(tensor<32x128xf16>) {alpha = 1, precision = #blocksparse.precision<ieee>}");
  EXPECT_NE(plain, key("", "mask \"11/10\""));
  EXPECT_NE(plain, key("", "dense"));
  EXPECT_NE(plain, key("", "mask \"10/11\"", "bf16"));
  EXPECT_NE(plain, key("", "mask \"10/11\"", "f16", 64));
  EXPECT_NE(plain, key("", "mask \"10/11\"", "f16", 128, "cuda:sm_80"));
  EXPECT_NE(plain, key("", "mask \"10/11\"", "f16", 128, "cuda:sm_90a,workers=66"));
  EXPECT_NE(plain, key("{transpose_a}"));
}

// The key names the operands that are there, so that keys stay the same when an operation gets
// another optional operand.
TEST_F(TuningKey, NamesOptionalOperandsThatAreThere) {
  auto keyOf = [&](StringRef operands, StringRef types) {
    std::string text =
        (R"(func.func @f(%a: tensor<32x32xf32, #blocksparse.bsr<16x16>>,
        %b: tensor<32x8xf32>, %c: tensor<32x8xf32>, %s: tensor<f32>) -> tensor<32x8xf32> {
      %0 = blocksparse.dsd %a, %b )" +
         operands + " : (tensor<32x32xf32, #blocksparse.bsr<16x16>>, tensor<32x8xf32>" + types +
         ") -> tensor<32x8xf32>\n return %0 : tensor<32x8xf32>}")
            .str();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    std::string result, error;
    std::optional<TargetInfo> info = TargetInfo::parse("cpu", error);
    if (module && info)
      module->walk([&](DSDOp op) { result = getTuningKey(op, *info); });
    return result;
  };
  EXPECT_EQ(keyOf("", "").find(", operands"), std::string::npos);
  EXPECT_NE(keyOf("residual(%c)", ", tensor<32x8xf32>").find("), operands 1 1 0 1 -> "),
            std::string::npos);
  EXPECT_NE(keyOf("alpha(%s)", ", tensor<f32>").find("), operands 1 1 0 0 1 -> "),
            std::string::npos);
}

TEST_F(TuningKey, LeavesOutWhatDoesNot) {
  std::string plain = key("");
  EXPECT_EQ(plain, key("{schedule = #blocksparse.schedule<cuda.mma>}"));
  EXPECT_EQ(plain, key("{test.note = 1}"));
  // Another text of the same pattern gives the same key.
  EXPECT_EQ(plain, key("", "causal"));
}

} // namespace
