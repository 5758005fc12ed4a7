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

#include "InventoryBuilder.h"
#include "ParameterNames.h"
#include "es/Analysis/Buffers.h"
#include "es/OpModel/Donations.h"
#include "es/OpModel/OpModel.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::es;

/// Constants of at least this many elements are taken to be parameters.
static constexpr int64_t kParameterElements = 256;

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

StringRef mlir::es::stringifyRoleSource(RoleSource source) {
  static constexpr StringRef names[] = {"flag", "es.param", "metadata",
                                        "name", "use",      "default"};
  return names[unsigned(source)];
}

Type StorageInfo::getStoredType() const {
  auto shaped = getCarriedShape(type);
  if (!stored || !shaped)
    return type;
  // A complex number is stored as two of the stated type.
  Type element = isa<ComplexType>(shaped.getElementType())
                     ? Type(ComplexType::get(stored))
                     : stored;
  if (isa<BaseMemRefType>(shaped) &&
      !BaseMemRefType::isValidElementType(element))
    return shaped.hasRank()
               ? Type(RankedTensorType::get(shaped.getShape(), element))
               : type;
  return shaped.clone(element);
}

Location StorageInfo::getLoc() const {
  if (value)
    return value.getLoc();
  return global ? global->getLoc() : UnknownLoc::get(type.getContext());
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

FailureOr<Inventory> Inventory::compute(FunctionOpInterface func,
                                        const ParameterRules &rules,
                                        const ModuleParameters *module) {
  std::optional<ModuleParameters> own;
  if (!module) {
    own.emplace(func->getParentOfType<ModuleOp>());
    module = &*own;
  }
  Inventory result;
  if (failed(InventoryBuilder(result, func, rules, *module).run()))
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Finding storages
//===----------------------------------------------------------------------===//

static Type getElementType(Type type) {
  auto shaped = getCarriedShape(type);
  return shaped ? shaped.getElementType() : type;
}

/// Read by anything but annotations that nothing reads.
static bool isReadByProgram(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return !isa<ParamOp>(user) || !user->use_empty();
  });
}

unsigned InventoryBuilder::add(Value value, Type type, std::string name) {
  unsigned index = result.storages.size();
  StorageInfo &info = result.storages.emplace_back();
  info.value = value;
  info.type = type;
  info.name = std::move(name);
  if (value) {
    result.indices[value] = index;
    info.isRead = isReadByProgram(value);
  }
  return index;
}

/// What anyone but the position says, or "".
static std::string getStatedName(FunctionOpInterface func, unsigned index) {
  std::string name = getNameFromMetadata(func.getArgAttrDict(index));
  if (name.empty())
    name = getLocationName(func.getArgument(index).getLoc());
  // A number tells less than what the argument becomes.
  if (name.empty() || name == "arg" + std::to_string(index))
    if (std::string result = getNameFromResult(func, index); !result.empty())
      return result;
  return name;
}

std::string mlir::es::getArgumentName(FunctionOpInterface func,
                                      unsigned index) {
  if (auto param = func.getArgAttrOfType<ParamAttr>(index, "es.param"))
    return param.getName().str();
  std::string name = getStatedName(func, index);
  return name.empty() ? "arg" + std::to_string(index) : name;
}

void InventoryBuilder::addArgument(BlockArgument argument) {
  unsigned position = argument.getArgNumber();
  DictionaryAttr attributes = func.getArgAttrDict(position);
  std::string name = getStatedName(func, position);
  bool isNamed = !name.empty();
  if (!isNamed)
    name = "arg" + std::to_string(position);
  unsigned index = add(argument, argument.getType(), name);
  auto param = func.getArgAttrOfType<ParamAttr>(position, "es.param");
  if (param)
    (void)setParam(index, param, argument.getLoc());
  StorageInfo &info = result.storages[index];
  info.donated =
      isDonatedArgument(argument) || rules.match(info, {ParameterRule::Donate});
  if (!param) {
    std::optional<Role> role = getRoleFromMetadata(attributes);
    if (role)
      info.source = RoleSource::Metadata;
    else if (isNamed && (role = getRoleFromName(name)))
      info.source = RoleSource::Name;
    info.role = role.value_or(Role::Input);
    if (info.donated && info.role == Role::Input)
      info.role = Role::State;
  }
  applyRoleRules(info);
}

