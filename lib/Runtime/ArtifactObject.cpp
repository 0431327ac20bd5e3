// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An artefact in use: its module, kernels and LUTs on each device.

#include "ArtifactObject.h"

#include "Launch.h"

#include "blocksparse/Runtime/Artifact.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <utility>

using namespace blocksparse::rt;

namespace {

/// Describes a LUT in device memory.
struct UploadedLut {
  bool done = false;
  void *pointer = nullptr;
};

struct KernelOnDevice {
  Function *function = nullptr;
  const ArtifactKernel *record = nullptr;
};

/// Holds the state of the artefact on one device. All members are made on first use, under `mutex`.
struct DevicePart {
  DevicePart(Device &device, DevicePart *next) : device(device), next(next) {}

  Device &device;
  DevicePart *const next; // of the artefact's parts
  std::mutex mutex;
  std::atomic<bool> loaded = false; // image, target and module can be read
  const ArtifactImage *image = nullptr;
  std::string target; // of `image`, with a final NUL for C
  Module *module = nullptr;
  std::unordered_map<std::string_view, KernelOnDevice> kernels;
  std::unordered_map<std::string_view, UploadedLut> luts;
};

struct ArtifactObject {
  explicit ArtifactObject(Artifact contents) : contents(std::move(contents)) {
    for (const ArtifactLut &lut : this->contents.luts)
      luts.emplace(lut.name, &lut);
  }

  const Artifact contents;
  std::unordered_map<std::string_view, const ArtifactLut *> luts;

  // Taken in this order: mutex, a part's mutex, targetMutex.
  std::mutex mutex; // held to add to the parts
  std::atomic<DevicePart *> parts = nullptr;
  std::mutex targetMutex; // guards onlyTarget
  std::string onlyTarget;
  std::mutex sitesMutex; // held to add to a site
  std::deque<SiteEntry> siteEntries;

  ~ArtifactObject();
  DevicePart &part(Device &device);
  const SiteEntry *addEntry(blocksparseRtSite &site, const SiteEntry &contents);
  Status findLut(const char *name, const ArtifactLut *&lut) const;
  bool hasPtx(std::string_view target) const;
  Status loadImage(DevicePart &part);
  Status kernel(DevicePart &part, const char *name, KernelOnDevice &result);
  Status uploadLut(DevicePart &part, const ArtifactLut &lut, void *&pointer);
};

ArtifactObject *unwrap(blocksparseRtArtifact artifact) {
  return reinterpret_cast<ArtifactObject *>(artifact);
}

} // namespace

//===----------------------------------------------------------------------===//
// Parts and sites
//===----------------------------------------------------------------------===//

ArtifactObject::~ArtifactObject() {
  for (DevicePart *part = parts; part;)
    delete std::exchange(part, part->next);
}

DevicePart &ArtifactObject::part(Device &device) {
  auto find = [&]() -> DevicePart * {
    DevicePart *part = parts.load(std::memory_order_acquire);
    while (part && &part->device != &device)
      part = part->next;
    return part;
  };
  if (DevicePart *known = find())
    return *known;
  std::lock_guard<std::mutex> lock(mutex);
  if (DevicePart *known = find())
    return *known;
  auto *made = new DevicePart(device, parts.load(std::memory_order_relaxed));
  parts.store(made, std::memory_order_release);
  return *made;
}

const SiteEntry *ArtifactObject::addEntry(blocksparseRtSite &site, const SiteEntry &contents) {
  std::lock_guard<std::mutex> lock(sitesMutex);
  if (const SiteEntry *known = findEntry(site, *contents.device))
    return known;
  std::atomic_ref<void *> first(site.first);
  SiteEntry &made = siteEntries.emplace_back(contents);
  made.next = static_cast<SiteEntry *>(first.load(std::memory_order_relaxed));
  first.store(&made, std::memory_order_release);
  return &made;
}

//===----------------------------------------------------------------------===//
// Images and kernels
//===----------------------------------------------------------------------===//

static std::string listTargets(const Artifact &artifact) {
  std::string text;
  for (const ArtifactImage &image : artifact.images)
    text += (text.empty() ? "" : ", ") + std::string(image.target) +
            (image.kind == ImageKind::Ptx ? " (PTX)" : " (cubin)");
  return text.empty() ? "no image" : text;
}

