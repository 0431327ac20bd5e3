// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/OutputFile.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace blocksparse;
namespace fs = std::filesystem;

namespace {

/// Provides an empty directory, which is removed with the test.
class Output : public testing::Test {
protected:
  void SetUp() override {
    directory = fs::temp_directory_path() / ("blocksparse-output-" + std::to_string(::getpid()));
    fs::create_directories(directory);
    path = directory / "x.json";
  }
  void TearDown() override {
    fs::permissions(directory, fs::perms::owner_all);
    fs::remove_all(directory);
  }

  static std::string read(const fs::path &file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void put(const fs::path &file, const std::string &text) { std::ofstream(file) << text; }
  size_t countFiles() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory), {}));
  }

  fs::path directory, path;
  std::string error;
};

TEST_F(Output, ReplacesTheWholeFile) {
  put(path, "the old version, which is longer");
  std::optional<OutputFile> file = OutputFile::create(path, error);
  ASSERT_TRUE(file) << error;
  file->write("new ");
  file->write("version");
  EXPECT_EQ(read(path), "the old version, which is longer");
  EXPECT_TRUE(file->commit(error)) << error;
  EXPECT_EQ(read(path), "new version");
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(Output, LeavesNothingWithoutCommit) {
  std::optional<OutputFile> file = OutputFile::create(path, error);
  ASSERT_TRUE(file) << error;
  file->write("half");
  EXPECT_EQ(countFiles(), 1u);
  file.reset();
  EXPECT_EQ(countFiles(), 0u);
}

TEST_F(Output, TakesWhatAnotherProgramMadeUnderTheTemporaryName) {
  std::optional<OutputFile> file = OutputFile::create(path, error);
  ASSERT_TRUE(file) << error;
  fs::remove(file->temporaryPath());
  put(file->temporaryPath(), "linked");
  EXPECT_TRUE(file->commit(error)) << error;
  EXPECT_EQ(read(path), "linked");
  // A program that removes its output when it fails leaves nothing to commit.
  std::optional<OutputFile> other = OutputFile::create(path, error);
  ASSERT_TRUE(other) << error;
  fs::remove(other->temporaryPath());
  EXPECT_FALSE(other->commit(error));
  EXPECT_EQ(read(path), "linked");
}

TEST_F(Output, TemporaryNamesAreNoOptions) {
  fs::path before = fs::current_path();
  fs::current_path(directory);
  for (const char *name : {"@x.so", "-x.so", "x.so"}) {
    std::optional<OutputFile> file = OutputFile::create(name, error);
    ASSERT_TRUE(file) << error;
    EXPECT_EQ(file->temporaryPath().substr(0, 2), "./");
  }
  std::optional<OutputFile> file = OutputFile::create(std::string(255, 'x'), error);
  EXPECT_TRUE(file) << error;
  fs::current_path(before);
}

TEST_F(Output, KeepsModeBits) {
  for (mode_t mode : {0600u, 0755u, 0664u}) {
    put(path, "old");
    ::chmod(path.c_str(), mode);
    EXPECT_TRUE(writeOutputFile(path, "new", error)) << error;
    struct stat status;
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, mode);
  }
}

TEST_F(Output, GivesANewFileTheModeOfAnyFile) {
  put(directory / "other", "");
  EXPECT_TRUE(writeOutputFile(path, "new", error)) << error;
  EXPECT_EQ(fs::status(path).permissions(), fs::status(directory / "other").permissions());
}

TEST_F(Output, KeepsLinks) {
  fs::create_directory(directory / "far");
  fs::create_symlink("far/near", path);
  fs::create_symlink("target", directory / "far" / "near");
  for (const char *text : {"made", "changed"}) {
    EXPECT_TRUE(writeOutputFile(path, text, error)) << error;
    EXPECT_TRUE(fs::is_symlink(path));
    EXPECT_TRUE(fs::is_symlink(directory / "far" / "near"));
    EXPECT_EQ(read(directory / "far" / "target"), text);
  }
  fs::create_symlink("loop", directory / "loop");
  EXPECT_FALSE(writeOutputFile(directory / "loop", "x", error));
  EXPECT_NE(error.find("loop', but got: "), std::string::npos) << error;
}

