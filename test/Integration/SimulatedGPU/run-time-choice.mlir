// A run-time pattern is planned on the device where its product is large enough that this pays.
// REQUIRES: simulator
// RUN: rm -f %t.json
// RUN: blocksparse-run %s --all-functions --density=0.01 --device=simulated --target=cuda:sm_90a --sim-report=%t.json
// RUN: grep large_plan_stages %t.json
// RUN: grep large_dsd_stream %t.json
// RUN: grep small_dsd_mma %t.json
// RUN: not grep small_plan_stages %t.json

func.func @large(%s: tensor<4096x4096xf16, #blocksparse.bsr<16x16>>, %d: tensor<4096x2048xf16>) -> tensor<4096x2048xf16> {
  %0 = blocksparse.dsd %s, %d : (tensor<4096x4096xf16, #blocksparse.bsr<16x16>>, tensor<4096x2048xf16>) -> tensor<4096x2048xf16>
  return %0 : tensor<4096x2048xf16>
}

func.func @small(%s: tensor<512x512xf16, #blocksparse.bsr<16x16>>, %d: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %0 = blocksparse.dsd %s, %d : (tensor<512x512xf16, #blocksparse.bsr<16x16>>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}
