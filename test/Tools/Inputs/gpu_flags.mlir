// DEFINE: %{target} = cpu
// DEFINE: %{run} = blocksparse-run %s --all-functions --check --output=%t --target=%{target}
// RUN: %{run}
// RUN: %{run} --strided && %python compare.py %t
// RUN: blocksparse-run %s --function=one --check --repeat-check --device=cpu
// REDEFINE: %{target} = cuda:sm_90a
// RUN: %{run} --strided=rows --device=simulated
// RUN: blocksparse-run %s --seed=2
// RUN: blocksparse-run %s --no-check | FileCheck %s
// RUN: blocksparse-opt %s --threads=1
