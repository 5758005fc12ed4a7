//===- Parameters.cpp - Which storages are parameters ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A role is decided by the first of these that speaks: a rule of the command
// line, an es.param annotation, what the exporter wrote, the storage's name,
// how the storage is used, a default.
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/Parameters.h"
#include "es/Analysis/Buffers.h"
#include "es/OpModel/OpModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::es;

/// Constants of at least this many elements are taken to be parameters.
static constexpr int64_t kParameterElements = 256;

StringRef mlir::es::stringifyRoleSource(RoleSource source) {
  static constexpr StringRef names[] = {"flag", "es.param", "metadata",
                                        "name", "use",      "default"};
  return names[unsigned(source)];
}

Type StorageInfo::getStoredType() const {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  return stored && shaped ? Type(shaped.clone(stored)) : value.getType();
}

const StorageInfo *Inventory::lookup(Value value) const {
  auto it = indices.find(value);
  return it == indices.end() ? nullptr : &storages[it->second];
}

RoleSource Inventory::getSource() const {
  RoleSource source = RoleSource::Default;
  for (const StorageInfo &info : storages)
    if (info.isParameter())
      source = std::min(source, info.source);
  return source;
}

//===----------------------------------------------------------------------===//
// What names and exporters say
//===----------------------------------------------------------------------===//

/// The name a location carries, if it is not a file position.
static std::string getLocationName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  return "";
}

static std::optional<Role> getRoleFromName(StringRef name) {
  static llvm::Regex parameter(
      "(^|[^a-z])params|weight|bias|kernel|scale|embedding|^p_");
  static llvm::Regex state("^b_|running_|cache");
  static llvm::Regex input("^(batch|inputs?|tokens|x)($|[^a-z])");
  if (state.match(name))
    return Role::State;
  if (parameter.match(name))
    return Role::TrainableParameter;
  if (input.match(name))
    return Role::Input;
  return std::nullopt;
}

/// Argument attributes that exporters write.
static std::optional<Role> getRoleFromMetadata(DictionaryAttr attributes) {
  if (!attributes)
    return std::nullopt;
  if (Attribute kind = attributes.get("ttcore.argument_type")) {
    std::string text;
    llvm::raw_string_ostream(text) << kind;
    if (StringRef(text).contains("parameter"))
      return Role::TrainableParameter;
    if (StringRef(text).contains("constant"))
      return Role::Constant;
    if (StringRef(text).contains("input"))
      return Role::Input;
  }
  if (auto kind = attributes.getAs<StringAttr>("torch.kind")) {
    if (kind.getValue() == "buffer")
      return Role::State;
    if (kind.getValue() == "input")
      return Role::Input;
  }
  return std::nullopt;
}

static std::string getNameFromMetadata(DictionaryAttr attributes) {
  if (!attributes)
    return "";
  for (StringRef key : {"onnx.name", "ttir.name", "jax.arg_info",
                        "ml_program.identifier", "torch.name"})
    if (auto name = attributes.getAs<StringAttr>(key))
      return name.str();
  if (auto path = attributes.getAs<ArrayAttr>("tf_saved_model.index_path"))
    if (path.size() == 1)
      if (auto name = dyn_cast<StringAttr>(path[0]))
        return name.str();
  return "";
}

static bool isFloatStorage(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  Type element = shaped ? shaped.getElementType() : type;
  return isa<FloatType, ComplexType>(element);
}

//===----------------------------------------------------------------------===//
// Building the inventory
//===----------------------------------------------------------------------===//

namespace mlir::es {
class InventoryBuilder {
public:
  InventoryBuilder(Inventory &result, FunctionOpInterface func,
                   const ParameterRules &rules)
      : result(result), func(func), rules(rules) {}
  LogicalResult run();

private:
  void addArgument(BlockArgument argument);
  void addConstant(OpResult value);
  ParamAttr lookupGlobal(Operation *op);
  void followUses();
  void visitUse(Operation *op);
  void markUsed(Value value);
  void decideTrainability();
  LogicalResult checkIds();
  void findUnmatched();
  StorageInfo &add(Value value, std::string name);
  void setFromAttr(StorageInfo &info, ParamAttr param);
  void applyRules(StorageInfo &info);

  Inventory &result;
  FunctionOpInterface func;
  const ParameterRules &rules;
  /// The storage that a value is a view, a conversion or a transpose of.
  llvm::DenseMap<Value, unsigned> origins;
  std::vector<std::optional<bool>> statedTrainable;
  llvm::DenseMap<Attribute, Value> globals;
};
} // namespace mlir::es

StorageInfo &InventoryBuilder::add(Value value, std::string name) {
  unsigned index = result.storages.size();
  result.indices[value] = index;
  origins[value] = index;
  StorageInfo &info = result.storages.emplace_back();
  statedTrainable.emplace_back();
  info.value = value;
  info.name = std::move(name);
  info.isRead = !value.use_empty();
  return info;
}

