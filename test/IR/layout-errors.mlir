// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

// Shapes.
// expected-error @below {{expects a block of 2 sizes, but got 1}}
#l = #blocksparse.layout<16, grid 1x1, mask "1">

// -----

// expected-error @below {{expects a block of at least 1x1, but got 0x16}}
#l = #blocksparse.layout<0x16, grid 1x1, dense>

// -----

// expected-error @below {{expects a grid of 2 or 3 sizes, but got 1}}
#l = #blocksparse.layout<16x16, grid 4, mask "1">

// -----

// expected-error @below {{expects a grid of at least one head and no negative size, but got 0x1x1}}
#l = #blocksparse.layout<16x16, grid 0x1x1, dense>

// -----

// Masks.
// expected-error @below {{expects 2 mask rows (heads x block rows), but got 3}}
#l = #blocksparse.layout<16x16, grid 2x2, mask "10/11/01">

// -----

// expected-error @below {{expects 2 digits in mask row 1, but got 3}}
#l = #blocksparse.layout<16x16, grid 2x2, mask "10/110">

// -----

// expected-error @below {{expects 0 or 1 in mask row 0, but got 'x'}}
#l = #blocksparse.layout<16x16, grid 2x2, mask "1x/11">

// -----

// CSR.
// expected-error @below {{expects row offsets of length 3 (heads x block rows + 1), but got 2}}
#l = #blocksparse.layout<16x16, grid 2x2, csr [0, 1] [0]>

// -----

// expected-error @below {{expects first row offset to be 0, but got 1}}
#l = #blocksparse.layout<16x16, grid 2x2, csr [1, 1, 1] [0]>

// -----

// expected-error @below {{expects non-decreasing row offsets, but got 1 after 2 at row 1}}
#l = #blocksparse.layout<16x16, grid 2x2, csr [0, 2, 1] [0, 1]>

// -----

// expected-error @below {{expects last row offset to equal the number of blocks 2, but got 3}}
#l = #blocksparse.layout<16x16, grid 2x2, csr [0, 1, 3] [0, 1]>

// -----

// expected-error @below {{expects column index in [0, 2) in row 1, but got 2}}
#l = #blocksparse.layout<16x16, grid 2x2, csr [0, 1, 2] [0, 2]>

// -----

// expected-error @below {{expects column index in [0, 2) in row 0 of head 1, but got -1}}
#l = #blocksparse.layout<16x16, grid 2x1x2, csr [0, 1, 2] [0, -1]>

// -----

// expected-error @below {{expects unique column indices in row 0, but got 1 more than once}}
#l = #blocksparse.layout<16x16, grid 2x2, csr [0, 2, 2] [1, 1]>

// -----

// Named patterns.
// expected-error @below {{but got 'nonsense'}}
#l = #blocksparse.layout<16x16, grid 2x2, nonsense>

// -----

// expected-error @below {{expects pattern 'dense' to have no parameters, but got 'seed'}}
#l = #blocksparse.layout<16x16, grid 2x2, dense(seed = 1)>

// -----

// expected-error @below {{expects each parameter once, but got 'seed' again}}
#l = #blocksparse.layout<16x16, grid 2x2, random(seed = 1, seed = 2)>

// -----

// expected-error @below {{expects parameter 'density' of pattern 'random' in [0, 1], but got 2}}
#l = #blocksparse.layout<16x16, grid 2x2, random(density = 2.0)>

// -----

// expected-error @below {{expects parameter 'stride' of pattern 'strided' to be an integer, but got a keyword (wide)}}
#l = #blocksparse.layout<16x16, grid 2x2, strided(stride = wide)>

// -----

// expected-error @below {{expects parameter 'stride' of pattern 'strided' of at least 1, but got 0}}
#l = #blocksparse.layout<16x16, grid 2x2, strided(stride = 0)>

// -----

// expected-error @below {{expects parameter 'attention' of pattern 'fixed' to be one of}}
#l = #blocksparse.layout<16x16, grid 2x2, fixed(attention = sideways)>

// -----

// Resources: what can be checked before the blob is there.
// expected-error @below {{expects a resource of type tensor<Nxi32>, but got 'tensor<3xi64>'}}
#l = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<r> : tensor<3xi64>>

// -----

// expected-error @below {{expects a resource of type tensor<Nxi32>, but got 'tensor<3x1xi32>'}}
#l = #blocksparse.layout<16x16, grid 2x2, csr dense_resource<r> : tensor<3x1xi32>>

// -----

// expected-error @below {{expects an i32 array, an i32 resource or a named pattern, but got 1 : i64}}
#l = #blocksparse.layout<16x16, grid 2x2, csr 1>

// -----

