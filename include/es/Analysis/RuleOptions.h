//===- RuleOptions.h - Parameter rules as pass options ----------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last rule that matches wins, so passes need the rules in the order they
// were given, across options: `freeze=.* train=head` trains the head only.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_RULEOPTIONS_H
#define ES_ANALYSIS_RULEOPTIONS_H

#include "es/Analysis/Parameters.h"
#include "mlir/Pass/Pass.h"

namespace mlir::es {

/// A pass with the options params, inputs, train, freeze, donate, stored-as.
template <typename BaseT> class PassWithRules : public BaseT {
public:
  PassWithRules() = default;
  // Options copy themselves in Pass::clone.
  PassWithRules(const PassWithRules &other) : BaseT(other) {}

protected:
  using RuleList = std::vector<std::pair<ParameterRule::Kind, std::string>>;

  /// The rules in the order given; a diagnostic if one has no kind.
  FailureOr<RuleList> collectRules();
  /// Understands them; a diagnostic if one of them is wrong.
  FailureOr<ParameterRules> parseRules();

private:
  using List = Pass::ListOption<std::string>;

  /// Hands what it is given on to the common list, which alone is printed and
  /// copied.
  class Forwarding : public List {
  public:
    Forwarding(PassWithRules &pass, StringRef name, StringRef help)
        : List(pass, name, llvm::cl::desc(help)), rules(pass.rules) {}

    bool handleOccurrence(unsigned, StringRef name, StringRef value) override {
      llvm::cl::parser<std::string> parser(*this);
      return failed(::mlir::detail::pass_options::parseCommaSeparatedList(
          *this, name, value, parser, [&](const std::string &pattern) {
            rules.push_back(this->ArgStr.str() + ":" + pattern);
          }));
    }

  private:
    List &rules;
  };

  List rules{*this, "rules",
             llvm::cl::desc("all rules in one list: train:RE, freeze:RE, ...")};
  Forwarding params{*this, "params", "parameters"};
  Forwarding inputs{*this, "inputs", "inputs"};
  Forwarding train{*this, "train", "parameters to train"};
  Forwarding freeze{*this, "freeze", "parameters to freeze"};
  Forwarding donate{*this, "donate", "arguments that may be overwritten"};
  Forwarding storedAs{*this, "stored-as",
                      "RE:TYPE, the element type parameters are stored in"};
};

template <typename BaseT>
auto PassWithRules<BaseT>::collectRules() -> FailureOr<RuleList> {
  RuleList given;
  for (const std::string &rule : rules) {
    auto [name, pattern] = StringRef(rule).split(':');
    std::optional<ParameterRule::Kind> kind = parseRuleKind(name);
    if (!kind)
      return this->getOperation()->emitError()
             << this->getArgument()
             << ": rules expects KIND:RE with a kind of params, inputs, train, "
                "freeze, donate or stored-as, got '"
             << rule << "'";
    given.push_back({*kind, pattern.str()});
  }
  return given;
}

template <typename BaseT>
FailureOr<ParameterRules> PassWithRules<BaseT>::parseRules() {
  FailureOr<RuleList> given = collectRules();
  if (failed(given))
    return failure();
  Operation *op = this->getOperation();
  llvm::Expected<ParameterRules> parsed =
      ParameterRules::parse(*given, op->getContext());
  if (!parsed)
    return op->emitError() << this->getArgument() << ": "
                           << llvm::toString(parsed.takeError());
  return std::move(*parsed);
}

} // namespace mlir::es

#endif // ES_ANALYSIS_RULEOPTIONS_H
