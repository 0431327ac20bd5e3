// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/SkinnyTile.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace blocksparse;

static int64_t roundUpToPower(int64_t number) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(number, 1))));
}

int64_t blocksparse::fitSkinnyCols(int64_t cols) {
  return std::clamp<int64_t>(roundUpToPower(cols), 8, SkinnyParams::maxTileCols);
}

/// Returns the tiles that cover the rows of a block.
static int64_t countTiles(int64_t blockRows, int64_t tileRows) {
  return (blockRows + tileRows - 1) / tileRows;
}

/// Returns the steps of an average row.
static double countSteps(const SkinnyProblem &problem) {
  return problem.blocksPerRow * static_cast<double>(problem.block.cols) / skinnyStepDepth;
}

static int64_t chooseRows(const SkinnyProblem &problem, int64_t multiprocessors) {
  constexpr int64_t usual = 32, least = 16;
  if (problem.block.rows <= least)
    return least;
  // Three CTAs for two SMs keep enough loads in flight.
  const int64_t tiles = problem.blockRows * countTiles(problem.block.rows, usual);
  return tiles != 0 && 2 * tiles < 3 * multiprocessors ? least : usual;
}

/// Returns the steps whose operands fit, with the accumulators, about 104 registers of a lane. With
/// addresses and indices that is 128, with which an SM has room for 16 warps.
static int64_t chooseUnroll(TileSize tile) {
  const int64_t rowGroups = tile.rows / 16, colGroups = tile.cols / 8;
  const int64_t words = 8 * rowGroups + std::max<int64_t>(8, 4 * colGroups);
  const int64_t accumulators = 4 * rowGroups * colGroups;
  return std::clamp<int64_t>((104 - accumulators) / words, 1, 4);
}

/// Returns the warps that fill all SMs, if an average row has so many turns of `unroll` steps.
static int64_t chooseWarps(const SkinnyProblem &problem, const SkinnyParams &params,
                           int64_t multiprocessors) {
  constexpr int64_t usual = 8, residentWarps = 16;
  if (problem.blockRows == 0)
    return usual;
  const int64_t tiles = problem.blockRows * countTiles(problem.block.rows, params.tile.rows);
  const auto turns =
      static_cast<int64_t>(std::ceil(countSteps(problem) / static_cast<double>(params.unroll)));
  int64_t share =
      std::clamp<int64_t>(residentWarps * multiprocessors / tiles, 1, SkinnyParams::maxWarps);
  // Many low tiles gain by several rounds of short CTAs.
  if (params.tile.rows <= 16)
    share = std::max(share, std::min(usual, 4 * residentWarps * multiprocessors / tiles));
  return std::min(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(share))),
                  roundUpToPower(turns));
}

SkinnyParams blocksparse::chooseSkinny(const SkinnyProblem &problem, const SkinnyParams &given,
                                       int64_t multiprocessors) {
  SkinnyParams params = given;
  if (!params.tile.isGiven())
    params.tile = {chooseRows(problem, multiprocessors), fitSkinnyCols(problem.cols)};
  if (params.unroll == 0)
    params.unroll = chooseUnroll(params.tile);
  if (params.warps == 0)
    params.warps = chooseWarps(problem, params, multiprocessors);
  return params;
}

int64_t blocksparse::getSkinnySharedBytes(const SkinnyParams &params) {
  return params.warps * params.tile.rows * params.tile.cols * 4;
}

bool blocksparse::prefersSkinny(const SkinnyProblem &problem, int64_t multiprocessors) {
  constexpr int64_t mostCols = 32, fewCols = 16, leastRows = 16, longSteps = 256;
  const int64_t tiles = problem.blockRows * countTiles(problem.block.rows, leastRows);
  const bool isSplit = 4 * tiles <= multiprocessors && countSteps(problem) > longSteps;
  // Where tiles are many, the 64 rows of a tile of "cuda.mma" use a wider dense factor better.
  const bool isTall = problem.cols > fewCols && tiles > 5 * multiprocessors;
  return problem.cols <= mostCols && !isSplit && !isTall;
}
