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
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Regex.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::es {

struct StorageInfo;

/// One rule from the command line: a regular expression over names, or `#N`,
/// `#N-M`: arguments by position, from 0, both ends included.
struct ParameterRule {
  enum Kind { Params, Inputs, Train, Freeze, Donate, StoredAs };
  Kind kind;
  std::string pattern;
  std::shared_ptr<llvm::Regex> regex;
  std::optional<std::pair<unsigned, unsigned>> positions;
  /// The element type of a StoredAs rule.
  Type stored;

  bool matches(const StorageInfo &info) const;

private:
  bool matchesPosition(BlockArgument argument) const;
};

class ParameterRules {
public:
  /// In the order given; a StoredAs pattern is `RE:TYPE`. One error that names
  /// the flag for a bad expression, range or type.
  static llvm::Expected<ParameterRules>
  parse(ArrayRef<std::pair<ParameterRule::Kind, std::string>> given,
        MLIRContext *context);

  /// The last rule of one of `kinds` that matches, or null.
  const ParameterRule *match(const StorageInfo &info,
                             ArrayRef<ParameterRule::Kind> kinds) const;
  ArrayRef<ParameterRule> getRules() const { return rules; }

private:
  std::vector<ParameterRule> rules;
};

/// The name of an argument: that of its annotation, of its exporter, of its
/// location (where the reader puts SSA names); else `argN`.
std::string getArgumentName(FunctionOpInterface func, unsigned index);

StringRef getRuleFlag(ParameterRule::Kind kind);
/// The kind of a flag's name without dashes: `train`.
std::optional<ParameterRule::Kind> parseRuleKind(StringRef name);

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
  /// The argument, the result of the constant, or the first load from the
  /// global. Null for a parameter that nothing reads: a global without loads,
  /// or an entry of the module's inventory whose constant is gone.
  Value value;
  /// The global, for storages of globals.
  Operation *global = nullptr;
  std::string name;
  Type type;
  Role role = Role::Input;
  RoleSource source = RoleSource::Default;
  /// The annotation, if there is one; it holds sigma and lr.
  ParamAttr param;
  /// Element type it is kept in, where that differs from the value's.
  Type stored;
  std::optional<uint32_t> id;
  bool donated = false;
  bool isRead = false;
  /// Trained by Evolution Strategies, which can also train the quantised
  /// parameters that backpropagation has to leave frozen.
  bool isTrainedByES = false;

  bool isParameter() const {
    return role == Role::FrozenParameter || role == Role::TrainableParameter;
  }
  /// The type that is stored: the value's, with `stored` as element type.
  Type getStoredType() const;
  Location getLoc() const;
};

/// What a module says of its parameters outside of functions: globals, and the
/// inventory attribute. Made once for all functions of a module; one walk.
class ModuleParameters {
public:
  explicit ModuleParameters(Operation *module);

  /// What the inventory says of a global, or null.
  ParamAttr lookup(SymbolRefAttr global) const { return stated.lookup(global); }
  /// The global itself, or null.
  Operation *getGlobal(SymbolRefAttr name) const {
    return globals.lookup(name);
  }

  /// True if some op stores to the global.
  bool isWritten(SymbolRefAttr name) const { return written.contains(name); }

  struct Unread {
    ParamAttr param;
    Type type;
    Operation *global;
    SymbolRefAttr symbol;
  };
  /// Entries of the inventory and globals that no op reads.
  ArrayRef<Unread> getUnread() const { return unread; }

private:
  llvm::DenseMap<Attribute, ParamAttr> stated;
  llvm::MapVector<Attribute, Operation *> globals;
  llvm::DenseSet<Attribute> written;
  std::vector<Unread> unread;
};

class Inventory {
public:
  /// Linear in the ops of `func` and its callees. Fails, with a diagnostic, if
  /// two storages have one id or one storage has two annotations. `module`, if
  /// given, is what the module around `func` says.
  static FailureOr<Inventory> compute(FunctionOpInterface func,
                                      const ParameterRules &rules,
                                      const ModuleParameters *module = nullptr);

  /// Arguments first, then constants and globals in program order, then what
  /// nothing reads.
  ArrayRef<StorageInfo> getStorages() const { return storages; }
  /// The storage of an argument, a constant or a load from a global.
  const StorageInfo *lookup(Value value) const;
  /// The most certain way in which any parameter is known.
  RoleSource getSource() const;
  /// Rules that matched no storage.
  SmallVector<const ParameterRule *> getUnmatched() const { return unmatched; }
  /// Set if only parameters with `lora_` in their names are trained.
  bool isLoraOnly() const { return loraOnly; }
  /// es.param ops whose operand is computed, so that they annotate nothing.
  ArrayRef<ParamOp> getMisplaced() const { return misplaced; }

private:
  friend class InventoryBuilder;
  std::vector<StorageInfo> storages;
  llvm::DenseMap<Value, unsigned> indices;
  SmallVector<const ParameterRule *> unmatched;
  std::vector<ParamOp> misplaced;
  bool loraOnly = false;
};

} // namespace mlir::es

#endif // ES_ANALYSIS_PARAMETERS_H
