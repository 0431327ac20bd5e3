// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This file implements the functions that the host code of compiled programs calls.

#include "ArtifactObject.h"
#include "Launch.h"
#include "TensorMap.h"
#include "blocksparse/Support/IndexFaults.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

using namespace blocksparse;
using namespace blocksparse::rt;

static_assert(refusedStatus == BLOCKSPARSE_RT_INVALID_ARGUMENT);

static thread_local blocksparseRtStream currentStream = nullptr;

blocksparseRtStatus blocksparseRtSetStream(blocksparseRtStream stream) {
  currentStream = stream;
  return BLOCKSPARSE_RT_SUCCESS;
}

blocksparseRtStatus blocksparseRtGetStream(blocksparseRtStream *stream) {
  BLOCKSPARSE_RT_TRY(expectPointer(stream, "a place for the stream"));
  *stream = currentStream;
  return BLOCKSPARSE_RT_SUCCESS;
}

/// Returns the first of the pointers that is not null, or null.
static const void *firstPointer(void *const *pointers, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (pointers[i])
      return pointers[i];
  return nullptr;
}

namespace {
/// Remembers what blocksparseRtCallSelect found out, because the call that follows it needs the
/// result again.
struct KnownPointer {
  const void *pointer = nullptr; // null: nothing is known
  blocksparseRtMemoryKind kind = BLOCKSPARSE_RT_MEMORY_HOST;
  int32_t ordinal = 0;
};
} // namespace

static thread_local KnownPointer known;

namespace {
/// Remembers what the driver says of the stream of this thread's latest call.
struct CallStream {
  const blocksparseRtCall *call = nullptr; // null: nothing is known
  std::optional<uint64_t> number;
};
} // namespace

static thread_local CallStream callStream;

/// Makes the device's context current until endContexts.
static Status enterContext(blocksparseRtCall &call, Device &device) {
  bool pushed = false;
  call.device = wrap(&device);
  BLOCKSPARSE_RT_TRY(ScopedContext::push(device, pushed));
  call.contexts += pushed;
  return BLOCKSPARSE_RT_SUCCESS;
}

static void endContexts(blocksparseRtCall &call) {
  // Popping fails only where the context is gone, and then nothing is left to restore.
  cuda::Context popped = nullptr;
  for (; call.contexts > 0; --call.contexts)
    unwrap(call.device)->driver.cuCtxPopCurrent(&popped);
}

static Status takeKind(const void *pointer, KnownPointer &result) {
  result = std::exchange(known, {});
  if (result.pointer == pointer)
    return BLOCKSPARSE_RT_SUCCESS;
  result.pointer = pointer;
  return blocksparseRtPointerKind(pointer, &result.kind, &result.ordinal);
}

/// Finds the device of a call and what is known of its first pointer.
static Status findDevice(void *const *pointers, int64_t count, KnownPointer &found,
                         Device *&device) {
  if (const void *pointer = firstPointer(pointers, count)) {
    BLOCKSPARSE_RT_TRY(takeKind(pointer, found));
    if (found.kind == BLOCKSPARSE_RT_MEMORY_HOST)
      return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                  "expects tensors in device memory, but got the host address %p", pointer);
  }
  return Device::get(found.ordinal, device);
}

static Status begin(blocksparseRtCall &call, blocksparseRtArtifact *slot, const void *data,
                    int64_t size, void *const *pointers, int64_t count) {
  BLOCKSPARSE_RT_TRY(
      blocksparseRtArtifactOpenOnce(slot, data, static_cast<size_t>(size), &call.artifact));
  // The question where the memory is wants some context: the first device's is most likely the one
  // that is needed in the end.
  Device *first = nullptr;
  BLOCKSPARSE_RT_TRY(Device::get(0, first));
  cuda::Context current = nullptr;
  if (cuda::Result result = first->driver.cuCtxGetCurrent(&current))
    return first->fail(result, "cuCtxGetCurrent");
  if (!current)
    BLOCKSPARSE_RT_TRY(enterContext(call, *first));
  KnownPointer found;
  Device *device = nullptr;
  BLOCKSPARSE_RT_TRY(findDevice(pointers, count, found, device));
  return enterContext(call, *device);
}

/// Keeps the first failure.
static void note(blocksparseRtCall &call, Status status) {
  if (call.status == BLOCKSPARSE_RT_SUCCESS)
    call.status = status;
}

