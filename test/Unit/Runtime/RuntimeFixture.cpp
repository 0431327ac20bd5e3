// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuntimeFixture.h"

#include <cstdlib>
#include <dlfcn.h>
#include <type_traits>

const std::string scalePtx = R"(//
// A kernel for the runtime's tests.
//
.version 7.0
.target sm_80
.address_size 64

.visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 factor, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1;
  @%p bra done;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.u32 %rd5, %r2, 4;
  add.s64 %rd6, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6];
  mul.f32 %f3, %f1, %f2;
  add.s64 %rd6, %rd3, %rd5;
  st.global.f32 [%rd6], %f3;
done:
  ret;
}
)";

bool usesRealDriver() { return getenv("BLOCKSPARSE_TEST_REAL_DRIVER") != nullptr; }

// Set before the runtime reads it, because the driver is loaded once in a process.
static const int chosen =
    usesRealDriver() ? 0 : setenv("BLOCKSPARSE_CUDA_DRIVER", FAKE_DRIVER, /*overwrite=*/1);

static FakeControl loadControl() {
  FakeControl control = {};
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW);
  if (!library)
    return control;
  auto get = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  get(control.fail, "fakeDriverFail");
  get(control.reset, "fakeDriverReset");
  get(control.calls, "fakeDriverCalls");
  get(control.lastLaunch, "fakeDriverLastLaunch");
  get(control.liveAllocations, "fakeDriverLiveAllocations");
  get(control.liveModules, "fakeDriverLiveModules");
  get(control.contextDepth, "fakeDriverContextDepth");
  get(control.quiet, "fakeDriverQuiet");
  get(control.capture, "fakeDriverCapture");
  get(control.liveGraphs, "fakeDriverLiveGraphs");
  return control;
}

void RuntimeTest::SetUp() {
  if (usesRealDriver())
    GTEST_SKIP() << "needs the fake driver";
  fake = loadControl();
  ASSERT_NE(fake.reset, nullptr);
  fake.reset();
  ASSERT_OK(blocksparseRtDeviceGet(0, &device));
}

void RuntimeTest::TearDown() {
  if (!fake.reset)
    return;
  fake.reset();
  EXPECT_EQ(fake.contextDepth(), 0);
  EXPECT_EQ(blocksparseRtTakeError(), BLOCKSPARSE_RT_SUCCESS) << lastError();
}

void KernelTest::SetUp() {
  RuntimeTest::SetUp();
  if (IsSkipped())
    return;
  ASSERT_OK(blocksparseRtModuleLoadPtx(device, scalePtx.data(), scalePtx.size(), 4, &module));
  ASSERT_OK(blocksparseRtModuleGetFunction(module, "scale", &scale));
}

void KernelTest::TearDown() {
  for (blocksparseRtModule other : others)
    EXPECT_OK(blocksparseRtModuleUnload(other));
  EXPECT_OK(blocksparseRtModuleUnload(module));
  RuntimeTest::TearDown();
}

blocksparseRtFunction KernelTest::load(const std::string &name, const std::string &parameters) {
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry " + name +
                     "(" + parameters + ") { ret; }\n";
  blocksparseRtModule loaded = nullptr;
  EXPECT_OK(blocksparseRtModuleLoadPtx(device, text.data(), text.size(), 4, &loaded));
  others.push_back(loaded);
  blocksparseRtFunction function = nullptr;
  EXPECT_OK(blocksparseRtModuleGetFunction(loaded, name.c_str(), &function));
  return function;
}
