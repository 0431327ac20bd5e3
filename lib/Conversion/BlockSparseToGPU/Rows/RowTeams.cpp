// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowTeams.h"

#include "../../Device/ConstantTable.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/Chunk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t mostLanes = 256;
static constexpr int64_t leastThreads = 128;
static constexpr size_t mostTeams = 3;

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static int64_t roundUpToPower(int64_t number) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(number, 1)));
}

/// Returns the team for rows of up to `chunks` chunks. A team of more than one warp needs barriers
/// for every reduction. Neighbouring lanes read a row of a block.
static RowTeam fitTeam(int64_t chunks, const RowTeamLimits &limits) {
  chunks = std::max<int64_t>(chunks, 1);
  int64_t lanes = roundUpToPower(llvm::divideCeil(chunks, limits.wantedChunks));
  lanes = std::min(std::max(lanes, roundUpToPower(limits.chunksPerBlock)), warpSize);
  while (lanes * limits.mostChunks < chunks && lanes < mostLanes)
    lanes *= 2;
  int64_t resident = std::min<int64_t>(llvm::divideCeil(chunks, lanes), limits.mostChunks);
  return {lanes,
          resident,
          lanes * resident < chunks,
          0,
          ShapedType::kDynamic,
          std::min(limits.together, mostLanes / lanes)};
}

SmallVector<RowTeam> mlir::blocksparse::device::planRowTeams(ArrayRef<int64_t> blocks,
                                                             const RowTeamLimits &limits) {
  int64_t longest = blocks.empty() ? 0 : *llvm::max_element(blocks);
  SmallVector<RowTeam> teams{fitTeam(longest * limits.chunksPerBlock, limits)};
  if (!llvm::is_sorted(blocks, std::greater<int64_t>()))
    return teams;
  for (auto [segment, count] : llvm::enumerate(blocks)) {
    int64_t capacity = teams.back().lanes * teams.back().chunks;
    // Rows without blocks cost almost nothing with any team.
    if (teams.size() == mostTeams || capacity <= warpSize || count == 0)
      break;
    RowTeam next = fitTeam(count * limits.chunksPerBlock, limits);
    // Idle lanes cost only issue slots, and the kernel has some to spare.
    if (next.lanes * next.chunks * 4 > capacity)
      continue;
    teams.back().end = next.first = static_cast<int64_t>(segment);
    teams.push_back(next);
  }
  return teams;
}

RowTeam mlir::blocksparse::device::planRowTeam(int64_t most, int64_t usual,
                                               const RowTeamLimits &limits) {
  RowTeam all = fitTeam(most * limits.chunksPerBlock, limits);
  if (all.lanes <= warpSize)
    return all;
  RowTeam team = fitTeam(usual * limits.chunksPerBlock, limits);
  team.rereads |= team.lanes * team.chunks < most * limits.chunksPerBlock;
  return team;
}

/// Returns the number of blocks of each segment of a constant table.
static std::optional<SmallVector<int64_t>> readCounts(Value segments) {
  std::optional<std::vector<int32_t>> table = readConstantTable(segments);
  auto type = cast<MemRefType>(segments.getType());
  if (!table || type.getRank() != 2)
    return std::nullopt;
  SmallVector<int64_t> counts;
  int64_t width = type.getDimSize(1);
  for (size_t at = 0; at < table->size(); at += width)
    counts.push_back((*table)[at + 3]);
  return counts;
}

/// Returns how many rows of a block one line of memory holds, a power of two that divides the rows
/// of the block. Returns 1 if a row is half a line or more, which is read at full rate by itself.
static int64_t rowsOfLine(int64_t blockRows, int64_t chunksPerBlock) {
  constexpr int64_t chunksPerLine = 128 / 16;
  if (!llvm::isPowerOf2_64(chunksPerBlock) || 2 * chunksPerBlock >= chunksPerLine)
    return 1;
  return std::gcd(blockRows, chunksPerLine / chunksPerBlock);
}

