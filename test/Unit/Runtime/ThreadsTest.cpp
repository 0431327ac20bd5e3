// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests several threads at once; also intended for a build with ThreadSanitizer.

#include "RuntimeFixture.h"

#include "blocksparse/Runtime/Artifact.h"

#include <atomic>
#include <set>
#include <thread>

using namespace blocksparse::rt;

namespace {

class ThreadsTest : public KernelTest {
protected:
  /// Runs `body(i)` in `count` threads that start together.
  template <typename Body>
  static void together(int count, Body body) {
    std::atomic<int> waiting = count;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        --waiting;
        while (waiting > 0)
          std::this_thread::yield();
        body(i);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
};

TEST_F(ThreadsTest, EqualModulesAreLoadedOnce) {
  std::string text = scalePtx + "// for the threads\n";
  blocksparseRtModule modules[4] = {};
  blocksparseRtFunction functions[4] = {};
  int before = fake.calls("cuModuleLoadDataEx");
  together(4, [&](int i) {
    EXPECT_OK(blocksparseRtModuleLoadPtx(device, text.data(), text.size(), 4, &modules[i]));
    EXPECT_OK(blocksparseRtModuleGetFunction(modules[i], "scale", &functions[i]));
  });
  EXPECT_EQ(fake.calls("cuModuleLoadDataEx"), before + 1);
  EXPECT_EQ(std::set<void *>(functions, functions + 4).size(), 1u);
  together(4, [&](int i) { EXPECT_OK(blocksparseRtModuleUnload(modules[i])); });
  EXPECT_EQ(fake.calls("cuModuleUnload"), 1);
}

TEST_F(ThreadsTest, LoadAndUnloadRace) {
  std::string text = scalePtx + "// for the race\n";
  int live = fake.liveModules();
  together(4, [&](int) {
    for (int round = 0; round < 200; ++round) {
      blocksparseRtModule loaded = nullptr;
      blocksparseRtFunction function = nullptr;
      EXPECT_OK(blocksparseRtModuleLoadPtx(device, text.data(), text.size(), 4, &loaded));
      EXPECT_OK(blocksparseRtModuleGetFunction(loaded, "scale", &function));
      EXPECT_OK(blocksparseRtModuleUnload(loaded));
    }
  });
  EXPECT_EQ(fake.liveModules(), live);
}

// Each thread has its own memory, context stack and error text.
TEST_F(ThreadsTest, Launches) {
  together(4, [&](int i) {
    blocksparseRtDevice own = nullptr;
    EXPECT_OK(blocksparseRtDeviceGet(i % 2, &own));
    for (int round = 1; round <= 100; ++round) {
      float value = static_cast<float>(round);
      float factor = static_cast<float>(i + 1);
      uint32_t count = 1;
      void *memory = nullptr;
      EXPECT_OK(blocksparseRtAlloc(device, 4, nullptr, &memory));
      EXPECT_OK(blocksparseRtCopyToDevice(device, memory, &value, 4, nullptr));
      void *args[] = {&memory, &memory, &factor, &count};
      blocksparseRtLaunchConfig config = {{1, 1, 1}, {32, 1, 1}, {0, 0, 0}, 1000 * round, nullptr};
      EXPECT_OK(blocksparseRtLaunch(scale, &config, args, 4));
      EXPECT_OK(blocksparseRtCopyToHost(device, &value, memory, 4, nullptr));
      EXPECT_EQ(value, static_cast<float>(round * (i + 1)));
      EXPECT_OK(blocksparseRtFree(device, memory, nullptr));
      EXPECT_OK(blocksparseRtDeviceSynchronize(own));
      config.block[0] = 2000 + i;
      EXPECT_FAILS(blocksparseRtLaunch(scale, &config, args, 4), BLOCKSPARSE_RT_LAUNCH_LIMIT,
                   "but got " + std::to_string(2000 + i));
    }
    EXPECT_EQ(fake.contextDepth(), 0);
  });
}

TEST_F(ThreadsTest, ArtefactIsOpenedAndUploadedOnce) {
  Artifact contents;
  auto bytes = [](const std::string &text) {
    return std::span<const uint8_t>(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  };
  std::string lut(1 << 16, 'l');
  std::string text = scalePtx + "// in an artefact\n";
  contents.images = {{ImageKind::Ptx, "sm_80", bytes(text)}};
  contents.luts = {{"lut", bytes(lut)}};
  contents.kernels = {{"scale", "sm_80", {64, 1, 1}, {1, 1, 1}, 0}};
  std::string error;
  std::vector<uint8_t> data = writeArtifact(contents, error).value_or(std::vector<uint8_t>());
  ASSERT_FALSE(data.empty()) << error;

  blocksparseRtArtifact slot = nullptr, opened[4] = {};
  void *pointers[4] = {};
  int loads = fake.calls("cuModuleLoadDataEx"), copies = fake.calls("cuMemcpyHtoDAsync_v2");
  together(4, [&](int i) {
    EXPECT_OK(blocksparseRtArtifactOpenOnce(&slot, data.data(), data.size(), &opened[i]));
    size_t size = 0;
    blocksparseRtFunction function = nullptr;
    EXPECT_OK(blocksparseRtArtifactGetDeviceLut(opened[i], device, "lut", &pointers[i], &size));
    EXPECT_OK(blocksparseRtArtifactGetKernel(opened[i], device, "scale", &function, nullptr));
  });
  EXPECT_EQ(fake.calls("cuModuleLoadDataEx"), loads + 1);
  EXPECT_EQ(fake.calls("cuMemcpyHtoDAsync_v2"), copies + 1);
  EXPECT_EQ(std::set<void *>(opened, opened + 4).size(), 1u);
  EXPECT_EQ(std::set<void *>(pointers, pointers + 4).size(), 1u);
  EXPECT_OK(blocksparseRtArtifactClose(opened[0]));
}

} // namespace
