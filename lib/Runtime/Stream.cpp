// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Device.h"

using namespace blocksparse::rt;

blocksparseRtStatus blocksparseRtStreamCreate(blocksparseRtDevice device,
                                              blocksparseRtStream *stream) {
  BLOCKSPARSE_RT_TRY(expectPointer(stream, "a place for the stream"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuStreamCreate", [&](const Driver &driver) {
    return driver.cuStreamCreate(stream, cuda::streamNonBlocking);
  });
}

blocksparseRtStatus blocksparseRtStreamDestroy(blocksparseRtDevice device,
                                               blocksparseRtStream stream) {
  BLOCKSPARSE_RT_TRY(expectPointer(stream, "a stream of its own"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuStreamDestroy",
                  [&](const Driver &driver) { return driver.cuStreamDestroy(stream); });
}

blocksparseRtStatus blocksparseRtStreamSynchronize(blocksparseRtDevice device,
                                                   blocksparseRtStream stream) {
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuStreamSynchronize",
                  [&](const Driver &driver) { return driver.cuStreamSynchronize(stream); });
}

blocksparseRtStatus blocksparseRtStreamWaitEvent(blocksparseRtDevice device,
                                                 blocksparseRtStream stream,
                                                 blocksparseRtEvent event) {
  BLOCKSPARSE_RT_TRY(expectPointer(event, "an event"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuStreamWaitEvent",
                  [&](const Driver &driver) { return driver.cuStreamWaitEvent(stream, event, 0); });
}

blocksparseRtStatus blocksparseRtEventCreate(blocksparseRtDevice device, int32_t timing,
                                             blocksparseRtEvent *event) {
  BLOCKSPARSE_RT_TRY(expectPointer(event, "a place for the event"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuEventCreate", [&](const Driver &driver) {
    return driver.cuEventCreate(event, timing ? 0u : cuda::eventDisableTiming);
  });
}

blocksparseRtStatus blocksparseRtEventDestroy(blocksparseRtDevice device,
                                              blocksparseRtEvent event) {
  BLOCKSPARSE_RT_TRY(expectPointer(event, "an event"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuEventDestroy",
                  [&](const Driver &driver) { return driver.cuEventDestroy(event); });
}

blocksparseRtStatus blocksparseRtEventRecord(blocksparseRtDevice device, blocksparseRtEvent event,
                                             blocksparseRtStream stream) {
  BLOCKSPARSE_RT_TRY(expectPointer(event, "an event"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuEventRecord",
                  [&](const Driver &driver) { return driver.cuEventRecord(event, stream); });
}

blocksparseRtStatus blocksparseRtEventSynchronize(blocksparseRtDevice device,
                                                  blocksparseRtEvent event) {
  BLOCKSPARSE_RT_TRY(expectPointer(event, "an event"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuEventSynchronize",
                  [&](const Driver &driver) { return driver.cuEventSynchronize(event); });
}

blocksparseRtStatus blocksparseRtEventQuery(blocksparseRtDevice device, blocksparseRtEvent event) {
  BLOCKSPARSE_RT_TRY(expectPointer(event, "an event"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuEventQuery",
                  [&](const Driver &driver) { return driver.cuEventQuery(event); });
}

blocksparseRtStatus blocksparseRtEventElapsed(blocksparseRtDevice device, blocksparseRtEvent start,
                                              blocksparseRtEvent stop, float *milliseconds) {
  BLOCKSPARSE_RT_TRY(expectPointer(start, "a start event"));
  BLOCKSPARSE_RT_TRY(expectPointer(stop, "a stop event"));
  BLOCKSPARSE_RT_TRY(expectPointer(milliseconds, "a place for the time"));
  BLOCKSPARSE_RT_TRY(expectPointer(device, "a device"));
  return onDevice(*unwrap(device), "cuEventElapsedTime", [&](const Driver &driver) {
    return driver.cuEventElapsedTime(milliseconds, start, stop);
  });
}