TEST_F(Output, FullDisksAreErrors) {
  EXPECT_TRUE(checkOutputFile("/dev/full", error)) << error;
  EXPECT_FALSE(writeOutputFile("/dev/full", "text", error));
  EXPECT_EQ(error, "expects to write '/dev/full', but got: No space left on device");
  EXPECT_TRUE(writeOutputFile("/dev/null", "text", error)) << error;

  put(path, "old");
  struct rlimit old;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  struct rlimit limit = {1000, old.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  bool written = writeOutputFile(path, std::string(2000, 'x'), error);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(written);
  EXPECT_EQ(error, "expects to write '" + path.string() + "', but got: File too large");
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(Output, PlacesThatCannotBeWrittenAreErrorsAtOnce) {
  const std::pair<std::string, std::string> cases[] = {
      {directory / "none" / "x", "No such file or directory"},
      {directory, "Is a directory"},
      {directory.string() + "/none/", "No such file or directory"},
      {"", "No such file or directory"},
      {directory / std::string(256, 'x'), "File name too long"},
      {"/proc/none", "No such file or directory"},
  };
  for (const auto &[place, reason] : cases) {
    EXPECT_FALSE(checkOutputFile(place, error)) << place;
    EXPECT_EQ(error, "expects to write '" + place + "', but got: " + reason);
    EXPECT_FALSE(OutputFile::create(place, error)) << place;
  }
  EXPECT_TRUE(checkOutputFile(path, error)) << error;
  EXPECT_EQ(countFiles(), 0u);
}

TEST_F(Output, ManyWritersOfOneFileAllSucceed) {
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 24; ++i)
    threads.emplace_back([&, i] {
      std::string mine;
      failures += !writeOutputFile(path, std::string(100000, static_cast<char>('a' + i)), mine);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  std::string text = read(path);
  EXPECT_EQ(text, std::string(100000, text.empty() ? '?' : text.front()));
  EXPECT_EQ(countFiles(), 1u);
}

TEST(FileName, HasNoSeparator) {
  EXPECT_EQ(toFileName("linear_2"), "linear_2");
  EXPECT_EQ(toFileName("a.b"), "a.b");
  EXPECT_EQ(toFileName("../../escaped"), "%2e.%2f..%2fescaped");
  EXPECT_EQ(toFileName("a b"), "a%20b");
  EXPECT_EQ(toFileName("a%20b"), "a%2520b");
  EXPECT_EQ(toFileName(std::string_view("\0\xff", 2)), "%00%ff");
}

TEST_F(Output, AppendsWhatSeveralThreadsWrite) {
  put(path, "first\n");
  const std::string line(100000, 'x');
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      std::string failure;
      EXPECT_TRUE(appendOutputFile(path, std::to_string(i) + line + "\n", failure)) << failure;
    });
  for (std::thread &thread : threads)
    thread.join();
  std::ifstream stream(path);
  std::string text;
  std::getline(stream, text);
  EXPECT_EQ(text, "first");
  int lines = 0;
  for (; std::getline(stream, text); ++lines)
    EXPECT_EQ(text.substr(1), line);
  EXPECT_EQ(lines, 8);
}

TEST_F(Output, AppendingToAFullDiskKeepsTheFile) {
  put(path, "first\n");
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 1000;
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  const bool isWritten = appendOutputFile(path, std::string(5000, 'x'), error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(isWritten);
  EXPECT_EQ(error, "expects to write '" + path.string() + "', but got: File too large");
  EXPECT_EQ(read(path), "first\n");
  EXPECT_FALSE(appendOutputFile(directory / "none" / "x", "y", error));
  EXPECT_EQ(error, "expects to write '" + (directory / "none" / "x").string() +
                       "', but got: No such file or directory");
}

} // namespace
