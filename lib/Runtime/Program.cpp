// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the host code of compiled programs calls.

#include "Device.h"

#include <cstring>

using namespace blocksparse::rt;

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

/// The first of the pointers that is not null, or null.
static const void *firstPointer(void *const *pointers, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (pointers[i])
      return pointers[i];
  return nullptr;
}

static Status findDevice(void *const *pointers, int64_t count, blocksparseRtDevice &device) {
  int32_t ordinal = 0;
  if (const void *pointer = firstPointer(pointers, count)) {
    blocksparseRtMemoryKind kind;
    BLOCKSPARSE_RT_TRY(blocksparseRtPointerKind(pointer, &kind, &ordinal));
    if (kind == BLOCKSPARSE_RT_MEMORY_HOST)
      return fail(BLOCKSPARSE_RT_INVALID_ARGUMENT,
                  "expects tensors in device memory, but got the host address %p", pointer);
  }
  return blocksparseRtDeviceGet(ordinal, &device);
}

static Status begin(blocksparseRtCall &call, blocksparseRtArtifact *slot, const void *data,
                    int64_t size, void *const *pointers, int64_t count) {
  BLOCKSPARSE_RT_TRY(
      blocksparseRtArtifactOpenOnce(slot, data, static_cast<size_t>(size), &call.artifact));
  return findDevice(pointers, count, call.device);
}

/// Keeps the first failure.
static void note(blocksparseRtCall &call, Status status) {
  if (call.status == BLOCKSPARSE_RT_SUCCESS)
    call.status = status;
}

void blocksparseRtCallBegin(blocksparseRtCall *call, blocksparseRtArtifact *slot, const void *data,
                            int64_t size, void *const *pointers, int64_t count) {
  *call = {nullptr, nullptr, currentStream, BLOCKSPARSE_RT_SUCCESS};
  note(*call, begin(*call, slot, data, size, pointers, count));
}

void *blocksparseRtCallLut(blocksparseRtCall *call, const char *name) {
  void *pointer = nullptr;
  size_t bytes = 0;
  if (call->status == BLOCKSPARSE_RT_SUCCESS)
    note(*call,
         blocksparseRtArtifactGetDeviceLut(call->artifact, call->device, name, &pointer, &bytes));
  return pointer;
}

void *blocksparseRtCallAlloc(blocksparseRtCall *call, int64_t bytes) {
  void *pointer = nullptr;
  if (call->status == BLOCKSPARSE_RT_SUCCESS)
    note(*call,
         blocksparseRtAlloc(call->device, static_cast<size_t>(bytes), call->stream, &pointer));
  return pointer;
}

void blocksparseRtCallFree(blocksparseRtCall *call, void *pointer) {
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
    note(*call, blocksparseRtTensorMapEncode(call->device, config, map));
}

void blocksparseRtCallLaunch(blocksparseRtCall *call, const char *kernel, int64_t gridX,
                             int64_t gridY, int64_t gridZ, void **args, int64_t argCount) {
  if (call->status != BLOCKSPARSE_RT_SUCCESS)
    return;
  const int64_t grid[3] = {gridX, gridY, gridZ};
  note(*call, blocksparseRtArtifactLaunch(call->artifact, call->device, kernel, grid, call->stream,
                                          args, static_cast<size_t>(argCount)));
}

int32_t blocksparseRtCallEnd(blocksparseRtCall *call) { return static_cast<int32_t>(call->status); }

/// Whether the program shall run on the host, which it can.
static Status wantsHost(void *const *pointers, int64_t count, bool &host) {
  int32_t number = 0;
  Status status = blocksparseRtDeviceCount(&number);
  host = status == BLOCKSPARSE_RT_DRIVER_NOT_FOUND || status == BLOCKSPARSE_RT_NO_DEVICE;
  const void *pointer = firstPointer(pointers, count);
  if (host || !pointer)
    return host ? BLOCKSPARSE_RT_SUCCESS : status;
  BLOCKSPARSE_RT_TRY(status);
  blocksparseRtMemoryKind kind;
  int32_t ordinal = 0;
  BLOCKSPARSE_RT_TRY(blocksparseRtPointerKind(pointer, &kind, &ordinal));
  host = kind == BLOCKSPARSE_RT_MEMORY_HOST;
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
  blocksparseRtCall call = {};
  BLOCKSPARSE_RT_TRY(begin(call, slot, data, size, pointers, count));
  const char *target = nullptr;
  BLOCKSPARSE_RT_TRY(blocksparseRtArtifactTarget(call.artifact, call.device, &target));
  for (int32_t i = 0; i < targetCount; ++i)
    if (std::strcmp(targets[i], target) == 0) {
      *choice = i;
      return BLOCKSPARSE_RT_SUCCESS;
    }
  return fail(BLOCKSPARSE_RT_NO_IMAGE, "expects host code for the image '%s', but got none",
              target);
}
