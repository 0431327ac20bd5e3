// A database of measured schedules, made here: its keys are part of the interface.
// RUN: split-file %s %t
// RUN: blocksparse-opt %t/input.mlir -blocksparse-select-schedule="target=cuda:sm_80 database=%t/database.json" 2>&1 | FileCheck %s
// RUN: blocksparse-opt %t/input.mlir -blocksparse-select-schedule="target=cuda:sm_90a database=%t/database.json" | FileCheck %s --check-prefix=OTHER
// RUN: not blocksparse-opt %t/input.mlir -blocksparse-select-schedule="target=cuda:sm_80 database=%t/input.mlir" 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: not blocksparse-opt %t/input.mlir -blocksparse-select-schedule="target=cuda:sm_80 database=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not blocksparse-opt %t/input.mlir -blocksparse-select-schedule="target=cuda:sm_80 database=%t/former.json" 2>&1 | FileCheck %s --check-prefix=FORMER

// RUN: not blocksparse-opt %t/input.mlir -blocksparse-select-schedule="target=cuda:sm_80 database=/dev/zero" 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: error: expects a tuning database in '/dev/zero', but got: more than 1073741824 bytes

// The compilers' option, and the environment in its place.
// RUN: blocksparse-compile %t/input.mlir --target=cuda:sm_80 --stop-after=schedule --tuning-database=%t/database.json 2>/dev/null | FileCheck %s --check-prefix=TOOL
// RUN: env BLOCKSPARSE_TUNING_DATABASE=%t/database.json blocksparse-compile %t/input.mlir --target=cuda:sm_80 --stop-after=schedule 2>/dev/null | FileCheck %s --check-prefix=TOOL
// RUN: env BLOCKSPARSE_TUNING_DATABASE=%t/none.json not blocksparse-run %t/input.mlir --function=measured 2>&1 | FileCheck %s --check-prefix=NONE
// TOOL-LABEL: @measured(
// TOOL: cuda.simt, split = 3

// FOREIGN: error: expects a tuning database {"format": "blocksparse-tuning", "version": 3, "entries": {...}} in '{{.*}}input.mlir', but got no JSON
// FORMER: error: expects a tuning database {"format": "blocksparse-tuning", "version": 3, "entries": {...}} in '{{.*}}former.json', but got the version 1
// NONE: error: expects a tuning database in '{{.*}}none.json', but got: No such file or directory

// CHECK: warning: ignores the schedule '#blocksparse.schedule<cuda.wgmma>' in '{{.*}}database.json', which is not legal for blocksparse.dsd on cuda:sm_80,workers=108: expects a kernel of cuda:sm_80,workers=108 (one of cuda.skinny, cuda.mma, cuda.simt), but got cuda.wgmma, which expects a chip with wgmma and TMA, but got one without
// CHECK: warning: ignores the schedule 'fast' in '{{.*}}database.json', which is not legal for blocksparse.softmax on cuda:sm_80,workers=108: {{.+}}
// CHECK-LABEL: @measured(
// CHECK: cuda.simt, split = 3
// OTHER-NOT: split = 3

// A schedule that is there wins.
// CHECK-LABEL: @own(
// CHECK: cuda.mma

// CHECK-LABEL: @illegal(
// CHECK: cuda.mma
// CHECK-LABEL: @no_schedule(
// CHECK: cuda.rows

//--- input.mlir
#l = #blocksparse.layout<16x16, grid 2x2, mask "10/11">

func.func @measured(%a: tensor<32x32xf16, #l>, %b: tensor<32x128xf16>) -> tensor<32x128xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<32x32xf16, #l>, tensor<32x128xf16>) -> tensor<32x128xf16>
  return %0 : tensor<32x128xf16>
}

func.func @own(%a: tensor<32x32xf16, #l>, %b: tensor<32x128xf16>) -> tensor<32x128xf16> {
  %0 = blocksparse.dsd %a, %b {schedule = #blocksparse.schedule<cuda.mma>}
    : (tensor<32x32xf16, #l>, tensor<32x128xf16>) -> tensor<32x128xf16>
  return %0 : tensor<32x128xf16>
}

func.func @illegal(%a: tensor<32x32xf16, #l>, %b: tensor<32x64xf16>) -> tensor<32x64xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<32x32xf16, #l>, tensor<32x64xf16>) -> tensor<32x64xf16>
  return %0 : tensor<32x64xf16>
}

func.func @no_schedule(%x: tensor<32x32xf16, #l>) -> tensor<32x32xf16, #l> {
  %0 = blocksparse.softmax %x : (tensor<32x32xf16, #l>) -> tensor<32x32xf16, #l>
  return %0 : tensor<32x32xf16, #l>
}

//--- database.json
{"format": "blocksparse-tuning", "version": 3, "entries": {
"blocksparse.dsd on cuda:sm_80,workers=108: (tensor<32x32xf16><16x16, grid 1x2x2, 3 blocks, rows of 1 to 2, 1683400330bc9fcd>, tensor<32x128xf16>) -> (tensor<32x128xf16>) {alpha = 1, precision = #blocksparse.precision<ieee>}":
  {"schedule": "#blocksparse.schedule<cuda.simt, split = 3>", "milliseconds": 0.5},
"blocksparse.dsd on cuda:sm_80,workers=108: (tensor<32x32xf16><16x16, grid 1x2x2, 3 blocks, rows of 1 to 2, 1683400330bc9fcd>, tensor<32x64xf16>) -> (tensor<32x64xf16>) {alpha = 1, precision = #blocksparse.precision<ieee>}":
  {"schedule": "#blocksparse.schedule<cuda.wgmma>", "milliseconds": 0.5},
"blocksparse.softmax on cuda:sm_80,workers=108: (tensor<32x32xf16><16x16, grid 1x2x2, 3 blocks, rows of 1 to 2, 1683400330bc9fcd>) -> (tensor<32x32xf16><16x16, grid 1x2x2, 3 blocks, rows of 1 to 2, 1683400330bc9fcd>) {attention_mask_mode = #blocksparse.mask_mode<add>, causal_offset = 0 : i64, key_padding_mask_mode = #blocksparse.mask_mode<add>, scale = 1}":
  {"schedule": "fast", "milliseconds": 0.5}
}}
//--- former.json
{"format": "blocksparse-tuning", "version": 1, "entries": {}}
