// The program that 0.1.0.mlirbc and 0.1.0.artifact were made of.
#layout = #blocksparse.layout<16x16, grid 4x4, mask "1000/1100/0110/1011">
#named = #blocksparse.layout<16x16, grid 2x8x8, bigbird(num_random_blocks = 1, seed = 7)>
#resource = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<pattern> : tensor<6xi32>>
#bsr = #blocksparse.bsr<16x16, i64>

func.func @product(%w: tensor<64x64xf32, #layout>, %x: tensor<64x40xf32>, %bias: tensor<40xf32>) -> tensor<64x40xf32> {
  %0 = blocksparse.dsd %w, %x bias(%bias) {activation = #blocksparse.activation<leaky_relu, slope = 2.500000e-01>, alpha = 5.000000e-01 : f64} : (tensor<64x64xf32, #layout>, tensor<64x40xf32>, tensor<40xf32>) -> tensor<64x40xf32>
  return %0 : tensor<64x40xf32>
}

func.func @scores(%q: tensor<2x128x32xf16>, %k: tensor<2x128x32xf16>) -> tensor<2x128x128xf16, #named> {
  %0 = blocksparse.sdd %q, %k {transpose_b} : (tensor<2x128x32xf16>, tensor<2x128x32xf16>) -> tensor<2x128x128xf16, #named>
  %1 = blocksparse.softmax %0 {causal, scale = 1.250000e-01 : f64} : (tensor<2x128x128xf16, #named>) -> tensor<2x128x128xf16, #named>
  return %1 : tensor<2x128x128xf16, #named>
}

func.func @dynamic(%s: tensor<?x64xf32, #bsr>, %x: tensor<64x?xf32>) -> tensor<?x?xf32> {
  %0 = blocksparse.dsd %s, %x : (tensor<?x64xf32, #bsr>, tensor<64x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @scheduled(%w: tensor<32x32xf32, #resource>, %x: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %0 = blocksparse.dsd %w, %x {schedule = #blocksparse.schedule<cpu.panel, tile = 8x16>} : (tensor<32x32xf32, #resource>, tensor<32x8xf32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

{-#
  dialect_resources: {
    builtin: {
      pattern: "0x04000000000000000100000003000000000000000000000001000000"
    }
  }
#-}
