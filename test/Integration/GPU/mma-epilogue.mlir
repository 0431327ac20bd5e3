// The whole epilogue behind tensor cores, wide and narrow stores; nothing to sum keeps the other
// terms.
// RUN: %if simulator %{ blocksparse-run %s --all-functions --check --repeat-check --poison --device=simulated --target=cuda:sm_80 %}

#l0 = #blocksparse.layout<32x32, grid 3x2, mask "10/00/11">

func.func @dsd_relu(%a0: tensor<72x64xf16, #l0>, %a1: tensor<64x40xf16>, %a2: tensor<40xf32>, %a3: tensor<72x40xf16>) -> tensor<72x40xf16> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) residual(%a3) {activation = #blocksparse.activation<relu>} : (tensor<72x64xf16, #l0>, tensor<64x40xf16>, tensor<40xf32>, tensor<72x40xf16>) -> tensor<72x40xf16>
  return %0 : tensor<72x40xf16>
}

func.func @dsd_leaky_relu(%a0: tensor<72x64xbf16, #l0>, %a1: tensor<64x44xbf16>, %a2: tensor<44xf32>, %a3: tensor<72x44xbf16>) -> tensor<72x44xbf16> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) residual(%a3) {activation = #blocksparse.activation<leaky_relu, slope = 2.000000e-01>, alpha = -5.000000e-01 : f64} : (tensor<72x64xbf16, #l0>, tensor<64x44xbf16>, tensor<44xf32>, tensor<72x44xbf16>) -> tensor<72x44xbf16>
  return %0 : tensor<72x44xbf16>
}

func.func @dsd_gelu_erf(%a0: tensor<72x64xf16, #l0>, %a1: tensor<40x64xf16>, %a2: tensor<72xf32>, %a3: tensor<40x72xf16>) -> tensor<40x72xf16> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) residual(%a3) {activation = #blocksparse.activation<gelu_erf>, transpose_b, transpose_out} : (tensor<72x64xf16, #l0>, tensor<40x64xf16>, tensor<72xf32>, tensor<40x72xf16>) -> tensor<40x72xf16>
  return %0 : tensor<40x72xf16>
}

func.func @dsd_gelu_tanh(%a0: tensor<72x64xbf16, #l0>, %a1: tensor<64x44xbf16>, %a2: tensor<44xf32>, %a3: tensor<72x44xbf16>) -> tensor<72x44xbf16> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) residual(%a3) {activation = #blocksparse.activation<gelu_tanh>, alpha = -5.000000e-01 : f64} : (tensor<72x64xbf16, #l0>, tensor<64x44xbf16>, tensor<44xf32>, tensor<72x44xbf16>) -> tensor<72x44xbf16>
  return %0 : tensor<72x44xbf16>
}

func.func @dsd_gelu_quick(%a0: tensor<72x64xf16, #l0>, %a1: tensor<64x40xf16>, %a2: tensor<40xf32>, %a3: tensor<72x40xf16>) -> tensor<72x40xf16> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) residual(%a3) {activation = #blocksparse.activation<gelu_quick>} : (tensor<72x64xf16, #l0>, tensor<64x40xf16>, tensor<40xf32>, tensor<72x40xf16>) -> tensor<72x40xf16>
  return %0 : tensor<72x40xf16>
}

func.func @dsd_silu(%a0: tensor<72x64xbf16, #l0>, %a1: tensor<44x64xbf16>, %a2: tensor<72xf32>, %a3: tensor<44x72xbf16>) -> tensor<44x72xbf16> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) residual(%a3) {activation = #blocksparse.activation<silu>, alpha = -5.000000e-01 : f64, transpose_b, transpose_out} : (tensor<72x64xbf16, #l0>, tensor<44x64xbf16>, tensor<72xf32>, tensor<44x72xbf16>) -> tensor<44x72xbf16>
  return %0 : tensor<44x72xbf16>
}

func.func @dsd_sigmoid(%a0: tensor<72x64xf16, #l0>, %a1: tensor<64x40xf16>, %a2: tensor<40xf32>, %a3: tensor<72x40xf16>) -> tensor<72x40xf16> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) residual(%a3) {activation = #blocksparse.activation<sigmoid>} : (tensor<72x64xf16, #l0>, tensor<64x40xf16>, tensor<40xf32>, tensor<72x40xf16>) -> tensor<72x40xf16>
  return %0 : tensor<72x40xf16>
}

func.func @dsd_alpha_zero(%a0: tensor<72x64xf16, #l0>, %a1: tensor<64x40xf16>, %a2: tensor<40xf16>) -> tensor<72x40xf16> {
  %0 = blocksparse.dsd %a0, %a1 bias(%a2) {alpha = 0.000000e+00 : f64} : (tensor<72x64xf16, #l0>, tensor<64x40xf16>, tensor<40xf16>) -> tensor<72x40xf16>
  return %0 : tensor<72x40xf16>
}
