// RUN: not blocksparse-opt %s -convert-blocksparse-to-gpu=target=cuda:sm_52 2>&1 | FileCheck %s

// CHECK: expects one of the chips sm_80, sm_86, {{.*}} and sm_121f, but got 'sm_52'
// RUN: not blocksparse-opt %s -convert-blocksparse-to-gpu=target=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: expects a target cuda:<chip>, but got 'cpu'
func.func @nothing() {
  return
}
