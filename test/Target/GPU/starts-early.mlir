// RUN: blocksparse-opt %s --pass-pipeline='builtin.module(blocksparse-to-gpu{target=cuda:sm_90a})' | FileCheck %s --check-prefix=RECORD
// RUN: blocksparse-compile %s --target=cuda:sm_90a -o %t.sm90.ptx
// RUN: FileCheck %s --check-prefix=SM90 < %t.sm90.ptx
// RUN: blocksparse-compile %s --target=cuda:sm_80 -o %t.sm80.ptx
// RUN: FileCheck %s --check-prefix=SM80 --implicit-check-not=griddepcontrol < %t.sm80.ptx

// A row kernel is launched while the kernel before it still runs, so it waits before it reads or
// writes memory. A product lets the next one come, and is launched itself when all others have ended.
// RECORD: chain_sdd{{[a-z_]*}} = array<i64: {{[0-9, ]*}}, 0>
// RECORD-SAME: chain_softmax_rows = array<i64: 128, 1, 1, 1, 1, 1, 0, 1>

// SM90: .entry chain_sdd
// SM90-NOT: griddepcontrol.wait
// SM90: griddepcontrol.launch_dependents;
// SM90-NOT: griddepcontrol.wait
// SM90: .entry chain_softmax_rows(
// SM90-NOT: {{ld|st}}.global
// SM90: griddepcontrol.launch_dependents;
// SM90-NOT: {{ld|st}}.global
// SM90: griddepcontrol.wait;
// SM90: ld.global

// SM80: .entry chain_softmax_rows(

#layout = #blocksparse.layout<64x64, grid 4x4, random(density = 0.5, seed = 1)>

func.func @chain(%a: tensor<256x64xf16>, %b: tensor<64x256xf16>) -> tensor<256x256xf16, #layout> {
  %0 = blocksparse.sdd %a, %b : (tensor<256x64xf16>, tensor<64x256xf16>) -> tensor<256x256xf16, #layout>
  %1 = blocksparse.softmax %0 : (tensor<256x256xf16, #layout>) -> tensor<256x256xf16, #layout>
  return %1 : tensor<256x256xf16, #layout>
}
