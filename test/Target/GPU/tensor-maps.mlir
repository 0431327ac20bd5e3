// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(convert-gpu-launch-to-runtime{target=cuda:sm_90a})' | FileCheck %s --check-prefix=HOST --implicit-check-not=nvgpu.
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-llvm-gpu-pipeline{target=cuda:sm_90a})' | FileCheck %s --implicit-check-not=blocksparse.tensor_maps
// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(gpu.module(convert-gpu-to-nvvm,blocksparse-tensor-maps-by-value))' | FileCheck %s --check-prefix=KERNEL --implicit-check-not=blocksparse.tensor_maps

// The kernel's first parameter is the map itself, not an address.
// CHECK: gpu.binary @kernels
// CHECK-SAME: .entry load(
// CHECK-SAME: .param .align 64 .b8 load_param_0[128],
// CHECK-SAME: .param .u64 .ptr .align 1 load_param_1,
// CHECK-SAME: cvta.param.u64 \09%[[MAP:rd[0-9]+]],
// CHECK-SAME: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%{{rd[0-9]+}}], [%[[MAP]],

// KERNEL: llvm.func @load(%{{[^:]+}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: !llvm.ptr,

// A panel map: 64 columns, all rows, panels. The tensor map counts from the innermost dimension.
// HOST-LABEL: func.func @host(
// HOST-DAG: %[[MAP:.*]] = llvm.alloca %{{.*}} x !llvm.array<128 x i8> {alignment = 64 : i64}
// HOST-DAG: %[[CONFIG:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i32, i32, ptr, array<5 x i64>, array<4 x i64>, array<5 x i32>, array<5 x i32>, i32, i32, i32, i32)>
// HOST-DAG: %[[CALL:.*]] = llvm.alloca %{{.*}} x !llvm.array<5 x i64>
// f16 and rank 3.
// HOST-DAG: %[[F16:.*]] = llvm.mlir.constant(6 : i32)
// HOST: %[[TYPE:.*]] = llvm.getelementptr %[[CONFIG]][0, 0]
// HOST: llvm.store %[[F16]], %[[TYPE]] : i32
// HOST: %[[RANK:.*]] = llvm.getelementptr %[[CONFIG]][0, 1]
// Boxes, swizzle 3, L2 promotion 2.
// HOST: llvm.getelementptr %[[CONFIG]][0, 5, 0]
// HOST: llvm.getelementptr %[[CONFIG]][0, 5, 1]
// HOST: llvm.getelementptr %[[CONFIG]][0, 5, 2]
// HOST: %[[SWIZZLE_VALUE:.*]] = llvm.mlir.constant(3 : i32)
// HOST: %[[SWIZZLE:.*]] = llvm.getelementptr %[[CONFIG]][0, 8]
// HOST: llvm.store %[[SWIZZLE_VALUE]], %[[SWIZZLE]]
// HOST: %[[PROMOTION_VALUE:.*]] = llvm.mlir.constant(2 : i32)
// HOST: %[[PROMOTION:.*]] = llvm.getelementptr %[[CONFIG]][0, 9]
// HOST: llvm.store %[[PROMOTION_VALUE]], %[[PROMOTION]]
// HOST: %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:3, %[[STRIDES:.*]]:3 = memref.extract_strided_metadata
// HOST: %[[BYTES:.*]] = arith.constant 2 : index
// HOST: arith.index_cast %[[SIZES]]#2
// HOST: %[[INNER:.*]] = arith.muli %[[STRIDES]]#1, %[[BYTES]]
// HOST: arith.index_cast %[[SIZES]]#1
// HOST: %[[OUTER:.*]] = arith.muli %[[STRIDES]]#0, %[[BYTES]]
// HOST: arith.index_cast %[[SIZES]]#0
// HOST: %[[POINTER:.*]] = memref.extract_aligned_pointer_as_index
// HOST: %[[SKIP:.*]] = arith.muli %[[OFFSET]], %[[BYTES]]
// HOST: arith.addi %[[POINTER]], %[[SKIP]]
// HOST: llvm.call @blocksparseRtCallTensorMap(%[[CALL]], %[[CONFIG]], %[[MAP]])
// The argument array points at the map; other arguments are stored first.
// HOST: %[[SLOT:.*]] = llvm.getelementptr %[[ARRAY:[0-9a-z]+]][0]
// HOST-NEXT: llvm.store %[[MAP]], %[[SLOT]]
// HOST: %[[SITE:.*]] = llvm.mlir.addressof @blocksparse.site.load
// HOST: llvm.call @blocksparseRtCallLaunch(%[[CALL]], %[[SITE]],

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
    gpu.func @load(%map: !llvm.ptr, %out: memref<?xf16>) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>, blocksparse.tensor_maps = array<i32: 0>} {
      %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
      %shared = llvm.addrspacecast %tile : !llvm.ptr<3> to !llvm.ptr<7>
      %barrier = llvm.getelementptr %tile[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %c0 = llvm.mlir.constant(0 : i32) : i32
      nvvm.prefetch tensormap, %map : !llvm.ptr
      nvvm.cp.async.bulk.tensor.shared.cluster.global %shared, %map, %barrier, box[%c0, %c0] : !llvm.ptr<7>, !llvm.ptr
      gpu.return
    }
  }

  func.func @host(%b: memref<?x?xf16, strided<[?, 1], offset: ?>>, %out: memref<?xf16>, %rows: index, %panels: index, %ld: index) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %shared = arith.constant 20000 : i32
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %b : memref<?x?xf16, strided<[?, 1], offset: ?>> -> memref<f16>, index, index, index, index, index
    %view = memref.reinterpret_cast %base to offset: [%offset], sizes: [%panels, %rows, 64], strides: [64, %ld, 1] : memref<f16> to memref<?x?x64xf16, strided<[64, ?, 1], offset: ?>>
    %any = memref.cast %view : memref<?x?x64xf16, strided<[64, ?, 1], offset: ?>> to memref<*xf16>
    %map = nvgpu.tma.create.descriptor %any box[%c4, %c64, %c64] : memref<*xf16> -> !nvgpu.tensormap.descriptor<tensor = memref<4x64x64xf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %pointer = builtin.unrealized_conversion_cast %map : !nvgpu.tensormap.descriptor<tensor = memref<4x64x64xf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> to !llvm.ptr
    gpu.launch_func @kernels::@load blocks in (%panels, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %shared args(%pointer : !llvm.ptr, %out : memref<?xf16>)
    return
  }
}
