// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunKernel.h"

using namespace blocksparse::sim;

namespace {

const std::string header = ".version 8.0\n.target sm_90a\n.address_size 64\n";

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_EQ(parseModule(text, error), nullptr);
  return error;
}

/// Returns the error of a kernel with this body, whose first line is line 7.
std::string decodeError(const std::string &body) {
  RunKernel kernel(body);
  EXPECT_FALSE(kernel.run(std::vector<uint32_t>{}));
  return kernel.error;
}

TEST(SimulatorParser, ReadsDirectivesAndParameters) {
  std::string error;
  auto module = parseModule(header + ".extern .shared .align 1024 .b8 pool[];\n"
                                     ".visible .entry k(\n.param .u64 .ptr .align 1 a,\n"
                                     ".param .u8 b,\n.param .align 64 .b8 c[128]\n)\n"
                                     ".maxntid 256, 1, 1\n.minnctapersm 1\n{\nret;\n}\n",
                            error);
  ASSERT_TRUE(module) << error;
  EXPECT_EQ(module->majorVersion, 8);
  EXPECT_EQ(module->target.name(), "sm_90a");
  const Function &function = module->functions[0];
  EXPECT_EQ(function.maxThreads[0], 256u);
  EXPECT_EQ(function.parameterOffsets, (std::vector<uint64_t>{0, 8, 64}));
  EXPECT_EQ(function.parameterBytes, 192u);
  EXPECT_TRUE(function.variables[0].dynamic);
}

TEST(SimulatorParser, LabelsAndRegistersOfABlockAreItsOwn) {
  RunKernel kernel("{ .reg .pred q; setp.ne.b32 q, 1, 0; @q bra SKIP; trap; SKIP: }\n"
                   "{ .reg .pred q; setp.ne.b32 q, 1, 0; @!q bra SKIP; mov.b32 %r1, 7; SKIP: }\n"
                   "st.global.b32 [%out], %r1;");
  ASSERT_TRUE(kernel.run(std::vector<uint32_t>{})) << kernel.error;
  EXPECT_EQ(kernel.output<uint32_t>(0), 7u);
}

TEST(SimulatorParser, FaultsNameTheLine) {
  EXPECT_EQ(errorOf("\n.target sm_80"), "line 2: expects '.version', but got '.target'");
  EXPECT_EQ(errorOf(header + ".visible .entry k()\n{\nadd.s32 %r1, %r2, 1;\n}"),
            "line 6: expects a declared register, but got '%r1'");
  EXPECT_EQ(errorOf(header + ".visible .entry k()\n{\nbra nowhere;\n}"),
            "line 6: expects a label, register or variable, but got 'nowhere'");
  EXPECT_EQ(errorOf(header + ".visible .entry k()\n{\n"),
            "line 5: expects '}', but got the end of the text");
  std::string words = "add";
  for (int i = 0; i < 63; ++i)
    words += ".s32";
  EXPECT_EQ(errorOf(header + ".visible .entry k()\n{\n" + words + " %r1, %r2, 1;\n}"),
            "line 6: expects an instruction of at most 63 words, but got 64");
}

TEST(SimulatorParser, UnknownInstructionsAreErrors) {
  EXPECT_EQ(decodeError("tex.1d.v4.s32.s32 %r1, %r2;"),
            "kernel 'test', line 7: expects an instruction that is modelled, but got "
            "'tex.1d.v4.s32.s32'");
  // A modifier that nothing looks at would be ignored.
  EXPECT_EQ(decodeError("add.sat.s32 %r1, %r2, 1;"),
            "kernel 'test', line 7: expects modifiers that are modelled, but got 'add.sat.s32'");
  EXPECT_EQ(decodeError("add.s32 %r1, %d2, 1;"),
            "kernel 'test', line 7: expects a source register of 32 bits instead of 64, but got "
            "'add.s32'");
}

} // namespace
