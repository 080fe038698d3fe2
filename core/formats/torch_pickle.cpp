// SPDX-License-Identifier: MIT
#include "core/formats/torch_pickle.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/formats/pickle_reader.h"

namespace midscope {
namespace {

constexpr size_t kMaxTorchDimensions = 64;  // torch's own limit
constexpr size_t kMaxKeyDigits = 20;
constexpr std::string_view kTorchMetadata = "metadata";

constexpr std::array kTorchDtypes = {TorchDtype{"F32", 4, "float32", "FloatStorage"},
                                     TorchDtype{"F64", 8, "float64", "DoubleStorage"},
                                     TorchDtype{"F16", 2, "float16", "HalfStorage"},
                                     TorchDtype{"BF16", 2, "bfloat16", "BFloat16Storage"},
                                     TorchDtype{"I64", 8, "int64", "LongStorage"},
                                     TorchDtype{"I32", 4, "int32", "IntStorage"},
                                     TorchDtype{"I16", 2, "int16", "ShortStorage"},
                                     TorchDtype{"I8", 1, "int8", "CharStorage"},
                                     TorchDtype{"U8", 1, "uint8", "ByteStorage"},
                                     TorchDtype{"BOOL", 1, "bool", "BoolStorage"},
                                     TorchDtype{"C64", 8, "complex64", "ComplexFloatStorage"},
                                     TorchDtype{"C128", 16, "complex128", "ComplexDoubleStorage"},
                                     TorchDtype{"U16", 2, "uint16", ""},
                                     TorchDtype{"U32", 4, "uint32", ""},
                                     TorchDtype{"U64", 8, "uint64", ""},
                                     TorchDtype{"F8_E4M3", 1, "float8_e4m3fn", ""},
                                     TorchDtype{"F8_E5M2", 1, "float8_e5m2", ""},
                                     TorchDtype{"F8_E4M3FNUZ", 1, "float8_e4m3fnuz", ""},
                                     TorchDtype{"F8_E5M2FNUZ", 1, "float8_e5m2fnuz", ""},
                                     TorchDtype{"F8_E8M0", 1, "float8_e8m0fnu", ""}};

constexpr size_t kUntyped = 8;  // torch.storage.UntypedStorage counts bytes
static_assert(kTorchDtypes[kUntyped].name == "U8");

enum class TorchName {
  kOrderedDict,
  kSize,
  kTensorClass,
  kTensor,
  kTensorV2,
  kTensorV3,
  kParameter,
  kParameterWithState,
  kFromType,
};

struct KnownName {
  std::string_view module;
  std::string_view name;
  TorchName meaning;
};

constexpr std::array kNames = {
    KnownName{"collections", "OrderedDict", TorchName::kOrderedDict},
    KnownName{"torch", "Size", TorchName::kSize},
    KnownName{"torch", "Tensor", TorchName::kTensorClass},
    KnownName{"torch.nn.parameter", "Parameter", TorchName::kTensorClass},
    KnownName{"torch._utils", "_rebuild_tensor", TorchName::kTensor},
    KnownName{"torch._utils", "_rebuild_tensor_v2", TorchName::kTensorV2},
    KnownName{"torch._utils", "_rebuild_tensor_v3", TorchName::kTensorV3},
    KnownName{"torch._utils", "_rebuild_parameter", TorchName::kParameter},
    KnownName{"torch._utils", "_rebuild_parameter_with_state", TorchName::kParameterWithState},
    KnownName{"torch._tensor", "_rebuild_from_type_v2", TorchName::kFromType}};

// Numbers of names (PickleReader::NumberOf): indices into kNames, followed by storages and dtypes
// in the order of kTorchDtypes.
constexpr int64_t kFirstStorage = kNames.size();
constexpr int64_t kFirstDtype = kFirstStorage + static_cast<int64_t>(kTorchDtypes.size());
constexpr int64_t kNameCount = kFirstDtype + static_cast<int64_t>(kTorchDtypes.size());

const TorchDtype* DtypeAt(int64_t number, int64_t first) {
  const int64_t index = number - first;
  if (index < 0 || index >= static_cast<int64_t>(kTorchDtypes.size())) return nullptr;
  return &kTorchDtypes[static_cast<size_t>(index)];
}

std::string FullName(std::string_view module, std::string_view name) {
  return std::string(module) + "." + std::string(name);
}

using Arguments = std::vector<PickleIndex>;

// Numbers of objects (kObject): a storage's index; from kFirstTensor on, tensors.
constexpr int64_t kFirstTensor = int64_t{1} << 32;

class StateDictReader : public PickleReader {
 public:
  using PickleReader::PickleReader;