void blocksparseRtCallBegin(blocksparseRtCall *call, blocksparseRtArtifact *slot, const void *data,
                            int64_t size, void *const *pointers, int64_t count) {
  *call = {nullptr, nullptr, currentStream, BLOCKSPARSE_RT_SUCCESS, 0};
  callStream.call = nullptr;
  note(*call, begin(*call, slot, data, size, pointers, count));
}

void blocksparseRtCallRefuse(blocksparseRtCall *call, const char *message, int64_t left,
                             int64_t right) {
  if (call->status != BLOCKSPARSE_RT_SUCCESS)
    return;
  std::string text;
  for (const char *rest = message; *rest;) {
    bool isLeft = std::strncmp(rest, "{0}", 3) == 0;
    if (isLeft || std::strncmp(rest, "{1}", 3) == 0) {
      text += std::to_string(isLeft ? left : right);
      rest += 3;
    } else {
      text += *rest++;
    }
  }
  note(*call, fail(BLOCKSPARSE_RT_INVALID_ARGUMENT, "%s", text.c_str()));
}

void blocksparseRtCallRecord(blocksparseRtCall *call, const void *record, const char *subject) {
  if (call->status != BLOCKSPARSE_RT_SUCCESS)
    return;
  long long words[faultWords] = {};
  static_assert(sizeof(words) == faultWords * sizeof(int64_t));
  Status status = blocksparseRtCopyToHost(call->device, words, record, sizeof(words), call->stream);
  if (status == BLOCKSPARSE_RT_SUCCESS)
    status = blocksparseRtStreamSynchronize(call->device, call->stream);
  auto fault = static_cast<IndexFault>(words[Code]);
  if (status == BLOCKSPARSE_RT_SUCCESS && fault != IndexFault::None)
    status = fail(BLOCKSPARSE_RT_INVALID_ARGUMENT, BLOCKSPARSE_FAULT_FORMAT, subject,
                  describeRule(fault), words[Limit], words[FaultyValue], words[Batch], words[Row],
                  words[Position]);
  note(*call, status);
}

int32_t blocksparseRtRefuse(const char *text) {
  return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT, "%s", text);
}

void *blocksparseRtCallLut(blocksparseRtCall *call, blocksparseRtSite *site, const char *name) {
  if (call->status != BLOCKSPARSE_RT_SUCCESS)
    return nullptr;
  Device &device = *unwrap(call->device);
  const SiteEntry *entry = findEntry(*site, device);
  if (!entry)
    note(*call, addLutEntry(*site, call->artifact, device, name, entry));
  return entry ? entry->lut : nullptr;
}

/// Returns the number of the call's stream, or nothing where workspaces are not kept: while the
/// stream is captured, and with a driver that gives streams no numbers.
static std::optional<uint64_t> numberOfStream(const blocksparseRtCall &call) {
  if (callStream.call == &call)
    return callStream.number;
  const Driver &driver = unwrap(call.device)->driver;
  int capturing = 0;
  unsigned long long number = 0;
  callStream.call = &call;
  callStream.number.reset();
  if (driver.cuStreamIsCapturing && driver.cuStreamGetId &&
      driver.cuStreamIsCapturing(call.stream, &capturing) == cuda::success && !capturing &&
      driver.cuStreamGetId(call.stream, &number) == cuda::success)
    callStream.number = number;
  return callStream.number;
}

static Status allocateWorkspace(const blocksparseRtCall &call, size_t bytes, void *&pointer) {
  WorkspaceCache &workspaces = unwrap(call.device)->workspaces;
  std::optional<uint64_t> stream = numberOfStream(call);
  if (stream && bytes > 0)
    if ((pointer = workspaces.take(*stream, bytes)))
      return BLOCKSPARSE_RT_SUCCESS;
  Status status = blocksparseRtAlloc(call.device, bytes, call.stream, &pointer);
  // Workspaces of other sizes may be in the way.
  while (status == BLOCKSPARSE_RT_OUT_OF_MEMORY && stream) {
    void *kept = workspaces.release(stream);
    if (!kept)
      break;
    BLOCKSPARSE_RT_TRY(blocksparseRtFree(call.device, kept, call.stream));
    status = blocksparseRtAlloc(call.device, bytes, call.stream, &pointer);
  }
  if (status == BLOCKSPARSE_RT_SUCCESS && stream && pointer)
    workspaces.lend(*stream, pointer, bytes);
  return status;
}

