#l = #blocksparse.layout<16x16, grid 4x4, causal>
#own = #blocksparse.schedule<cpu.panel, tile = 4x16>

func.func @scores(%q: tensor<64x32xf32> {blocksparse.fill = "uniform"}, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = blocksparse.sdd %q, %k {transpose_b} : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32, #l>
  %p = blocksparse.softmax %s : (tensor<64x64xf32, #l>) -> tensor<64x64xf32, #l>
  %o = blocksparse.dsd %p, %v {schedule = #own} : (tensor<64x64xf32, #l>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %o : tensor<64x32xf32>
}

func.func @dense(%a: tensor<?x32xf32> {blocksparse.shape = array<i64: 40, 32>}, %b: tensor<32x16xf32>) -> tensor<?x16xf32> {
  %0 = blocksparse.matmul %a, %b : (tensor<?x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

func.func @fixed(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = blocksparse.matmul %a, %b {schedule = #own} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
