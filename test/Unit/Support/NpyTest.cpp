// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/Npy.h"
#include "blocksparse/Support/RandomFill.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace blocksparse;

namespace {

class Npy : public testing::Test {
protected:
  void SetUp() override {
    path = (std::filesystem::temp_directory_path() /
            ("blocksparse-npy-" + std::to_string(getpid()) + ".npy"))
               .string();
  }
  void TearDown() override { std::filesystem::remove(path); }

  void writeBytes(const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }

  /// Writes a version 1 file with this dict and payload.
  void writeFile(const std::string &dict, const std::string &payload) {
    std::string header = dict + "\n";
    std::string length{static_cast<char>(header.size() & 255),
                       static_cast<char>(header.size() >> 8)};
    writeBytes(std::string("\x93NUMPY\x01\x00", 8) + length + header + payload);
  }

  std::string path, error;
};

TEST_F(Npy, RoundTripsEveryTypeAndRank) {
  for (ElementType type : allElementTypes)
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {5}, {3, 4}, {2, 0, 3}, {2, 3, 1, 2, 2}}) {
      HostTensor tensor = HostTensor::zeros(type, shape);
      fillTensor(tensor, FillKind::uniform, 1);
      ASSERT_TRUE(writeNpy(path, tensor, error)) << error;
      std::optional<HostTensor> back = readNpy(path, error, type);
      ASSERT_TRUE(back) << error;
      EXPECT_TRUE(bitwiseEqual(tensor, *back)) << tensor.describe();
    }
}

TEST_F(Npy, WritesViewsInRowMajorOrder) {
  HostTensor tensor = HostTensor::zeros(ElementType::f32, {3, 4});
  fillTensor(tensor, FillKind::arange);
  ASSERT_TRUE(writeNpy(path, tensor.transpose(0, 1), error));
  EXPECT_EQ(readNpy(path, error)->at({3, 1}), 7);
}

