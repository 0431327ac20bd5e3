// On CPUs without registers for bf16 LLVM carries such values as f32 and comes back by a library call that
// not every library has: a module brings it. Masked loads need none.
// RUN: blocksparse-compile %s --target=cpu --cpu=x86-64-v3 --function=scattered -o %t.s
// RUN: FileCheck %s --input-file=%t.s
// RUN: blocksparse-compile %s --target=cpu --cpu=x86-64-v3 --function=masked -o %t.masked.s
// RUN: FileCheck %s --input-file=%t.masked.s --check-prefix=MASKED --implicit-check-not='__truncsfbf2@PLT'
// RUN: blocksparse-run %s --all-functions --check

#layout = #blocksparse.layout<16x16, grid 5x2, mask "00/00/10/00/01">

// CHECK: callq{{.*}}__truncsfbf2
// CHECK: {{^}}__truncsfbf2:
func.func @scattered(%a: tensor<1x2x65x17xbf16>) -> tensor<1x2x65x17xbf16, #layout> {
  %0 = blocksparse.from_dense %a : (tensor<1x2x65x17xbf16>) -> tensor<1x2x65x17xbf16, #layout>
  return %0 : tensor<1x2x65x17xbf16, #layout>
}

#row = #blocksparse.layout<16x16, grid 5x1, mask "1/1/1/1/1">

// MASKED: masked:
func.func @masked(%a: tensor<1x2x79x7xbf16, #row>, %b: tensor<1x2x7x64xbf16>) -> tensor<1x2x79x64xbf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<1x2x79x7xbf16, #row>, tensor<1x2x7x64xbf16>) -> tensor<1x2x79x64xbf16>
  return %0 : tensor<1x2x79x64xbf16>
}