  TorchStateDict Collect() {
    const PickleValue& top = value(Read());
    if (!IsDictionary(top))
      FailContents("holds " + Describe(top) + ", not a dictionary of tensors");
    std::string keys;
    for (size_t i = 0; i < top.items.size(); i += 2) {
      const PickleValue& key = value(top.items[i]);
      const PickleValue& entry = value(top.items[i + 1]);
      if (key.kind != PickleKind::kText)
        FailContents("has " + Describe(key) + " where the name of a tensor must be");
      if (i < 20) keys += (keys.empty() ? "" : ", ") + Quote(key.text);
      const std::string name(key.text);
      if (const TorchTensor* tensor = TensorOf(entry)) {
        state_.tensors.insert_or_assign(name, *tensor);
      } else {
        state_.tensors.erase(name);
      }
    }
    if (state_.tensors.empty()) {
      FailContents(keys.empty() ? "holds an empty dictionary"
                                : "holds a dictionary without tensors: its keys are " + keys);
    }
    return std::move(state_);
  }

  TorchStateDict CollectNumbered(std::string_view numbered) {
    const PickleValue& top = value(Read());
    const PickleValue* tensors = nullptr;
    if (IsDictionary(top)) {
      tensors = EntryOf(top, numbered);
      AddIntegers(top, "");
      const PickleValue* metadata = EntryOf(top, kTorchMetadata);
      if (metadata != nullptr && IsDictionary(*metadata))
        AddIntegers(*metadata, std::string(kTorchMetadata) + ".");
    }
    if (tensors == nullptr || !IsDictionary(*tensors)) {
      throw Failure(thing(), "has no dictionary " + Quote(numbered) + " of tensors",
                    "Save the finished result, not the checkpoint of a fit");
    }
    for (size_t i = 0; i < tensors->items.size(); i += 2) {
      const PickleValue& key = value(tensors->items[i]);
      const PickleValue& entry = value(tensors->items[i + 1]);
      const TorchTensor* tensor = TensorOf(entry);
      if (key.kind != PickleKind::kInteger || tensor == nullptr) {
        throw Failure(thing(), "has " + Describe(key) + ": " + Describe(entry) + " in " +
                                   Quote(numbered) + ", where an integer: a tensor must be");
      }
      state_.tensors.insert_or_assign(std::to_string(key.number), *tensor);
    }
    return std::move(state_);
  }

 protected:
  int64_t NumberOf(std::string_view module, std::string_view name) override {
    for (int64_t number = 0; number < kNameCount; ++number) {
      if (IsName(number, module, name)) return number;
    }
    Refuse("it names " + Quote(FullName(module, name), 120) + ", which weights have no need of");
  }

  std::string NameOf(int64_t number) const override {
    if (const TorchDtype* dtype = DtypeAt(number, kFirstDtype))
      return FullName("torch", dtype->torch);
    if (const TorchDtype* dtype = DtypeAt(number, kFirstStorage))
      return dtype->storage.empty() ? "a storage" : FullName("torch", dtype->storage);
    const KnownName& known = kNames[static_cast<size_t>(number)];
    return FullName(known.module, known.name);
  }

  PickleValue Call(int64_t number, const Arguments& arguments) override {
    if (number >= kFirstStorage) RefuseCall(number);
    switch (kNames[static_cast<size_t>(number)].meaning) {
      case TorchName::kOrderedDict:
        if (!arguments.empty()) RefuseCall(number);
        return {PickleKind::kOrderedDict, 0, {}, {}};
      case TorchName::kSize:
        if (arguments.size() != 1 || !Sizes(arguments[0])) RefuseCall(number);
        return value(arguments[0]);
      case TorchName::kTensorClass:
        RefuseCall(number);
      case TorchName::kTensor:
        return Tensor(number, arguments, 4, 4);
      case TorchName::kTensorV2:
        return Tensor(number, arguments, 6, 7);
      case TorchName::kTensorV3:
        return Tensor(number, arguments, 7, 8);
      case TorchName::kParameter:
        return Parameter(number, arguments, 3);
      case TorchName::kParameterWithState:
        return Parameter(number, arguments, 4);
      case TorchName::kFromType:
        return FromType(number, arguments);
    }
    RefuseCall(number);
  }

