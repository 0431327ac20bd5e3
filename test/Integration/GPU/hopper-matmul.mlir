// Dense products on Hopper's tensor cores: every transpose, sizes that no tile divides.
// REQUIRES: gpu || simulator
// RUN: %if gpu %{ blocksparse-run %s --all-functions --check --repeat-check --device=cuda %}
// RUN: %if simulator %{ blocksparse-run %s --function=mm_512_512_256_00_f16,mm_512_512_256_11_f16,mm_1000_328_520_10_f16,mm_128_64_64_00_f16,mm_128_64_64_11_f16,mm_130_72_2048_10_f16 --check --device=simulated --target=cuda:sm_90a %}

func.func @mm_512_512_256_00_f16(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<512x256xf16>, tensor<256x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @mm_512_512_256_00_bf16(%a: tensor<512x256xbf16>, %b: tensor<256x512xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<512x256xbf16>, tensor<256x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @mm_512_512_256_01_f16(%a: tensor<512x256xf16>, %b: tensor<512x256xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<512x256xf16>, tensor<512x256xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @mm_512_512_256_01_bf16(%a: tensor<512x256xbf16>, %b: tensor<512x256xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<512x256xbf16>, tensor<512x256xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @mm_512_512_256_10_f16(%a: tensor<256x512xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<256x512xf16>, tensor<256x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @mm_512_512_256_10_bf16(%a: tensor<256x512xbf16>, %b: tensor<256x512xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<256x512xbf16>, tensor<256x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @mm_512_512_256_11_f16(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<256x512xf16>, tensor<512x256xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}

func.func @mm_512_512_256_11_bf16(%a: tensor<256x512xbf16>, %b: tensor<512x256xbf16>) -> tensor<512x512xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<256x512xbf16>, tensor<512x256xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

func.func @mm_1000_328_520_00_f16(%a: tensor<1000x520xf16>, %b: tensor<520x328xf16>) -> tensor<1000x328xf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<1000x520xf16>, tensor<520x328xf16>) -> tensor<1000x328xf16>
  return %0 : tensor<1000x328xf16>
}

func.func @mm_1000_328_520_00_bf16(%a: tensor<1000x520xbf16>, %b: tensor<520x328xbf16>) -> tensor<1000x328xbf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<1000x520xbf16>, tensor<520x328xbf16>) -> tensor<1000x328xbf16>
  return %0 : tensor<1000x328xbf16>
}

func.func @mm_1000_328_520_01_f16(%a: tensor<1000x520xf16>, %b: tensor<328x520xf16>) -> tensor<1000x328xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<1000x520xf16>, tensor<328x520xf16>) -> tensor<1000x328xf16>
  return %0 : tensor<1000x328xf16>
}

func.func @mm_1000_328_520_01_bf16(%a: tensor<1000x520xbf16>, %b: tensor<328x520xbf16>) -> tensor<1000x328xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<1000x520xbf16>, tensor<328x520xbf16>) -> tensor<1000x328xbf16>
  return %0 : tensor<1000x328xbf16>
}

func.func @mm_1000_328_520_10_f16(%a: tensor<520x1000xf16>, %b: tensor<520x328xf16>) -> tensor<1000x328xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<520x1000xf16>, tensor<520x328xf16>) -> tensor<1000x328xf16>
  return %0 : tensor<1000x328xf16>
}

func.func @mm_1000_328_520_10_bf16(%a: tensor<520x1000xbf16>, %b: tensor<520x328xbf16>) -> tensor<1000x328xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<520x1000xbf16>, tensor<520x328xbf16>) -> tensor<1000x328xbf16>
  return %0 : tensor<1000x328xbf16>
}

func.func @mm_1000_328_520_11_f16(%a: tensor<520x1000xf16>, %b: tensor<328x520xf16>) -> tensor<1000x328xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<520x1000xf16>, tensor<328x520xf16>) -> tensor<1000x328xf16>
  return %0 : tensor<1000x328xf16>
}

