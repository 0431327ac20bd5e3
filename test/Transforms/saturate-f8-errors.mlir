// RUN: blocksparse-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(blocksparse-materialize-luts,func.func(blocksparse-saturate-f8))'

// expected-error @below {{expects blocksparse.f8_overflow to be "special" or "saturate", but got "clamp"}}
func.func @unknown(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {blocksparse.f8_overflow = "clamp"} {
  return %a : tensor<4x4xf32>
}

// -----

// expected-error @below {{expects blocksparse.f8_overflow to be a string, but got true}}
func.func @no_name() attributes {blocksparse.f8_overflow = true} {
  return
}

// -----

#l = #blocksparse.layout<16x16, grid 1x1, dense>
!s = tensor<16x16xf8E5M2, #l>
func.func @gradient(%y: !s, %dy: !s) -> !s attributes {blocksparse.f8_overflow = "saturate"} {
  // expected-error @below {{expects results that can saturate, but got 'tensor<1x16x16xf8E5M2>'}}
  %0 = blocksparse.softmax_grad %y, %dy : (!s, !s) -> !s
  return %0 : !s
}

// -----

// Where something else normalises the rows, the result of a softmax may be too large.
#l = #blocksparse.layout<16x16, grid 1x1, dense>
!s = tensor<16x16xf8E5M2, #l>
func.func @known_lse(%x: !s, %lse: tensor<16xf32>) -> !s attributes {blocksparse.f8_overflow = "saturate"} {
  // expected-error @below {{expects results that can saturate, but got 'tensor<1x16x16xf8E5M2>'}}
  %0 = blocksparse.softmax %x known_lse(%lse) : (!s, tensor<16xf32>) -> !s
  return %0 : !s
}