  // Reads a storage's id: ("storage", class, key, device, number of elements).
  PickleValue Load(const PickleValue& id) override {
    const Arguments& items = id.items;
    if (id.kind != PickleKind::kTuple || items.size() != 5 ||
        value(items[0]).kind != PickleKind::kText || value(items[0]).text != "storage")
      Refuse("it has " + Describe(id) + " as a persistent id, which must be that of a storage");
    const PickleValue& type = value(items[1]);
    const PickleValue& key = value(items[2]);
    const TorchDtype* dtype =
        type.kind == PickleKind::kName ? DtypeAt(type.number, kFirstStorage) : nullptr;
    const std::optional<int64_t> elements = Count(items[4]);
    const bool digits = key.kind == PickleKind::kText && !key.text.empty() &&
                        key.text.size() <= kMaxKeyDigits &&
                        key.text.find_first_not_of("0123456789") == std::string_view::npos;
    if (!digits)
      Refuse("it has " + Describe(key) + " as the key of a storage; it must be a number");
    if (dtype == nullptr) Refuse("it has " + Describe(type) + " as the class of a storage");
    if (!elements || value(items[3]).kind != PickleKind::kText)
      Refuse("its storage " + Quote(key.text) + " has no size or no device");
    return {PickleKind::kObject, StorageNumber({key.text, dtype, *elements}), {}, {}};
  }

 private:
  [[noreturn]] void FailContents(const std::string& reason) const {
    throw Failure(thing(), reason,
                  "Save the dictionary of weights itself: in Python, "
                  "torch.save(model.state_dict(), FILE)");
  }
  [[noreturn]] void RefuseCall(int64_t number) const {
    Refuse("it calls " + NameOf(number) + " in a way that no state dict does");
  }

  static bool IsDictionary(const PickleValue& object) {
    return object.kind == PickleKind::kDict || object.kind == PickleKind::kOrderedDict;
  }
  // Returns the last value stored under the key, as Python does; null if there is none.
  const PickleValue* EntryOf(const PickleValue& dictionary, std::string_view name) const {
    const PickleValue* found = nullptr;
    for (size_t i = 0; i < dictionary.items.size(); i += 2) {
      const PickleValue& key = value(dictionary.items[i]);
      if (key.kind == PickleKind::kText && key.text == name)
        found = &value(dictionary.items[i + 1]);
    }
    return found;
  }
  void AddIntegers(const PickleValue& dictionary, const std::string& prefix) {
    for (size_t i = 0; i < dictionary.items.size(); i += 2) {
      const PickleValue& key = value(dictionary.items[i]);
      const PickleValue& entry = value(dictionary.items[i + 1]);
      if (key.kind == PickleKind::kText && entry.kind == PickleKind::kInteger)
        state_.integers[prefix + std::string(key.text)] = entry.number;
    }
  }

  static bool IsName(int64_t number, std::string_view module, std::string_view name) {
    if (const TorchDtype* dtype = DtypeAt(number, kFirstDtype))
      return module == "torch" && name == dtype->torch;
    if (const TorchDtype* dtype = DtypeAt(number, kFirstStorage)) {
      if (number - kFirstStorage == kUntyped && module == "torch.storage" &&
          name == "UntypedStorage")
        return true;
      return module == "torch" && name == dtype->storage && !name.empty();
    }
    const KnownName& known = kNames[static_cast<size_t>(number)];
    return module == known.module && name == known.name;
  }

  std::optional<int64_t> Count(PickleIndex index) const {
    const PickleValue& number = value(index);
    if (number.kind != PickleKind::kInteger || number.number < 0) return std::nullopt;
    return number.number;
  }
  std::optional<std::vector<int64_t>> Sizes(PickleIndex index) const {
    const PickleValue& tuple = value(index);
    if (tuple.kind != PickleKind::kTuple || tuple.items.size() > kMaxTorchDimensions)
      return std::nullopt;
    std::vector<int64_t> sizes;
    for (const PickleIndex item : tuple.items) {
      const std::optional<int64_t> size = Count(item);
      if (!size) return std::nullopt;
      sizes.push_back(*size);
    }
    return sizes;
  }
  const TorchTensor* TensorOf(const PickleValue& object) const {
    if (object.kind != PickleKind::kObject || object.number < kFirstTensor) return nullptr;
    return &tensors_[static_cast<size_t>(object.number - kFirstTensor)];
  }

