// Each part of the keys gets out and lse of all keys: p = exp(score - lse), and the sum over a row of
// p * dp is that of out * dout. With q = 0 and 32 keys p is 1/32, so dv = 16/32 in each part, and
// dq = sum of p * (v_j - 15.5) * k_j, whose parts add up to the gradient of all keys.
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --repeat-check
// RUN: %{run}
// RUN: %if simulator %{ %{run} --target=cuda:sm_80 --device=simulated %}
// RUN: %{run} --target=cuda:sm_90a --device=simulated

#part = #blocksparse.layout<16x16, grid 1x1, dense>
#whole = #blocksparse.layout<16x16, grid 1x2, dense>
!d = tensor<16x1xf32>
!l = tensor<16xf32>

func.func @first_part(%q: !d {blocksparse.fill = "zeros"}, %k: tensor<16x1xf32> {blocksparse.value = dense<[[0.0], [0.125], [0.25], [0.375], [0.5], [0.625], [0.75], [0.875], [1.0], [1.125], [1.25], [1.375], [1.5], [1.625], [1.75], [1.875]]> : tensor<16x1xf64>}, %v: tensor<16x1xf32> {blocksparse.value = dense<[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0], [12.0], [13.0], [14.0], [15.0]]> : tensor<16x1xf64>}, %out: !d {blocksparse.value = dense<15.5> : tensor<f64>}, %lse: !l {blocksparse.value = dense<3.4657359027997265> : tensor<f64>}, %dout: !d {blocksparse.fill = "ones"})
    -> (!d {blocksparse.expect = dense<-2.421875> : tensor<f64>}, tensor<16x1xf32> {blocksparse.expect = dense<0.0> : tensor<f64>}, tensor<16x1xf32> {blocksparse.expect = dense<0.5> : tensor<f64>}) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#part) : (!d, tensor<16x1xf32>, tensor<16x1xf32>, !d, !l, !d) -> (!d, tensor<16x1xf32>, tensor<16x1xf32>)
  return %dq, %dk, %dv : !d, tensor<16x1xf32>, tensor<16x1xf32>
}

func.func @second_part(%q: !d {blocksparse.fill = "zeros"}, %k: tensor<16x1xf32> {blocksparse.value = dense<[[2.0], [2.125], [2.25], [2.375], [2.5], [2.625], [2.75], [2.875], [3.0], [3.125], [3.25], [3.375], [3.5], [3.625], [3.75], [3.875]]> : tensor<16x1xf64>}, %v: tensor<16x1xf32> {blocksparse.value = dense<[[16.0], [17.0], [18.0], [19.0], [20.0], [21.0], [22.0], [23.0], [24.0], [25.0], [26.0], [27.0], [28.0], [29.0], [30.0], [31.0]]> : tensor<16x1xf64>}, %out: !d {blocksparse.value = dense<15.5> : tensor<f64>}, %lse: !l {blocksparse.value = dense<3.4657359027997265> : tensor<f64>}, %dout: !d {blocksparse.fill = "ones"})
    -> (!d {blocksparse.expect = dense<13.078125> : tensor<f64>}, tensor<16x1xf32> {blocksparse.expect = dense<0.0> : tensor<f64>}, tensor<16x1xf32> {blocksparse.expect = dense<0.5> : tensor<f64>}) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#part) : (!d, tensor<16x1xf32>, tensor<16x1xf32>, !d, !l, !d) -> (!d, tensor<16x1xf32>, tensor<16x1xf32>)
  return %dq, %dk, %dv : !d, tensor<16x1xf32>, tensor<16x1xf32>
}

func.func @whole(%q: !d {blocksparse.fill = "zeros"}, %k: tensor<32x1xf32> {blocksparse.value = dense<[[0.0], [0.125], [0.25], [0.375], [0.5], [0.625], [0.75], [0.875], [1.0], [1.125], [1.25], [1.375], [1.5], [1.625], [1.75], [1.875], [2.0], [2.125], [2.25], [2.375], [2.5], [2.625], [2.75], [2.875], [3.0], [3.125], [3.25], [3.375], [3.5], [3.625], [3.75], [3.875]]> : tensor<32x1xf64>}, %v: tensor<32x1xf32> {blocksparse.value = dense<[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0], [12.0], [13.0], [14.0], [15.0], [16.0], [17.0], [18.0], [19.0], [20.0], [21.0], [22.0], [23.0], [24.0], [25.0], [26.0], [27.0], [28.0], [29.0], [30.0], [31.0]]> : tensor<32x1xf64>}, %out: !d {blocksparse.value = dense<15.5> : tensor<f64>}, %lse: !l {blocksparse.value = dense<3.4657359027997265> : tensor<f64>}, %dout: !d {blocksparse.fill = "ones"})
    -> (!d {blocksparse.expect = dense<10.65625> : tensor<f64>}, tensor<32x1xf32> {blocksparse.expect = dense<0.0> : tensor<f64>}, tensor<32x1xf32> {blocksparse.expect = dense<0.5> : tensor<f64>}) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#whole) : (!d, tensor<32x1xf32>, tensor<32x1xf32>, !d, !l, !d) -> (!d, tensor<32x1xf32>, tensor<32x1xf32>)
  return %dq, %dk, %dv : !d, tensor<32x1xf32>, tensor<32x1xf32>
}

// The same in f16 and f64, where tensor cores and other scalar code run, with an element-wise bias
// whose gradient is p * (dp - 15.5) as well.

