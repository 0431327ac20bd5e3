// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The text of schedules.

#include "Check.h"
#include "FuzzedContext.h"
#include "blocksparse/IR/ScheduleText.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = getFuzzedContext();
  std::string fault;
  StringRef text(reinterpret_cast<const char *>(data), size);
  ScheduleAttr schedule = parseSchedule(text, &context, fault);
  check(schedule || !fault.empty(), "what is no schedule has a fault");
  if (!schedule)
    return 0;
  std::string printed;
  llvm::raw_string_ostream(printed) << schedule;
  check(parseSchedule(printed, &context, fault) == schedule, "a printed schedule is itself");
  return 0;
}
