// Reductions of i8 and f8 by wgmma: K-major and transposed dense factors, columns that do not fill a tile, results of
// 8 and 32 bits in both orders, epilogues, heads and cut rows.
// A device adds products of f8 with 14 bits: the operands hold integers, whose sums are exact.
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: rm -f %t.json
// RUN: %if simulator %{ blocksparse-run %s --function=i8_odd_columns,i8_transposed,i8_bias,i8_heads,f8_e4,f8_to_f8 --check --poison --device=simulated --target=cuda:sm_90a --sim-report=%t.json %}
// RUN: %if simulator %{ FileCheck %s --check-prefix=RAN --input-file=%t.json %}
// RUN: sed -e 's/,* *schedule = #blocksparse.schedule<[^>]*>//' %s | blocksparse-opt -blocksparse-select-schedule="target=cuda:sm_90a" | FileCheck %s

// RAN-DAG: transpose_dense
// RAN-DAG: dsd_wgmma
// RAN-NOT: mma_
// RAN-NOT: simt

// Without a schedule, bytes are multiplied by mma.sync.
// CHECK-NOT: cuda.wgmma

#b64 = #blocksparse.layout<64x64, grid 3x4, random(density = 0.5, seed = 1)>
#b128 = #blocksparse.layout<128x128, grid 1x3, random(density = 0.7, seed = 2)>
#cut = #blocksparse.layout<64x64, grid 3x2, mask "10/11/01">
#heads = #blocksparse.layout<64x64, grid 2x1x3, random(density = 0.6, seed = 5)>

func.func @i8_k_major(%a: tensor<192x256xi8, #b64>, %b: tensor<128x256xi8>) -> tensor<192x128xi32> {
  %0 = blocksparse.dsd %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x64, stages = 4>} : (tensor<192x256xi8, #b64>, tensor<128x256xi8>) -> tensor<192x128xi32>
  return %0 : tensor<192x128xi32>
}

func.func @i8_wide(%a: tensor<128x384xi8, #b128>, %b: tensor<384x272xi8>) -> tensor<128x272xi32> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 8>} : (tensor<128x384xi8, #b128>, tensor<384x272xi8>) -> tensor<128x272xi32>
  return %0 : tensor<128x272xi32>
}

func.func @i8_odd_columns(%a: tensor<192x256xi8, #b64>, %b: tensor<83x256xi8>) -> tensor<192x83xi32> {
  %0 = blocksparse.dsd %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.wgmma>} : (tensor<192x256xi8, #b64>, tensor<83x256xi8>) -> tensor<192x83xi32>
  return %0 : tensor<192x83xi32>
}

func.func @i8_transposed(%a: tensor<192x128xi8, #cut>, %b: tensor<128x80xi8>) -> tensor<80x192xi32> {
  %0 = blocksparse.dsd %a, %b {transpose_out, schedule = #blocksparse.schedule<cuda.wgmma>} : (tensor<192x128xi8, #cut>, tensor<128x80xi8>) -> tensor<80x192xi32>
  return %0 : tensor<80x192xi32>
}

func.func @i8_bias(%a: tensor<180x128xi8, #cut>, %b: tensor<128x96xi8>, %bias: tensor<96xi32>, %residual: tensor<180x96xi32>) -> tensor<180x96xi32> {
  %0 = blocksparse.dsd %a, %b bias(%bias) residual(%residual) {activation = #blocksparse.activation<relu>, schedule = #blocksparse.schedule<cuda.wgmma>} : (tensor<180x128xi8, #cut>, tensor<128x96xi8>, tensor<96xi32>, tensor<180x96xi32>) -> tensor<180x96xi32>
  return %0 : tensor<180x96xi32>
}

func.func @i8_heads(%a: tensor<2x2x64x192xi8, #heads>, %b: tensor<2x2x64x192xi8>) -> tensor<2x2x64x64xi32> {
  %0 = blocksparse.dsd %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.wgmma>} : (tensor<2x2x64x192xi8, #heads>, tensor<2x2x64x192xi8>) -> tensor<2x2x64x64xi32>
  return %0 : tensor<2x2x64x64xi32>
}

func.func @f8_e4(%a: tensor<192x256xf8E4M3FN, #b64> {blocksparse.fill = "integers"}, %b: tensor<256x64xf8E4M3FN> {blocksparse.fill = "integers"}) -> tensor<192x64xf32> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.wgmma>} : (tensor<192x256xf8E4M3FN, #b64>, tensor<256x64xf8E4M3FN>) -> tensor<192x64xf32>
  return %0 : tensor<192x64xf32>
}

func.func @f8_to_f8(%a: tensor<128x384xf8E4M3FN, #b128> {blocksparse.fill = "integers"}, %b: tensor<128x384xf8E4M3FN> {blocksparse.fill = "integers"}) -> tensor<128x128xf8E4M3FN> {
  %0 = blocksparse.dsd %a, %b {transpose_b, schedule = #blocksparse.schedule<cuda.wgmma>} : (tensor<128x384xf8E4M3FN, #b128>, tensor<128x384xf8E4M3FN>) -> tensor<128x128xf8E4M3FN>
  return %0 : tensor<128x128xf8E4M3FN>
}
