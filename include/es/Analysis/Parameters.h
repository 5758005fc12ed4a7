//===- Parameters.h - Which storages are parameters -------------*- C++ -*-===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parameter inventory of a function: what each argument, constant and
// global is for, what it is called, whether it is trained, and how that is
// known.
//
//===----------------------------------------------------------------------===//

#ifndef ES_ANALYSIS_PARAMETERS_H
#define ES_ANALYSIS_PARAMETERS_H

#include "es/Analysis/Roles.h"
#include "es/Dialect/ES/IR/ES.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Regex.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::es {

/// One rule from the command line: a regular expression over names.
struct ParameterRule {
  enum Kind { Params, Inputs, Train, Freeze, Donate, StoredAs };
  Kind kind;
  std::string pattern;
  std::shared_ptr<llvm::Regex> regex;
  /// The element type of a StoredAs rule.
  Type stored;
};

class ParameterRules {
public:
  /// In the order given; a StoredAs pattern is `RE:TYPE`. One error that names
  /// the flag for a bad expression or type.
  static llvm::Expected<ParameterRules>
  parse(ArrayRef<std::pair<ParameterRule::Kind, std::string>> given,
        MLIRContext *context);

  /// The last rule of one of `kinds` that matches, or null.
  const ParameterRule *match(StringRef name,
                             ArrayRef<ParameterRule::Kind> kinds) const;
  ArrayRef<ParameterRule> getRules() const { return rules; }

private:
  std::vector<ParameterRule> rules;
};

StringRef getRuleFlag(ParameterRule::Kind kind);

/// How a role is known, from the most to the least certain.
enum class RoleSource : uint8_t {
  Flag,
  Annotation,
  Metadata,
  Name,
  Use,
  Default
};
StringRef stringifyRoleSource(RoleSource source);

struct StorageInfo {
  Value value;
  std::string name;
  Role role = Role::Input;
  RoleSource source = RoleSource::Default;
  /// Element type it is kept in, where that differs from the value's.
  Type stored;
  std::optional<uint32_t> id;
  bool donated = false;
  bool isRead = false;

  bool isParameter() const {
    return role == Role::FrozenParameter || role == Role::TrainableParameter;
  }
  /// The type that is stored: the value's, with `stored` as element type.
  Type getStoredType() const;
};

class Inventory {
public:
  /// Linear in the ops of `func`. Fails, with a diagnostic, if two storages
  /// have one id.
  static FailureOr<Inventory> compute(FunctionOpInterface func,
                                      const ParameterRules &rules);

  /// Arguments first, then constants and globals in program order.
  ArrayRef<StorageInfo> getStorages() const { return storages; }
  const StorageInfo *lookup(Value value) const;
  /// The most certain way in which any parameter is known.
  RoleSource getSource() const;
  /// Rules that matched no storage.
  SmallVector<const ParameterRule *> getUnmatched() const { return unmatched; }
  /// Set if only parameters with `lora_` in their names are trained.
  bool isLoraOnly() const { return loraOnly; }

private:
  friend class InventoryBuilder;
  std::vector<StorageInfo> storages;
  llvm::DenseMap<Value, unsigned> indices;
  SmallVector<const ParameterRule *> unmatched;
  bool loraOnly = false;
};

} // namespace mlir::es

#endif // ES_ANALYSIS_PARAMETERS_H