TEST_F(Npy, HeaderIsAlignedAndNumpyShaped) {
  ASSERT_TRUE(writeNpy(path, HostTensor::zeros(ElementType::bf16, {2, 3}), error));
  std::ifstream stream(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_EQ((bytes.size() - 12) % 64, 0u);
  EXPECT_NE(bytes.find("{'descr': '|V2', 'fortran_order': False, 'shape': "
                       "(2, 3, ), }"),
            std::string::npos);
}

TEST_F(Npy, OneByteFloatsFollowTheExpectation) {
  HostTensor tensor = HostTensor::of(ElementType::f8E5M2, {1}, {2});
  ASSERT_TRUE(writeNpy(path, tensor, error));
  EXPECT_EQ(readNpy(path, error)->type(), ElementType::f8E4M3FN);
  EXPECT_EQ(readNpy(path, error, ElementType::f8E5M2)->at({0}), 2);
}

TEST_F(Npy, ReadsWhatMlDtypesWrites) {
  std::string dict = "{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}";
  writeFile(dict, std::string("\x80\x3f", 2));
  EXPECT_EQ(readNpy(path, error)->type(), ElementType::bf16);
  EXPECT_EQ(readNpy(path, error)->at({0}), 1);
  writeFile(dict.replace(11, 3, "<V1"), "\x38");
  EXPECT_EQ(readNpy(path, error, ElementType::f8E4M3FN)->at({0}), 1);
  writeFile(dict.replace(11, 3, "<f1"), "\x3c");
  EXPECT_EQ(readNpy(path, error, ElementType::f8E5M2)->at({0}), 1);
}

TEST_F(Npy, ReadsFortranOrderAsAView) {
  writeFile("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3)}",
            std::string("\1\2\3\4\5\6", 6));
  std::optional<HostTensor> tensor = readNpy(path, error);
  ASSERT_TRUE(tensor) << error;
  EXPECT_EQ(formatShape(tensor->shape()), "[2, 3]");
  EXPECT_EQ(tensor->at({0, 0}), 1);
  EXPECT_EQ(tensor->at({1, 0}), 2);
  EXPECT_EQ(tensor->at({0, 1}), 3);
}

TEST_F(Npy, ReadsVersion2AndBooleans) {
  std::string header = "{\"shape\": (2L,), 'fortran_order': False, "
                       "'descr': '|b1', }\n";
  std::string length{static_cast<char>(header.size()), 0, 0, 0};
  writeBytes(std::string("\x93NUMPY\x02\x00", 8) + length + header + std::string("\0\1", 2));
  std::optional<HostTensor> tensor = readNpy(path, error);
  ASSERT_TRUE(tensor) << error;
  EXPECT_EQ(tensor->type(), ElementType::i8);
  EXPECT_EQ(tensor->at({1}), 1);
}

TEST_F(Npy, ErrorsNameFileExpectedAndGot) {
  EXPECT_FALSE(readNpy(path, error));
  EXPECT_EQ(error, path + ": expects a readable file, but got No such file or "
                          "directory");
  EXPECT_FALSE(readNpy("/tmp", error));
  EXPECT_NE(error.find("/tmp: expects a regular file"), std::string::npos);

  writeBytes("\x93NUM");
  EXPECT_FALSE(readNpy(path, error));
  EXPECT_EQ(error, path + ": expects 8 bytes of npy magic and version, but got 4");
  writeBytes("PK\x03\x04 a zip archive");
  EXPECT_FALSE(readNpy(path, error));
  EXPECT_EQ(error, path + ": expects a file that starts with \\x93NUMPY, but "
                          "got 'PK.. a'");
  writeBytes(std::string("\x93NUMPY\x09\x00\x10\x00", 10));
  EXPECT_FALSE(readNpy(path, error));
  EXPECT_EQ(error, path + ": expects npy version 1, 2 or 3, but got 9");
  writeBytes(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12));
  EXPECT_FALSE(readNpy(path, error));
  EXPECT_EQ(error, path + ": expects 2147483647 bytes of npy header, but got 0");
  writeFile("{'descr': '<f4', 'shape': (2,)}", "");
  EXPECT_FALSE(readNpy(path, error));
  EXPECT_NE(error.find("expects an npy header with descr, fortran_order and "
                       "shape, but got '{'descr': '<f4', 'shape': (2,)}.'"),
            std::string::npos)
      << error;
}

TEST_F(Npy, RejectsForeignTypesAndWrongSizes) {
  std::string dict = "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}";
  writeFile(dict, "12345678");
  EXPECT_FALSE(readNpy(path, error));
  EXPECT_NE(error.find("but got '>f4'"), std::string::npos);
  dict[11] = '<';
  for (const char *payload : {"1234567", "123456789"}) {
    writeFile(dict, payload);
    EXPECT_FALSE(readNpy(path, error));
    EXPECT_EQ(error, path + ": expects 8 bytes of data for f32[2], but got " +
                         std::to_string(std::string(payload).size()));
  }
  writeFile(dict, "12345678");
  EXPECT_FALSE(readNpy(path, error, ElementType::f16));
  EXPECT_EQ(error, path + ": expects f16, but got f32");
  writeFile("{'descr': '<f4', 'fortran_order': False, 'shape': "
            "(4611686018427387904, 4611686018427387904)}",
            "");
  EXPECT_FALSE(readNpy(path, error));
  EXPECT_NE(error.find("less than 2^63 bytes"), std::string::npos);
  writeFile("{'descr': '|i1', 'fortran_order': False, 'shape': "
            "(1,1,1,1,1,1)}",
            "1");
  EXPECT_FALSE(readNpy(path, error));
  EXPECT_EQ(error, path + ": expects rank at most 5, but got 6");
}

TEST_F(Npy, UnwritablePathIsAnError) {
  EXPECT_FALSE(writeNpy("/nonexistent/x.npy", HostTensor::zeros(ElementType::f32, {1}), error));
  EXPECT_EQ(error, "expects to write '/nonexistent/x.npy', but got: No such file or directory");
}

} // namespace
