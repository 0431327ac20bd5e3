// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuntimeFixture.h"

#include "PtxText.h"

using namespace blocksparse::rt;

namespace {

TEST(PtxTextTest, ReadsTheFirstDirective) {
  EXPECT_EQ(ptxVersionOf(".version 8.0\n.target sm_90a\n"), 80);
  EXPECT_EQ(ptxVersionOf("//\n// LLVM\n//\n\n.version 7.8\n"), 78);
  EXPECT_EQ(ptxVersionOf("/* a .version 1.0 */\t.version\t12.1"), 121);
  EXPECT_EQ(ptxVersionOf(""), std::nullopt);
  EXPECT_EQ(ptxVersionOf("// .version 8.0"), std::nullopt);
  EXPECT_EQ(ptxVersionOf("/* .version 8.0"), std::nullopt);
  EXPECT_EQ(ptxVersionOf(".version x.y"), std::nullopt);
  EXPECT_EQ(ptxVersionOf(".version 8"), std::nullopt);
  EXPECT_EQ(ptxVersionOf(".target sm_80"), std::nullopt);
  EXPECT_EQ(ptxTargetOf(".version 8.0\n.target sm_90a, texmode_unified\n"), "sm_90a");
  EXPECT_EQ(ptxTargetOf(".version 8.0\n"), "");
}

TEST(PtxTextTest, CountsParameters) {
  EXPECT_EQ(ptxParameterCount(scalePtx, "scale"), 4);
  EXPECT_EQ(ptxParameterCount(scalePtx, "scal"), -1);
  EXPECT_EQ(ptxParameterCount(scalePtx, "scale2"), -1);
  EXPECT_EQ(ptxParameterCount(scalePtx, ""), -1);
  std::string text = ".visible .entry a_b(\n\t.param .u64 .ptr .align 1 a_b_param_0,\n"
                     "\t.param .align 64 .b8 a_b_param_1[128]\n)\n.maxntid 128\n{ ret; }\n"
                     ".entry /* none */ a ()\n{ ret; } .entry b\n{ ret; } .entry c";
  EXPECT_EQ(ptxParameterCount(text, "a_b"), 2);
  EXPECT_EQ(ptxParameterCount(text, "a"), 0);
  EXPECT_EQ(ptxParameterCount(text, "b"), 0);
  EXPECT_EQ(ptxParameterCount(text, "c"), 0);
}

TEST(PtxTextTest, NewestOfADriver) {
  EXPECT_EQ(newestPtxVersion(12040), 84);
  EXPECT_EQ(newestPtxVersion(12060), 85);
  EXPECT_EQ(newestPtxVersion(12081), 87);
  EXPECT_EQ(newestPtxVersion(13000), 90);
  EXPECT_EQ(newestPtxVersion(10020), 0);
  EXPECT_GE(newestPtxVersion(99000), 91);
}

class ModuleTest : public RuntimeTest {
protected:
  blocksparseRtStatus load(const std::string &text, blocksparseRtModule *module) {
    return blocksparseRtModuleLoadPtx(device, text.data(), text.size(), 4, module);
  }
};

TEST_F(ModuleTest, EqualTextIsLoadedOnce) {
  int live = fake.liveModules();
  blocksparseRtModule first = nullptr, second = nullptr, other = nullptr, withNul = nullptr;
  ASSERT_OK(load(scalePtx, &first));
  ASSERT_OK(load(std::string(scalePtx), &second));
  ASSERT_OK(blocksparseRtModuleLoadPtx(device, scalePtx.c_str(), scalePtx.size() + 1, 4, &withNul));
  ASSERT_OK(load(scalePtx + "\n", &other));
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, withNul);
  EXPECT_NE(first, other);
  EXPECT_EQ(fake.calls("cuModuleLoadDataEx"), 2);
  EXPECT_OK(blocksparseRtModuleUnload(first));
  EXPECT_OK(blocksparseRtModuleUnload(second));
  EXPECT_EQ(fake.calls("cuModuleUnload"), 0);
  EXPECT_OK(blocksparseRtModuleUnload(withNul));
  EXPECT_OK(blocksparseRtModuleUnload(other));
  EXPECT_EQ(fake.calls("cuModuleUnload"), 2);
  EXPECT_EQ(fake.liveModules(), live);
  EXPECT_OK(blocksparseRtModuleUnload(nullptr));
}

