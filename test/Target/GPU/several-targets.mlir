// One library for two GPUs and the CPU: where no device is, host tensors go to the CPU's code.
// A program without sanitizers cannot load a runtime with them.
// UNSUPPORTED: asan
// RUN: rm -rf %t && mkdir %t
// RUN: blocksparse-compile %s --target=cuda:sm_90a,cuda:sm_80,cpu -o %t/program.so --emit-header %t/program.h
// RUN: FileCheck %s --check-prefix=HEADER --input-file=%t/program.h
// HEADER: A status may be any of libblocksparse_runtime.so
// HEADER: int32_t f(const blocksparse_tensor_3 *a,
// RUN: %host_cc -I%t -I%source_root/include %S/Inputs/call.c %t/program.so %build_root/lib/libblocksparse_runtime.so -Wl,-rpath,%t -Wl,-rpath,%build_root/lib -o %t/call
// RUN: env BLOCKSPARSE_CUDA_DRIVER=/nonexistent.so %t/call | FileCheck %s
// CHECK: sizes 0: 8
// CHECK: call BLOCKSPARSE_RT_SUCCESS: 48

// Without code for the CPU there is a status instead.
// RUN: blocksparse-compile %s --target=cuda:sm_90a,cuda:sm_80 -o %t/program.so
// RUN: env BLOCKSPARSE_CUDA_DRIVER=/nonexistent.so %t/call | FileCheck %s --check-prefix=NONE
// RUN: blocksparse-compile %s --target=cuda:sm_80 -o %t/program.so
// RUN: env BLOCKSPARSE_CUDA_DRIVER=/nonexistent.so %t/call | FileCheck %s --check-prefix=NONE
// NONE: sizes 0: 8
// NONE: call BLOCKSPARSE_RT_DRIVER_NOT_FOUND: 0
// NONE: expects the CUDA driver library '/nonexistent.so', but got

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/01">

func.func @f(%a: tensor<32x32xf32, #layout>, %b: tensor<32x?xf32>) -> tensor<32x?xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<32x32xf32, #layout>, tensor<32x?xf32>) -> tensor<32x?xf32>
  return %0 : tensor<32x?xf32>
}

// The program for the CPU checks the indices of a pattern that is data, and refuses by functions of its own that
// call one another.
func.func @data(%a: tensor<32x32xf32, #blocksparse.bsr<16x16>>, %b: tensor<32x?xf32>) -> tensor<32x?xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<32x32xf32, #blocksparse.bsr<16x16>>, tensor<32x?xf32>) -> tensor<32x?xf32>
  return %0 : tensor<32x?xf32>
}