/// A moment has the path and the type of the parameter it belongs to:
/// result[1].mu['w'] makes a parameter of result[0]['w'].
void InventoryBuilder::findParametersOfMoments() {
  llvm::StringMap<SmallVector<Type, 1>> moments;
  for (const StorageInfo &info : result.storages)
    if (info.role == Role::OptimizerState)
      if (StringRef path = getPathOfMoment(info.name); !path.empty())
        moments[path].push_back(info.type);
  if (moments.empty())
    return;
  for (StorageInfo &info : result.storages) {
    if (info.source != RoleSource::Default)
      continue;
    StringRef name = info.name;
    for (size_t at = name.find('['); at != StringRef::npos;
         at = name.find('[', at + 1))
      if (auto it = moments.find(name.substr(at));
          it != moments.end() && llvm::is_contained(it->second, info.type)) {
        info.role = Role::TrainableParameter;
        info.source = RoleSource::Name;
        break;
      }
  }
}

/// What follows from a name, and from the size of what is not a splat.
void InventoryBuilder::setRoleOfContents(StorageInfo &info,
                                         Attribute contents) {
  auto shaped = getCarriedShape(info.type);
  if (!shaped || !shaped.hasStaticShape() || isa<SplatElementsAttr>(contents))
    return;
  if (getRoleFromName(info.name) == Role::TrainableParameter &&
      shaped.getNumElements() > 1) {
    info.role = Role::TrainableParameter;
    info.source = RoleSource::Name;
  } else if (shaped.getNumElements() >= kParameterElements) {
    info.role = Role::TrainableParameter;
    info.source = RoleSource::Use;
  }
}

unsigned InventoryBuilder::addConstant(OpResult value) {
  Operation *op = value.getOwner();
  if (SymbolRefAttr symbol = getLoadedGlobal(op))
    return addGlobal(value, FlatSymbolRefAttr::get(symbol.getLeafReference()));
  std::string name = getConstantName(op);
  if (name.empty())
    name = "cst" + std::to_string(result.storages.size());
  unsigned index = add(value, value.getType(), name);
  StorageInfo &info = result.storages[index];
  info.role = Role::Constant;
  if (Attribute contents = getConstantContents(op))
    setRoleOfContents(info, contents);
  applyRoleRules(info);
  return index;
}

void InventoryBuilder::describeGlobal(StorageInfo &info, SymbolRefAttr symbol) {
  info.role = Role::Constant;
  info.global = module.getGlobal(symbol);
  std::optional<GlobalFacts> facts;
  if (info.global)
    facts = getGlobalFacts(info.global);
  if (!facts)
    return;
  if (!facts->external.empty()) {
    info.name = facts->external;
    info.role = Role::TrainableParameter;
    info.source = RoleSource::Metadata;
    return;
  }
  bool isWritten = module.isWritten(symbol);
  if ((facts->isMutable && isWritten) || !facts->value)
    info.role = Role::State;
  if (isWritten)
    return;
  // A global without contents gets them when the model is loaded.
  if (facts->value || getRoleFromName(info.name) == Role::TrainableParameter)
    setRoleOfContents(info, facts->value ? facts->value
                                         : UnitAttr::get(func->getContext()));
}

unsigned InventoryBuilder::addGlobal(OpResult load, SymbolRefAttr symbol) {
  auto [it, inserted] = globals.try_emplace(symbol, result.storages.size());
  if (!inserted) {
    result.indices[load] = it->second;
    result.storages[it->second].isRead |= isReadByProgram(load);
    return it->second;
  }
  unsigned index = add(load, load.getType(), symbol.getLeafReference().str());
  StorageInfo &info = result.storages[index];
  describeGlobal(info, symbol);
  if (ParamAttr param = module.lookup(symbol))
    (void)setParam(index, param, load.getLoc());
  applyRoleRules(info);
  return index;
}

/// Of what nothing reads, the parameters are listed.
void InventoryBuilder::addUnread() {
  for (const ModuleParameters::Unread &entry : module.getUnread()) {
    std::string name = entry.param ? entry.param.getName().str()
                                   : entry.symbol.getLeafReference().str();
    unsigned index = add(Value(), entry.type, name);
    StorageInfo &info = result.storages[index];
    info.role = Role::Constant;
    if (entry.symbol)
      describeGlobal(info, entry.symbol);
    if (entry.param)
      (void)setParam(index, entry.param, info.getLoc());
    applyRoleRules(info);
    if (!info.isParameter())
      result.storages.pop_back();
  }
}

//===----------------------------------------------------------------------===//
// Deciding
//===----------------------------------------------------------------------===//

void InventoryBuilder::applyRoleRules(StorageInfo &info) {
  const ParameterRule *rule =
      rules.match(info, {ParameterRule::Params, ParameterRule::Inputs});
  if (!rule)
    return;
  bool isParam = rule->kind == ParameterRule::Params;
  if (isParam != info.isParameter())
    info.role = isParam        ? Role::TrainableParameter
                : info.donated ? Role::State
                               : Role::Input;
  info.source = RoleSource::Flag;
}

