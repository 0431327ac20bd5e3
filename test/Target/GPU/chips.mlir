// Every chip has PTX for its name, of a version that has the kernels' instructions. Blocks of 16 take
// TMA where the chip has it and the stages fit its shared memory; registers move between warps
// where the chip's name has a suffix.
// DEFINE: %{chip} = sm_87
// DEFINE: %{emit} = blocksparse-compile %s --target=cuda:%{chip} -o %t.ptx
// RUN: %{emit} && FileCheck %s --input-file=%t.ptx --check-prefixes=SM87 --implicit-check-not=cp.async.bulk
// SM87: .version 7.4
// SM87: .target sm_87
// SM87: mma.sync
// REDEFINE: %{chip} = sm_90
// RUN: %{emit} && FileCheck %s --input-file=%t.ptx --check-prefixes=SM90 --implicit-check-not=setmaxnreg --implicit-check-not=wgmma
// SM90: .version 8.0
// SM90: .target sm_90
// SM90: cp.async.bulk.tensor
// SM90: mma.sync
// REDEFINE: %{chip} = sm_90a
// RUN: %{emit} && FileCheck %s --input-file=%t.ptx --check-prefixes=SM90A
// SM90A: .target sm_90a
// SM90A: setmaxnreg
// REDEFINE: %{chip} = sm_100
// RUN: %{emit} && FileCheck %s --input-file=%t.ptx --check-prefixes=SM100 --implicit-check-not=setmaxnreg --implicit-check-not=wgmma
// SM100: .version 8.6
// SM100: .target sm_100
// SM100: cp.async.bulk.tensor
// REDEFINE: %{chip} = sm_103f
// RUN: %{emit} && FileCheck %s --input-file=%t.ptx --check-prefixes=SM103F --implicit-check-not=wgmma
// SM103F: .version 8.8
// SM103F: .target sm_103f
// SM103F: cp.async.bulk.tensor
// SM103F: setmaxnreg
// REDEFINE: %{chip} = sm_120a
// RUN: %{emit} && FileCheck %s --input-file=%t.ptx --check-prefixes=SM120A --implicit-check-not=wgmma
// SM120A: .version 8.7
// SM120A: .target sm_120a
// SM120A: mma.sync

// The grammar: facts follow a chip, and a list is unambiguous.
// RUN: blocksparse-compile %s --target=cuda:sm_90a,workers=114 -o %t.ptx
// RUN: blocksparse-compile %s --target=cuda:sm_90a,device=h200,workers=114,cuda:sm_80,cpu,workers=2 -o %t.o
// RUN: not blocksparse-compile %s --target=cuda:sm_90a,device=b200 -o %t.ptx 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: expects a device of sm_90a (h100, h200, h100-pcie and h20), but got 'b200'
// RUN: not blocksparse-compile %s --target=cuda:sm_90a,memory=80 -o %t.ptx 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: expects device or workers after the chip, but got 'memory'
// RUN: not blocksparse-compile %s --target=cuda:sm_90a,workers=114,cuda:sm_90a,cpu -o %t.so 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: expects each chip once, but got 'cuda:sm_90a' after 'cuda:sm_90a,workers=114'
// RUN: not blocksparse-compile %s --target=cpu:znver4 -o %t.so 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: expects the target cpu, whose processor the option --cpu names, but got 'cpu:znver4'
// RUN: not blocksparse-run %s --target=emulated:sm_80 2>&1 | FileCheck %s --check-prefix=EMULATED
// RUN: not blocksparse-compile %s --target=emulated:sm_80 -o %t.so 2>&1 | FileCheck %s --check-prefix=EMULATED
// EMULATED: error: expects a target cpu, cuda:<chip> or cuda:native, but got 'emulated:sm_80' (--device=simulated runs kernels without a GPU)
// RUN: not blocksparse-run %s --target=cpu,cuda:sm_80 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: expects one target to run, but got 'cpu,cuda:sm_80'

#layout = #blocksparse.layout<16x16, grid 96x96, random_balanced(density = 0.25, seed = 1)>

func.func @f(%a: tensor<1536x1536xf16, #layout>, %b: tensor<1536x1024xf16>) -> tensor<1536x1024xf16> {
  %0 = blocksparse.dsd %a, %b : (tensor<1536x1536xf16, #layout>, tensor<1536x1024xf16>) -> tensor<1536x1024xf16>
  return %0 : tensor<1536x1024xf16>
}
