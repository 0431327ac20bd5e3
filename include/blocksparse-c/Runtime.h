/* This file is licensed under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* The runtime of compiled block-sparse programs: devices, modules, kernels,
   memory, tensor maps and artefacts over the CUDA driver, which is loaded on
   first use. Neither a CUDA toolkit nor LLVM is needed to build against it.

   Rules for the whole file
   - Every function returns a status; blocksparseRtLastError() then holds the
     reason, in this thread. Results are written only on success. Nothing is
     printed and nothing aborts.
   - Every function may be called from any thread. The device's primary context
     is made current for the call and the thread's own one restored.
   - The driver is `libcuda.so.1`; the environment variable
     BLOCKSPARSE_CUDA_DRIVER names another library. It is read once.
   - Sizes and offsets are bytes unless said otherwise. */

#ifndef BLOCKSPARSE_C_RUNTIME_H
#define BLOCKSPARSE_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BLOCKSPARSE_RT_API __attribute__((visibility("default")))
#define BLOCKSPARSE_RT_ALIGNED(bytes) __attribute__((aligned(bytes)))
#else
#define BLOCKSPARSE_RT_API
#define BLOCKSPARSE_RT_ALIGNED(bytes)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Status ------------------------------------------------------------===*/

typedef enum blocksparseRtStatus {
  BLOCKSPARSE_RT_SUCCESS = 0,
  /* An argument breaks its contract; the text has both values. */
  BLOCKSPARSE_RT_INVALID_ARGUMENT = 1,
  /* The driver library cannot be loaded: a machine without a GPU driver. */
  BLOCKSPARSE_RT_DRIVER_NOT_FOUND = 2,
  /* The driver is older than the function that was asked for. */
  BLOCKSPARSE_RT_DRIVER_SYMBOL_MISSING = 3,
  /* The driver is there but sees no device. */
  BLOCKSPARSE_RT_NO_DEVICE = 4,
  /* Any other failure of the driver; also reports a kernel that failed. */
  BLOCKSPARSE_RT_DRIVER_ERROR = 5,
  BLOCKSPARSE_RT_OUT_OF_MEMORY = 6,
  /* The PTX text asks for a newer PTX version than the driver knows. */
  BLOCKSPARSE_RT_PTX_TOO_NEW = 7,
  /* The driver refused the PTX text or the binary; its log is in the text. */
  BLOCKSPARSE_RT_COMPILE_FAILED = 8,
  /* No kernel, LUT or symbol of that name. */
  BLOCKSPARSE_RT_NOT_FOUND = 9,
  /* Grid, block or cluster passes a limit of the device. */
  BLOCKSPARSE_RT_LAUNCH_LIMIT = 10,
  /* A kernel asks for more shared memory than the device has. */
  BLOCKSPARSE_RT_SHARED_MEMORY_LIMIT = 11,
  /* The bytes are no artefact, or a damaged one, or one of another version. */
  BLOCKSPARSE_RT_INVALID_ARTIFACT = 12,
  /* The artefact has no image that this device can run. */
  BLOCKSPARSE_RT_NO_IMAGE = 13,
  /* The device lacks a feature (tensor maps, clusters). */
  BLOCKSPARSE_RT_UNSUPPORTED = 14,
  /* An event has not happened yet. */
  BLOCKSPARSE_RT_NOT_READY = 15
} blocksparseRtStatus;

/* The status' name, "BLOCKSPARSE_RT_..."; "unknown status" for another value.
   The string lives forever. */
BLOCKSPARSE_RT_API const char *blocksparseRtStatusName(int32_t status);

/* The reason of this thread's latest failure, "" before the first. Names the
   kernel, grid, block and shared memory where there is a kernel, and the
   driver's own error name and description where the driver failed. Valid until
   this thread's next call into the runtime. */
BLOCKSPARSE_RT_API const char *blocksparseRtLastError(void);

/* The `mgpu*` entry points return no status. They keep the first failure of
   each thread, and the thread's later mgpu calls do nothing (but still load
   modules and release what they are given). This returns that failure, puts its text where
   blocksparseRtLastError() reads it, and clears the state. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtTakeError(void);

/*===-- Driver and devices ------------------------------------------------===*/

typedef struct blocksparseRtDeviceObject *blocksparseRtDevice;
typedef struct blocksparseRtModuleObject *blocksparseRtModule;
typedef struct blocksparseRtFunctionObject *blocksparseRtFunction;
typedef struct blocksparseRtArtifactObject *blocksparseRtArtifact;
/* The driver's own CUstream and CUevent, so those of another library (for
   example torch's current stream) may be passed. NULL is the default stream. */