TEST_F(ModuleTest, LevelAndDeviceArePartOfTheKey) {
  blocksparseRtDevice second = nullptr;
  ASSERT_OK(blocksparseRtDeviceGet(1, &second));
  blocksparseRtModule a = nullptr, b = nullptr, c = nullptr;
  ASSERT_OK(blocksparseRtModuleLoadPtx(device, scalePtx.data(), scalePtx.size(), 4, &a));
  ASSERT_OK(blocksparseRtModuleLoadPtx(device, scalePtx.data(), scalePtx.size(), 0, &b));
  ASSERT_OK(blocksparseRtModuleLoadPtx(second, scalePtx.data(), scalePtx.size(), 4, &c));
  EXPECT_EQ(fake.calls("cuModuleLoadDataEx"), 3);
  for (blocksparseRtModule module : {a, b, c})
    EXPECT_OK(blocksparseRtModuleUnload(module));
  EXPECT_FAILS(blocksparseRtModuleLoadPtx(device, scalePtx.data(), scalePtx.size(), 5, &a),
               BLOCKSPARSE_RT_INVALID_ARGUMENT, "expects a JIT level from 0 to 4, but got 5");
}

TEST_F(ModuleTest, PtxNewerThanTheDriver) {
  std::string text = scalePtx;
  text.replace(text.find("7.0"), 3, "9.9");
  blocksparseRtModule module = nullptr;
  EXPECT_FAILS(load(text, &module), BLOCKSPARSE_RT_PTX_TOO_NEW,
               "expects PTX of version 8.7 or older for the driver's CUDA 12.8, but got PTX "
               "version 9.9");
  EXPECT_EQ(module, nullptr);
}

TEST_F(ModuleTest, CompilerLogIsInTheText) {
  blocksparseRtModule module = nullptr;
  EXPECT_FAILS(load(scalePtx + "syntax error", &module), BLOCKSPARSE_RT_COMPILE_FAILED,
               "Parsing error near 'syntax'");
  EXPECT_NE(lastError().find("CUDA_ERROR_INVALID_PTX (218)"), std::string::npos);
  EXPECT_NE(lastError().find("compute capability 9.0, PTX for target 'sm_80'"), std::string::npos);
  // A failed load leaves nothing behind, and the next one tries again.
  fake.fail("cuModuleLoadDataEx", 1, 2);
  EXPECT_FAILS(load(scalePtx, &module), BLOCKSPARSE_RT_OUT_OF_MEMORY, "cuModuleLoadDataEx");
  EXPECT_OK(load(scalePtx, &module));
  EXPECT_OK(blocksparseRtModuleUnload(module));
}

TEST_F(ModuleTest, NoPtx) {
  blocksparseRtModule module = nullptr;
  EXPECT_FAILS(load("ELF", &module), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "expects PTX text that begins with '.version', but got 'ELF'");
  EXPECT_FAILS(load("", &module), BLOCKSPARSE_RT_INVALID_ARGUMENT, "but got ''");
}

TEST_F(ModuleTest, Binaries) {
  std::string cubin("\x7f"
                    "ELF fake");
  blocksparseRtModule module = nullptr;
  blocksparseRtFunction scale = nullptr;
  ASSERT_OK(blocksparseRtModuleLoadBinary(device, cubin.data(), cubin.size(), &module));
  EXPECT_OK(blocksparseRtModuleGetFunction(module, "scale", &scale));
  blocksparseRtFunctionInfo info;
  EXPECT_OK(blocksparseRtFunctionGetInfo(scale, &info));
  EXPECT_EQ(info.argCount, 4);
  EXPECT_OK(blocksparseRtModuleUnload(module));
  EXPECT_FAILS(blocksparseRtModuleLoadBinary(device, "MZ", 2, &module),
               BLOCKSPARSE_RT_INVALID_ARGUMENT, "but got 2 bytes that begin with 4d5a0000");
}