func.func @bias_f16(%q: tensor<16x1xf16> {blocksparse.fill = "zeros"}, %k: tensor<16x1xf16> {blocksparse.value = dense<[[0.0], [0.125], [0.25], [0.375], [0.5], [0.625], [0.75], [0.875], [1.0], [1.125], [1.25], [1.375], [1.5], [1.625], [1.75], [1.875]]> : tensor<16x1xf64>}, %v: tensor<16x1xf16> {blocksparse.value = dense<[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0], [12.0], [13.0], [14.0], [15.0]]> : tensor<16x1xf64>}, %rpe: tensor<1x16xf16> {blocksparse.fill = "zeros"}, %out: tensor<16x1xf16> {blocksparse.value = dense<15.5> : tensor<f64>}, %lse: tensor<16xf32> {blocksparse.value = dense<3.4657359027997265> : tensor<f64>}, %dout: tensor<16x1xf16> {blocksparse.fill = "ones"})
    -> (tensor<16x1xf16> {blocksparse.expect = dense<-2.421875> : tensor<f64>}, tensor<16x1xf16> {blocksparse.expect = dense<0.0> : tensor<f64>}, tensor<16x1xf16> {blocksparse.expect = dense<0.5> : tensor<f64>}, tensor<1x16xf16> {blocksparse.expect = dense<[[-7.75, -7.25, -6.75, -6.25, -5.75, -5.25, -4.75, -4.25, -3.75, -3.25, -2.75, -2.25, -1.75, -1.25, -0.75, -0.25]]> : tensor<1x16xf64>}) {
  %dq, %dk, %dv, %drpe = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%rpe) layout(#part) : (tensor<16x1xf16>, tensor<16x1xf16>, tensor<16x1xf16>, tensor<16x1xf16>, tensor<16xf32>, tensor<16x1xf16>, tensor<1x16xf16>) -> (tensor<16x1xf16>, tensor<16x1xf16>, tensor<16x1xf16>, tensor<1x16xf16>)
  return %dq, %dk, %dv, %drpe : tensor<16x1xf16>, tensor<16x1xf16>, tensor<16x1xf16>, tensor<1x16xf16>
}

func.func @bias_f64(%q: tensor<16x1xf64> {blocksparse.fill = "zeros"}, %k: tensor<16x1xf64> {blocksparse.value = dense<[[0.0], [0.125], [0.25], [0.375], [0.5], [0.625], [0.75], [0.875], [1.0], [1.125], [1.25], [1.375], [1.5], [1.625], [1.75], [1.875]]> : tensor<16x1xf64>}, %v: tensor<16x1xf64> {blocksparse.value = dense<[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0], [12.0], [13.0], [14.0], [15.0]]> : tensor<16x1xf64>}, %rpe: tensor<1x16xf64> {blocksparse.fill = "zeros"}, %out: tensor<16x1xf64> {blocksparse.value = dense<15.5> : tensor<f64>}, %lse: tensor<16xf64> {blocksparse.value = dense<3.4657359027997265> : tensor<f64>}, %dout: tensor<16x1xf64> {blocksparse.fill = "ones"})
    -> (tensor<16x1xf64> {blocksparse.expect = dense<-2.421875> : tensor<f64>}, tensor<16x1xf64> {blocksparse.expect = dense<0.0> : tensor<f64>}, tensor<16x1xf64> {blocksparse.expect = dense<0.5> : tensor<f64>}, tensor<1x16xf64> {blocksparse.expect = dense<[[-7.75, -7.25, -6.75, -6.25, -5.75, -5.25, -4.75, -4.25, -3.75, -3.25, -2.75, -2.25, -1.75, -1.25, -0.75, -0.25]]> : tensor<1x16xf64>}) {
  %dq, %dk, %dv, %drpe = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout rpe(%rpe) layout(#part) : (tensor<16x1xf64>, tensor<16x1xf64>, tensor<16x1xf64>, tensor<16x1xf64>, tensor<16xf64>, tensor<16x1xf64>, tensor<1x16xf64>) -> (tensor<16x1xf64>, tensor<16x1xf64>, tensor<16x1xf64>, tensor<1x16xf64>)
  return %dq, %dk, %dv, %drpe : tensor<16x1xf64>, tensor<16x1xf64>, tensor<16x1xf64>, tensor<1x16xf64>
}

// Nothing was allowed in row 3 anywhere: it adds nothing, whatever its scores are here.
func.func @row_without_keys(%q: !d {blocksparse.fill = "zeros"}, %k: !d {blocksparse.value = dense<[[0.0], [0.125], [0.25], [0.375], [0.5], [0.625], [0.75], [0.875], [1.0], [1.125], [1.25], [1.375], [1.5], [1.625], [1.75], [1.875]]> : tensor<16x1xf64>}, %v: !d {blocksparse.value = dense<[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0], [12.0], [13.0], [14.0], [15.0]]> : tensor<16x1xf64>}, %out: !d {blocksparse.value = dense<15.5> : tensor<f64>}, %lse: !l {blocksparse.value = dense<[3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 0xFFF0000000000000, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265, 3.4657359027997265]> : tensor<16xf64>}, %dout: !d {blocksparse.fill = "ones"})
    -> (!d {blocksparse.expect = dense<[[-2.421875], [-2.421875], [-2.421875], [0.0], [-2.421875], [-2.421875], [-2.421875], [-2.421875], [-2.421875], [-2.421875], [-2.421875], [-2.421875], [-2.421875], [-2.421875], [-2.421875], [-2.421875]]> : tensor<16x1xf64>}, !d {blocksparse.expect = dense<0.46875> : tensor<f64>}) {
  %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout layout(#part) : (!d, !d, !d, !d, !l, !d) -> (!d, !d, !d)
  return %dq, %dv : !d, !d
}
