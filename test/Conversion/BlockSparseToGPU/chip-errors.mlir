// RUN: not blocksparse-opt %s -convert-blocksparse-to-gpu=chip=sm_52 2>&1 | FileCheck %s

// CHECK: expects chip to be one of sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, but got 'sm_52'
func.func @nothing() {
  return
}