void *blocksparseRtCallAlloc(blocksparseRtCall *call, int64_t bytes) {
  void *pointer = nullptr;
  if (call->status == BLOCKSPARSE_RT_SUCCESS)
    note(*call, allocateWorkspace(*call, static_cast<size_t>(bytes), pointer));
  return pointer;
}

void blocksparseRtCallFree(blocksparseRtCall *call, void *pointer) {
  if (pointer)
    pointer = unwrap(call->device)->workspaces.keep(pointer);
  if (!pointer)
    return;
  if (call->status == BLOCKSPARSE_RT_SUCCESS) {
    note(*call, blocksparseRtFree(call->device, pointer, call->stream));
    return;
  }
  // A second failure shall not hide the reason of the first.
  std::string text = blocksparseRtLastError();
  if (blocksparseRtFree(call->device, pointer, call->stream) != BLOCKSPARSE_RT_SUCCESS)
    (void)fail(static_cast<Status>(call->status), "%s", text.c_str());
}

void blocksparseRtCallTensorMap(blocksparseRtCall *call, const blocksparseRtTensorMapConfig *config,
                                blocksparseRtTensorMap *map) {
  if (call->status == BLOCKSPARSE_RT_SUCCESS)
    note(*call, findTensorMap(*unwrap(call->device), *config, map));
}

void blocksparseRtCallLaunch(blocksparseRtCall *call, blocksparseRtSite *site, const char *kernel,
                             int64_t gridX, int64_t gridY, int64_t gridZ, void **args,
                             int64_t argCount) {
  if (call->status != BLOCKSPARSE_RT_SUCCESS)
    return;
  Device &device = *unwrap(call->device);
  const SiteEntry *entry = findEntry(*site, device);
  if (!entry) {
    note(*call, addKernelEntry(*site, call->artifact, device, kernel, entry));
    if (!entry)
      return;
  }
  blocksparseRtLaunchConfig config = entry->launch;
  config.grid[0] = gridX, config.grid[1] = gridY, config.grid[2] = gridZ;
  config.stream = call->stream;
  note(*call, launchInContext(*entry->function, config, args, static_cast<size_t>(argCount),
                              entry->options));
}

int32_t blocksparseRtCallEnd(blocksparseRtCall *call) {
  endContexts(*call);
  return static_cast<int32_t>(call->status);
}

/// Sets `host` to true if the program is to run on the host. Requires a program that can.
static Status wantsHost(void *const *pointers, int64_t count, bool &host) {
  int32_t number = 0;
  Status status = blocksparseRtDeviceCount(&number);
  host = status == BLOCKSPARSE_RT_DRIVER_NOT_FOUND || status == BLOCKSPARSE_RT_NO_DEVICE;
  const void *pointer = firstPointer(pointers, count);
  if (host || !pointer)
    return host ? BLOCKSPARSE_RT_SUCCESS : status;
  BLOCKSPARSE_RT_TRY(status);
  KnownPointer found;
  BLOCKSPARSE_RT_TRY(takeKind(pointer, found));
  host = found.kind == BLOCKSPARSE_RT_MEMORY_HOST;
  if (!host)
    known = found;
  return BLOCKSPARSE_RT_SUCCESS;
}

int32_t blocksparseRtCallSelect(blocksparseRtArtifact *slot, const void *data, int64_t size,
                                void *const *pointers, int64_t count, const char *const *targets,
                                int32_t targetCount, int32_t hasHost, int32_t *choice) {
  if (hasHost) {
    bool host = false;
    BLOCKSPARSE_RT_TRY(wantsHost(pointers, count, host));
    *choice = -1;
    if (host)
      return BLOCKSPARSE_RT_SUCCESS;
  }
  blocksparseRtArtifact artifact = nullptr;
  BLOCKSPARSE_RT_TRY(
      blocksparseRtArtifactOpenOnce(slot, data, static_cast<size_t>(size), &artifact));
  KnownPointer found;
  Device *device = nullptr;
  BLOCKSPARSE_RT_TRY(findDevice(pointers, count, found, device));
  const char *target = nullptr;
  BLOCKSPARSE_RT_TRY(blocksparseRtArtifactTarget(artifact, wrap(device), &target));
  for (int32_t i = 0; i < targetCount; ++i)
    if (std::strcmp(targets[i], target) == 0) {
      *choice = i;
      known = found;
      return BLOCKSPARSE_RT_SUCCESS;
    }
  return fail(BLOCKSPARSE_RT_NO_IMAGE, "expects host code for the image '%s', but got none",
              target);
}