func.func @mm_1000_328_520_11_bf16(%a: tensor<520x1000xbf16>, %b: tensor<328x520xbf16>) -> tensor<1000x328xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<520x1000xbf16>, tensor<328x520xbf16>) -> tensor<1000x328xbf16>
  return %0 : tensor<1000x328xbf16>
}

func.func @mm_4096_2048_1024_00_f16(%a: tensor<4096x1024xf16>, %b: tensor<1024x2048xf16>) -> tensor<4096x2048xf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<4096x1024xf16>, tensor<1024x2048xf16>) -> tensor<4096x2048xf16>
  return %0 : tensor<4096x2048xf16>
}

func.func @mm_4096_2048_1024_00_bf16(%a: tensor<4096x1024xbf16>, %b: tensor<1024x2048xbf16>) -> tensor<4096x2048xbf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<4096x1024xbf16>, tensor<1024x2048xbf16>) -> tensor<4096x2048xbf16>
  return %0 : tensor<4096x2048xbf16>
}

func.func @mm_4096_2048_1024_01_f16(%a: tensor<4096x1024xf16>, %b: tensor<2048x1024xf16>) -> tensor<4096x2048xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<4096x1024xf16>, tensor<2048x1024xf16>) -> tensor<4096x2048xf16>
  return %0 : tensor<4096x2048xf16>
}

func.func @mm_4096_2048_1024_01_bf16(%a: tensor<4096x1024xbf16>, %b: tensor<2048x1024xbf16>) -> tensor<4096x2048xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<4096x1024xbf16>, tensor<2048x1024xbf16>) -> tensor<4096x2048xbf16>
  return %0 : tensor<4096x2048xbf16>
}

func.func @mm_4096_2048_1024_10_f16(%a: tensor<1024x4096xf16>, %b: tensor<1024x2048xf16>) -> tensor<4096x2048xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<1024x4096xf16>, tensor<1024x2048xf16>) -> tensor<4096x2048xf16>
  return %0 : tensor<4096x2048xf16>
}

func.func @mm_4096_2048_1024_10_bf16(%a: tensor<1024x4096xbf16>, %b: tensor<1024x2048xbf16>) -> tensor<4096x2048xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<1024x4096xbf16>, tensor<1024x2048xbf16>) -> tensor<4096x2048xbf16>
  return %0 : tensor<4096x2048xbf16>
}

func.func @mm_4096_2048_1024_11_f16(%a: tensor<1024x4096xf16>, %b: tensor<2048x1024xf16>) -> tensor<4096x2048xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<1024x4096xf16>, tensor<2048x1024xf16>) -> tensor<4096x2048xf16>
  return %0 : tensor<4096x2048xf16>
}

func.func @mm_4096_2048_1024_11_bf16(%a: tensor<1024x4096xbf16>, %b: tensor<2048x1024xbf16>) -> tensor<4096x2048xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<1024x4096xbf16>, tensor<2048x1024xbf16>) -> tensor<4096x2048xbf16>
  return %0 : tensor<4096x2048xbf16>
}

func.func @mm_128_64_64_00_f16(%a: tensor<128x64xf16>, %b: tensor<64x64xf16>) -> tensor<128x64xf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<128x64xf16>, tensor<64x64xf16>) -> tensor<128x64xf16>
  return %0 : tensor<128x64xf16>
}

func.func @mm_128_64_64_00_bf16(%a: tensor<128x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<128x64xbf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<128x64xbf16>, tensor<64x64xbf16>) -> tensor<128x64xbf16>
  return %0 : tensor<128x64xbf16>
}

func.func @mm_128_64_64_01_f16(%a: tensor<128x64xf16>, %b: tensor<64x64xf16>) -> tensor<128x64xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<128x64xf16>, tensor<64x64xf16>) -> tensor<128x64xf16>
  return %0 : tensor<128x64xf16>
}

func.func @mm_128_64_64_01_bf16(%a: tensor<128x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<128x64xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<128x64xbf16>, tensor<64x64xbf16>) -> tensor<128x64xbf16>
  return %0 : tensor<128x64xbf16>
}

