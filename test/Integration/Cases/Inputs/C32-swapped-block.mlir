#swapped = #blocksparse.layout<32x64, grid 1x4, dense>
func.func private @takes(tensor<64x128xf32, #swapped>)
