// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AttentionOrderPlan.h"
#include "AttentionTiles.h"

#include <limits>
#include <map>

using namespace blocksparse;

namespace {

/// Times of the simulation in half steps.
constexpr int64_t timeOfStep = 2;
/// Time from one step that adds to the gradient of some queries to the next one. Measured on an
/// H200: with 2, plans were 2 to 5 % slower.
constexpr int64_t timeBetween = 3;

bool checkOrderSizes(const AttentionProblem &problem, std::string &error) {
  if (!checkAttentionSizes(problem, error))
    return false;
  const int64_t keys = problem.layout.block().cols;
  if (keys % attentionOrderKeys == 0)
    return true;
  error = "expects blocks with a multiple of " + text(attentionOrderKeys) + " keys, but got " +
          text(keys);
  return false;
}

/// Lists the steps of tiles, which have no rank yet.
class StepLister {
public:
  /// `problem` must live as long as the object.
  explicit StepLister(const AttentionProblem &problem)
      : problem(problem), columns(problem.layout.transposed()) {}

  /// Return the tiles of a head, and the groups of 64 queries.
  int64_t tiles() const {
    return problem.layout.grid().cols * problem.layout.block().cols / attentionOrderKeys;
  }
  int64_t places() const {
    return problem.layout.grid().rows * problem.layout.block().rows / attentionRows;
  }

  /// Returns the steps of the tile from `key` on of a head of the problem, in ascending order.
  std::vector<AttentionOrderStep> list(int64_t head, int64_t key) const {
    std::vector<AttentionOrderStep> steps;
    const BlockShape block = problem.layout.block();
    if (columns.grid().heads == 1)
      head = 0;
    for (const int32_t row : columns.row(head, key / block.cols))
      for (int64_t query = row * block.rows; query < (row + 1) * block.rows;
           query += attentionRows) {
        const AllowedPart parts[] = {getAllowedPart(problem, query, key),
                                     getAllowedPart(problem, query, key + attentionKeys)};
        if (parts[0] == AllowedPart::None && parts[1] == AllowedPart::None)
          continue;
        AttentionOrderStep step;
        step.query = static_cast<int32_t>(query);
        step.masked = parts[0] == AllowedPart::All && parts[1] == AllowedPart::All ? 0 : 1;
        steps.push_back(step);
      }
    return steps;
  }

private:
  const AttentionProblem &problem;
  BlockLayout columns;
};

/// Tells for each 64 queries of each (batch, head) how far the sum of their gradient has come.
class QueryStates {
public:
  struct State {
    /// Steps that have added, and when the last of them began.
    int32_t added = 0;
    int64_t last = std::numeric_limits<int64_t>::min() / 2;
  };

  QueryStates(const AttentionProblem &problem, int64_t places)
      : heads(problem.heads), places(places), states(problem.batches * problem.heads * places) {}

  State &of(const AttentionOrderTile &tile, const AttentionOrderStep &step) {
    return states[(int64_t{tile.batch} * heads + tile.head) * places + step.query / attentionRows];
  }

private:
  const int64_t heads, places;
  std::vector<State> states;
};

/// Returns the place in `steps`, which ascend, of the next step of `tile` at `time`: that of the
/// first queries in the cycle from `from` on that nothing was added to for some time, or of those
/// to which that is longest ago.
size_t chooseStep(const AttentionOrderTile &tile, const std::vector<AttentionOrderStep> &steps,
                  int64_t from, int64_t time, QueryStates &states) {
  const auto first = std::lower_bound(
      steps.begin(), steps.end(), from,
      [](const AttentionOrderStep &step, int64_t query) { return step.query < query; });
  const auto start = static_cast<size_t>(first - steps.begin());
  size_t best = 0;
  int64_t oldest = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < steps.size(); ++i) {
    const size_t place = (start + i) % steps.size();
    const int64_t last = states.of(tile, steps[place]).last;
    if (last + timeBetween <= time)
      return place;
    if (last < oldest) {
      oldest = last;
      best = place;
    }
  }
  return best;
}

