//===- ParameterRules.cpp - Rules over parameter names --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/Parameters.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::es;

StringRef mlir::es::getRuleFlag(ParameterRule::Kind kind) {
  static constexpr StringRef flags[] = {"--params", "--inputs", "--train",
                                        "--freeze", "--donate", "--stored-as"};
  return flags[kind];
}

std::optional<ParameterRule::Kind> mlir::es::parseRuleKind(StringRef name) {
  for (unsigned kind = 0; kind <= ParameterRule::StoredAs; ++kind)
    if (getRuleFlag(ParameterRule::Kind(kind)).drop_front(2) == name)
      return ParameterRule::Kind(kind);
  return std::nullopt;
}

static llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// Splits `RE:TYPE` at its last colon outside angle brackets.
static std::pair<StringRef, StringRef> splitStoredAs(StringRef text) {
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    depth += text[i] == '>';
    depth -= text[i] == '<';
    if (text[i] == ':' && depth == 0)
      return {text.take_front(i), text.drop_front(i + 1)};
  }
  return {text, ""};
}

/// `3` or `3-7`.
static std::optional<std::pair<unsigned, unsigned>>
parsePositions(StringRef text) {
  auto [first, last] = text.split('-');
  std::pair<unsigned, unsigned> range;
  if (first.getAsInteger(10, range.first))
    return std::nullopt;
  range.second = range.first;
  if (text.contains('-') && last.getAsInteger(10, range.second))
    return std::nullopt;
  if (range.second < range.first)
    return std::nullopt;
  return range;
}

llvm::Expected<ParameterRules> ParameterRules::parse(
    ArrayRef<std::pair<ParameterRule::Kind, std::string>> given,
    MLIRContext *context) {
  ParameterRules result;
  for (const auto &[kind, text] : given) {
    ParameterRule rule{kind, text, nullptr, std::nullopt, Type()};
    if (kind == ParameterRule::StoredAs) {
      auto [pattern, type] = splitStoredAs(text);
      rule.pattern = pattern.str();
      // A bad type is reported below, in our own words.
      ScopedDiagnosticHandler quiet(context,
                                    [](Diagnostic &) { return success(); });
      if (!type.empty())
        rule.stored = parseType(type, context);
      if (!rule.stored)
        return makeError("--stored-as expects RE:TYPE with an MLIR element "
                         "type, got '" +
                         text + "'");
    }
    if (StringRef range = rule.pattern; range.consume_front("#")) {
      rule.positions = parsePositions(range);
      if (!rule.positions)
        return makeError(
            getRuleFlag(kind) +
            " expects #N or #N-M for arguments by position, got '" +
            rule.pattern + "'");
      result.rules.push_back(std::move(rule));
      continue;
    }
    rule.regex = std::make_shared<llvm::Regex>(rule.pattern);
    std::string why;
    if (!rule.regex->isValid(why))
      return makeError(getRuleFlag(kind) +
                       " expects a regular expression, got '" + rule.pattern +
                       "': " + why);
    result.rules.push_back(std::move(rule));
  }
  return result;
}

/// `arg3` is the fourth argument also where it has a name.
bool ParameterRule::matchesPosition(BlockArgument argument) const {
  if (!argument || !StringRef(pattern).contains("arg"))
    return false;
  std::string name = "arg" + std::to_string(argument.getArgNumber());
  SmallVector<StringRef> matches;
  return regex->match(name, &matches) && matches.front() == name;
}

bool ParameterRule::matches(const StorageInfo &info) const {
  auto argument = dyn_cast_if_present<BlockArgument>(info.value);
  if (!positions)
    return regex->match(info.name) || matchesPosition(argument);
  return argument && positions->first <= argument.getArgNumber() &&
         argument.getArgNumber() <= positions->second;
}

const ParameterRule *
ParameterRules::match(const StorageInfo &info,
                      ArrayRef<ParameterRule::Kind> kinds) const {
  for (const ParameterRule &rule : llvm::reverse(rules))
    if (llvm::is_contained(kinds, rule.kind) && rule.matches(info))
      return &rule;
  return nullptr;
}
