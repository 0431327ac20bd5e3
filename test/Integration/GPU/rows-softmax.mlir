// Softmax and its gradient through the row kernels: small teams, whole warps, teams of several
// warps, rows of very different lengths in one launch, rows that registers do not hold, rows of
// narrow blocks that are read together, by one warp or by several.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 %}
// Gaps between rows that are multiples of 16 bytes, and strides that are not: the scalar kernels.
// RUN: %if simulator %{ blocksparse-run %s --function=terms,columns_past_the_end_gradient --check --poison --strided=rows --target=cuda:sm_80 --device=simulated %}
// RUN: %if simulator %{ blocksparse-run %s --function=terms,columns_past_the_end_gradient --check --poison --strided=elements --target=cuda:sm_80 --device=simulated %}

#small = #blocksparse.layout<16x16, grid 3x8, mask "10010000/11111111/00000000">
#heads = #blocksparse.layout<16x24, grid 3x2x2, mask "01/11/10/00/10/11">
#unequal = #blocksparse.layout<16x128, grid 4x20, mask "00000000000000000001/11111111111111111111/00000000000000000000/11000000000000000000">
#pairs = #blocksparse.layout<16x24, grid 2x2, mask "11/01">
#long = #blocksparse.layout<8x1024, grid 2x17, mask "11111111111111111/10000000000000000">
#narrow = #blocksparse.layout<16x16, grid 3x64, mask "0000000000000000000000000000001110000000000000000000000000000000/1111111111111111111111111111111111111111111111111111111111111111/0000000000000000000000000000000000000000000000000000000000000000">
#narrowest = #blocksparse.layout<8x8, grid 2x64, mask "1111111111111111111111111111111111111111111111111111111111111111/0000000000000000000000000000001110000000000000000000000000000000">