func.func @mm_128_64_64_10_f16(%a: tensor<64x128xf16>, %b: tensor<64x64xf16>) -> tensor<128x64xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<64x128xf16>, tensor<64x64xf16>) -> tensor<128x64xf16>
  return %0 : tensor<128x64xf16>
}

func.func @mm_128_64_64_10_bf16(%a: tensor<64x128xbf16>, %b: tensor<64x64xbf16>) -> tensor<128x64xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<64x128xbf16>, tensor<64x64xbf16>) -> tensor<128x64xbf16>
  return %0 : tensor<128x64xbf16>
}

func.func @mm_128_64_64_11_f16(%a: tensor<64x128xf16>, %b: tensor<64x64xf16>) -> tensor<128x64xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<64x128xf16>, tensor<64x64xf16>) -> tensor<128x64xf16>
  return %0 : tensor<128x64xf16>
}

func.func @mm_128_64_64_11_bf16(%a: tensor<64x128xbf16>, %b: tensor<64x64xbf16>) -> tensor<128x64xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<64x128xbf16>, tensor<64x64xbf16>) -> tensor<128x64xbf16>
  return %0 : tensor<128x64xbf16>
}

func.func @mm_130_72_2048_00_f16(%a: tensor<130x2048xf16>, %b: tensor<2048x72xf16>) -> tensor<130x72xf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<130x2048xf16>, tensor<2048x72xf16>) -> tensor<130x72xf16>
  return %0 : tensor<130x72xf16>
}

func.func @mm_130_72_2048_00_bf16(%a: tensor<130x2048xbf16>, %b: tensor<2048x72xbf16>) -> tensor<130x72xbf16> {
  %0 = blocksparse.matmul %a, %b  : (tensor<130x2048xbf16>, tensor<2048x72xbf16>) -> tensor<130x72xbf16>
  return %0 : tensor<130x72xbf16>
}

func.func @mm_130_72_2048_01_f16(%a: tensor<130x2048xf16>, %b: tensor<72x2048xf16>) -> tensor<130x72xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<130x2048xf16>, tensor<72x2048xf16>) -> tensor<130x72xf16>
  return %0 : tensor<130x72xf16>
}

func.func @mm_130_72_2048_01_bf16(%a: tensor<130x2048xbf16>, %b: tensor<72x2048xbf16>) -> tensor<130x72xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_b} : (tensor<130x2048xbf16>, tensor<72x2048xbf16>) -> tensor<130x72xbf16>
  return %0 : tensor<130x72xbf16>
}

func.func @mm_130_72_2048_10_f16(%a: tensor<2048x130xf16>, %b: tensor<2048x72xf16>) -> tensor<130x72xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<2048x130xf16>, tensor<2048x72xf16>) -> tensor<130x72xf16>
  return %0 : tensor<130x72xf16>
}

func.func @mm_130_72_2048_10_bf16(%a: tensor<2048x130xbf16>, %b: tensor<2048x72xbf16>) -> tensor<130x72xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a} : (tensor<2048x130xbf16>, tensor<2048x72xbf16>) -> tensor<130x72xbf16>
  return %0 : tensor<130x72xbf16>
}

func.func @mm_130_72_2048_11_f16(%a: tensor<2048x130xf16>, %b: tensor<72x2048xf16>) -> tensor<130x72xf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<2048x130xf16>, tensor<72x2048xf16>) -> tensor<130x72xf16>
  return %0 : tensor<130x72xf16>
}

func.func @mm_130_72_2048_11_bf16(%a: tensor<2048x130xbf16>, %b: tensor<72x2048xbf16>) -> tensor<130x72xbf16> {
  %0 = blocksparse.matmul %a, %b {transpose_a, transpose_b} : (tensor<2048x130xbf16>, tensor<72x2048xbf16>) -> tensor<130x72xbf16>
  return %0 : tensor<130x72xbf16>
}
