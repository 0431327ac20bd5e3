// A function of others whose name is a word of C.
// RUN: not blocksparse-compile %s --function=named -o %t.o 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: expects a C identifier that is no reserved word as the name of an external function, but got 'int'

func.func private @int() -> tensor<f32>
func.func @named() -> tensor<f32> {
  %r = func.call @int() : () -> tensor<f32>
  return %r : tensor<f32>
}
