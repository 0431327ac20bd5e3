#wide = #blocksparse.layout<64x64, grid 2x2, mask "10/11">
#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">

func.func @product(%w: tensor<128x128xbf16, #wide>, %x: tensor<128x128xbf16>) -> tensor<128x128xbf16> {
  %y = blocksparse.dsd %w, %x : (tensor<128x128xbf16, #wide>, tensor<128x128xbf16>) -> tensor<128x128xbf16>
  return %y : tensor<128x128xbf16>
}

func.func @open(%w: tensor<32x32xf32, #layout>, %x: tensor<32x?xf32>, %c: tensor<32x?xf32>) -> tensor<32x?xf32> {
  %y = blocksparse.dsd %w, %x residual(%c) : (tensor<32x32xf32, #layout>, tensor<32x?xf32>, tensor<32x?xf32>) -> tensor<32x?xf32>
  return %y : tensor<32x?xf32>
}

func.func @chained(%w: tensor<32x32xf32, #layout>, %x: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %t = blocksparse.dsd %w, %x : (tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %y = blocksparse.dsd %w, %t : (tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %y : tensor<32x8xf32>
}

func.func private @fill_ones(tensor<32x8xf32>) -> tensor<32x8xf32>
func.func @called(%w: tensor<32x32xf32, #layout>, %x: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %t = func.call @fill_ones(%x) : (tensor<32x8xf32>) -> tensor<32x8xf32>
  %y = blocksparse.dsd %w, %t : (tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %y : tensor<32x8xf32>
}

func.func @loop(%w: tensor<32x32xf32, #layout>, %x: tensor<32x8xf32>, %n: index) -> tensor<32x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<32x8xf32> {
    %y = blocksparse.dsd %w, %t : (tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x8xf32>
    scf.yield %y : tensor<32x8xf32>
  }
  return %r : tensor<32x8xf32>
}

func.func @branch(%w: tensor<32x32xf32, #layout>, %x: tensor<32x8xf32>, %n: i32) -> tensor<32x8xf32> {
  %c0 = arith.constant 0 : i32
  %p = arith.cmpi sgt, %n, %c0 : i32
  %r = scf.if %p -> tensor<32x8xf32> {
    %y = blocksparse.dsd %w, %x : (tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x8xf32>
    scf.yield %y : tensor<32x8xf32>
  } else {
    scf.yield %x : tensor<32x8xf32>
  }
  %z = blocksparse.dsd %w, %r : (tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %z : tensor<32x8xf32>
}
