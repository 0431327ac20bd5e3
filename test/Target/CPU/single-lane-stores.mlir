// A masked store of one lane is a store of its element: LLVM writes more where the element was
// truncated (lib/Target/CPU/SingleLaneStores.h). Masks of more lanes stay.
// RUN: blocksparse-compile %s --target=cpu --cpu=x86-64-v4 -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll --implicit-check-not='{{call.*masked.store.*<i1 true, i1 false, i1 false}}'

#layout = #blocksparse.layout<16x8, grid 5x1, dense>
!sparse = tensor<2x80x8xbf16, #layout>

// CHECK: store i16 {{.*}}, align 2
func.func @column(%y: !sparse, %dy: !sparse) -> (!sparse, tensor<2x80x1xbf16>) {
  %dx, %sum = blocksparse.softmax_grad %y, %dy : (!sparse, !sparse) -> (!sparse, tensor<2x80x1xbf16>)
  return %dx, %sum : !sparse, tensor<2x80x1xbf16>
}
