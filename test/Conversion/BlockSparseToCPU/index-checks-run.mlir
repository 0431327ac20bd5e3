// Each broken rule stops the program, and says which one it is even into a pipe.
// RUN: split-file %s %t
// RUN: cat %t/offsets-start %t/program > %t/1.mlir
// RUN: blocksparse-opt %t/1.mlir --convert-blocksparse-to-cpu=check-indices --blocksparse-llvm-pipeline -o %t/1.ll.mlir
// RUN: not --crash mlir-runner %t/1.ll.mlir -e main -entry-point-result=void -shared-libs=%mlir_include/../lib/libomp.so 2>&1 | FileCheck %s --check-prefix=START
// START: expects crow_indices to start at 0, but got 1
// RUN: cat %t/offsets-decrease %t/program > %t/2.mlir
// RUN: blocksparse-opt %t/2.mlir --convert-blocksparse-to-cpu=check-indices --blocksparse-llvm-pipeline -o %t/2.ll.mlir
// RUN: not --crash mlir-runner %t/2.ll.mlir -e main -entry-point-result=void -shared-libs=%mlir_include/../lib/libomp.so 2>&1 | FileCheck %s --check-prefix=DECREASE
// DECREASE: expects crow_indices that never decrease, but got 2 and then 1
// RUN: cat %t/offsets-end %t/program > %t/3.mlir
// RUN: blocksparse-opt %t/3.mlir --convert-blocksparse-to-cpu=check-indices --blocksparse-llvm-pipeline -o %t/3.ll.mlir
// RUN: not --crash mlir-runner %t/3.ll.mlir -e main -entry-point-result=void -shared-libs=%mlir_include/../lib/libomp.so 2>&1 | FileCheck %s --check-prefix=END
// END: expects crow_indices to end within the 3 value blocks, but got 4
// RUN: cat %t/column-range %t/program > %t/4.mlir
// RUN: blocksparse-opt %t/4.mlir --convert-blocksparse-to-cpu=check-indices --blocksparse-llvm-pipeline -o %t/4.ll.mlir
// RUN: not --crash mlir-runner %t/4.ll.mlir -e main -entry-point-result=void -shared-libs=%mlir_include/../lib/libomp.so 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: expects col_indices from 0 to below 2, the number of block columns, but got 2
// RUN: cat %t/column-twice %t/program > %t/5.mlir
// RUN: blocksparse-opt %t/5.mlir --convert-blocksparse-to-cpu=check-indices --blocksparse-llvm-pipeline -o %t/5.ll.mlir
// RUN: not --crash mlir-runner %t/5.ll.mlir -e main -entry-point-result=void -shared-libs=%mlir_include/../lib/libomp.so 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: expects no column twice in a block row
// RUN: cat %t/valid %t/program > %t/6.mlir
// RUN: blocksparse-opt %t/6.mlir --convert-blocksparse-to-cpu=check-indices --blocksparse-llvm-pipeline -o %t/6.ll.mlir
// RUN: mlir-runner %t/6.ll.mlir -e main -entry-point-result=void -shared-libs=%mlir_include/../lib/libomp.so

//--- offsets-start
memref.global "private" constant @crow : memref<3xi32> = dense<[1, 2, 3]>
memref.global "private" constant @col : memref<3xi32> = dense<[0, 1, 1]>
//--- offsets-decrease
memref.global "private" constant @crow : memref<3xi32> = dense<[0, 2, 1]>
memref.global "private" constant @col : memref<3xi32> = dense<[0, 1, 1]>
//--- offsets-end
memref.global "private" constant @crow : memref<3xi32> = dense<[0, 2, 4]>
memref.global "private" constant @col : memref<3xi32> = dense<[0, 1, 1]>
//--- column-range
memref.global "private" constant @crow : memref<3xi32> = dense<[0, 2, 3]>
memref.global "private" constant @col : memref<3xi32> = dense<[0, 2, 1]>
//--- column-twice
memref.global "private" constant @crow : memref<3xi32> = dense<[0, 2, 3]>
memref.global "private" constant @col : memref<3xi32> = dense<[0, 0, 1]>
//--- valid
memref.global "private" constant @crow : memref<3xi32> = dense<[0, 2, 3]>
memref.global "private" constant @col : memref<3xi32> = dense<[1, 0, 1]>
//--- program
func.func @main() {
  %crow = memref.get_global @crow : memref<3xi32>
  %col = memref.get_global @col : memref<3xi32>
  %segments = memref.alloc() : memref<2x5xi32>
  %entries = memref.alloc() : memref<3x2xi32>
  blocksparse.bsr_row_lut %crow, %col outs(%segments, %entries) : (memref<3xi32>, memref<3xi32>, memref<2x5xi32>, memref<3x2xi32>) -> ()
  %x = memref.alloc() : memref<3x16x16xf32>
  blocksparse.planned_softmax %x segments(%segments) entries(%entries) outs(%x)
    {block = array<i64: 16, 16>, shape = array<i64: 32, 32>, lut_heads = 1 : i64}
    : (memref<3x16x16xf32>, memref<2x5xi32>, memref<3x2xi32>, memref<3x16x16xf32>) -> ()
  memref.dealloc %x : memref<3x16x16xf32>
  memref.dealloc %segments : memref<2x5xi32>
  memref.dealloc %entries : memref<3x2xi32>
  return
}