RowTeams::RowTeams(const RowWalk &walk, Value segments, Value entries,
                   std::optional<ScheduleAttr> schedule, const Options &options)
    : elements(options.elements), operands(options.operands), threads(leastThreads),
      chunksPerBlock(walk.getBlockCols() / options.elements), needsCols(options.needsCols),
      entriesInOrder(listsValuesInOrder(entries)) {
  // Half of the chunks that a lane can hold is enough to keep memory busy.
  int64_t wanted = options.mostChunks / 2;
  const auto *params = schedule ? schedule->getIf<::blocksparse::RowParams>() : nullptr;
  if (params && params->elementsPerLane != 0)
    wanted = params->elementsPerLane / elements;
  RowTeamLimits limits{chunksPerBlock, options.mostChunks,
                       std::clamp<int64_t>(wanted, 1, options.mostChunks),
                       rowsOfLine(walk.getBlockRows(), chunksPerBlock)};
  if (std::optional<SmallVector<int64_t>> counts = readCounts(segments)) {
    teams = planRowTeams(*counts, limits);
  } else {
    int64_t most = llvm::divideCeil(walk.getCols(), walk.getBlockCols());
    teams = {planRowTeam(most, llvm::divideCeil(most, 4), limits)};
  }
  for (const RowTeam &team : teams)
    threads = std::max(threads, team.groupLanes());
}

/// Threads issue the requests that keep memory busy, so an SM should have as many threads as their
/// registers allow. A thread that holds 32 elements or fewer needs 64 registers for rows of a plain
/// table in one kind of team, and 80 otherwise. With 64 elements it needs 128 for one operand and
/// 96 for two, which are multiplied as they arrive. With a smaller limit, ptxas spills; without a
/// limit, it uses more registers.
int64_t RowTeams::residentCtas() const {
  int64_t resident = 0;
  for (const RowTeam &team : teams)
    resident = std::max(resident, team.chunks * elements * operands);
  const bool plain = teams.size() == 1 && entriesInOrder && !needsCols;
  int64_t residentThreads = resident > 32 ? (operands == 1 ? 512 : 640) : plain ? 1024 : 768;
  return std::max<int64_t>(1, residentThreads / threads);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

Value RowTeams::rowsOf(ImplicitLocOpBuilder &b, const RowWalk &walk, const RowTeam &team) const {
  Value end =
      ShapedType::isDynamic(team.end) ? walk.getSegments().rows() : indexConstant(b, team.end);
  Value segments = Int(b, end) - team.first;
  return Int(b, segments) * walk.rowsPerSegment(b);
}

Value RowTeams::ctas(ImplicitLocOpBuilder &b, const RowWalk &walk, const RowTeam &team) const {
  return indexCeilDiv(b, rowsOf(b, walk, team), indexConstant(b, threads / team.lanes));
}

void RowTeams::launch(
    ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, ValueRange operands,
    const RowWalk &walk,
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, const TeamWork &)> body) const {
  // CTAs [ends[i - 1], ends[i]) belong to team i.
  SmallVector<Value> ends, arguments(operands);
  Value total = indexConstant(host, 0);
  for (const RowTeam &team : teams) {
    total = Int(host, total) + ctas(host, walk, team);
    ends.push_back(total);
    if (ShapedType::isDynamic(knownIndex(total)))
      arguments.push_back(total);
  }
  bool crossesWarps =
      llvm::any_of(teams, [](const RowTeam &team) { return team.groupLanes() > warpSize; });
  int64_t mostTogether = 1;
  for (const RowTeam &team : teams)
    mostTogether = std::max(mostTogether, team.together);
  Value blocks = indexMin(host, total, indexConstant(host, KernelBuilder::simtMaxCtas));
  // Each warp stores one f32 for each row that it has a part of.
  LaunchShape shape{indexMax(host, blocks, indexConstant(host, 1)), threads,
                    crossesWarps ? threads / warpSize * mostTogether * 4 : 0};
  shape.mode = LaunchMode::Early;
  auto kernel = kernels.launch(
      host, name, arguments, shape, [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
        auto inKernel = [&](Value end) {
          int64_t known = knownIndex(end);
          return ShapedType::isDynamic(known) ? mapping.lookup(end) : indexConstant(b, known);
        };
        SmallVector<Value> bounds{indexConstant(b, 0)};
        llvm::append_range(bounds, llvm::map_range(ends, inKernel));
        std::optional<SharedMemory> shared;
        if (crossesWarps)
          shared = SharedMemory::get(b);
        Value first = gpu::BlockIdOp::create(b, gpu::Dimension::x);
        Value step = gpu::GridDimOp::create(b, gpu::Dimension::x);
        emitLoop(b, first, bounds.back(), step, [&](ImplicitLocOpBuilder &b, Value number) {
          for (auto [i, team] : llvm::enumerate(teams)) {
            auto run = [&, i = i, &team = team](ImplicitLocOpBuilder &b) {
              body(b, mapping, {team, Int(b, number) - bounds[i], shared});
            };
            if (teams.size() == 1) {
              run(b);
              continue;
            }
            Value after = indexLess(b, Int(b, bounds[i]) - 1, number);
            emitIf(b, both(b, after, indexLess(b, number, bounds[i + 1])), run);
          }
        });
      });
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(residentCtas()));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

