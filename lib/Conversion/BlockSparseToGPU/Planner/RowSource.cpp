// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowSource.h"

#include "../../Device/Loops.h"
#include "WarpWork.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

Value RowSource::load(ImplicitLocOpBuilder &b, Value list, Value position) const {
  return toInt(b, loadIndex(b, list, toIndex(b, position)));
}

Value RowSource::capacity(ImplicitLocOpBuilder &b) const { return WordTable(blocks).rows(b); }

Value RowSource::tile(ImplicitLocOpBuilder &b, Value row) const {
  return kind == Kind::Tables ? WordTable(offsets).load(b, row, SegmentTable::Tile) : row;
}

Value RowSource::first(ImplicitLocOpBuilder &b, Value row) const {
  return kind == Kind::Tables ? WordTable(offsets).load(b, row, SegmentTable::First)
                              : load(b, offsets, row);
}

Value RowSource::count(ImplicitLocOpBuilder &b, Value row) const {
  Value from = first(b, row);
  Value number = kind == Kind::Tables ? WordTable(offsets).load(b, row, SegmentTable::Count)
                                      : Int(b, load(b, offsets, Int(b, row) + 1)) - from;
  Value zero = constant(b, 0), most = capacity(b);
  auto isAtLeast = [&](Value value, Value least) {
    return compare(b, arith::CmpIPredicate::sge, value, least);
  };
  Value inside = both(b, isAtLeast(from, zero), isAtLeast(number, zero));
  inside = both(b, inside, isAtLeast(most, from));
  inside = both(b, inside, isAtLeast(Int(b, most) - from, number));
  return select(b, inside, number, zero);
}

RowSource::Entry RowSource::entry(ImplicitLocOpBuilder &b, Value position) const {
  if (kind != Kind::Tables)
    return {load(b, blocks, position), position};
  const WordTable entries(blocks);
  return {entries.load(b, position, EntryTable::Dense),
          entries.load(b, position, EntryTable::Value)};
}

Value RowSource::stored(ImplicitLocOpBuilder &b) const {
  Value last = Int(b, WordTable(offsets).rows(b)) - 1;
  return indexMin(b, load(b, offsets, last), capacity(b));
}

Value RowSource::column(ImplicitLocOpBuilder &b, Value block) const {
  return load(b, blocks, block);
}

Value RowSource::rowOf(ImplicitLocOpBuilder &b, Value block) const {
  return findRow(b, Int(b, WordTable(offsets).rows(b)) - 1, block,
                 [&](ImplicitLocOpBuilder &b, Value row) { return load(b, offsets, row); });
}
