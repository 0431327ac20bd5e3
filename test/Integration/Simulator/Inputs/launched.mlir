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