typedef struct CUstream_st *blocksparseRtStream;
typedef struct CUevent_st *blocksparseRtEvent;
/* The driver's own CUgraphExec. */
typedef struct CUgraphExec_st *blocksparseRtGraph;

typedef struct blocksparseRtDeviceInfo {
  char name[256];
  int32_t computeMajor, computeMinor;
  int32_t smCount;
  int32_t maxSharedBytesPerBlock; /* with opt-in */
  int32_t l2Bytes;
  int32_t hasMemoryPool; /* stream-ordered allocation */
  int32_t hasClusters;   /* thread block clusters */
  int32_t hasTensorMaps; /* the device and the driver know TMA */
  int64_t totalBytes;
} blocksparseRtDeviceInfo;

/* The version of this library, "MAJOR.MINOR.PATCH". It never fails. */
BLOCKSPARSE_RT_API const char *blocksparseRtVersion(void);

/* The CUDA version of the driver, 1000 * major + 10 * minor. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtDriverVersion(int32_t *version);

/* The newest PTX version of that driver, 10 * major + minor (12.4 -> 84). For a
   driver newer than this runtime it is the newest one that the runtime knows. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtDriverPtxVersion(int32_t *version);

/* The number of devices, at least 1 on success. A machine without a GPU gives
   DRIVER_NOT_FOUND or NO_DEVICE, at which a caller with a CPU path takes it. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtDeviceCount(int32_t *count);

/* The device object of `ordinal`; it lives as long as the process. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtDeviceGet(int32_t ordinal,
                                                              blocksparseRtDevice *device);

BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtDeviceGetInfo(blocksparseRtDevice device,
                                                                  blocksparseRtDeviceInfo *info);

/* Waits for everything that was put on the device. An earlier kernel's failure
   is reported here; the text then names the last launch of this runtime. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtDeviceSynchronize(blocksparseRtDevice device);

/*===-- Modules and functions ---------------------------------------------===*/

/* Loads PTX text (`length` bytes, a final NUL may be counted or not) with JIT
   level `optLevel` (0 to 4). Equal text at an equal level is loaded once per
   device; each successful load wants one unload. Fails with PTX_TOO_NEW naming
   both versions, or COMPILE_FAILED with the driver's log. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtModuleLoadPtx(blocksparseRtDevice device,
                                                                  const char *text, size_t length,
                                                                  int32_t optLevel,
                                                                  blocksparseRtModule *module);

/* Loads a cubin or a fat binary, cached in the same way. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtModuleLoadBinary(blocksparseRtDevice device,
                                                                     const void *data, size_t size,
                                                                     blocksparseRtModule *module);

/* Gives one load back; NULL is allowed. The last one unloads the module and
   ends the life of its functions. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtModuleUnload(blocksparseRtModule module);

/* The kernel `name`; it lives as long as the module. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtModuleGetFunction(
    blocksparseRtModule module, const char *name, blocksparseRtFunction *function);

typedef struct blocksparseRtFunctionInfo {
  int32_t registers;  /* per thread */
  int32_t localBytes; /* per thread; spills and local arrays */
  int32_t staticSharedBytes;
  int32_t maxDynamicSharedBytes; /* granted so far */
  int32_t constantBytes;
  int32_t maxThreads;    /* per block, as the registers allow */
  int32_t ptxVersion;    /* target of the PTX, 10 * major + minor */
  int32_t binaryVersion; /* target of the machine code */
  int32_t argCount;      /* -1 for machine code on a driver that cannot tell */
} blocksparseRtFunctionInfo;

BLOCKSPARSE_RT_API blocksparseRtStatus
blocksparseRtFunctionGetInfo(blocksparseRtFunction function, blocksparseRtFunctionInfo *info);

/* Allows launches with up to `bytes` of dynamic shared memory. Fails with
   SHARED_MEMORY_LIMIT naming what is used and the limit, before the driver is
   asked. A launch does this by itself where it is needed. */
BLOCKSPARSE_RT_API blocksparseRtStatus
blocksparseRtFunctionSetMaxDynamicShared(blocksparseRtFunction function, int64_t bytes);

/*===-- Launch ------------------------------------------------------------===*/

typedef struct blocksparseRtLaunchConfig {
  int64_t grid[3];    /* in blocks: x, y, z */
  int64_t block[3];   /* in threads */
  int64_t cluster[3]; /* in blocks; all 0 for none */
  int64_t dynamicSharedBytes;
  blocksparseRtStream stream;
} blocksparseRtLaunchConfig;