  // Only an empty storage may have several dtypes: torch.save refuses to write others.
  int64_t StorageNumber(const TorchStorage& storage) {
    const auto [known, is_new] = storages_.emplace(storage.key, state_.storages.size());
    const TorchStorage& first = is_new ? storage : state_.storages[known->second];
    const bool same = first.dtype == storage.dtype && first.elements == storage.elements;
    if (!same && (first.elements != 0 || storage.elements != 0))
      Refuse("it describes its storage " + Quote(storage.key) + " in two ways");
    if (!is_new && same) return static_cast<int64_t>(known->second);
    state_.storages.push_back(storage);
    return static_cast<int64_t>(state_.storages.size() - 1);
  }

  bool IsFlag(PickleIndex index) const { return value(index).kind == PickleKind::kBool; }
  // Whether a tensor's hooks or metadata (conjugate and negative views) are empty, as they must be.
  bool IsEmpty(PickleIndex index) const {
    const PickleValue& object = value(index);
    return object.kind == PickleKind::kNone ||
           ((object.kind == PickleKind::kDict || object.kind == PickleKind::kOrderedDict) &&
            object.items.empty());
  }

  // Reads a tensor: (storage, offset, shape, strides[, requires_grad, hooks[, dtype][, metadata]]).
  PickleValue Tensor(int64_t number, const Arguments& arguments, size_t least, size_t most) {
    const size_t count = arguments.size();
    if (count < least || count > most) RefuseCall(number);
    const PickleValue& storage = value(arguments[0]);
    const std::optional<int64_t> offset = Count(arguments[1]);
    auto shape = Sizes(arguments[2]);
    auto strides = Sizes(arguments[3]);
    if (storage.kind != PickleKind::kObject || storage.number >= kFirstTensor || !offset ||
        !shape || !strides || shape->size() != strides->size())
      RefuseCall(number);
    TorchTensor tensor{static_cast<size_t>(storage.number), nullptr, *offset, std::move(*shape),
                       std::move(*strides)};
    tensor.dtype = state_.storages[tensor.storage].dtype;
    const bool typed = kNames[static_cast<size_t>(number)].meaning == TorchName::kTensorV3;
    if (typed) {
      const PickleValue& dtype = value(arguments[6]);
      tensor.dtype = dtype.kind == PickleKind::kName ? DtypeAt(dtype.number, kFirstDtype) : nullptr;
    }
    if (tensor.dtype == nullptr || (count > 4 && (!IsFlag(arguments[4]) || !IsEmpty(arguments[5]))))
      RefuseCall(number);
    if (count == most && most > least && !IsEmpty(arguments[most - 1]))
      Refuse("a tensor is a view with metadata (conjugate or negative), which is not supported");
    tensors_.push_back(std::move(tensor));
    return {PickleKind::kObject, kFirstTensor + static_cast<int64_t>(tensors_.size() - 1), {}, {}};
  }

  // Reads a parameter's arguments: (tensor, requires_grad, hooks[, attributes]).
  PickleValue Parameter(int64_t number, const Arguments& arguments, size_t count) {
    if (arguments.size() != count || TensorOf(value(arguments[0])) == nullptr ||
        !IsFlag(arguments[1]) || !IsEmpty(arguments[2]))
      RefuseCall(number);
    return value(arguments[0]);
  }

  // Reads a tensor with attributes, which are ignored: (function, class, arguments, attributes).
  PickleValue FromType(int64_t number, const Arguments& arguments) {
    if (arguments.size() != 4) RefuseCall(number);
    const PickleValue& function = value(arguments[0]);
    const PickleValue& type = value(arguments[1]);
    const PickleValue& own = value(arguments[2]);
    const auto means = [](const PickleValue& name, auto... meanings) {
      return name.kind == PickleKind::kName && name.number < kFirstStorage &&
             ((kNames[static_cast<size_t>(name.number)].meaning == meanings) || ...);
    };
    if (!means(function, TorchName::kTensorV2, TorchName::kTensorV3) ||
        !means(type, TorchName::kTensorClass) || own.kind != PickleKind::kTuple)
      RefuseCall(number);
    return Call(function.number, own.items);
  }

  TorchStateDict state_;
  std::vector<TorchTensor> tensors_;
  std::map<std::string_view, size_t> storages_;  // by key
};

}  // namespace

TorchStateDict ReadTorchPickle(std::span<const std::byte> pickle, const std::string& thing,
                               std::string_view numbered) {
  StateDictReader reader(pickle, thing);
  return numbered.empty() ? reader.Collect() : reader.CollectNumbered(numbered);
}

}  // namespace midscope
