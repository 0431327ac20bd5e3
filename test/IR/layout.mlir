// RUN: blocksparse-opt %s | FileCheck %s
// RUN: blocksparse-opt %s --mlir-print-op-generic | blocksparse-opt | FileCheck %s
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s

// The written forms of a static pattern. Small patterns print as masks, which show their
// shape, whatever they were written as.

// CHECK-DAG: #[[M:.*]] = #blocksparse.layout<16x16, grid 4x4, mask "1000/1100/0110/1011">
// CHECK-DAG: #[[H:.*]] = #blocksparse.layout<8x32, grid 2x2x3, mask "101/000/111/010">
// CHECK-DAG: #[[O:.*]] = #blocksparse.layout<128x128, grid 1x1, mask "1">
// CHECK-DAG: #[[E:.*]] = #blocksparse.layout<16x16, grid 2x1, mask "0/0">
// CHECK-DAG: #[[R:.*]] = #blocksparse.layout<16x16, grid 0x2, mask "">
// CHECK-DAG: #[[C:.*]] = #blocksparse.layout<16x16, grid 2x0, csr [0, 0, 0] []>
// CHECK-DAG: #[[W:.*]] = #blocksparse.layout<1x1, grid 2x1000, csr [0, 2, 3] [7, 999, 0]>
// CHECK-DAG: #[[B:.*]] = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<pattern> : tensor<6xi32>>
// CHECK-DAG: #[[D:.*]] = #blocksparse.bsr<16x32>
// CHECK-DAG: #[[I:.*]] = #blocksparse.bsr<1x1, i64>
#mask = #blocksparse.layout<16x16, grid 4x4, mask "1000/1100/0110/1011">
#csr = #blocksparse.layout<16x16, grid 4x4, csr [0, 1, 3, 5, 8] [0, 0, 1, 1, 2, 0, 2, 3]>
#unsorted = #blocksparse.layout<16x16, grid 4x4, csr [0, 1, 3, 5, 8] [0, 1, 0, 2, 1, 3, 2, 0]>
#one_head = #blocksparse.layout<16x16, grid 1x4x4, mask "1000/1100/0110/1011">

// Equal patterns are one attribute: these functions would not verify otherwise.
// CHECK: func @csr_is_mask(%{{.*}}: tensor<64x64xf32, #[[M]]>) -> tensor<64x64xf32, #[[M]]>
func.func @csr_is_mask(%a: tensor<64x64xf32, #mask>) -> tensor<64x64xf32, #csr> {
  return %a : tensor<64x64xf32, #mask>
}
// CHECK: func @unsorted_is_mask(%{{.*}}: tensor<64x64xf32, #[[M]]>) -> tensor<64x64xf32, #[[M]]>
func.func @unsorted_is_mask(%a: tensor<64x64xf32, #mask>) -> tensor<64x64xf32, #unsorted> {
  return %a : tensor<64x64xf32, #mask>
}
// CHECK: func @one_head_is_none(%{{.*}}: tensor<64x64xf32, #[[M]]>) -> tensor<64x64xf32, #[[M]]>
func.func @one_head_is_none(%a: tensor<64x64xf32, #mask>) -> tensor<64x64xf32, #one_head> {
  return %a : tensor<64x64xf32, #mask>
}

// Heads stand one after the other; the block may be rectangular and larger than the shape.
// CHECK: func private @heads(tensor<5x2x13x70xf16, #[[H]]>)
func.func private @heads(tensor<5x2x13x70xf16, #blocksparse.layout<8x32, grid 2x2x3, mask "101/000/111/010">>)
// CHECK: func private @one_block(tensor<3x5xf32, #[[O]]>)
func.func private @one_block(tensor<3x5xf32, #blocksparse.layout<128x128, grid 1x1, mask "1">>)

// No block, no row, no column.
// CHECK: func private @empty(tensor<32x16xf32, #[[E]]>)
func.func private @empty(tensor<32x16xf32, #blocksparse.layout<16x16, grid 2x1, csr [0, 0, 0] []>>)
// CHECK: func private @no_rows(tensor<0x32xf32, #[[R]]>)
func.func private @no_rows(tensor<0x32xf32, #blocksparse.layout<16x16, grid 0x2, mask "">>)
// CHECK: func private @no_columns(tensor<32x0xf32, #[[C]]>)
func.func private @no_columns(tensor<32x0xf32, #blocksparse.layout<16x16, grid 2x0, csr [0, 0, 0] []>>)

// Above 1024 blocks of the grid a pattern prints as CSR.
// CHECK: func private @wide(tensor<2x1000xf32, #[[W]]>)
func.func private @wide(tensor<2x1000xf32, #blocksparse.layout<1x1, grid 2x1000, csr [0, 2, 3] [999, 7, 0]>>)

// A resource keeps its name.
// CHECK: func @resource(%{{.*}}: tensor<32x32xf32, #[[B]]>)
#big = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<pattern> : tensor<6xi32>>
func.func @resource(%a: tensor<32x32xf32, #big>) -> tensor<32x32xf32> {
  %0 = blocksparse.to_dense %a : (tensor<32x32xf32, #big>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// The dynamic form.
// CHECK: func private @bsr(tensor<?x?x?x?xf32, #[[D]]>, tensor<3x5xf32, #[[I]]>, tensor<33x33xf32, #[[D]]>)
func.func private @bsr(tensor<?x?x?x?xf32, #blocksparse.bsr<16x32>>, tensor<3x5xf32, #blocksparse.bsr<1x1, i64>>, tensor<33x33xf32, #blocksparse.bsr<16x32, i32>>)

{-#
  dialect_resources: {
    builtin: {
      pattern: "0x04000000000000000100000003000000000000000000000001000000"
    }
  }
#-}
