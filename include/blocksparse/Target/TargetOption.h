// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Targets as options of passes and pipelines: the text is parsed where the option is.

#ifndef BLOCKSPARSE_TARGET_TARGETOPTION_H
#define BLOCKSPARSE_TARGET_TARGETOPTION_H

#include "blocksparse/Target/TargetInfo.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CommandLine.h"

namespace blocksparse {

/// Prints the text that TargetInfo::parse accepts.
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const TargetInfo &target) {
  return os << target.toString();
}

} // namespace blocksparse

namespace mlir::blocksparse {

/// Fails with an error unless `target` is for a GPU.
inline LogicalResult checkIsGPU(const ::blocksparse::TargetInfo &target,
                                llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (target.isCUDA())
    return success();
  return emitError() << "expects a target cuda:<chip>, but got '" << target.describe() << "'";
}

} // namespace mlir::blocksparse

namespace llvm::cl {

/// Parses an option whose value is a target.
template <>
class parser<::blocksparse::TargetInfo> : public basic_parser<::blocksparse::TargetInfo> {
public:
  using basic_parser::basic_parser;

  /// Returns true, after an error that quotes the text, if it describes no target.
  bool parse(Option &option, StringRef, StringRef text, ::blocksparse::TargetInfo &value) {
    std::string error;
    std::optional<::blocksparse::TargetInfo> target =
        ::blocksparse::TargetInfo::parse(std::string_view(text), error);
    if (!target)
      return option.error(error);
    value = std::move(*target);
    return false;
  }

  StringRef getValueName() const override { return "target"; }

  void printOptionDiff(const Option &option, const ::blocksparse::TargetInfo &value, const OptVal &,
                       size_t globalWidth) const {
    printOptionName(option, globalWidth);
    outs() << "= " << value.toString() << "\n";
  }
};

} // namespace llvm::cl

#endif // BLOCKSPARSE_TARGET_TARGETOPTION_H