/// Simulates the workers, and gives each tile its steps in the order in which they are taken.
void orderSteps(const AttentionProblem &problem, const StepLister &lister,
                AttentionOrderLists &lists) {
  /// Describes where a worker is: its tile, the steps of it that are left, and the queries that the
  /// next one is looked for from.
  struct Worker {
    int32_t tile = 0;
    std::vector<AttentionOrderStep> left, taken;
    int64_t from = 0;
  };
  QueryStates states(problem, lister.places());
  const int64_t count = static_cast<int64_t>(lists.workers.size()) - 1;
  std::vector<Worker> workers(count);
  std::vector<std::vector<AttentionOrderStep>> stepsOfTile(lists.tiles.size());
  auto begin = [&](Worker &worker) {
    const AttentionOrderTile &tile = lists.tiles[worker.tile];
    worker.left = lister.list(tile.head, tile.keys[0]);
    worker.from = tile.keys[0];
  };
  using Event = std::pair<int64_t, int64_t>; // (time, worker)
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  for (int64_t i = 0; i < count; ++i) {
    workers[i].tile = lists.workers[i];
    if (lists.workers[i] == lists.workers[i + 1])
      continue;
    begin(workers[i]);
    events.push({0, i});
  }
  while (!events.empty()) {
    const auto [time, number] = events.top();
    events.pop();
    Worker &worker = workers[number];
    const AttentionOrderTile &tile = lists.tiles[worker.tile];
    if (worker.left.empty()) {
      stepsOfTile[worker.tile] = std::move(worker.taken);
      worker.taken.clear();
      // The end of a tile takes what costOfTile adds to its steps.
      if (++worker.tile == lists.workers[number + 1])
        continue;
      begin(worker);
      events.push({time + costOfTile(AttentionOrderTile()), number});
      continue;
    }
    const size_t place = chooseStep(tile, worker.left, worker.from, time, states);
    AttentionOrderStep step = worker.left[place];
    worker.left.erase(worker.left.begin() + static_cast<ptrdiff_t>(place));
    worker.from = step.query;
    QueryStates::State &state = states.of(tile, step);
    state.last = std::max(time, state.last + timeBetween);
    step.rank = state.added++;
    worker.taken.push_back(step);
    events.push({state.last + timeOfStep, number});
  }
  for (size_t i = 0; i < lists.tiles.size(); ++i) {
    lists.tiles[i].first = static_cast<int32_t>(lists.steps.size());
    lists.steps.insert(lists.steps.end(), stepsOfTile[i].begin(), stepsOfTile[i].end());
  }
}

} // namespace

std::string blocksparse::checkOrderedGradient(int64_t blockKeys, int64_t depth, int64_t valueCols) {
  // The kernel has two subtiles of 64 columns; half of them would be zeros below.
  constexpr int64_t fewCols = 64;
  if (blockKeys <= 0 || blockKeys % attentionOrderKeys != 0)
    return "expects blocks with a multiple of " + text(attentionOrderKeys) +
           " keys for 1 kernel, but got " + text(blockKeys);
  for (const int64_t cols : {depth, valueCols})
    if (cols <= fewCols || cols > 2 * fewCols)
      return "expects head dimensions above " + text(fewCols) + " up to " + text(2 * fewCols) +
             " for 1 kernel, but got " + text(cols);
  return {};
}

bool blocksparse::prefersOrderedGradient(const AttentionProblem &problem, const GPUFacts &gpu) {
  // The longest row of causal attention is twice the mean, where one kernel is faster; that of
  // BigBird with two global block rows of 64 is 7 times the mean, where it is slower.
  constexpr double mostToMean = 3;
  const BlockLayout &layout = problem.layout;
  const BlockShape block = layout.block();
  const BlockGrid grid = layout.grid();
  if (gpu.device != "h200" || layout.nnz() == 0)
    return false;
  const int64_t copies = problem.batches * (problem.heads / grid.heads);
  const int64_t tiles = copies * grid.heads * grid.cols * (block.cols / attentionOrderKeys);
  const int64_t steps = copies * layout.nnz() * ((block.rows + attentionRows - 1) / attentionRows) *
                        (block.cols / attentionOrderKeys);
  if (tiles < gpu.multiprocessors || steps > mostAttentionOrderSteps)
    return false;
  int64_t longest = 0;
  for (int64_t head = 0; head < grid.heads; ++head)
    for (int64_t row = 0; row < grid.rows; ++row)
      longest = std::max(longest, static_cast<int64_t>(layout.row(head, row).size()));
  return static_cast<double>(longest * grid.heads * grid.rows) <=
         mostToMean * static_cast<double>(layout.nnz());
}

std::optional<AttentionOrderLists>
blocksparse::buildAttentionOrderLists(const AttentionProblem &problem,
                                      const AttentionOptions &options, std::string &error) {
  if (!checkOrderSizes(problem, error))
    return std::nullopt;
  const StepLister lister(problem);
  std::vector<std::vector<AttentionOrderTile>> patterns(problem.layout.grid().heads);
  int64_t total = 0;
  for (int64_t head = 0; head < problem.layout.grid().heads; ++head)
    for (int64_t tile = 0; tile < lister.tiles(); ++tile) {
      AttentionOrderTile made;
      for (int64_t group = 0; group < AttentionOrderTile::groups; ++group)
        made.keys[group] = static_cast<int32_t>(tile * attentionOrderKeys + group * attentionKeys);
      made.count = static_cast<int32_t>(lister.list(head, made.keys[0]).size());
      total += made.count;
      patterns[head].push_back(made);
    }
  total *= problem.batches * (problem.heads / problem.layout.grid().heads);
  if (total > mostAttentionOrderSteps)
    return fail(error, "expects at most " + text(mostAttentionOrderSteps) + " steps, but got " +
                           text(total));
  AttentionOrderLists lists;
  scheduleAttentionTiles(problem, options, patterns, lists.tiles, lists.workers);
  orderSteps(problem, lister, lists);
  return lists;
}