#define BLOCKSPARSE_RT_ANY_ARG_COUNT ((size_t)-1)

/* Puts the kernel on the stream. `args[i]` points to the value of argument i;
   `argCount` is checked against the kernel's own number where the driver can
   tell it, unless it is BLOCKSPARSE_RT_ANY_ARG_COUNT. A grid with a zero is an
   empty launch and succeeds. Fails with LAUNCH_LIMIT (x above 2^31 - 1, y or z
   above 65535, block above 1024 threads or the kernel's own limit, cluster
   that does not divide the grid), SHARED_MEMORY_LIMIT or UNSUPPORTED before
   the driver is asked; every text names the kernel and the whole shape. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtLaunch(blocksparseRtFunction function,
                                                           const blocksparseRtLaunchConfig *config,
                                                           void **args, size_t argCount);

/*===-- Streams and events ------------------------------------------------===*/

/* A stream that does not wait for the default stream. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtStreamCreate(blocksparseRtDevice device,
                                                                 blocksparseRtStream *stream);
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtStreamDestroy(blocksparseRtDevice device,
                                                                  blocksparseRtStream stream);
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtStreamSynchronize(blocksparseRtDevice device,
                                                                      blocksparseRtStream stream);
/* Later work of `stream` waits for what `event` recorded. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtStreamWaitEvent(blocksparseRtDevice device,
                                                                    blocksparseRtStream stream,
                                                                    blocksparseRtEvent event);

/* `timing` != 0 makes an event that can measure. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtEventCreate(blocksparseRtDevice device,
                                                                int32_t timing,
                                                                blocksparseRtEvent *event);
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtEventDestroy(blocksparseRtDevice device,
                                                                 blocksparseRtEvent event);
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtEventRecord(blocksparseRtDevice device,
                                                                blocksparseRtEvent event,
                                                                blocksparseRtStream stream);
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtEventSynchronize(blocksparseRtDevice device,
                                                                     blocksparseRtEvent event);
/* NOT_READY until the recorded work is done. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtEventQuery(blocksparseRtDevice device,
                                                               blocksparseRtEvent event);
/* Milliseconds between two finished timing events. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtEventElapsed(blocksparseRtDevice device,
                                                                 blocksparseRtEvent start,
                                                                 blocksparseRtEvent stop,
                                                                 float *milliseconds);

/*===-- Graphs ------------------------------------------------------------===*/

/* Records the work that this thread puts on `stream` (one of its own, not the
   default stream) instead of executing it, until CaptureEnd. A program can be
   captured after one call outside of a capture, which loads its code. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtCaptureBegin(blocksparseRtDevice device,
                                                                 blocksparseRtStream stream);
/* Ends the capture and makes a graph of what was recorded. After a failure
   `*graph` is NULL, and the stream executes again. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtCaptureEnd(blocksparseRtDevice device,
                                                               blocksparseRtStream stream,
                                                               blocksparseRtGraph *graph);
/* Executes the recorded work on a stream, any number of times. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtGraphLaunch(blocksparseRtDevice device,
                                                                blocksparseRtGraph graph,
                                                                blocksparseRtStream stream);
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtGraphDestroy(blocksparseRtDevice device,
                                                                 blocksparseRtGraph graph);

/*===-- Memory ------------------------------------------------------------===*/

/* Device memory, 256-byte aligned, usable by work put on `stream` from now on.
   From the runtime's own pool where the device has pools (freed memory is kept
   for the next allocation), else from cuMemAlloc. 0 bytes give NULL. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtAlloc(blocksparseRtDevice device, size_t bytes,
                                                          blocksparseRtStream stream,
                                                          void **pointer);
/* Gives memory of blocksparseRtAlloc back once the work on `stream` is done;
   NULL is allowed. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtFree(blocksparseRtDevice device, void *pointer,
                                                         blocksparseRtStream stream);
/* Returns unused pool memory beyond `keepBytes` to the system. Waits for the work
   on workspaces that calls of programs left to later calls, and frees them. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtTrim(blocksparseRtDevice device,
                                                         size_t keepBytes);

/* Copies on a stream; 0 bytes do nothing. Pageable host memory may be changed
   or freed only after the stream was synchronised. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtCopyToDevice(blocksparseRtDevice device,
                                                                 void *destination,
                                                                 const void *source, size_t bytes,
                                                                 blocksparseRtStream stream);
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtCopyToHost(blocksparseRtDevice device,
                                                               void *destination,
                                                               const void *source, size_t bytes,
                                                               blocksparseRtStream stream);
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtCopyOnDevice(blocksparseRtDevice device,
                                                                 void *destination,
                                                                 const void *source, size_t bytes,
                                                                 blocksparseRtStream stream);

/* Writes `count` elements of `elementBytes` (1, 2 or 4) with the low bits of
   `value`. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtFill(blocksparseRtDevice device,
                                                         void *destination, uint32_t value,
                                                         int32_t elementBytes, size_t count,
                                                         blocksparseRtStream stream);

typedef enum blocksparseRtMemoryKind {
  BLOCKSPARSE_RT_MEMORY_HOST = 0, /* any address that the driver does not know */
  BLOCKSPARSE_RT_MEMORY_PINNED = 1,
  BLOCKSPARSE_RT_MEMORY_DEVICE = 2,
  BLOCKSPARSE_RT_MEMORY_MANAGED = 3
} blocksparseRtMemoryKind;