bool ArtifactObject::hasPtx(std::string_view target) const {
  return std::ranges::any_of(contents.images, [&](const ArtifactImage &image) {
    return image.kind == ImageKind::Ptx && image.target == target;
  });
}

/// Loads the image for the device unless it is loaded already. Requires the part's mutex.
Status ArtifactObject::loadImage(DevicePart &part) {
  if (part.module)
    return BLOCKSPARSE_RT_SUCCESS;
  Device &device = part.device;
  std::string wanted;
  {
    std::lock_guard<std::mutex> lock(targetMutex);
    wanted = onlyTarget;
  }
  int major = device.info.computeMajor, minor = device.info.computeMinor;
  Status status = fail(BLOCKSPARSE_RT_NO_IMAGE,
                       "expects an artefact image%s%s for %s of compute capability %d.%d, but "
                       "got %s",
                       wanted.empty() ? "" : " of target ", wanted.c_str(),
                       device.describe().c_str(), major, minor, listTargets(contents).c_str());
  for (size_t index : rankImages(contents, major, minor)) {
    const ArtifactImage &image = contents.images[index];
    if (!wanted.empty() && image.target != wanted)
      continue;
    bool ptx = image.kind == ImageKind::Ptx;
    status = device.modules->acquire(
        ptx ? Module::Kind::Ptx : Module::Kind::Binary, ptx ? 4 : 0,
        {reinterpret_cast<const char *>(image.bytes.data()), image.bytes.size()}, part.module);
    if (status == BLOCKSPARSE_RT_SUCCESS) {
      part.image = &image;
      part.target = image.target;
      part.loaded.store(true, std::memory_order_release);
    }
    // An older image may still do where the driver is old, and the PTX of the same target where
    // it is too old for the machine code; every other failure is a fault that must not be hidden
    // by slower code.
    bool refused = status == BLOCKSPARSE_RT_PTX_TOO_NEW ||
                   (status == BLOCKSPARSE_RT_COMPILE_FAILED && !ptx && hasPtx(image.target));
    if (!refused)
      return status;
  }
  return status;
}

/// Finds a kernel and its launch record by name, and loads the image on first use. Requires the
/// part's mutex.
Status ArtifactObject::kernel(DevicePart &part, const char *name, KernelOnDevice &result) {
  BLOCKSPARSE_RT_TRY(loadImage(part));
  auto known = part.kernels.find(name);
  if (known != part.kernels.end()) {
    result = known->second;
    return BLOCKSPARSE_RT_SUCCESS;
  }
  for (const ArtifactKernel &record : contents.kernels) {
    if (record.name != name || record.target != part.image->target)
      continue;
    KernelOnDevice found;
    found.record = &record;
    BLOCKSPARSE_RT_TRY(part.module->function(name, found.function));
    BLOCKSPARSE_RT_TRY(
        found.function->grantDynamicShared(record.dynamicSharedBytes, /*exactly=*/false));
    part.kernels.emplace(record.name, found);
    result = found;
    return BLOCKSPARSE_RT_SUCCESS;
  }
  return fail(BLOCKSPARSE_RT_NOT_FOUND, "expects a kernel of the artefact for %s, but got '%s'",
              part.target.c_str(), name);
}

//===----------------------------------------------------------------------===//
// LUTs
//===----------------------------------------------------------------------===//

Status ArtifactObject::findLut(const char *name, const ArtifactLut *&lut) const {
  auto found = luts.find(name);
  if (found == luts.end())
    return fail(BLOCKSPARSE_RT_NOT_FOUND, "expects one of the artefact's %zu LUTs, but got '%s'",
                luts.size(), name);
  lut = found->second;
  return BLOCKSPARSE_RT_SUCCESS;
}