TeamRow RowTeams::getRow(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamWork &work) const {
  const RowTeam &team = work.team;
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  // The digits, outermost first, are: group of teams, run of neighbours, row of the group,
  // neighbour.
  const int64_t neighbours = neighbourLanes(team);
  SmallVector<Value> at =
      splitIndex(b, thread,
                 {Value(), indexConstant(b, team.lanes / neighbours),
                  indexConstant(b, team.together), indexConstant(b, neighbours)});
  Value lane = Int(b, at[1]) * neighbours + at[3];
  Value number = Int(b, at[0]) * team.together + at[2];
  Value item = Int(b, work.number) * (threads / team.lanes) + number;
  Value exists = indexLess(b, item, rowsOf(b, walk, team));
  Value zero = indexConstant(b, 0);
  // The last CTA may have teams without a row. They compute row 0 as well, but store nothing.
  item = arith::SelectOp::create(b, exists, item, zero);
  TeamRow row{work, walk.getRowOfSegments(b, item, team.first), lane, {}, {}};
  Value chunks = Int(b, row.row.count) * chunksPerBlock;
  row.chunks = arith::SelectOp::create(b, exists, chunks, zero);
  row.inside = both(b, exists, walk.isInside(b, row.row));
  return row;
}

RowChunk RowTeams::getChunk(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row,
                            Value number) const {
  Value perBlock = indexConstant(b, chunksPerBlock);
  RowChunk chunk;
  chunk.stored = indexLess(b, number, row.chunks);
  chunk.blockCol = Int(b, b.createOrFold<arith::RemUIOp>(number, perBlock)) * elements;
  Value entry = Int(b, row.row.first) + b.createOrFold<arith::DivUIOp>(number, perBlock);
  auto field = [&](EntryTable::Field which) {
    return emitChoice(
        b, chunk.stored,
        [&](ImplicitLocOpBuilder &b) {
          return walk.getEntries().field(b, row.row.batch, entry, which);
        },
        [&](ImplicitLocOpBuilder &b) { return indexConstant(b, 0); });
  };
  chunk.valueBlock = entriesInOrder ? entry : field(EntryTable::Value);
  chunk.live = both(b, chunk.stored, row.inside);
  if (needsCols)
    chunk.col = field(EntryTable::Dense);
  return chunk;
}

/// Replaces the block column in `chunk` by the column of its first element.
void RowTeams::finishChunk(ImplicitLocOpBuilder &b, const RowWalk &walk, RowChunk &chunk) const {
  if (!needsCols)
    return;
  Value start = Int(b, chunk.col) * walk.getBlockCols();
  chunk.col = Int(b, start) + chunk.blockCol;
  if (walk.getCols() % walk.getBlockCols() != 0)
    chunk.live = both(b, chunk.live, indexLess(b, chunk.col, indexConstant(b, walk.getCols())));
}

