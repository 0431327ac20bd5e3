# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The faults that planted_faults.py plants, and the programs whose PTX it plants them in."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    kernel: str
    target: str
    text: str


@dataclasses.dataclass(frozen=True)
class Fault:
    program: str
    name: str
    pattern: str
    replacement: str
    report: str  # a pattern of the report
    nth: int = 0  # the occurrence that is replaced
    every: bool = False  # all occurrences are replaced


# One or two workers take all tiles, so that every buffer is used again.
PROGRAMS = {
    "wgmma": Program("p_matmul_wgmma", "cuda:sm_90a,workers=1", """
func.func @p(%a: tensor<128x512xf16>, %b: tensor<512x256xf16>) -> tensor<128x256xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x128, stages = 4>}
      : (tensor<128x512xf16>, tensor<512x256xf16>) -> tensor<128x256xf16>
  return %0 : tensor<128x256xf16>
}
"""),
    "cluster": Program("p_dsd_wgmma", "cuda:sm_90a", """
#layout = #blocksparse.layout<64x64, grid 2x8, mask "11011011/01101101">
#s = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 2, cluster = 2>
func.func @p(%w: tensor<128x512xf16, #layout>, %x: tensor<512x512xf16>) -> tensor<128x512xf16> {
  %y = blocksparse.dsd %w, %x {schedule = #s}
      : (tensor<128x512xf16, #layout>, tensor<512x512xf16>) -> tensor<128x512xf16>
  return %y : tensor<128x512xf16>
}
"""),
    "stream": Program("p_dsd_stream", "cuda:sm_90a,workers=1", """
#layout = #blocksparse.layout<16x16, grid 8x8, mask "11011011/01101101/11111111/10010010/11011011/01101101/11111111/10010010">
func.func @p(%w: tensor<128x128xf16, #layout>, %x: tensor<128x512xf16>) -> tensor<128x512xf16> {
  %y = blocksparse.dsd %w, %x : (tensor<128x128xf16, #layout>, tensor<128x512xf16>) -> tensor<128x512xf16>
  return %y : tensor<128x512xf16>
}
"""),
    "stream_wgmma": Program("p_dsd_stream", "cuda:sm_90a,workers=1", """
#layout = #blocksparse.layout<32x32, grid 4x8, mask "11011011/01101101/11111111/10010010">
func.func @p(%w: tensor<128x256xf16, #layout>, %x: tensor<256x256xf16>) -> tensor<128x256xf16> {
  %y = blocksparse.dsd %w, %x : (tensor<128x256xf16, #layout>, tensor<256x256xf16>) -> tensor<128x256xf16>
  return %y : tensor<128x256xf16>
}
"""),
    "mma": Program("p_dsd_mma", "cuda:sm_80,workers=1", """
#layout = #blocksparse.layout<16x16, grid 8x8, mask "11011011/01101101/11111111/10010010/11011011/01101101/11111111/10010010">
func.func @p(%w: tensor<128x128xf16, #layout>, %x: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %y = blocksparse.dsd %w, %x : (tensor<128x128xf16, #layout>, tensor<128x128xf16>) -> tensor<128x128xf16>
  return %y : tensor<128x128xf16>
}
"""),
    "softmax": Program("p_softmax_rows", "cuda:sm_80,workers=1", """
#layout = #blocksparse.layout<16x16, grid 4x40, dense>
func.func @p(%s: tensor<64x640xf16, #layout>) -> tensor<64x640xf16, #layout> {
  %y = blocksparse.softmax %s : (tensor<64x640xf16, #layout>) -> tensor<64x640xf16, #layout>
  return %y : tensor<64x640xf16, #layout>
}
"""),
    "workers": Program("p_matmul_wgmma", "cuda:sm_90a,workers=2", """
func.func @p(%a: tensor<128x64xf16>, %b: tensor<64x256xf16>) -> tensor<128x256xf16> {
  %0 = blocksparse.matmul %a, %b {schedule = #blocksparse.schedule<cuda.wgmma, tile = 128x128, stages = 4>}
      : (tensor<128x64xf16>, tensor<64x256xf16>) -> tensor<128x256xf16>
  return %0 : tensor<128x256xf16>
}
"""),
    # The softmax starts while the product before it runs.
    "early": Program("p_softmax_rows", "cuda:sm_90a", """
#layout = #blocksparse.layout<16x16, grid 16x4, dense>
func.func @p(%a: tensor<256x32xf16>, %b: tensor<32x64xf16>) -> tensor<256x64xf16, #layout> {
  %s = blocksparse.sdd %a, %b : (tensor<256x32xf16>, tensor<32x64xf16>) -> tensor<256x64xf16, #layout>
  %y = blocksparse.softmax %s : (tensor<256x64xf16, #layout>) -> tensor<256x64xf16, #layout>
  return %y : tensor<256x64xf16, #layout>
}
"""),
}