namespace {

/// Checks lists against the layout.
class OrderVerifier {
public:
  OrderVerifier(const AttentionProblem &problem, const AttentionOrderLists &lists)
      : problem(problem), lists(lists), lister(problem),
        seen(problem.batches * problem.heads * lister.tiles(), false) {}

  std::string verify() {
    std::string fault = checkWorkerRuns(lists.workers.data(), lists.workers.size(),
                                        static_cast<int64_t>(lists.tiles.size()));
    for (size_t i = 0; i < lists.tiles.size() && fault.empty(); ++i)
      if (fault = verifyTile(lists.tiles[i]); !fault.empty())
        fault += " in tile " + text(static_cast<int64_t>(i));
    if (!fault.empty())
      return fault;
    const int64_t count = std::count(seen.begin(), seen.end(), true);
    if (count != static_cast<int64_t>(seen.size()))
      return "expects tiles for all " + text(static_cast<int64_t>(seen.size())) +
             " groups of 128 keys, but got " + text(count);
    return verifyOrder();
  }

private:
  std::span<const AttentionOrderStep> stepsOf(const AttentionOrderTile &tile) const {
    return std::span<const AttentionOrderStep>(lists.steps)
        .subspan(static_cast<size_t>(tile.first), static_cast<size_t>(tile.count));
  }

  std::string verifyTile(const AttentionOrderTile &tile) {
    std::string fault = verifyTilePlace(problem, tile, static_cast<int64_t>(lists.steps.size()));
    if (!fault.empty())
      return fault;
    const int64_t key = tile.keys[0];
    if (key < 0 || key % attentionOrderKeys != 0 || key / attentionOrderKeys >= lister.tiles())
      return "expects keys from a multiple of 128 below " +
             text(lister.tiles() * attentionOrderKeys) + ", but got " + text(key);
    if (tile.keys[1] != key + attentionKeys)
      return "expects keys from " + text(key + attentionKeys) +
             " for the second warpgroup, but got " + text(tile.keys[1]);
    const int64_t index = (int64_t{tile.batch} * problem.heads + tile.head) * lister.tiles() +
                          key / attentionOrderKeys;
    if (seen[index])
      return "expects every 128 keys once, but got those from " + text(key) + " again";
    seen[index] = true;
    return verifySteps(tile);
  }

  /// Checks that the steps of a tile are those of its keys, in any order.
  std::string verifySteps(const AttentionOrderTile &tile) const {
    const std::vector<AttentionOrderStep> expected = lister.list(tile.head, tile.keys[0]);
    const auto steps = stepsOf(tile);
    if (steps.size() != expected.size())
      return "expects " + text(static_cast<int64_t>(expected.size())) +
             " steps of queries, but got " + text(tile.count);
    std::map<int32_t, int32_t> given;
    for (const AttentionOrderStep &step : steps)
      given[step.query] = step.masked;
    for (const AttentionOrderStep &step : expected) {
      const auto found = given.find(step.query);
      if (found == given.end())
        return "expects a step of the queries from " + text(step.query) + ", but got none";
      if (found->second != step.masked)
        return "expects masked = " + text(step.masked) + " for the queries from " +
               text(step.query) + ", but got " + text(found->second);
    }
    return {};
  }

  /// Lets workers go on in turn as far as they can.
  std::string verifyOrder() const {
    QueryStates states(problem, lister.places());
    const size_t count = lists.workers.size() - 1;
    std::vector<std::pair<int32_t, int32_t>> places(count); // (tile, step of the tile)
    for (size_t i = 0; i < count; ++i)
      places[i].first = lists.workers[i];
    int64_t done = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t i = 0; i < count; ++i) {
        auto &[tile, step] = places[i];
        for (; tile < lists.workers[i + 1]; ++tile, step = 0) {
          const auto steps = stepsOf(lists.tiles[tile]);
          for (; step < lists.tiles[tile].count; ++step, ++done, moved = true) {
            int32_t &added = states.of(lists.tiles[tile], steps[step]).added;
            if (steps[step].rank != added)
              break;
            ++added;
          }
          if (step < lists.tiles[tile].count)
            break;
        }
      }
    }
    for (size_t i = 0; i < count; ++i) {
      const auto [tile, step] = places[i];
      if (tile == lists.workers[i + 1])
        continue;
      const AttentionOrderStep &stuck = stepsOf(lists.tiles[tile])[step];
      return "expects ranks that let every worker go on, but got rank " + text(stuck.rank) +
             " for the queries from " + text(stuck.query) + " in tile " + text(tile) + ", after " +
             text(done) + " steps";
    }
    return {};
  }

  const AttentionProblem &problem;
  const AttentionOrderLists &lists;
  const StepLister lister;
  std::vector<bool> seen;
};

} // namespace

std::string blocksparse::verifyAttentionOrderLists(const AttentionProblem &problem,
                                                   const AttentionOrderLists &lists) {
  std::string fault;
  if (!checkOrderSizes(problem, fault))
    return fault;
  return OrderVerifier(problem, lists).verify();
}
