// Blocks chosen at run time, a fixed number a row, some beyond the diagonal, unsorted (MInference#108,
// AttentionEngine#11). The attention operation takes static layouts; the chain takes a pattern of run time. Row block 1
// sees nothing of what it chose.
// RUN: blocksparse-run %s --all-functions --check --repeat-check --device=cpu
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --check-indices --device=simulated %}

#bsr = #blocksparse.bsr<16x16>
!s = tensor<64x64xf32, #bsr>
!d = tensor<64x4xf32>
!v = tensor<64x1xf32>
func.func @chain(%q: !d {blocksparse.fill = "zeros"}, %k: !d, %v: !v {blocksparse.value = dense<[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0], [12.0], [13.0], [14.0], [15.0], [16.0], [17.0], [18.0], [19.0], [20.0], [21.0], [22.0], [23.0], [24.0], [25.0], [26.0], [27.0], [28.0], [29.0], [30.0], [31.0], [32.0], [33.0], [34.0], [35.0], [36.0], [37.0], [38.0], [39.0], [40.0], [41.0], [42.0], [43.0], [44.0], [45.0], [46.0], [47.0], [48.0], [49.0], [50.0], [51.0], [52.0], [53.0], [54.0], [55.0], [56.0], [57.0], [58.0], [59.0], [60.0], [61.0], [62.0], [63.0]]> : tensor<64x1xf64>}, %p: !s {blocksparse.crow = dense<[0, 2, 4, 7, 9]> : tensor<5xi32>, blocksparse.col = dense<[0, 3, 3, 2, 1, 0, 3, 3, 0]> : tensor<9xi32>, blocksparse.fill = "nan"}) -> (!v {blocksparse.expect = dense<[[0.0], [0.5], [1.0], [1.5], [2.0], [2.5], [3.0], [3.5], [4.0], [4.5], [5.0], [5.5], [6.0], [6.5], [7.0], [7.5], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [15.5], [9.882352941176471], [12.055555555555555], [14.052631578947368], [15.9], [17.61904761904762], [19.227272727272727], [20.73913043478261], [22.166666666666668], [23.52], [24.807692307692307], [26.037037037037038], [27.214285714285715], [28.344827586206897], [29.433333333333334], [30.483870967741936], [31.5]]> : tensor<64x1xf64>}, tensor<64xf32> {blocksparse.expect = dense<[0.0, 0.6931471805599453, 1.0986122886681098, 1.3862943611198906, 1.6094379124341003, 1.791759469228055, 1.9459101490553132, 2.0794415416798357, 2.1972245773362196, 2.302585092994046, 2.3978952727983707, 2.4849066497880004, 2.5649493574615367, 2.6390573296152584, 2.70805020110221, 2.772588722239781, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 0xFFF0000000000000, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 2.833213344056216, 2.8903717578961645, 2.9444389791664403, 2.995732273553991, 3.044522437723423, 3.091042453358316, 3.1354942159291497, 3.1780538303479458, 3.2188758248682006, 3.258096538021482, 3.295836866004329, 3.332204510175204, 3.367295829986474, 3.4011973816621555, 3.4339872044851463, 3.4657359027997265]> : tensor<64xf64>}) {
  %s = blocksparse.sdd %q, %k pattern(%p) {transpose_b} : (!d, !d, !s) -> !s
  %y, %lse = blocksparse.softmax %s {causal} : (!s) -> (!s, tensor<64xf32>)
  %0 = blocksparse.dsd %y, %v : (!s, !v) -> !v
  return %0, %lse : !v, tensor<64xf32>
}

// The same with 64-bit indices that the program makes, one block a row: each row of the diagonal block sees itself and
// what is before it.
#bsr64 = #blocksparse.bsr<16x16, i64>
!s64 = tensor<32x32xf32, #bsr64>
func.func @made(%q: tensor<32x4xf32> {blocksparse.fill = "zeros"}, %k: tensor<32x4xf32>, %v: tensor<32x1xf32> {blocksparse.fill = "ones"}, %b: tensor<2x16x16xf32> {blocksparse.fill = "nan"}) -> (tensor<32x1xf32> {blocksparse.expect = dense<1.0> : tensor<f32>}) {
  %crow = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %col = arith.constant dense<[0, 1]> : tensor<2xi64>
  %p = blocksparse.assemble indices(%crow, %col) %b : (tensor<3xi64>, tensor<2xi64>, tensor<2x16x16xf32>) -> !s64
  %s = blocksparse.sdd %q, %k pattern(%p) {transpose_b} : (tensor<32x4xf32>, tensor<32x4xf32>, !s64) -> !s64
  %y = blocksparse.softmax %s {causal} : (!s64) -> !s64
  %0 = blocksparse.dsd %y, %v : (!s64, tensor<32x1xf32>) -> tensor<32x1xf32>
  return %0 : tensor<32x1xf32>
}

// Two batches choose for themselves; the second chooses one block fewer, and its spare entry is out of range.
!s4 = tensor<2x1x32x32xf32, #bsr>
func.func @batches(%p: !s4 {blocksparse.crow = dense<[[0, 2, 3], [0, 1, 2]]> : tensor<2x3xi32>, blocksparse.col = dense<[[1, 0, 0], [1, 0, 1000000]]> : tensor<2x3xi32>, blocksparse.fill = "ones"}, %v: tensor<2x1x32x1xf32> {blocksparse.fill = "ones"}) -> (tensor<2x1x32x1xf32> {blocksparse.expect = dense<[[[[32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [32.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0]]], [[[16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0], [16.0]]]]> : tensor<2x1x32x1xf32>}) {
  %0 = blocksparse.dsd %p, %v : (!s4, tensor<2x1x32x1xf32>) -> tensor<2x1x32x1xf32>
  return %0 : tensor<2x1x32x1xf32>
}
