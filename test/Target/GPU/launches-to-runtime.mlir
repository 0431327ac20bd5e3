// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-gpu{target=cuda:sm_80})' | FileCheck %s --implicit-check-not='{{ = |^ *}}{{"?}}blocksparse.'
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-gpu{target=cuda:sm_90a})' | FileCheck %s --check-prefix=SM90
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-gpu{target=cuda:sm_80 ptx-version=83})' | FileCheck %s --check-prefix=PTX83

// The lowest PTX version that knows the chip, unless one is asked for.
// CHECK: blocksparse.kernels = {
// CHECK-SAME: dsd_dsd = array<i64: 256, 1, 1, 1, 1, 1, 0, 0>
// CHECK-SAME: blocksparse.luts = {lut_{{[0-9a-f]+}}_[[BYTES:[0-9]+]] = dense<
// CHECK-DAG: llvm.mlir.global internal @blocksparse.site.dsd_dsd()
// CHECK-DAG: llvm.mlir.global internal @blocksparse.site.lut_{{[0-9a-f]+}}_[[BYTES]]()
// CHECK-DAG: llvm.mlir.global internal constant @blocksparse.message.{{[0-9A-F]+}}("blocksparse.matmul expects b to have {1} rows, the columns of a, but got {0}\00")
// CHECK: gpu.binary @blocksparse_kernels
// CHECK-SAME: .version 7.0
// CHECK-SAME: .target sm_80
// SM90: .version 8.0
// SM90-SAME: .target sm_90a
// PTX83: .version 8.3

#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/01">

// CHECK-LABEL: llvm.func @dsd(
// CHECK-SAME: -> i32
// CHECK-DAG: %[[LUT:[0-9]+]] = llvm.mlir.addressof @blocksparse.site.lut_
// CHECK-DAG: %[[KERNEL:[0-9]+]] = llvm.mlir.addressof @blocksparse.site.dsd_dsd
// CHECK: llvm.call @blocksparseRtCallBegin(%[[CALL:[0-9]+]],
// Each LUT and kernel has a variable, in which the runtime remembers what it found.
// CHECK: llvm.call @blocksparseRtCallLut(%[[CALL]], %[[LUT]],
// CHECK: llvm.call @blocksparseRtCallLaunch(%[[CALL]], %[[KERNEL]],
// CHECK: %[[STATUS:[0-9]+]] = llvm.call @blocksparseRtCallEnd(%[[CALL]])
// CHECK: llvm.return %[[STATUS]] : i32
func.func @dsd(%a: tensor<32x32xf16, #layout>, %b: tensor<32x?xf16>) -> tensor<32x?xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<32x32xf16, #layout>, tensor<32x?xf16>) -> tensor<32x?xf16>
  return %0 : tensor<32x?xf16>
}

// Descriptors are on the host: sizes need no device.
// CHECK-LABEL: llvm.func @dsd_result_sizes(
// CHECK-NOT: llvm.call @blocksparseRt
// CHECK: llvm.return %{{.*}} : i32

// A temporary in device memory lives in stream order.
// CHECK-LABEL: llvm.func @chain(
// CHECK: %[[TEMPORARY:[0-9]+]] = llvm.call @blocksparseRtCallAlloc(
// CHECK: llvm.call @blocksparseRtCallLaunch(
// CHECK: llvm.call @blocksparseRtCallLaunch(
// CHECK: llvm.call @blocksparseRtCallFree(%{{[0-9]+}}, %[[TEMPORARY]])
// CHECK: llvm.call @blocksparseRtCallEnd(
func.func @chain(%a: tensor<32x8xf16>, %b: tensor<8x32xf16>, %c: tensor<32x8xf16>) -> tensor<32x8xf16> {
  %0 = blocksparse.sdd %a, %b : (tensor<32x8xf16>, tensor<8x32xf16>) -> tensor<32x32xf16, #layout>
  %1 = blocksparse.dsd %0, %c : (tensor<32x32xf16, #layout>, tensor<32x8xf16>) -> tensor<32x8xf16>
  return %1 : tensor<32x8xf16>
}

// Open sizes that do not fit end the call; the kernel is not launched then.
// CHECK-LABEL: llvm.func @open(
// CHECK-SAME: %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: i64, %{{[^,]*}}: i64, %[[COLS:[^,]*]]: i64, %{{[^,]*}}: i64, %{{[^,]*}}: i64, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: i64, %[[ROWS:[^,]*]]: i64
// CHECK: llvm.call @blocksparseRtCallBegin(%[[CALL:[0-9]+]],
// CHECK: llvm.icmp "ne" %[[ROWS]], %[[COLS]]
// CHECK: llvm.call @blocksparseRtCallRefuse(%[[CALL]], %{{[0-9]+}}, %[[ROWS]], %[[COLS]])
// CHECK: llvm.call @blocksparseRtCallLaunch(
func.func @open(%a: tensor<4x?xf32>, %b: tensor<?x8xf32>) -> tensor<4x8xf32> {
  %0 = blocksparse.matmul %a, %b : (tensor<4x?xf32>, tensor<?x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Copies between device buffers are kernels.
// CHECK-LABEL: llvm.func @identity(
// CHECK: llvm.call @blocksparseRtCallLaunch(
func.func @identity(%a: tensor<4x?xf32>) -> tensor<4x?xf32> {
  return %a : tensor<4x?xf32>
}
