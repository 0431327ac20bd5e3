// RUN: blocksparse-opt %s | FileCheck %s --check-prefix=NAMED
// RUN: blocksparse-opt %s --emit-bytecode | blocksparse-opt | FileCheck %s --check-prefix=NAMED
// RUN: blocksparse-opt %s --blocksparse-expand-layouts | FileCheck %s --check-prefix=MASK --implicit-check-not=csr

// Every named pattern, each parameter at a value that is not its default; the masks were
// drawn by hand from the patterns' definitions.

// NAMED-DAG: #[[L0:.*]] = #blocksparse.layout<4x4, grid 4x4, dense>
// MASK-DAG: #[[L0:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1111/1111/1111/1111">
// NAMED-DAG: #[[L1:.*]] = #blocksparse.layout<4x4, grid 4x4, causal>
// MASK-DAG: #[[L1:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1000/1100/1110/1111">
// NAMED-DAG: #[[L2:.*]] = #blocksparse.layout<4x8, grid 4x2, causal(offset = 1)>
// MASK-DAG: #[[L2:.*]] = #blocksparse.layout<4x8, grid 4x2, mask "10/11/11/11">
// NAMED-DAG: #[[L3:.*]] = #blocksparse.layout<4x4, grid 4x4, diagonal(offset = -1)>
// MASK-DAG: #[[L3:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "0000/1000/0100/0010">
// NAMED-DAG: #[[L4:.*]] = #blocksparse.layout<4x4, grid 4x4, banded(lower = 1, upper = 5)>
// MASK-DAG: #[[L4:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1110/1111/0111/0011">
// NAMED-DAG: #[[L5:.*]] = #blocksparse.layout<4x4, grid 4x4, local_window(left = 2, right = 0)>
// MASK-DAG: #[[L5:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1000/1100/1110/0111">
// NAMED-DAG: #[[L6:.*]] = #blocksparse.layout<4x4, grid 2x4, checkerboard(parity = 1)>
// MASK-DAG: #[[L6:.*]] = #blocksparse.layout<4x4, grid 2x4, mask "0101/1010">
// NAMED-DAG: #[[L7:.*]] = #blocksparse.layout<4x4, grid 4x4, strided(attention = unidirectional, num_local_blocks = 1, stride = 2)>
// MASK-DAG: #[[L7:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1000/0100/0110/0101">
// NAMED-DAG: #[[L8:.*]] = #blocksparse.layout<4x4, grid 4x4, fixed(attention = bidirectional, num_local_blocks = 2)>
// MASK-DAG: #[[L8:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1101/1101/0111/0111">
// NAMED-DAG: #[[L9:.*]] = #blocksparse.layout<4x4, grid 2x4x4, fixed(different_layout_per_head = true, num_different_global_patterns = 2, num_local_blocks = 2)>
// MASK-DAG: #[[L9:.*]] = #blocksparse.layout<4x4, grid 2x4x4, mask "1101/1101/0111/0111/1110/1110/1011/1011">
// NAMED-DAG: #[[L10:.*]] = #blocksparse.layout<4x4, grid 4x4, variable(global_block_indices = [3], horizontal_global_attention = true, local_window_blocks = [1, 2])>
// MASK-DAG: #[[L10:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1001/0111/0111/1111">
// NAMED-DAG: #[[L11:.*]] = #blocksparse.layout<4x4, grid 4x4, bigbird(num_global_blocks = 1, num_random_blocks = 0, num_sliding_window_blocks = 1)>
// MASK-DAG: #[[L11:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1111/1100/1010/1001">
// NAMED-DAG: #[[L12:.*]] = #blocksparse.layout<4x4, grid 4x4, longformer(global_block_indices = [2], num_sliding_window_blocks = 1)>
// MASK-DAG: #[[L12:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1010/0110/1111/0011">
// NAMED-DAG: #[[L13:.*]] = #blocksparse.layout<4x4, grid 4x4, local_sliding_window(num_sliding_window_blocks = 3)>
// MASK-DAG: #[[L13:.*]] = #blocksparse.layout<4x4, grid 4x4, mask "1000/1100/0110/0011">
// NAMED-DAG: #[[L14:.*]] = #blocksparse.layout<4x4, grid 2x2, random(density = 1.000000e+00, seed = 7)>
// MASK-DAG: #[[L14:.*]] = #blocksparse.layout<4x4, grid 2x2, mask "11/11">
// NAMED-DAG: #[[L15:.*]] = #blocksparse.layout<4x4, grid 2x2, random_balanced(density = 0.000000e+00, different_layout_per_head = false)>
// MASK-DAG: #[[L15:.*]] = #blocksparse.layout<4x4, grid 2x2, mask "00/00">

// NAMED: func private @dense(tensor<16x16xf32, #[[L0]]>)
// MASK: func private @dense(tensor<16x16xf32, #[[L0]]>)
func.func private @dense(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, dense>>)

// NAMED: func private @causal(tensor<16x16xf32, #[[L1]]>)
// MASK: func private @causal(tensor<16x16xf32, #[[L1]]>)
func.func private @causal(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, causal>>)