void InventoryBuilder::setFromAttr(StorageInfo &info, ParamAttr param) {
  info.name = param.getName().str();
  info.role = Role::TrainableParameter;
  info.source = RoleSource::Annotation;
  info.stored = param.getStored();
  info.id = param.getEffectiveId();
  statedTrainable[result.indices[info.value]] =
      param.getTrainability() == Trainability::Trainable;
}

void InventoryBuilder::addArgument(BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  DictionaryAttr attributes = func.getArgAttrDict(index);
  std::string name = getNameFromMetadata(attributes);
  if (name.empty())
    name = getLocationName(argument.getLoc());
  bool isNamed = !name.empty();
  if (!isNamed)
    name = "arg" + std::to_string(index);
  StorageInfo &info = add(argument, name);
  info.donated =
      isDonatedArgument(argument) || rules.match(name, {ParameterRule::Donate});
  info.role = info.donated ? Role::State : Role::Input;
  if (auto param = func.getArgAttrOfType<ParamAttr>(index, "es.param"))
    return setFromAttr(info, param);
  std::optional<Role> role = getRoleFromMetadata(attributes);
  if (role) {
    info.source = RoleSource::Metadata;
  } else if (isNamed && (role = getRoleFromName(name))) {
    info.source = RoleSource::Name;
  }
  if (role)
    info.role = info.donated && *role == Role::Input ? Role::State : *role;
}

/// What the module's inventory says of the global that `op` loads.
ParamAttr InventoryBuilder::lookupGlobal(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto entries = module ? module->getAttrOfType<ArrayAttr>(kParametersAttrName)
                        : ArrayAttr();
  if (!entries)
    return nullptr;
  for (StringRef key : {"name", "global"})
    if (auto symbol = op->getAttrOfType<SymbolRefAttr>(key))
      for (auto entry : entries.getAsRange<DictionaryAttr>())
        if (entry.getAs<SymbolRefAttr>("symbol") == symbol)
          return entry.getAs<ParamAttr>("param");
  return nullptr;
}

void InventoryBuilder::addConstant(OpResult value) {
  Operation *op = value.getOwner();
  std::string name = getLocationName(op->getLoc());
  for (StringRef key : {"name", "global"})
    if (auto symbol = op->getAttrOfType<SymbolRefAttr>(key)) {
      auto [it, inserted] = globals.try_emplace(symbol, value);
      if (!inserted) {
        origins[value] = origins[it->second];
        return;
      }
      name = symbol.getLeafReference().str();
    }
  if (name.empty())
    name = "cst" + std::to_string(result.storages.size());
  StorageInfo &info = add(value, name);
  info.role = Role::Constant;
  if (ParamAttr param = lookupGlobal(op))
    return setFromAttr(info, param);
  auto shaped = dyn_cast<ShapedType>(value.getType());
  if (shaped && shaped.hasStaticShape() &&
      shaped.getNumElements() >= kParameterElements) {
    info.role = Role::TrainableParameter;
    info.source = RoleSource::Use;
  }
}

void InventoryBuilder::markUsed(Value value) {
  auto it = origins.find(value);
  if (it == origins.end())
    return;
  StorageInfo &info = result.storages[it->second];
  if (info.source != RoleSource::Default)
    return;
  auto shaped = dyn_cast<ShapedType>(info.value.getType());
  // Integer arguments are inputs; donated ones are state.
  bool isArgument = isa<BlockArgument>(info.value);
  if (isArgument && (info.donated || !shaped || !isFloatStorage(shaped)))
    return;
  info.role = Role::TrainableParameter;
  info.source = RoleSource::Use;
}