TEST_F(ModuleTest, Functions) {
  blocksparseRtModule module = nullptr;
  blocksparseRtFunction scale = nullptr, again = nullptr, none = nullptr;
  ASSERT_OK(load(scalePtx, &module));
  ASSERT_OK(blocksparseRtModuleGetFunction(module, "scale", &scale));
  ASSERT_OK(blocksparseRtModuleGetFunction(module, "scale", &again));
  EXPECT_EQ(scale, again);
  EXPECT_EQ(fake.calls("cuModuleGetFunction"), 1);
  EXPECT_FAILS(blocksparseRtModuleGetFunction(module, "absent", &none), BLOCKSPARSE_RT_NOT_FOUND,
               "kernel 'absent': cuModuleGetFunction failed with CUDA_ERROR_NOT_FOUND (500)");
  EXPECT_EQ(none, nullptr);
  blocksparseRtFunctionInfo info;
  ASSERT_OK(blocksparseRtFunctionGetInfo(scale, &info));
  EXPECT_EQ(info.registers, 32);
  EXPECT_EQ(info.maxThreads, 1024);
  EXPECT_EQ(info.argCount, 4);
  EXPECT_EQ(info.maxDynamicSharedBytes, 48 * 1024);
  fake.fail("cuFuncGetAttribute", 3, 1);
  EXPECT_OK(blocksparseRtModuleUnload(module));
  ASSERT_OK(load(scalePtx, &module));
  EXPECT_FAILS(blocksparseRtModuleGetFunction(module, "scale", &scale), BLOCKSPARSE_RT_DRIVER_ERROR,
               "kernel 'scale': cuFuncGetAttribute failed");
  EXPECT_OK(blocksparseRtModuleUnload(module));
}

TEST_F(ModuleTest, SharedMemoryLimitComesBeforeTheDriver) {
  blocksparseRtModule module = nullptr;
  blocksparseRtFunction heavy = nullptr;
  ASSERT_OK(load(".version 7.0\n.target sm_80\n.entry heavy() { ret; }", &module));
  ASSERT_OK(blocksparseRtModuleGetFunction(module, "heavy", &heavy));
  EXPECT_FAILS(blocksparseRtFunctionSetMaxDynamicShared(heavy, 232448),
               BLOCKSPARSE_RT_SHARED_MEMORY_LIMIT,
               "kernel 'heavy' expects at most 232448 bytes of shared memory per block on device "
               "0 (Fake H100), but got 233472: 1024 static and 232448 dynamic");
  EXPECT_FAILS(blocksparseRtFunctionSetMaxDynamicShared(heavy, -1), BLOCKSPARSE_RT_INVALID_ARGUMENT,
               "no less than 0 bytes");
  EXPECT_EQ(fake.calls("cuFuncSetAttribute"), 0);
  EXPECT_OK(blocksparseRtFunctionSetMaxDynamicShared(heavy, 231424));
  EXPECT_OK(blocksparseRtFunctionSetMaxDynamicShared(heavy, 231424));
  EXPECT_EQ(fake.calls("cuFuncSetAttribute"), 1);
  fake.fail("cuFuncSetAttribute", 1, 1);
  EXPECT_FAILS(blocksparseRtFunctionSetMaxDynamicShared(heavy, 4096), BLOCKSPARSE_RT_DRIVER_ERROR,
               "kernel 'heavy' with 4096 bytes of dynamic shared memory");
  EXPECT_OK(blocksparseRtModuleUnload(module));
}

} // namespace