/* What `pointer` points to, and of which device (-1 for HOST). */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtPointerKind(const void *pointer,
                                                                blocksparseRtMemoryKind *kind,
                                                                int32_t *ordinal);

/*===-- Tensor maps -------------------------------------------------------===*/

/* The values are the driver's. */
typedef enum blocksparseRtTensorMapType {
  BLOCKSPARSE_RT_TENSOR_U8 = 0,
  BLOCKSPARSE_RT_TENSOR_U16 = 1,
  BLOCKSPARSE_RT_TENSOR_U32 = 2,
  BLOCKSPARSE_RT_TENSOR_I32 = 3,
  BLOCKSPARSE_RT_TENSOR_U64 = 4,
  BLOCKSPARSE_RT_TENSOR_I64 = 5,
  BLOCKSPARSE_RT_TENSOR_F16 = 6,
  BLOCKSPARSE_RT_TENSOR_F32 = 7,
  BLOCKSPARSE_RT_TENSOR_F64 = 8,
  BLOCKSPARSE_RT_TENSOR_BF16 = 9,
  BLOCKSPARSE_RT_TENSOR_F32_FTZ = 10,
  BLOCKSPARSE_RT_TENSOR_TF32 = 11,
  BLOCKSPARSE_RT_TENSOR_TF32_FTZ = 12
} blocksparseRtTensorMapType;

typedef enum blocksparseRtInterleave {
  BLOCKSPARSE_RT_INTERLEAVE_NONE = 0,
  BLOCKSPARSE_RT_INTERLEAVE_16B = 1,
  BLOCKSPARSE_RT_INTERLEAVE_32B = 2
} blocksparseRtInterleave;

typedef enum blocksparseRtSwizzle {
  BLOCKSPARSE_RT_SWIZZLE_NONE = 0,
  BLOCKSPARSE_RT_SWIZZLE_32B = 1,
  BLOCKSPARSE_RT_SWIZZLE_64B = 2,
  BLOCKSPARSE_RT_SWIZZLE_128B = 3
} blocksparseRtSwizzle;

typedef enum blocksparseRtL2Promotion {
  BLOCKSPARSE_RT_L2_NONE = 0,
  BLOCKSPARSE_RT_L2_64B = 1,
  BLOCKSPARSE_RT_L2_128B = 2,
  BLOCKSPARSE_RT_L2_256B = 3
} blocksparseRtL2Promotion;

typedef enum blocksparseRtOutOfBounds {
  BLOCKSPARSE_RT_FILL_ZERO = 0,
  BLOCKSPARSE_RT_FILL_NAN = 1 /* floating-point types only */
} blocksparseRtOutOfBounds;

/* What a kernel takes as a __grid_constant__ argument. */
typedef struct BLOCKSPARSE_RT_ALIGNED(64) blocksparseRtTensorMap {
  uint64_t opaque[16];
} blocksparseRtTensorMap;

/* Dimension 0 is the contiguous one. */
typedef struct blocksparseRtTensorMapConfig {
  int32_t type;             /* blocksparseRtTensorMapType */
  int32_t rank;             /* 1 to 5 */
  void *address;            /* in device memory, 16-byte aligned */
  uint64_t sizes[5];        /* elements, 1 to 2^32 */
  uint64_t strides[4];      /* bytes between elements of dimension 1, 2, ...;
                               multiples of 16 below 2^40; anything for a
                               dimension of size 1 */
  uint32_t box[5];          /* elements, 1 to 256 */
  uint32_t elementSteps[5]; /* 1 to 8; all 0 stands for all 1 */
  int32_t interleave;       /* blocksparseRtInterleave */
  int32_t swizzle;          /* blocksparseRtSwizzle, at least as wide as box[0]
                               in bytes */
  int32_t l2Promotion;      /* blocksparseRtL2Promotion */
  int32_t outOfBounds;      /* blocksparseRtOutOfBounds */
} blocksparseRtTensorMapConfig;