func.func @small_teams(%x: tensor<2x40x128xf16, #small>) -> (tensor<2x40x128xf16, #small>, tensor<2x40xf32>) {
  %0:2 = blocksparse.softmax %x {scale = 0.125} : (tensor<2x40x128xf16, #small>) -> (tensor<2x40x128xf16, #small>, tensor<2x40xf32>)
  return %0#0, %0#1 : tensor<2x40x128xf16, #small>, tensor<2x40xf32>
}

func.func @columns_past_the_end(%x: tensor<48x115xbf16, #small>) -> tensor<48x115xbf16, #small> {
  %0 = blocksparse.softmax %x {causal} : (tensor<48x115xbf16, #small>) -> tensor<48x115xbf16, #small>
  return %0 : tensor<48x115xbf16, #small>
}

func.func @terms(%x: tensor<2x3x32x40xf32, #heads>, %rpe: tensor<3x32x40xf16>, %key: tensor<2x40xi8>, %mask: tensor<32x1xf32>) -> (tensor<2x3x32x40xf32, #heads>, tensor<2x3x32xf32>) {
  %0:2 = blocksparse.softmax %x rpe(%rpe) key_padding_mask(%key) attention_mask(%mask) {causal, key_padding_mask_mode = #blocksparse.mask_mode<mul>} : (tensor<2x3x32x40xf32, #heads>, tensor<3x32x40xf16>, tensor<2x40xi8>, tensor<32x1xf32>) -> (tensor<2x3x32x40xf32, #heads>, tensor<2x3x32xf32>)
  return %0#0, %0#1 : tensor<2x3x32x40xf32, #heads>, tensor<2x3x32xf32>
}

func.func @unequal_rows(%x: tensor<64x2560xf16, #unequal>) -> (tensor<64x2560xf16, #unequal>, tensor<64xf32>) {
  %0:2 = blocksparse.softmax %x : (tensor<64x2560xf16, #unequal>) -> (tensor<64x2560xf16, #unequal>, tensor<64xf32>)
  return %0#0, %0#1 : tensor<64x2560xf16, #unequal>, tensor<64xf32>
}

func.func @unequal_rows_gradient(%y: tensor<64x2560xf16, #unequal>, %dy: tensor<64x2560xf16, #unequal>) -> tensor<64x2560xf16, #unequal> {
  %0 = blocksparse.softmax_grad %y, %dy {scale = 0.5} : (tensor<64x2560xf16, #unequal>, tensor<64x2560xf16, #unequal>) -> tensor<64x2560xf16, #unequal>
  return %0 : tensor<64x2560xf16, #unequal>
}

func.func @more_than_registers_hold(%x: tensor<16x17408xf16, #long>) -> tensor<16x17408xf16, #long> {
  %0 = blocksparse.softmax %x : (tensor<16x17408xf16, #long>) -> tensor<16x17408xf16, #long>
  return %0 : tensor<16x17408xf16, #long>
}

// The columns of what is read again count as well: past the row, and past the last column.
func.func @masked_more_than_registers_hold(%x: tensor<16x17400xf16, #long>, %key: tensor<17400xi8>) -> (tensor<16x17400xf16, #long>, tensor<16xf32>) {
  %0:2 = blocksparse.softmax %x key_padding_mask(%key) {key_padding_mask_mode = #blocksparse.mask_mode<mul>} : (tensor<16x17400xf16, #long>, tensor<17400xi8>) -> (tensor<16x17400xf16, #long>, tensor<16xf32>)
  return %0#0, %0#1 : tensor<16x17400xf16, #long>, tensor<16xf32>
}

// Forbidden elements of rows that are NaN are 0, in registers and beyond, in teams of every size.
func.func @nan_more_than_registers_hold(%x: tensor<16x17408xf16, #long> {blocksparse.fill = "nan"}) -> (tensor<16x17408xf16, #long>, tensor<16xf32>) {
  %0:2 = blocksparse.softmax %x {causal} : (tensor<16x17408xf16, #long>) -> (tensor<16x17408xf16, #long>, tensor<16xf32>)
  return %0#0, %0#1 : tensor<16x17408xf16, #long>, tensor<16xf32>
}

func.func @nan_unequal_rows(%x: tensor<64x2560xbf16, #unequal> {blocksparse.fill = "nan"}, %mask: tensor<64x2560xf32>) -> (tensor<64x2560xf32, #unequal>, tensor<64xf32>) {
  %0:2 = blocksparse.softmax %x attention_mask(%mask) {attention_mask_mode = #blocksparse.mask_mode<mul>} : (tensor<64x2560xbf16, #unequal>, tensor<64x2560xf32>) -> (tensor<64x2560xf32, #unequal>, tensor<64xf32>)
  return %0#0, %0#1 : tensor<64x2560xf32, #unequal>, tensor<64xf32>
}

func.func @nan_narrow_rows(%x: tensor<16x512xf16, #narrowest> {blocksparse.fill = "nan"}, %key: tensor<512xf16>) -> (tensor<16x512xf16, #narrowest>, tensor<16xf32>) {
  %0:2 = blocksparse.softmax %x key_padding_mask(%key) : (tensor<16x512xf16, #narrowest>, tensor<512xf16>) -> (tensor<16x512xf16, #narrowest>, tensor<16xf32>)
  return %0#0, %0#1 : tensor<16x512xf16, #narrowest>, tensor<16xf32>
}

func.func @more_than_registers_hold_gradient(%y: tensor<16x17408xbf16, #long>, %dy: tensor<16x17408xbf16, #long>) -> tensor<16x17408xbf16, #long> {
  %0 = blocksparse.softmax_grad %y, %dy : (tensor<16x17408xbf16, #long>, tensor<16x17408xbf16, #long>) -> tensor<16x17408xbf16, #long>
  return %0 : tensor<16x17408xbf16, #long>
}

func.func @run_time_pattern(%x: tensor<48x4096xf16, #blocksparse.bsr<16x16>>) -> (tensor<48x4096xf16, #blocksparse.bsr<16x16>>, tensor<48xf32>) {
  %0:2 = blocksparse.softmax %x {scale = 0.25} : (tensor<48x4096xf16, #blocksparse.bsr<16x16>>) -> (tensor<48x4096xf16, #blocksparse.bsr<16x16>>, tensor<48xf32>)
  return %0#0, %0#1 : tensor<48x4096xf16, #blocksparse.bsr<16x16>>, tensor<48xf32>
}

func.func @bias_gradient_of_columns(%y: tensor<2x2x40x128xf16, #small>, %dy: tensor<2x2x40x128xf16, #small>) -> (tensor<2x2x40x128xf16, #small>, tensor<2x1x128xf32>) {
  %0:2 = blocksparse.softmax_grad %y, %dy {scale = 0.125} : (tensor<2x2x40x128xf16, #small>, tensor<2x2x40x128xf16, #small>) -> (tensor<2x2x40x128xf16, #small>, tensor<2x1x128xf32>)
  return %0#0, %0#1 : tensor<2x2x40x128xf16, #small>, tensor<2x1x128xf32>
}

func.func @columns_past_the_end_gradient(%y: tensor<48x115xf16, #small>, %dy: tensor<48x115xf16, #small>) -> tensor<48x115xf16, #small> {
  %0 = blocksparse.softmax_grad %y, %dy : (tensor<48x115xf16, #small>, tensor<48x115xf16, #small>) -> tensor<48x115xf16, #small>
  return %0 : tensor<48x115xf16, #small>
}

func.func @narrow_blocks(%x: tensor<2x40x1024xf16, #narrow>) -> (tensor<2x40x1024xf16, #narrow>, tensor<2x40xf32>) {
  %0:2 = blocksparse.softmax %x {scale = 0.125} : (tensor<2x40x1024xf16, #narrow>) -> (tensor<2x40x1024xf16, #narrow>, tensor<2x40xf32>)
  return %0#0, %0#1 : tensor<2x40x1024xf16, #narrow>, tensor<2x40xf32>
}

func.func @narrow_blocks_gradient(%y: tensor<48x1024xbf16, #narrow>, %dy: tensor<48x1024xbf16, #narrow>) -> tensor<48x1024xbf16, #narrow> {
  %0 = blocksparse.softmax_grad %y, %dy {scale = 0.5} : (tensor<48x1024xbf16, #narrow>, tensor<48x1024xbf16, #narrow>) -> tensor<48x1024xbf16, #narrow>
  return %0 : tensor<48x1024xbf16, #narrow>
}

func.func @narrowest_blocks(%x: tensor<16x512xf16, #narrowest>) -> tensor<16x512xf16, #narrowest> {
  %0 = blocksparse.softmax %x : (tensor<16x512xf16, #narrowest>) -> tensor<16x512xf16, #narrowest>
  return %0 : tensor<16x512xf16, #narrowest>
}

func.func @narrowest_blocks_f32(%x: tensor<16x512xf32, #narrowest>) -> tensor<16x512xf32, #narrowest> {
  %0 = blocksparse.softmax %x : (tensor<16x512xf32, #narrowest>) -> tensor<16x512xf32, #narrowest>
  return %0 : tensor<16x512xf32, #narrowest>
}

// Masks of the position: a window, lengths and segments, of which chunks of columns are loaded.
func.func @positions(%x: tensor<2x3x32x48xf16, #pairs>, %n: tensor<2xi32> {blocksparse.value = dense<[40, 13]> : tensor<2xi32>}, %m: tensor<1xi32> {blocksparse.value = dense<[29]> : tensor<1xi32>}, %q: tensor<2x32xi32>, %k: tensor<48xi32>) -> (tensor<2x3x32x48xf16, #pairs>, tensor<2x3x32xf32>) {
  %0:2 = blocksparse.softmax %x key_lengths(%n) query_lengths(%m) segment_ids(%q, %k) {causal, causal_offset = 16, window = array<i64: 21, -1>} : (tensor<2x3x32x48xf16, #pairs>, tensor<2xi32>, tensor<1xi32>, tensor<2x32xi32>, tensor<48xi32>) -> (tensor<2x3x32x48xf16, #pairs>, tensor<2x3x32xf32>)
  return %0#0, %0#1 : tensor<2x3x32x48xf16, #pairs>, tensor<2x3x32xf32>
}

func.func @lse_gradient(%y: tensor<2x3x32x48xf16, #pairs>, %dlse: tensor<2x3x32xf32>) -> tensor<2x3x32x48xf16, #pairs> {
  %0 = blocksparse.softmax_grad %y, %y dlse(%dlse) {scale = 0.5} : (tensor<2x3x32x48xf16, #pairs>, tensor<2x3x32x48xf16, #pairs>, tensor<2x3x32xf32>) -> tensor<2x3x32x48xf16, #pairs>
  return %0 : tensor<2x3x32x48xf16, #pairs>
}
