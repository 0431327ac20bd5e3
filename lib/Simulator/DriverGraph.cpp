// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stream capture and graphs. A graph is the list of what its stream was given, which a launch of
// the graph does again in order.

#include "DriverState.h"

using namespace blocksparse::sim;

cuda::Result blocksparse::sim::enqueue(DriverCall &call, cuda::Stream stream, StreamWork work) {
  if (stream && stream->capture) {
    stream->capture->work.push_back(std::move(work));
    return cuda::success;
  }
  return work(call.state, stream);
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuStreamBeginCapture_v2(cuda::Stream stream, int) {
  // The context is that of the stream; none needs to be current.
  DriverCall call;
  if (cuda::Result result = call.check(/*needsContext=*/false))
    return result;
  if (!stream || !call.state.streams.count(stream))
    return errorInvalidHandle;
  if (stream->capture)
    return errorIllegalState;
  stream->capture = std::make_unique<cuda::GraphObject>();
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuStreamEndCapture(cuda::Stream stream,
                                                       cuda::GraphObject **graph) {
  DriverCall call;
  if (!stream || !call.state.streams.count(stream))
    return errorInvalidHandle;
  if (!stream->capture)
    return errorIllegalState;
  *graph = stream->capture.release();
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuStreamIsCapturing(cuda::Stream stream, int *status) {
  DriverCall call;
  if (cuda::Result result = call.check(/*needsContext=*/false))
    return result;
  *status = stream && stream->capture;
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuGraphInstantiateWithFlags(cuda::GraphObject **executable,
                                                                cuda::GraphObject *graph,
                                                                unsigned long long) {
  DriverCall call;
  if (cuda::Result result = call.check())
    return result;
  *executable = new cuda::GraphObject(*graph);
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuGraphLaunch(cuda::GraphObject *executable,
                                                  cuda::Stream stream) {
  DriverCall call;
  if (cuda::Result result = call.check(/*needsContext=*/false))
    return result;
  if (stream && !call.state.streams.count(stream))
    return errorInvalidHandle;
  for (const StreamWork &work : executable->work)
    if (cuda::Result result = enqueue(call, stream, work))
      return result;
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuGraphExecDestroy(cuda::GraphObject *executable) {
  DriverCall call; // the end of a graph's memory
  delete executable;
  return cuda::success;
}

BLOCKSPARSE_SIM_EXPORT cuda::Result cuGraphDestroy(cuda::GraphObject *graph) {
  DriverCall call;
  delete graph;
  return cuda::success;
}
