// RUN: blocksparse-run %s --all-functions --check --target=cpu | FileCheck %s
// CHECK-COUNT-10: {{.* }}PASS
// CHECK: {{^}}PASS

// Results of few columns, whose vectors run along the contiguous axis of the value blocks.
#square = #blocksparse.layout<8x8, grid 3x4, random(density = 0.6, seed = 1)>
#wide = #blocksparse.layout<5x16, grid 3x3, random(density = 0.6, seed = 2)>
#tall = #blocksparse.layout<24x20, grid 2x3, random(density = 0.7, seed = 3)>

// One column and several, up to half of a register.
func.func @one(%a: tensor<24x32xf32, #square>, %b: tensor<32x1xf32>) -> tensor<24x1xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<24x32xf32, #square>, tensor<32x1xf32>) -> tensor<24x1xf32>
  return %0 : tensor<24x1xf32>
}
func.func @three(%a: tensor<24x32xf32, #square>, %b: tensor<32x3xf32>) -> tensor<24x3xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<24x32xf32, #square>, tensor<32x3xf32>) -> tensor<24x3xf32>
  return %0 : tensor<24x3xf32>
}

// The last blocks lie partly outside: 13 of 15 rows, 41 of 48 values of k.
func.func @edges(%a: tensor<13x41xf32, #wide>, %b: tensor<41x2xf32>) -> tensor<13x2xf32> {
  %0 = blocksparse.dsd %a, %b : (tensor<13x41xf32, #wide>, tensor<41x2xf32>) -> tensor<13x2xf32>
  return %0 : tensor<13x2xf32>
}
func.func @transposed_edges(%a: tensor<13x41xf32, #wide>, %b: tensor<13x2xf32>)
    -> tensor<41x2xf32> {
  %0 = blocksparse.dsd %a, %b {transpose_a}
    : (tensor<13x41xf32, #wide>, tensor<13x2xf32>) -> tensor<41x2xf32>
  return %0 : tensor<41x2xf32>
}

// The sparse factor on the right, as it is stored and transposed.
func.func @right(%a: tensor<1x40xf32>, %b: tensor<40x52xf32, #tall>) -> tensor<1x52xf32> {
  %0 = blocksparse.dds %a, %b : (tensor<1x40xf32>, tensor<40x52xf32, #tall>) -> tensor<1x52xf32>
  return %0 : tensor<1x52xf32>
}
func.func @right_transposed(%a: tensor<2x52xf32>, %b: tensor<40x52xf32, #tall>)
    -> tensor<2x40xf32> {
  %0 = blocksparse.dds %a, %b {transpose_b}
    : (tensor<2x52xf32>, tensor<40x52xf32, #tall>) -> tensor<2x40xf32>
  return %0 : tensor<2x40xf32>
}

// Types that are widened in registers.
func.func @half(%a: tensor<40x52xf16, #tall>, %b: tensor<52x1xf16>) -> tensor<40x1xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<40x52xf16, #tall>, tensor<52x1xf16>) -> tensor<40x1xf16>
  return %0 : tensor<40x1xf16>
}
func.func @bytes(%a: tensor<24x32xi8, #square>, %b: tensor<32x1xi8>) -> tensor<24x1xi32> {
  %0 = blocksparse.dsd %a, %b : (tensor<24x32xi8, #square>, tensor<32x1xi8>) -> tensor<24x1xi32>
  return %0 : tensor<24x1xi32>
}

// An epilogue.
func.func @epilogue(%a: tensor<24x32xbf16, #square>, %b: tensor<32x3xbf16>,
                    %bias: tensor<3xbf16>) -> tensor<24x3xbf16> {
  %0 = blocksparse.dsd %a, %b bias(%bias) {activation = #blocksparse.activation<relu>}
    : (tensor<24x32xbf16, #square>, tensor<32x3xbf16>, tensor<3xbf16>) -> tensor<24x3xbf16>
  return %0 : tensor<24x3xbf16>
}

// Rows that are split over workers: partial results are combined in vectors of all columns.
func.func @split(%a: tensor<8x1024xf64, #blocksparse.layout<8x8, grid 1x128, dense>>,
                 %b: tensor<1024x3xf64>) -> tensor<8x3xf64> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cpu.panel, tile = 6x8, split = 32>}
    : (tensor<8x1024xf64, #blocksparse.layout<8x8, grid 1x128, dense>>, tensor<1024x3xf64>)
      -> tensor<8x3xf64>
  return %0 : tensor<8x3xf64>
}