// One element to the right of the diagonal: the next block has one.
// NAMED: func private @causal_offset(tensor<16x16xf32, #[[L2]]>)
// MASK: func private @causal_offset(tensor<16x16xf32, #[[L2]]>)
func.func private @causal_offset(tensor<16x16xf32, #blocksparse.layout<4x8, grid 4x2, causal(offset = 1)>>)

// NAMED: func private @diagonal(tensor<16x16xf32, #[[L3]]>)
// MASK: func private @diagonal(tensor<16x16xf32, #[[L3]]>)
func.func private @diagonal(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, diagonal(offset = -1)>>)

// NAMED: func private @banded(tensor<16x16xf32, #[[L4]]>)
// MASK: func private @banded(tensor<16x16xf32, #[[L4]]>)
func.func private @banded(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, banded(lower = 1, upper = 5)>>)

// NAMED: func private @local_window(tensor<16x16xf32, #[[L5]]>)
// MASK: func private @local_window(tensor<16x16xf32, #[[L5]]>)
func.func private @local_window(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, local_window(left = 2, right = 0)>>)

// NAMED: func private @checkerboard(tensor<8x16xf32, #[[L6]]>)
// MASK: func private @checkerboard(tensor<8x16xf32, #[[L6]]>)
func.func private @checkerboard(tensor<8x16xf32, #blocksparse.layout<4x4, grid 2x4, checkerboard(parity = 1)>>)

// The columns nearer than 1 to the row, and columns 1 and 3.
// NAMED: func private @strided(tensor<16x16xf32, #[[L7]]>)
// MASK: func private @strided(tensor<16x16xf32, #[[L7]]>)
func.func private @strided(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, strided(stride = 2, num_local_blocks = 1, attention = unidirectional)>>)

// Windows of 2; the last block of each window is global.
// NAMED: func private @fixed(tensor<16x16xf32, #[[L8]]>)
// MASK: func private @fixed(tensor<16x16xf32, #[[L8]]>)
func.func private @fixed(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, fixed(num_local_blocks = 2, attention = bidirectional)>>)

// The two heads take the global block in turn.
// NAMED: func private @fixed_heads(tensor<2x16x16xf32, #[[L9]]>)
// MASK: func private @fixed_heads(tensor<2x16x16xf32, #[[L9]]>)
func.func private @fixed_heads(tensor<2x16x16xf32, #blocksparse.layout<4x4, grid 2x4x4, fixed(num_local_blocks = 2, different_layout_per_head = true, num_different_global_patterns = 2)>>)

// Windows of 1, then 2; block 3 is global, its row too.
// NAMED: func private @variable(tensor<16x16xf32, #[[L10]]>)
// MASK: func private @variable(tensor<16x16xf32, #[[L10]]>)
func.func private @variable(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, variable(local_window_blocks = [1, 2], global_block_indices = [3], horizontal_global_attention = true)>>)

// NAMED: func private @bigbird(tensor<16x16xf32, #[[L11]]>)
// MASK: func private @bigbird(tensor<16x16xf32, #[[L11]]>)
func.func private @bigbird(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, bigbird(num_random_blocks = 0, num_sliding_window_blocks = 1, num_global_blocks = 1)>>)

// NAMED: func private @longformer(tensor<16x16xf32, #[[L12]]>)
// MASK: func private @longformer(tensor<16x16xf32, #[[L12]]>)
func.func private @longformer(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, longformer(num_sliding_window_blocks = 1, global_block_indices = [2])>>)

// NAMED: func private @local_sliding_window(tensor<16x16xf32, #[[L13]]>)
// MASK: func private @local_sliding_window(tensor<16x16xf32, #[[L13]]>)
func.func private @local_sliding_window(tensor<16x16xf32, #blocksparse.layout<4x4, grid 4x4, local_sliding_window(num_sliding_window_blocks = 3)>>)

// Density 1 and 0 need no luck.
// NAMED: func private @random(tensor<8x8xf32, #[[L14]]>)
// MASK: func private @random(tensor<8x8xf32, #[[L14]]>)
func.func private @random(tensor<8x8xf32, #blocksparse.layout<4x4, grid 2x2, random(density = 1.0, seed = 7)>>)

// NAMED: func private @random_balanced(tensor<8x8xf32, #[[L15]]>)
// MASK: func private @random_balanced(tensor<8x8xf32, #[[L15]]>)
func.func private @random_balanced(tensor<8x8xf32, #blocksparse.layout<4x4, grid 2x2, random_balanced(density = 0.0, different_layout_per_head = false)>>)

// A parameter's type is dropped, so that equal patterns are equal layouts.
// NAMED: func private @typed(tensor<8x8xf32, #[[L14]]>)
// MASK: func private @typed(tensor<8x8xf32, #[[L14]]>)
func.func private @typed(tensor<8x8xf32, #blocksparse.layout<4x4, grid 2x2, random(density = 1.0 : f32, seed = 7 : i128)>>)