/* Checks the rules above by itself, naming the value that breaks one, then
   asks the driver. UNSUPPORTED on a device before compute capability 9.0.
   Rules: CUDA driver API, cuTensorMapEncodeTiled. */
BLOCKSPARSE_RT_API blocksparseRtStatus
blocksparseRtTensorMapEncode(blocksparseRtDevice device, const blocksparseRtTensorMapConfig *config,
                             blocksparseRtTensorMap *map);

/*===-- Artefacts ---------------------------------------------------------===*/

/* The format is described in blocksparse/Runtime/Artifact.h. */

/* Checks and adopts an artefact. The bytes are not copied: they must outlive
   the object. Needs no driver. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtArtifactOpen(const void *data, size_t size,
                                                                 blocksparseRtArtifact *artifact);

/* The same, once for the variable `*slot` (initially NULL) of generated code,
   however many threads arrive together; all get the one object. Nobody else may
   touch the variable meanwhile. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtArtifactOpenOnce(
    blocksparseRtArtifact *slot, const void *data, size_t size, blocksparseRtArtifact *artifact);

/* Unloads its modules and frees its device memory; NULL is allowed. No other
   thread may be using it. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtArtifactClose(blocksparseRtArtifact artifact);

/* Closes the artefact of the variable `*slot` and sets it to NULL. A generated
   library calls it when it is unloaded (dlclose). Does nothing while the process
   ends: the driver frees all memory then, and may have ended before. */
BLOCKSPARSE_RT_API void blocksparseRtArtifactCloseSlot(blocksparseRtArtifact *slot);

/* Only images of `target` ("sm_80") are used from now on; NULL takes that back.
   Before the first use on a device. */
BLOCKSPARSE_RT_API blocksparseRtStatus
blocksparseRtArtifactSetTarget(blocksparseRtArtifact artifact, const char *target);

/* The target of the image that `device` runs; the module is loaded. The best
   image is the newest architecture that the device can run, exact `a` targets
   first, machine code before PTX; PTX that is newer than the driver is passed
   over where another image fits, and machine code that the driver refuses where
   there is PTX of the same target. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtArtifactTarget(blocksparseRtArtifact artifact,
                                                                   blocksparseRtDevice device,
                                                                   const char **target);

typedef struct blocksparseRtKernelInfo {
  int32_t threads[3];
  int32_t cluster[3]; /* 1, 1, 1 for none */
  int64_t dynamicSharedBytes;
} blocksparseRtKernelInfo;

/* The kernel `name` of the device's image and its record; `info` may be NULL.
   The function lives as long as the artefact. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtArtifactGetKernel(
    blocksparseRtArtifact artifact, blocksparseRtDevice device, const char *name,
    blocksparseRtFunction *function, blocksparseRtKernelInfo *info);

/* Launches with the block, cluster and shared memory of the record. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtArtifactLaunch(
    blocksparseRtArtifact artifact, blocksparseRtDevice device, const char *name,
    const int64_t grid[3], blocksparseRtStream stream, void **args, size_t argCount);

/* The LUT `name` in the artefact itself: for the CPU path. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtArtifactGetLut(blocksparseRtArtifact artifact,
                                                                   const char *name,
                                                                   const void **data,
                                                                   size_t *bytes);

/* The LUT in device memory, uploaded when it is first asked for, once per
   device. An empty LUT gives NULL. */
BLOCKSPARSE_RT_API blocksparseRtStatus
blocksparseRtArtifactGetDeviceLut(blocksparseRtArtifact artifact, blocksparseRtDevice device,
                                  const char *name, void **pointer, size_t *bytes);

/*===-- Compiled programs -------------------------------------------------===*/

/* The stream on which this thread's calls of compiled programs put their work, NULL (the default
   stream) at first. It must belong to the device that holds the arguments. */
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtSetStream(blocksparseRtStream stream);
BLOCKSPARSE_RT_API blocksparseRtStatus blocksparseRtGetStream(blocksparseRtStream *stream);

