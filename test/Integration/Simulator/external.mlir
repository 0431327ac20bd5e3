// Functions that another library defines. On the simulated GPU it gets addresses of the device and the
// stream.
// REQUIRES: simulator
// UNSUPPORTED: asan
// RUN: %host_cc -std=c99 -Wall -Wextra -Werror -shared -fPIC %S/Inputs/external.c -ldl -o %t.so
// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --repeat-check --load-library=%t.so --function=external --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided
// REDEFINE: %{target} = cuda:sm_80
// RUN: env SIMULATED_DRIVER=%build_root/lib/libblocksparse_simgpu.so %{run} --device=simulated
// REDEFINE: %{target} = cuda:sm_90a
// RUN: env SIMULATED_DRIVER=%build_root/lib/libblocksparse_simgpu.so %{run} --device=simulated

// A failing function ends the call; missing symbols and functions without a reference are reported.
// RUN: not blocksparse-run %s --load-library=%t.so --function=fails 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: error: expects the call to succeed, but got {{.*}}: expects the external function 'fails_with' to return 0, but got 7
// RUN: not blocksparse-run %s --function=external 2>&1 | FileCheck %s --check-prefix=MISSING --implicit-check-not=error:
// MISSING: error: expects a library of the process to define 'weighted', which the program calls, but got none that does
// RUN: not blocksparse-run %s --load-library=%t.missing.so --function=external 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: expects a library to load, but got: {{.*}}.missing.so
// RUN: blocksparse-run %s --load-library=%t.so --function=external --check 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: remark: only expected numbers are compared{{.*}}func.call

// The header declares what a user defines.
// RUN: blocksparse-compile %s --function=external -o %t.o --emit-header=%t.h
// RUN: FileCheck %s --check-prefix=HEADER --input-file=%t.h
// HEADER: int32_t external(
// HEADER: The functions below are called by the program, and defined elsewhere.
// HEADER: int32_t weighted(const blocksparse_tensor_2 *arg0,
// HEADER-NEXT: float arg1,
// HEADER-NEXT: blocksparse_tensor_2 *result);
// RUN: %host_cc -std=c99 -pedantic -Wall -Wextra -Werror -x c -fsyntax-only %t.h
// RUN: llvm-nm %t.o | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS: U weighted{{$}}
// RUN: blocksparse-compile %s --function=external --target=cuda:sm_80,cpu -o %t2.o --emit-header=%t2.h
// RUN: FileCheck %s --check-prefix=ON-STREAM --input-file=%t2.h
// ON-STREAM: int32_t weighted_on_stream(const blocksparse_tensor_2 *arg0,
// ON-STREAM: void *stream);
// RUN: llvm-nm %t2.o | FileCheck %s --check-prefix=BOTH
// BOTH: U weighted{{$}}
// BOTH: U weighted_on_stream

// Declarations that could not follow the rules of entry points.
// RUN: not blocksparse-compile %s --function=open -o %t.o 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: expects dense results of static shape of an external function, but got 'tensor<?xf32>' as result 0 of 'open_result'

#layout = #blocksparse.layout<2x2, grid 2x2, mask "10/11">
!x = tensor<4x3xf32>

func.func private @weighted(!x, f32) -> !x

func.func @external(%a: tensor<4x4xf32, #layout> {blocksparse.fill = "ones"}, %x: !x {blocksparse.fill = "ones"},
                    %f: f32 {blocksparse.value = dense<0.5> : tensor<f32>})
    -> (!x {blocksparse.expect = dense<[[4.0], [4.0], [8.0], [8.0]]> : tensor<4x1xf32>}) {
  %y = blocksparse.dsd %a, %x : (tensor<4x4xf32, #layout>, !x) -> !x
  %z = func.call @weighted(%y, %f) : (!x, f32) -> !x
  %r = arith.addf %z, %z : !x
  return %r : !x
}

func.func private @fails_with(i32) -> tensor<f32>
func.func @fails(%n: i32 {blocksparse.value = dense<7> : tensor<i32>}) -> tensor<f32> {
  %r = func.call @fails_with(%n) : (i32) -> tensor<f32>
  return %r : tensor<f32>
}

func.func private @open_result() -> tensor<?xf32>
func.func @open() -> tensor<?xf32> {
  %r = func.call @open_result() : () -> tensor<?xf32>
  return %r : tensor<?xf32>
}
