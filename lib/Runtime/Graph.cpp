// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Device.h"

using namespace blocksparse::rt;

/// Fails with UNSUPPORTED unless the driver has all functions that graphs need.
static Status expectGraphs(blocksparseRtDevice handle) {
  BLOCKSPARSE_RT_TRY(expectPointer(handle, "a device"));
  const Device &device = *unwrap(handle);
  const Driver &driver = device.driver;
  if (driver.cuStreamBeginCapture && driver.cuStreamEndCapture &&
      driver.cuGraphInstantiateWithFlags && driver.cuGraphLaunch && driver.cuGraphExecDestroy &&
      driver.cuGraphDestroy)
    return BLOCKSPARSE_RT_SUCCESS;
  return fail(BLOCKSPARSE_RT_UNSUPPORTED,
              "expects a driver of CUDA 11.4 or newer for graphs on %s, but got one without them",
              device.describe().c_str());
}

blocksparseRtStatus blocksparseRtCaptureBegin(blocksparseRtDevice device,
                                              blocksparseRtStream stream) {
  BLOCKSPARSE_RT_TRY(expectGraphs(device));
  BLOCKSPARSE_RT_TRY(expectPointer(stream, "a stream of its own"));
  return onDevice(*unwrap(device), "cuStreamBeginCapture", [&](const Driver &driver) {
    return driver.cuStreamBeginCapture(stream, cuda::captureThreadLocal);
  });
}

blocksparseRtStatus blocksparseRtCaptureEnd(blocksparseRtDevice device, blocksparseRtStream stream,
                                            blocksparseRtGraph *graph) {
  BLOCKSPARSE_RT_TRY(expectPointer(graph, "a place for the graph"));
  *graph = nullptr;
  BLOCKSPARSE_RT_TRY(expectGraphs(device));
  BLOCKSPARSE_RT_TRY(expectPointer(stream, "a stream of its own"));
  cuda::Graph captured = nullptr;
  BLOCKSPARSE_RT_TRY(onDevice(*unwrap(device), "cuStreamEndCapture", [&](const Driver &driver) {
    return driver.cuStreamEndCapture(stream, &captured);
  }));
  Status status =
      onDevice(*unwrap(device), "cuGraphInstantiateWithFlags", [&](const Driver &driver) {
        return driver.cuGraphInstantiateWithFlags(graph, captured, 0);
      });
  (void)unwrap(device)->driver.cuGraphDestroy(captured);
  return status;
}

blocksparseRtStatus blocksparseRtGraphLaunch(blocksparseRtDevice device, blocksparseRtGraph graph,
                                             blocksparseRtStream stream) {
  BLOCKSPARSE_RT_TRY(expectGraphs(device));
  BLOCKSPARSE_RT_TRY(expectPointer(graph, "a graph"));
  return onDevice(*unwrap(device), "cuGraphLaunch",
                  [&](const Driver &driver) { return driver.cuGraphLaunch(graph, stream); });
}

blocksparseRtStatus blocksparseRtGraphDestroy(blocksparseRtDevice device,
                                              blocksparseRtGraph graph) {
  BLOCKSPARSE_RT_TRY(expectGraphs(device));
  BLOCKSPARSE_RT_TRY(expectPointer(graph, "a graph"));
  return onDevice(*unwrap(device), "cuGraphExecDestroy",
                  [&](const Driver &driver) { return driver.cuGraphExecDestroy(graph); });
}