INIT = r"^\s*mbarrier\.init[^\n]*\n"
INIT_COUNT = r"(mbarrier\.init\.shared\.b64\s+\[%rd\d+\], )(%r\d+);"
BAR = r"bar\.sync\s[^;]*;"
NAMED_BAR = r"(bar\.sync\s+%r\d+), 128;"
PROXY = r"fence\.proxy\.async[^;]*;"
ARRIVE = r"mbarrier\.arrive\.(?!expect)[^;]*;"
EXPECT = r"(mbarrier\.arrive\.expect_tx[^;]*), (%r\d+);"
PARITY = r"(mbarrier\.try_wait\.parity[^;]*\]), (%r\d+), 10000000;"
WAIT = r"mbarrier\.try_wait\.parity\S*\s+(\w+|%p\d+), [^;]*;"
STORE_WAIT = r"cp\.async\.bulk\.wait_group\s[^;]*;"
STORE_READ = r"cp\.async\.bulk\.wait_group\.read[^;]*;"
CTA = r"mov\.u32\s+(%r\d+), %ctaid\.x;"
LOAD = r"cp\.async\.bulk\.(?:tensor\.\dd\.)?shared::cluster[^;]*;"

MORE = r"{.reg .b32 Q; add.s32 Q, \2, 1; \1Q;}"
BYTES = r"{.reg .b32 Q; add.s32 Q, \2, %d; \1, Q;}"
SWAP = r"{.reg .b32 Q; xor.b32 Q, \2, 1; \1, Q, 10000000;}"
PASS = r"setp.eq.b32 \1, 0, 0;"

UNWRITTEN = "expects a read of written memory"
DEADLOCK = "deadlock, every warp waits"
NO_WAIT = r"expects a wait for the mbarrier of the bulk copy between the write of line \d+ 'cp\.async\.bulk"
READ = r"expects cp\.async\.bulk\.wait_group( there and a barrier)? between the read of line \d+ 'cp\.async\.bulk"
INVISIBLE = r"expects fence\.mbarrier_init or fence\.proxy\.async between the initialisation"
UNKNOWN = "expects a barrier between the initialisation of the mbarrier"
CROSSING = r"expects fence\.proxy\.async between the write of line \d+ 'st"
COPY = r"expects cp\.async\.wait_group( there and a barrier)? between the write of line \d+ 'cp\.async"
GLOBAL = r"expects a release and an acquire at the scope of the GPU between the write of line \d+ '"
RACE = r"expects a barrier between the (read|write) of line \d+"


def common(program):
    """Returns the faults of every kernel whose stages TMA fills."""
    return [
        Fault(program, "the full barrier is not initialised", INIT, "", UNWRITTEN),
        Fault(program, "the empty barrier is not initialised", INIT, "", UNWRITTEN, nth=1),
        Fault(program, "the full barrier expects an arrival too many", INIT_COUNT, MORE,
              DEADLOCK + r".*parity 0 expects 1 of \d+ arrivals and 0 bytes"),
        Fault(program, "the empty barrier expects an arrival too many", INIT_COUNT, MORE,
              DEADLOCK + r".*expects 1 of \d+ arrivals and 0 bytes", nth=1),
        Fault(program, "no fence after the initialisation", r"fence\.mbarrier_init[^;]*;", "",
              INVISIBLE),
        Fault(program, "nothing announces the bytes of a stage",
              r"mbarrier\.arrive\.expect_tx[^;]*;", "",
              DEADLOCK + r".*expects 1 of \d+ arrivals and -\d+ bytes"),
        Fault(program, "16 bytes too many are announced", EXPECT, BYTES % 16,
              DEADLOCK + r".*arrivals and 16 bytes"),
        Fault(program, "16 bytes too few are announced", EXPECT, BYTES % -16,
              DEADLOCK + r".*arrivals and -16 bytes"),
        Fault(program, "a load is missing", LOAD, "", DEADLOCK + r".*arrivals and \d{2,} bytes"),
    ]