// C1
// expected-error @below {{expects a sparse tensor of rank 2 to 4, but got rank 1}}
func.func private @c1(tensor<16xf32, #blocksparse.layout<16x16, grid 1x1, dense>>)

// -----

// expected-error @below {{expects a sparse tensor of rank 2 to 4, but got rank 5}}
func.func private @c1_bsr(tensor<1x1x1x16x16xf32, #blocksparse.bsr<16x16>>)

// -----

// expected-error @below {{expects 3 block rows of 16 to cover 33 rows, but got a grid of 2}}
func.func private @c2_rows(tensor<33x32xf32, #blocksparse.layout<16x16, grid 2x2, dense>>)

// -----

// expected-error @below {{expects 1 block columns of 16 to cover 16 columns, but got a grid of 2}}
func.func private @c2_columns(tensor<32x16xf32, #blocksparse.layout<16x16, grid 2x2, dense>>)

// -----

// expected-error @below {{expects static rows and columns with a static layout, but got a dynamic size}}
func.func private @c2_dynamic(tensor<?x32xf32, #blocksparse.layout<16x16, grid 2x2, dense>>)

// -----

// expected-error @below {{expects a layout of 1 or 4 heads, but got 2}}
func.func private @c3(tensor<4x32x32xf32, #blocksparse.layout<16x16, grid 2x2x2, dense>>)

// -----

// expected-error @below {{expects a layout of 1 or 1 heads, but got 2}}
func.func private @c3_rank_two(tensor<32x32xf32, #blocksparse.layout<16x16, grid 2x2x2, dense>>)

// -----

// The other attributes.
// expected-error @below {{expects a block of at least 1x1, but got 16x0}}
#b = #blocksparse.bsr<16x0>

// -----

// expected-error @below {{expects indices of type i32 or i64, but got i8}}
#b = #blocksparse.bsr<16x16, i8>

// -----

// expected-error @below {{expects one of none, relu, leaky_relu, gelu_erf, gelu_tanh, gelu_quick, sigmoid and silu, but got 'gelu'}}
#a = #blocksparse.activation<gelu>

// -----

// expected-error @below {{expects a slope with leaky_relu alone, but got one with 'relu'}}
#a = #blocksparse.activation<relu, slope = 0.1>

// -----

// expected-error @below {{expects one of the kernel families cpu.panel, cpu.rows, cpu.blocks, cuda.wgmma, cuda.wgmma_transposed, cuda.stream, cuda.stream_wgmma, cuda.skinny, cuda.mma, cuda.fma, cuda.simt, cuda.rows, cuda.attention, cuda.blocks, but got "fast"}}
#s = #blocksparse.schedule<fast>

// -----

// The former spelling is an error that says what to write.
// expected-error @below {{expects #blocksparse.schedule<cuda.wgmma, PARAMETER = VALUE...>, but got the former spelling kernel = "cuda.wgmma"}}
#s = #blocksparse.schedule<kernel = "cuda.wgmma", tile_m = 128>

// -----

// expected-error @below {{expects #blocksparse.schedule<cuda.wgmma_transposed, PARAMETER = VALUE...>, but got "cuda.wgmma_turned"}}
#s = #blocksparse.schedule<cuda.wgmma_turned>

// -----

// expected-error @below {{expects one of the parameters tile, stages, split of cuda.mma, but got 'tile_m'}}
#s = #blocksparse.schedule<cuda.mma, tile_m = 128>

// -----

// expected-error @below {{expects no parameters of cuda.blocks, but got 'tile'}}
#s = #blocksparse.schedule<cuda.blocks, tile = 16x16>

// -----

// expected-error @below {{expects each parameter once, but got 'stages' again}}
#s = #blocksparse.schedule<cuda.mma, stages = 4, stages = 3>

// -----

// A size of 0 is not taken for one that is left out.
// expected-error @below {{expects split of at least 1, but got 0}}
#s = #blocksparse.schedule<cpu.panel, split = 0>

// -----

// expected-error @below {{expects tile of at least 1x1, but got 0x0}}
#s = #blocksparse.schedule<cpu.panel, tile = 0x0>

// -----

// expected-error @below {{expects tile = ROWSxCOLUMNS, but got a number of sizes of 3}}
#s = #blocksparse.schedule<cuda.mma, tile = 16x16x16>

// -----

// expected-error @below {{expects gather = true or false, but got yes}}
#s = #blocksparse.schedule<cuda.wgmma, gather = yes>

// -----

// expected-error @below {{expects tile of cuda.mma to be powers of two from 16x16 to 128x256, but got 128x7}}
#s = #blocksparse.schedule<cuda.mma, tile = 128x7>

// -----

// expected-error @below {{expects tile of cuda.mma to be powers of two from 16x16 to 128x256, but got 1x128}}
#s = #blocksparse.schedule<cuda.mma, tile = 1x128>

// -----

// expected-error @below {{expects stages of cuda.mma to be from 2 to 4, but got 1000}}
#s = #blocksparse.schedule<cuda.mma, stages = 1000>

// -----

// expected-error @below {{expects stages of cuda.mma to be from 2 to 4, but got 1}}
#s = #blocksparse.schedule<cuda.mma, stages = 1>

// -----

// expected-error @below {{expects split of cpu.panel to be at least 0, but got -8}}
#s = #blocksparse.schedule<cpu.panel, split = -8>

// -----

// expected-error @below {{expects tile of cuda.stream to be whole block rows x 64 or 128, but got 0x0}}
#s = #blocksparse.schedule<cuda.stream>

// -----

// Sizes that would overflow, or exhaust the memory, if they were used before they are checked.
// expected-error @below {{expects heads x block rows of at most 134217728, but got 1048576 x 17592186044415}}
#l = #blocksparse.layout<16x16, grid 1048576x17592186044415x1, csr dense_resource<r> : tensor<2xi32>>

// -----

// expected-error @below {{expects heads x block rows of at most 134217728, but got 4294967296 x 4294967296}}
#l = #blocksparse.layout<16x16, grid 4294967296x4294967296x1, csr [0] []>

// -----

// expected-error @below {{expects heads x block cols of at most 134217728, but got 3 x 9223372036854775807}}
#l = #blocksparse.layout<16x16, grid 3x1x9223372036854775807, csr dense_resource<r> : tensor<2xi32>>

// -----

// expected-error @below {{expects heads x block cols of at most 134217728, but got 1 x 1000000000000}}
#l = #blocksparse.layout<16x16, grid 1x1000000000000, mask "1">

// -----

// expected-error @below {{expects 134217728 digits in mask row 0, but got 1}}
#l = #blocksparse.layout<16x16, grid 1x134217728, mask "1">

// -----

// expected-error @below {{expects heads x block rows of at most 134217728, but got 9223372036854775807 x 9223372036854775807}}
#l = #blocksparse.layout<16x16, grid 9223372036854775807x9223372036854775807x0, mask "">

// -----

// expected-error @below {{expects heads x block rows of at most 134217728, but got 1 x 2147483647}}
#l = #blocksparse.layout<16x16, grid 2147483647x2147483647, diagonal>

// -----

// expected-error @below {{expects heads x block rows of at most 134217728, but got 1 x 2147483647}}
#l = #blocksparse.layout<16x16, grid 2147483647x2147483647, random(density = 0.0)>

// -----

// expected-error @below {{expects heads x block cols of at most 134217728, but got 1 x 2147483647}}
#l = #blocksparse.layout<16x16, grid 1x2147483647, dense>

// -----

// expected-error @below {{expects at most 134217728 stored blocks, but got at least 268435456}}
#l = #blocksparse.layout<16x16, grid 2x134217728, dense>

// -----

// expected-error @below {{expects a block of at most 2147483647 elements, but got 4294967296 x 4294967296}}
#l = #blocksparse.layout<4294967296x4294967296, grid 1x1, dense>

// -----

// expected-error @below {{expects a resource of at most 268435457 offsets and columns, but got 4611686018427387904}}
#l = #blocksparse.layout<16x16, grid 1x1, csr dense_resource<r> : tensor<4611686018427387904xi32>>

// -----

// expected-error @below {{expects parameter 'offset' to fit in a signed 64-bit integer, but got 1267650600228229401496703205376}}
#l = #blocksparse.layout<16x16, grid 2x2, causal(offset = 1267650600228229401496703205376 : i128)>

// -----

// expected-error @below {{expects parameter 'seed' to fit in a signed 64-bit integer, but got -18446744073709551616}}
#l = #blocksparse.layout<16x16, grid 2x2, random(seed = -18446744073709551616 : i128)>

// -----

// expected-error @below {{expects parameter 'seed' to fit in a signed 64-bit integer, but got 18446744073709551615}}
#l = #blocksparse.layout<16x16, grid 2x2, random(seed = 18446744073709551615 : ui64)>

// -----

// expected-error @below {{integer constant out of range for attribute}}
#l = #blocksparse.layout<16x16, grid 2x2, causal(offset = 1267650600228229401496703205376)>

// -----

// Parameters of DeepSpeed without effect.
// expected-error @below {{expects parameter 'block' of pattern 'fixed' to agree with the block shape 32 x 32, but got 16}}
#l = #blocksparse.layout<32x32, grid 2x2, fixed(block = 16)>

// -----

// expected-error @below {{expects parameter 'num_heads' of pattern 'bigbird' to agree with the 2 heads of the grid, but got 3}}
#l = #blocksparse.layout<16x16, grid 2x4x4, bigbird(num_heads = 3)>

// -----

// No block is drawn where so many are expected.
// expected-error @below {{expects at most 134217728 stored blocks, but got about 5000000000}}
func.func private @f(tensor<100000x100000xf32, #blocksparse.layout<1x1, grid 100000x100000, random(density = 0.5)>>)

// -----

// A layout is built only after all of its text has been read: what is wrong behind it comes first.
// expected-error @below {{expected '>'}}
#l = #blocksparse.layout<1x1, grid 100000x100000, random(density = 0.5) 7>

// -----

// expected-error @below {{expected '>'}}
#l = #blocksparse.layout<1x1, grid 2x2, mask "10" 7>

// -----

// expected-error @below {{expected '>'}}
#l = #blocksparse.layout<1x1, grid 2x2, csr [0, 9, 1] [7] 7>