/// One op's evidence: the weight of a contraction, a table, a bias.
void InventoryBuilder::visitUse(Operation *op) {
  if (auto param = dyn_cast<ParamOp>(op)) {
    auto it = origins.find(param.getValue());
    if (it != origins.end()) {
      unsigned index = it->second;
      if (result.storages[index].source != RoleSource::Annotation)
        setFromAttr(result.storages[index], param.getParam());
      origins[param.getResult()] = index;
    }
    return;
  }
  OpFacts facts = getOpFacts(op);
  auto isStored = [&](unsigned index) {
    return index < op->getNumOperands() &&
           origins.contains(op->getOperand(index));
  };
  if (facts.opClass == OpClass::Contraction) {
    // The right-hand side unless only the left one comes from storage.
    if (isStored(1))
      markUsed(op->getOperand(1));
    else if (isStored(0))
      markUsed(op->getOperand(0));
    return;
  }
  if (isTableLookup(op) && isStored(0))
    return markUsed(op->getOperand(0));
  if (op->getNumResults() != 1)
    return;
  auto type = dyn_cast<ShapedType>(op->getResult(0).getType());
  if (!type)
    return;
  bool isElementwise = facts.opClass == OpClass::Elementwise ||
                       facts.opClass == OpClass::ElementwiseCostly;
  SmallVector<Value> sources;
  for (OpOperand &operand : op->getOpOperands()) {
    OperandUse use = facts.operands[operand.getOperandNumber()];
    if (use == OperandUse::Read || use == OperandUse::ReadElementwise)
      sources.push_back(operand.get());
  }
  // A vector that is broadcast onto an activation is a bias or a scale.
  if (isElementwise && sources.size() > 1 && type.hasRank() &&
      type.getRank() >= 2)
    for (Value source : sources) {
      auto it = origins.find(source);
      if (it == origins.end())
        continue;
      auto stored =
          dyn_cast<ShapedType>(result.storages[it->second].value.getType());
      if (stored && stored.hasRank() && stored.getRank() <= 1)
        markUsed(source);
    }
  // Views, conversions and transposes of one storage stand for it.
  bool isChain = facts.results[0].kind == ResultKind::View ||
                 ((isElementwise || facts.opClass == OpClass::DataMovement) &&
                  sources.size() == 1);
  if (isChain && !sources.empty())
    if (auto it = origins.find(sources.front()); it != origins.end()) {
      unsigned index = it->second;
      if (isParameterChain(op))
        origins[op->getResult(0)] = index;
    }
}

void InventoryBuilder::followUses() {
  func.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() == 1 && isMemoryType(op->getResult(0).getType()) &&
        getOpFacts(op).results[0].kind == ResultKind::Constant)
      addConstant(op->getResult(0));
    else
      visitUse(op);
  });
}

void InventoryBuilder::applyRules(StorageInfo &info) {
  if (const ParameterRule *rule = rules.match(
          info.name, {ParameterRule::Params, ParameterRule::Inputs})) {
    bool isParam = rule->kind == ParameterRule::Params;
    if (isParam != info.isParameter())
      info.role = isParam        ? Role::TrainableParameter
                  : info.donated ? Role::State
                                 : Role::Input;
    info.source = RoleSource::Flag;
  }
  if (const ParameterRule *rule =
          rules.match(info.name, {ParameterRule::StoredAs}))
    info.stored = rule->stored;
}

void InventoryBuilder::decideTrainability() {
  result.loraOnly = llvm::any_of(result.storages, [](const StorageInfo &info) {
    return info.isParameter() && StringRef(info.name).contains("lora_");
  });
  for (auto [index, info] : llvm::enumerate(result.storages)) {
    applyRules(info);
    if (!info.isParameter())
      continue;
    bool trainable =
        isFloatStorage(info.getStoredType()) &&
        (!result.loraOnly || StringRef(info.name).contains("lora_"));
    if (statedTrainable[index])
      trainable = *statedTrainable[index];
    if (const ParameterRule *rule = rules.match(
            info.name, {ParameterRule::Train, ParameterRule::Freeze}))
      trainable = rule->kind == ParameterRule::Train;
    info.role = trainable ? Role::TrainableParameter : Role::FrozenParameter;
    if (!info.id)
      info.id = hashParameterName(info.name);
  }
}

LogicalResult InventoryBuilder::checkIds() {
  llvm::DenseMap<uint32_t, unsigned> owners;
  for (auto [index, info] : llvm::enumerate(result.storages)) {
    if (!info.isParameter() || info.source != RoleSource::Annotation)
      continue;
    auto [it, inserted] = owners.try_emplace(*info.id, index);
    if (inserted)
      continue;
    const StorageInfo &other = result.storages[it->second];
    InFlightDiagnostic error = emitError(info.value.getLoc())
                               << "parameters '" << other.name << "' and '"
                               << info.name << "' have the same id "
                               << *info.id;
    error.attachNote(other.value.getLoc()) << "the other one is here";
    return error;
  }
  return success();
}

void InventoryBuilder::findUnmatched() {
  for (const ParameterRule &rule : rules.getRules())
    if (llvm::none_of(result.storages, [&](const StorageInfo &info) {
          return rule.regex->match(info.name);
        }))
      result.unmatched.push_back(&rule);
}

LogicalResult InventoryBuilder::run() {
  for (BlockArgument argument : func.getArguments())
    if (isMemoryType(argument.getType()))
      addArgument(argument);
  followUses();
  decideTrainability();
  findUnmatched();
  return checkIds();
}

FailureOr<Inventory> Inventory::compute(FunctionOpInterface func,
                                        const ParameterRules &rules) {
  Inventory result;
  if (failed(InventoryBuilder(result, func, rules).run()))
    return failure();
  return result;
}
