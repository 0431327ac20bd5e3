// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --output=%t --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided && %python compare.py %t
// RUN: blocksparse-run %s --function=one --check --repeat-check --strided=rows --device=cpu
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %if simulator %{ %{run} --device=simulated %}
// RUN: blocksparse-run %s --no-check | FileCheck %s
// RUN: blocksparse-opt %s --threads=1
// RUN: not blocksparse-run %s --function=wrong --device=cpu 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: expects 1, but got 2

func.func @one() { return }
func.func @two() { return }
func.func @wrong() { return }