/// Numbers of few bits: what quantised weights are stored in.
static bool isQuantised(Type element) {
  if (isa<quant::QuantizedType>(element))
    return true;
  auto integer = dyn_cast<IntegerType>(element);
  return integer && integer.getWidth() > 1 && integer.getWidth() <= 16;
}

static bool isFloat(Type element) {
  return isa<FloatType, ComplexType>(element);
}

void InventoryBuilder::applyEvidence(unsigned index, uint8_t evidence) {
  if (evidence & StorageUses::kStatistic)
    statistics.insert(index);
  if (evidence & StorageUses::kData)
    evidence &= ~(StorageUses::kData | StorageUses::kWeight);
  StorageInfo &info = result.storages[index];
  if (evidence == StorageUses::kNone || info.source != RoleSource::Default ||
      info.role == Role::State)
    return;
  // Integer arguments are inputs, but for the quantised weights of a product.
  Type element = getElementType(info.type);
  bool isWeight = evidence & StorageUses::kWeight;
  if (!isFloat(element) && !(isWeight && isQuantised(element)))
    return;
  info.role = Role::TrainableParameter;
  info.source = RoleSource::Use;
}

/// Names that were found, as opposed to stated, give way.
void InventoryBuilder::makeNamesUnique() {
  llvm::StringMap<unsigned> used;
  for (StorageInfo &info : result.storages)
    if (info.param)
      ++used[info.name];
  for (StorageInfo &info : result.storages) {
    if (info.param || used.try_emplace(info.name, 1).second)
      continue;
    std::string name;
    do
      name = info.name + "_" + std::to_string(used[info.name]++);
    while (!used.try_emplace(name, 1).second);
    info.name = name;
  }
}

static bool isLora(const StorageInfo &info) {
  return StringRef(info.name).contains("lora_");
}

void InventoryBuilder::decideTrainability() {
  result.loraOnly = llvm::any_of(result.storages, [](const StorageInfo &info) {
    return info.isParameter() && isLora(info);
  });
  for (auto [index, info] : llvm::enumerate(result.storages)) {
    if (const ParameterRule *rule =
            rules.match(info, {ParameterRule::StoredAs}))
      info.stored = rule->stored;
    if (!info.isParameter())
      continue;
    bool isStated = bool(info.param);
    bool trained =
        (!result.loraOnly || isLora(info)) && !statistics.contains(index);
    if (isStated)
      trained = info.param.getTrainability() == Trainability::Trainable;
    if (const ParameterRule *rule =
            rules.match(info, {ParameterRule::Train, ParameterRule::Freeze})) {
      trained = rule->kind == ParameterRule::Train;
      isStated = true;
    }
    // Backpropagation cannot train integers, whatever is stated.
    Type element = getElementType(info.getStoredType());
    info.role = trained && isFloat(element) ? Role::TrainableParameter
                                            : Role::FrozenParameter;
    info.isTrainedByES =
        trained && (isStated || isFloat(element) || isQuantised(element));
  }
}

void InventoryBuilder::findUnmatched() {
  for (const ParameterRule &rule : rules.getRules())
    if (llvm::none_of(result.storages, [&](const StorageInfo &info) {
          return rule.matches(info);
        }))
      result.unmatched.push_back(&rule);
}

LogicalResult InventoryBuilder::run() {
  for (BlockArgument argument : func.getArguments())
    if (isMemoryType(argument.getType()))
      addArgument(argument);
  findParametersOfMoments();
  StorageUses uses(func, [&](Value value) {
    const StorageInfo *info = result.lookup(value);
    return info && !info->isParameter() &&
           (info->donated || info->source != RoleSource::Default);
  });
  uses.run();
  std::vector<unsigned> storageOf;
  for (const StorageUses::Root &root : uses.getRoots()) {
    auto it = result.indices.find(root.value);
    storageOf.push_back(it != result.indices.end()
                            ? it->second
                            : addConstant(cast<OpResult>(root.value)));
  }
  for (auto [op, root] : uses.getParams()) {
    if (!root)
      result.misplaced.push_back(op);
    else if (failed(annotate(op, storageOf[*root])))
      return failure();
  }
  for (auto [index, root] : llvm::enumerate(uses.getRoots()))
    applyEvidence(storageOf[index], root.evidence);
  addUnread();
  dropTwins();
  makeNamesUnique();
  decideTrainability();
  findUnmatched();
  return assignIds();
}