/* The rest is what generated code calls. An entry point that runs on a device is one call: Begin,
   then any of Refuse, Record, Lut, Alloc, TensorMap, Launch and Free in the order of the program,
   then End, all in one thread. After the first failure Lut and Alloc give NULL, Refuse, TensorMap
   and Launch do nothing, so that the code between needs no branches. */

/* The state of a call, in the caller's frame; no member is for others. */
typedef struct blocksparseRtCall {
  blocksparseRtArtifact artifact;
  blocksparseRtDevice device;
  blocksparseRtStream stream;
  int64_t status;
  int64_t contexts; /* that End takes off the thread's stack */
} blocksparseRtCall;

/* What generated code remembers of one kernel or one LUT, for each device: a variable of the
   program, all zero at first. It belongs to one artefact and is as long of use as that. */
typedef struct blocksparseRtSite {
  void *first;
} blocksparseRtSite;

/* Adopts the artefact (see blocksparseRtArtifactOpenOnce) and takes the device that holds the first
   of the `count` pointers that is not NULL, device 0 if all are. A pointer to host memory fails
   with INVALID_ARGUMENT. The device's context stays current until End. */
BLOCKSPARSE_RT_API void blocksparseRtCallBegin(blocksparseRtCall *call, blocksparseRtArtifact *slot,
                                               const void *data, int64_t size,
                                               void *const *pointers, int64_t count);
/* The program found numbers that do not fit together, sizes of its arguments most of all: the call
   fails with INVALID_ARGUMENT and `message`, where {0} and {1} stand for `left` and `right`. */
BLOCKSPARSE_RT_API void blocksparseRtCallRefuse(blocksparseRtCall *call, const char *message,
                                                int64_t left, int64_t right);
/* A kernel has checked indices and left the record of the first fault in device memory
   (blocksparse/Support/IndexFaults.h): waits for the stream and reads it. With a fault the call
   fails with INVALID_ARGUMENT, and the text says what `subject` expects, and the batch, row,
   position, value and limit. */
BLOCKSPARSE_RT_API void blocksparseRtCallRecord(blocksparseRtCall *call, const void *record,
                                                const char *subject);
/* The LUT in device memory. */
BLOCKSPARSE_RT_API void *blocksparseRtCallLut(blocksparseRtCall *call, blocksparseRtSite *site,
                                              const char *name);
/* Memory for the rest of the call, in stream order. */
BLOCKSPARSE_RT_API void *blocksparseRtCallAlloc(blocksparseRtCall *call, int64_t bytes);
/* Works after a failure, too. */
BLOCKSPARSE_RT_API void blocksparseRtCallFree(blocksparseRtCall *call, void *pointer);
/* Encodes a tensor map for the call's device (see blocksparseRtTensorMapEncode); after a failure
   `map` stays as it was. */
BLOCKSPARSE_RT_API void blocksparseRtCallTensorMap(blocksparseRtCall *call,
                                                   const blocksparseRtTensorMapConfig *config,
                                                   blocksparseRtTensorMap *map);
/* Launches with the block, cluster and shared memory of the kernel's record. A tensor map is an
   argument by value: its `args[i]` points to the map's 128 bytes. */
BLOCKSPARSE_RT_API void blocksparseRtCallLaunch(blocksparseRtCall *call, blocksparseRtSite *site,
                                                const char *kernel, int64_t gridX, int64_t gridY,
                                                int64_t gridZ, void **args, int64_t argCount);
/* The call's first failure; blocksparseRtLastError has its text. */
BLOCKSPARSE_RT_API int32_t blocksparseRtCallEnd(blocksparseRtCall *call);

/* Code for the CPU refuses a call: sizes or indices of its arguments do not fit. `text` becomes the
   text of blocksparseRtLastError. Returns INVALID_ARGUMENT. Such code needs no runtime; where there
   is none, it writes the text to the error stream. */
BLOCKSPARSE_RT_API int32_t blocksparseRtRefuse(const char *text);

/* Chooses the code of a program that was compiled for several targets: `*choice` becomes the
   number of the target in `targets` whose image the device of the pointers runs or, with
   `hasHost` != 0, -1 where the first pointer that is not NULL points to host memory (all NULL:
   where there is no device). */
BLOCKSPARSE_RT_API int32_t blocksparseRtCallSelect(blocksparseRtArtifact *slot, const void *data,
                                                   int64_t size, void *const *pointers,
                                                   int64_t count, const char *const *targets,
                                                   int32_t targetCount, int32_t hasHost,
                                                   int32_t *choice);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSPARSE_C_RUNTIME_H */