SmallVector<RowChunk> RowTeams::residentChunks(ImplicitLocOpBuilder &b, const RowWalk &walk,
                                               const TeamRow &row) const {
  const RowTeam &team = row.work.team;
  SmallVector<RowChunk> chunks;
  for (int64_t i = 0; i < team.chunks; ++i) {
    Value number = Int(b, row.lane) + (i * team.lanes);
    chunks.push_back(getChunk(b, walk, row, number));
  }
  for (RowChunk &chunk : chunks) {
    if (!entriesInOrder)
      chunk.valueBlock = afterLoads(b, chunk.valueBlock).front();
    if (needsCols)
      chunk.col = afterLoads(b, chunk.col).front();
    finishChunk(b, walk, chunk);
  }
  return chunks;
}

Value RowTeams::foldOthers(
    ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row, Value initial,
    function_ref<Value(ImplicitLocOpBuilder &, const RowChunk &, Value)> body) const {
  const RowTeam &team = row.work.team;
  if (!team.rereads)
    return initial;
  Value first = Int(b, row.lane) + (team.lanes * team.chunks);
  return emitFold(b, first, row.chunks, indexConstant(b, team.lanes), initial,
                  [&](ImplicitLocOpBuilder &b, Value number, Value carried) {
                    RowChunk chunk = getChunk(b, walk, row, number);
                    finishChunk(b, walk, chunk);
                    return body(b, chunk, carried);
                  });
}

void RowTeams::forOthers(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row,
                         function_ref<void(ImplicitLocOpBuilder &, const RowChunk &)> body) const {
  if (row.work.team.rereads)
    forChunksFrom(b, walk, row, row.work.team.chunks, body);
}

void RowTeams::forAll(ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row,
                      function_ref<void(ImplicitLocOpBuilder &, const RowChunk &)> body) const {
  forChunksFrom(b, walk, row, 0, body);
}

void RowTeams::forChunksFrom(
    ImplicitLocOpBuilder &b, const RowWalk &walk, const TeamRow &row, int64_t from,
    function_ref<void(ImplicitLocOpBuilder &, const RowChunk &)> body) const {
  const RowTeam &team = row.work.team;
  Value first = Int(b, row.lane) + (team.lanes * from);
  emitLoop(b, first, row.chunks, indexConstant(b, team.lanes),
           [&](ImplicitLocOpBuilder &b, Value number) {
             RowChunk chunk = getChunk(b, walk, row, number);
             finishChunk(b, walk, chunk);
             body(b, chunk);
           });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value RowTeams::reduce(ImplicitLocOpBuilder &b, const TeamWork &work, Value x,
                       function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine) const {
  const RowTeam &team = work.team;
  const int64_t neighbours = neighbourLanes(team);
  for (int64_t distance = std::min(team.groupLanes(), warpSize) / 2; distance > 0; distance /= 2) {
    // This distance leads to the lanes of other rows.
    if (distance >= neighbours && distance < neighbours * team.together)
      continue;
    auto other = gpu::ShuffleOp::create(b, x, static_cast<int32_t>(distance), warpSize,
                                        gpu::ShuffleMode::XOR);
    x = combine(b, x, other.getShuffleResult());
  }
  if (team.groupLanes() <= warpSize)
    return x;
  // Each warp stores its value for each row to shared memory, and every lane combines the values of
  // all warps of its team.
  Value thread =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value lane = Int(b, thread) % warpSize;
  Value row = Int(b, lane) / neighbours % team.together;
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, Int(b, row) * neighbours);
  auto offsetOf = [&](Value warp) { return (Int(b, warp) * team.together + row) * 4; };
  emitIf(b, isFirst, [&](ImplicitLocOpBuilder &b) {
    work.shared->store(b, x, offsetOf(Int(b, thread) / warpSize), 4);
  });
  emitBarrier(b);
  const int64_t warps = team.groupLanes() / warpSize;
  Value start = offsetOf(Int(b, thread) / team.groupLanes() * warps);
  for (int64_t warp = 0; warp < warps; ++warp) {
    Value part =
        work.shared->load(b, b.getF32Type(), Int(b, start) + (4 * warp * team.together), 4);
    x = warp == 0 ? part : combine(b, x, part);
  }
  // The next reduction writes to the same shared memory.
  emitBarrier(b);
  return x;
}