FAULTS = [
    *common("wgmma"),
    *common("cluster"),
    *common("stream"),
    *common("stream_wgmma"),
    # Further faults of the warp-specialised product.
    Fault("wgmma", "no barrier after the initialisation", BAR, "", UNKNOWN),
    Fault("wgmma", "stores begin before all warps have written", BAR, "", RACE, nth=2),
    Fault("wgmma", "a warp writes what is still being stored", BAR, "", READ, nth=1),
    Fault("wgmma", "a named barrier waits for 160 threads", NAMED_BAR, r"\1, 160;",
          DEADLOCK + r".*128 of 160 threads have arrived at barrier"),
    Fault("wgmma", "no proxy fence before the store", PROXY, "", CROSSING),
    Fault("wgmma", "a stage is not released", ARRIVE, "",
          DEADLOCK + r".*expects [1-9]\d* of 8 arrivals"),
    Fault("wgmma", "the consumer's parity is swapped", PARITY, SWAP, NO_WAIT),
    Fault("wgmma", "the producer's parity is swapped", PARITY, SWAP, DEADLOCK, nth=1),
    Fault("wgmma", "the consumer does not wait", WAIT, PASS, NO_WAIT),
    Fault("wgmma", "the producer does not wait", WAIT, PASS,
          r"expects (at most 0 more arrivals|wgmma\.wait_group|a wait)", nth=1),
    Fault("wgmma", "no wgmma.fence at all", r"wgmma\.fence\.sync\.aligned;", "",
          r"expects wgmma\.fence before the first wgmma", every=True),
    Fault("wgmma", "no wait before the release", r"wgmma\.wait_group\.sync\.aligned\s+1;", "",
          r"expects wgmma\.wait_group there and a barrier between the read"),
    Fault("wgmma", "a wait for one group too few", r"wgmma\.wait_group\.sync\.aligned\s+1;",
          "wgmma.wait_group.sync.aligned 2;",
          r"expects wgmma\.wait_group there and a barrier between the read"),
    Fault("wgmma", "no wait before the epilogue", r"wgmma\.wait_group\.sync\.aligned\s+0;", "",
          r"expects wgmma\.wait_group between line \d+ .* and this read of an accumulator"),
    Fault("wgmma", "no commit", r"wgmma\.commit_group\.sync\.aligned;", "",
          r"expects wgmma\.wait_group", every=True),
    Fault("wgmma", "stores are not committed", r"cp\.async\.bulk\.commit_group;", "", READ),
    Fault("wgmma", "stores are not waited for at the end", STORE_WAIT, "",
          r"expects cp\.async\.bulk\.wait_group before the end of the warp, but got \d"),
    Fault("wgmma", "stores are not waited for before the next tile", STORE_READ, "", READ),
    Fault("wgmma", "the producer keeps too many registers",
          r"setmaxnreg\.dec\.sync\.aligned\.u32\s+\d+;", "setmaxnreg.dec.sync.aligned.u32 160;",
          DEADLOCK + r".*registers a thread and \d+ free ones"),
    Fault("wgmma", "the producer gives up nothing", r"setmaxnreg\.dec[^;]*;", "",
          DEADLOCK + r".*registers a thread and \d+ free ones"),
    # Further faults of clusters.
    Fault("cluster", "no arrival at the cluster's barrier", r"barrier\.cluster\.arrive[^;]*;", "",
          r"expects barrier\.cluster\.arrive before barrier\.cluster\.wait"),
    Fault("cluster", "no wait at the cluster's barrier", r"barrier\.cluster\.wait[^;]*;", "",
          "expects (a read of written memory|a barrier between the initialisation)"),
    Fault("cluster", "a stage is not released to the other CTA", ARRIVE, "",
          DEADLOCK + r".*expects \d+ of 16 arrivals"),
    Fault("cluster", "a stage is released twice", ARRIVE, r"\g<0> \g<0>",
          r"expects (wgmma\.wait_group there and )?a barrier|expects wgmma\.wait_group|" + DEADLOCK),
    # Further faults of streams.
    Fault("stream", "no barrier after the initialisation", BAR, "", UNKNOWN),
    Fault("stream", "no proxy fence before the store", PROXY, "", CROSSING),
    Fault("stream", "stores are not waited for at the end", STORE_WAIT, "",
          r"expects cp\.async\.bulk\.wait_group before the end of the warp"),
    Fault("stream_wgmma", "no barrier after the initialisation", BAR, "", UNKNOWN),
    Fault("stream_wgmma", "stores begin before all warps have written", BAR, "", RACE, nth=2),
    Fault("stream_wgmma", "no proxy fence before the store", PROXY, "", CROSSING),
    Fault("stream_wgmma", "a stage is not released", ARRIVE, "", DEADLOCK),
    Fault("stream_wgmma", "a lane releases what other lanes read", r"bar\.warp\.sync[^;]*;", "", RACE,
          every=True),
    Fault("stream_wgmma", "stores are not waited for at the end", STORE_WAIT, "",
          r"expects cp\.async\.bulk\.wait_group before the end of the warp"),
    # Copies by cp.async, and plain accesses.
    Fault("mma", "a stage is filled while it is read", BAR, "", RACE, nth=1),
    Fault("mma", "copies are not committed", r"cp\.async\.commit_group;", "", COPY),
    Fault("mma", "copies are not waited for", r"cp\.async\.wait_group\s+\d+;", "", COPY),
    Fault("mma", "a wait for too few groups", r"cp\.async\.wait_group\s+\d+;",
          "cp.async.wait_group 9;", COPY),
    Fault("mma", "a store beyond the result", r"st\.global\.(\S+)\s+\[(%rd\d+)(\+\d+)?\]",
          r"st.global.\1 [\2+1048576]", "expects an access within an allocation"),
    Fault("mma", "a misaligned store", r"st\.global\.(v4\S+)\s+\[(%rd\d+)(\+\d+)?\]",
          r"st.global.\1 [\2+2]", "expects an address aligned to 16 bytes"),
    Fault("softmax", "a partial maximum is read before it is written", BAR, "",
          "expects (a read of written memory|a barrier between the write)"),
    Fault("softmax", "a partial sum is read before it is written", BAR, "",
          "expects (a read of written memory|a barrier between the write)", nth=1),
    Fault("softmax", "a store beyond the result", r"st\.global\.(\S+)\s+\[(%rd\d+)(\+\d+)?\]",
          r"st.global.\1 [\2+1048576]", "expects an access within an allocation"),
    # Accesses of global memory by several CTAs or launches.
    Fault("workers", "two CTAs store the same tile by TMA", CTA, r"mov.u32 \1, 0;",
          GLOBAL + r"cp\.async\.bulk.* and this write at global address .* by the async proxy",
          every=True),
    Fault("early", "two CTAs store the same rows", CTA, r"mov.u32 \1, 0;",
          GLOBAL + r"st\.global.* and this (read|write) at global address"),
    Fault("early", "no wait for the launch before", r"griddepcontrol\.wait;", "",
          r"expects griddepcontrol\.wait before this read at global address \w+, which the launch "
          "1 before this one has written"),
    Fault("early", "the wait is in one warp alone", r"griddepcontrol\.wait;",
          "{.reg .pred Q; .reg .b32 R; mov.u32 R, %tid.x; setp.lt.u32 Q, R, 32; "
          "@Q griddepcontrol.wait;}",
          r"warp [1-9].*: expects griddepcontrol\.wait before this read at global address"),
]
