// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

// expected-remark @below {{parameter 'num_heads' of pattern 'fixed' has no effect: the grid gives the number of heads.}}
func.func private @heads(tensor<64x64xf32, #blocksparse.layout<16x16, grid 4x4, fixed(num_heads = 12)>>)

// -----

// expected-remark @below {{parameter 'different_layout_per_head' of pattern 'longformer' has no effect: the pattern is the same for every head.}}
func.func private @per_head(tensor<64x64xf32, #blocksparse.layout<16x16, grid 4x4, bslongformer(different_layout_per_head = true)>>)

// -----

// expected-remark @below {{parameter 'block' of pattern 'dense' has no effect: the layout gives the block shape.}}
func.func private @block(tensor<64x64xf32, #blocksparse.layout<16x16, grid 4x4, dense(block = 16)>>)

// -----

// A parameter that has an effect gets no remark, and a keyword may be quoted.
func.func private @quoted(tensor<64x64xf32, #blocksparse.layout<16x16, grid 4x4, fixed(attention = "unidirectional", different_layout_per_head = true)>>)