/// Copies and waits, so that work on any stream may read the memory. A stream
/// of its own keeps it from waiting for the default stream's work.
static Status copyNow(Device &device, cuda::DevicePointer destination,
                      std::span<const uint8_t> bytes) {
  const Driver &driver = device.driver;
  cuda::Stream stream = nullptr;
  if (cuda::Result result = driver.cuStreamCreate(&stream, cuda::streamNonBlocking))
    return device.fail(result, "cuStreamCreate");
  cuda::Result result = driver.cuMemcpyHtoDAsync(destination, bytes.data(), bytes.size(), stream);
  const char *call = "cuMemcpyHtoDAsync";
  if (result == cuda::success) {
    result = driver.cuStreamSynchronize(stream);
    call = "cuStreamSynchronize";
  }
  driver.cuStreamDestroy(stream);
  return result == cuda::success ? BLOCKSPARSE_RT_SUCCESS : device.fail(result, call);
}

/// Uploads a LUT on first use and sets `pointer` to its device memory. Requires the part's mutex.
Status ArtifactObject::uploadLut(DevicePart &part, const ArtifactLut &lut, void *&pointer) {
  UploadedLut &uploaded = part.luts[lut.name];
  if (!uploaded.done && !lut.bytes.empty()) {
    Device &device = part.device;
    ScopedContext context;
    BLOCKSPARSE_RT_TRY(context.enter(device));
    cuda::DevicePointer allocated = 0;
    if (cuda::Result result = device.driver.cuMemAlloc(&allocated, lut.bytes.size()))
      return device.fail(result, "cuMemAlloc",
                         "LUT '" + std::string(lut.name) + "' of " +
                             std::to_string(lut.bytes.size()) + " bytes on " + device.describe());
    if (Status status = copyNow(device, allocated, lut.bytes); status != BLOCKSPARSE_RT_SUCCESS) {
      device.driver.cuMemFree(allocated);
      return status;
    }
    uploaded.pointer = reinterpret_cast<void *>(static_cast<uintptr_t>(allocated));
  }
  uploaded.done = true;
  pointer = uploaded.pointer;
  return BLOCKSPARSE_RT_SUCCESS;
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

blocksparseRtStatus blocksparseRtArtifactOpen(const void *data, size_t size,
                                              blocksparseRtArtifact *artifact) {
  BLOCKSPARSE_RT_TRY(expectPointer(data, "an artefact"));
  BLOCKSPARSE_RT_TRY(expectPointer(artifact, "a place for the artefact"));
  std::string error;
  std::optional<Artifact> contents =
      parseArtifact({static_cast<const uint8_t *>(data), size}, error);
  if (!contents)
    return fail(BLOCKSPARSE_RT_INVALID_ARTIFACT, "%s", error.c_str());
  *artifact = reinterpret_cast<blocksparseRtArtifact>(new ArtifactObject(std::move(*contents)));
  return BLOCKSPARSE_RT_SUCCESS;
}

/// Is set when the process begins to end.
static std::atomic<bool> isProcessEnding = false;

blocksparseRtStatus blocksparseRtArtifactOpenOnce(blocksparseRtArtifact *slot, const void *data,
                                                  size_t size, blocksparseRtArtifact *artifact) {
  BLOCKSPARSE_RT_TRY(expectPointer(slot, "a variable for the artefact"));
  BLOCKSPARSE_RT_TRY(expectPointer(artifact, "a place for the artefact"));
  std::atomic_ref<blocksparseRtArtifact> shared(*slot);
  blocksparseRtArtifact current = shared.load(std::memory_order_acquire);
  if (!current) {
    blocksparseRtArtifact opened = nullptr;
    BLOCKSPARSE_RT_TRY(blocksparseRtArtifactOpen(data, size, &opened));
    // exit() calls this handler before it unloads any library.
    static const int registered = std::atexit([] { isProcessEnding = true; });
    (void)registered;
    if (shared.compare_exchange_strong(current, opened))
      current = opened;
    else
      delete unwrap(opened); // another thread was first; nothing is loaded yet
  }
  *artifact = current;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtArtifactClose(blocksparseRtArtifact artifact) {
  std::unique_ptr<ArtifactObject> object(unwrap(artifact));
  if (!object)
    return BLOCKSPARSE_RT_SUCCESS;
  // Everything is given back, whatever fails; the first failure is told.
  Status first = BLOCKSPARSE_RT_SUCCESS;
  std::string text;
  auto note = [&](Status status) {
    if (status == BLOCKSPARSE_RT_SUCCESS || first != BLOCKSPARSE_RT_SUCCESS)
      return;
    first = status;
    text = blocksparseRtLastError();
  };
  for (DevicePart *at = object->parts; at; at = at->next) {
    DevicePart &part = *at;
    Device &device = part.device;
    ScopedContext context;
    note(context.enter(device));
    for (auto &[name, lut] : part.luts) {
      cuda::Result result =
          lut.pointer ? device.driver.cuMemFree(toDevicePointer(lut.pointer)) : cuda::success;
      if (result != cuda::success && result != cuda::errorDeinitialized)
        note(device.fail(result, "cuMemFree"));
    }
    if (part.module)
      note(device.modules->release(*part.module));
  }
  return first == BLOCKSPARSE_RT_SUCCESS ? first : fail(first, "%s", text.c_str());
}

void blocksparseRtArtifactCloseSlot(blocksparseRtArtifact *slot) {
  // Nobody is left to be told of a failure: a call that failed has told its own.
  if (slot && !isProcessEnding)
    (void)blocksparseRtArtifactClose(std::exchange(*slot, nullptr));
}

blocksparseRtStatus blocksparseRtArtifactSetTarget(blocksparseRtArtifact artifact,
                                                   const char *target) {
  BLOCKSPARSE_RT_TRY(expectPointer(artifact, "an artefact"));
  ArtifactObject &object = *unwrap(artifact);
  if (target && !parseArtifactTarget(target))
    return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                "expects a target like 'sm_80' or 'sm_90a', but got '%s'", target);
  std::lock_guard<std::mutex> lock(object.mutex);
  for (DevicePart *at = object.parts; at; at = at->next) {
    DevicePart &part = *at;
    std::lock_guard<std::mutex> partLock(part.mutex);
    if (part.module)
      return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                  "expects the target before the first use on a device, but "
                  "got '%s' after %s loaded '%s'",
                  target ? target : "", part.device.describe().c_str(), part.target.c_str());
  }
  std::lock_guard<std::mutex> targetLock(object.targetMutex);
  object.onlyTarget = target ? target : "";
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtArtifactTarget(blocksparseRtArtifact artifact,
                                                blocksparseRtDevice device, const char **target) {
  BLOCKSPARSE_RT_TRY(expectPointer(artifact, "an artefact"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  BLOCKSPARSE_RT_TRY(expectPointer(target, "a place for the target"));
  ArtifactObject &object = *unwrap(artifact);
  DevicePart &part = object.part(*unwrap(device));
  if (!part.loaded.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> lock(part.mutex);
    BLOCKSPARSE_RT_TRY(object.loadImage(part));
  }
  *target = part.target.c_str();
  return BLOCKSPARSE_RT_SUCCESS;
}

static Status findKernel(blocksparseRtArtifact artifact, blocksparseRtDevice device,
                         const char *name, KernelOnDevice &kernel) {
  BLOCKSPARSE_RT_TRY(expectPointer(artifact, "an artefact"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  BLOCKSPARSE_RT_TRY(expectPointer(name, "a kernel name"));
  ArtifactObject &object = *unwrap(artifact);
  DevicePart &part = object.part(*unwrap(device));
  std::lock_guard<std::mutex> lock(part.mutex);
  return object.kernel(part, name, kernel);
}

/// Returns the launch configuration of a kernel without its grid and stream, which the call adds.
static blocksparseRtLaunchConfig makeConfig(const ArtifactKernel &record) {
  blocksparseRtLaunchConfig config = {};
  bool clustered = record.cluster != std::array<int32_t, 3>{1, 1, 1};
  for (int i = 0; i < 3; ++i) {
    config.block[i] = record.threads[i];
    config.cluster[i] = clustered ? record.cluster[i] : 0;
  }
  config.dynamicSharedBytes = record.dynamicSharedBytes;
  return config;
}

static LaunchOptions makeOptions(const ArtifactKernel &record) {
  return {.startsEarly = record.mode == ArtifactKernel::Early,
          .runsTogether = record.mode == ArtifactKernel::Together};
}

Status blocksparse::rt::addKernelEntry(blocksparseRtSite &site, blocksparseRtArtifact artifact,
                                       Device &device, const char *name, const SiteEntry *&entry) {
  KernelOnDevice kernel;
  BLOCKSPARSE_RT_TRY(findKernel(artifact, wrap(&device), name, kernel));
  SiteEntry made;
  made.device = &device;
  made.function = kernel.function;
  made.launch = makeConfig(*kernel.record);
  made.options = makeOptions(*kernel.record);
  entry = ::unwrap(artifact)->addEntry(site, made);
  return BLOCKSPARSE_RT_SUCCESS;
}

Status blocksparse::rt::addLutEntry(blocksparseRtSite &site, blocksparseRtArtifact artifact,
                                    Device &device, const char *name, const SiteEntry *&entry) {
  SiteEntry made;
  made.device = &device;
  size_t bytes = 0;
  BLOCKSPARSE_RT_TRY(
      blocksparseRtArtifactGetDeviceLut(artifact, wrap(&device), name, &made.lut, &bytes));
  entry = ::unwrap(artifact)->addEntry(site, made);
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtArtifactGetKernel(blocksparseRtArtifact artifact,
                                                   blocksparseRtDevice device, const char *name,
                                                   blocksparseRtFunction *function,
                                                   blocksparseRtKernelInfo *info) {
  BLOCKSPARSE_RT_TRY(expectPointer(function, "a place for the function"));
  KernelOnDevice kernel;
  BLOCKSPARSE_RT_TRY(findKernel(artifact, device, name, kernel));
  *function = wrap(kernel.function);
  if (!info)
    return BLOCKSPARSE_RT_SUCCESS;
  for (int i = 0; i < 3; ++i) {
    info->threads[i] = kernel.record->threads[i];
    info->cluster[i] = kernel.record->cluster[i];
  }
  info->dynamicSharedBytes = kernel.record->dynamicSharedBytes;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtArtifactLaunch(blocksparseRtArtifact artifact,
                                                blocksparseRtDevice device, const char *name,
                                                const int64_t grid[3], blocksparseRtStream stream,
                                                void **args, size_t argCount) {
  BLOCKSPARSE_RT_TRY(expectPointer(grid, "a grid"));
  KernelOnDevice kernel;
  BLOCKSPARSE_RT_TRY(findKernel(artifact, device, name, kernel));
  blocksparseRtLaunchConfig config = makeConfig(*kernel.record);
  std::copy_n(grid, 3, config.grid);
  config.stream = stream;
  return launch(*kernel.function, config, args, argCount, makeOptions(*kernel.record));
}

blocksparseRtStatus blocksparseRtArtifactGetLut(blocksparseRtArtifact artifact, const char *name,
                                                const void **data, size_t *bytes) {
  BLOCKSPARSE_RT_TRY(expectPointer(artifact, "an artefact"));
  BLOCKSPARSE_RT_TRY(expectPointer(name, "a LUT name"));
  BLOCKSPARSE_RT_TRY(expectPointer(data, "a place for the LUT"));
  BLOCKSPARSE_RT_TRY(expectPointer(bytes, "a place for the size"));
  const ArtifactLut *lut = nullptr;
  BLOCKSPARSE_RT_TRY(unwrap(artifact)->findLut(name, lut));
  *data = lut->bytes.data();
  *bytes = lut->bytes.size();
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtArtifactGetDeviceLut(blocksparseRtArtifact artifact,
                                                      blocksparseRtDevice device, const char *name,
                                                      void **pointer, size_t *bytes) {
  BLOCKSPARSE_RT_TRY(expectPointer(artifact, "an artefact"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  BLOCKSPARSE_RT_TRY(expectPointer(name, "a LUT name"));
  BLOCKSPARSE_RT_TRY(expectPointer(pointer, "a place for the pointer"));
  BLOCKSPARSE_RT_TRY(expectPointer(bytes, "a place for the size"));
  ArtifactObject &object = *unwrap(artifact);
  const ArtifactLut *lut = nullptr;
  BLOCKSPARSE_RT_TRY(object.findLut(name, lut));
  DevicePart &part = object.part(*unwrap(device));
  std::lock_guard<std::mutex> lock(part.mutex);
  BLOCKSPARSE_RT_TRY(object.uploadLut(part, *lut, *pointer));
  *bytes = lut->bytes.size();
  return BLOCKSPARSE_RT_SUCCESS;
}
