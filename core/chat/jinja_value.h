// SPDX-License-Identifier: MIT
// A value of the template language. Strings, lists and mappings are immutable and shared, so that
// copying a value takes the same time whatever its size. Internal to core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/chat/jinja_limits.h"

namespace midscope::jinja {

struct Node;
class Value;
using Items = std::vector<Value>;

// A mapping that keeps its entries in the order in which keys were first set.
class Entries {
 public:
  const Value* Find(std::string_view key) const;
  void Set(std::string key, Value value);
  const std::vector<std::pair<std::string, Value>>& all() const { return entries_; }
  void Clear();
  // Marks the keys as integers; they are stored as std::to_string writes them.
  void SetKeysAreNumbers() { keys_are_numbers_ = true; }
  bool keys_are_numbers() const { return keys_are_numbers_; }

 private:
  bool keys_are_numbers_ = false;
  std::vector<std::pair<std::string, Value>> entries_;
  std::map<std::string, size_t, std::less<>> index_;
};

// The Python type of a sequence: the types are printed, compared and indexed differently. kOnce: a
// generator, which can be iterated only once (`select`, `map` and the like).
enum class Form : uint8_t { kList, kTuple, kKeys, kValues, kItems, kRange, kOnce };

// The variable `loop`, which changes during the loop.
struct Loop;

enum class Function : uint8_t { kRaiseException, kStrftimeNow, kNamespace, kRange, kDict };

class Value {
 public:
  Value() = default;  // undefined
  static Value None() { return Value(Storage(Nothing())); }
  static Value Of(bool value) { return Value(Storage(value)); }
  static Value Of(int64_t value) { return Value(Storage(value)); }
  static Value Of(size_t value) { return Of(static_cast<int64_t>(value)); }
  static Value Of(double value) { return Value(Storage(value)); }
  // Does not charge the budget: for strings of the program or the template.
  static Value Text(std::string text);
  // The following three charge the value's size to the budget.
  static Value Text(std::string text, const At& at);
  static Value List(Items items, const At& at, Form form = Form::kList);
  static Value Mapping(Entries entries, const At& at);
  // A mapping that {% set NAME.ATTRIBUTE %} changes in place; shared by all its users.
  static Value Namespace(std::shared_ptr<Entries> entries);
  static Value Of(std::shared_ptr<Loop> loop) { return Value(Storage(std::move(loop))); }
  static Value Of(Function function) { return Value(Storage(function)); }
  static Value Macro(const Node* node) { return Value(Storage(node)); }
  static Value OfJson(const nlohmann::ordered_json& json, const At& at);

  bool IsUndefined() const { return std::holds_alternative<std::monostate>(storage_); }
  bool IsNone() const { return std::holds_alternative<Nothing>(storage_); }
  // Return the value's content; null if the value is of another kind.
  const bool* boolean() const { return std::get_if<bool>(&storage_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&storage_); }
  const double* real() const { return std::get_if<double>(&storage_); }
  const std::string* text() const;
  const Items* list() const;  // lists of every form
  Form form() const;          // form of a list
  // Whether the value is a list of one of the two forms to which + and * apply.
  bool IsListOrTuple() const;
  // Throws Error if a kOnce is iterated a second time.
  void UseItems(const At& at) const;
  const Entries* mapping() const;
  Entries* space() const;
  const Loop* loop() const;
  const Function* function() const { return std::get_if<Function>(&storage_); }
  const Node* macro() const;

  // Whether a string is marked by `safe` (Markup in Python): text that + adds to it is escaped as
  // HTML.
  bool is_safe() const { return safe_; }
  Value AsSafe() const {
    Value value = *this;
    value.safe_ = true;
    return value;
  }

  bool IsTrue() const;
  // Returns the nesting depth of lists and mappings; 0 for a string or number.
  int depth() const;

 private:
  struct Nothing {};
  template <typename T>
  struct Held {
    Held(T made, int levels, Form of = Form::kList)
        : value(std::move(made)), depth(levels), form(of) {}
    T value;
    int depth;
    Form form;
    mutable bool used = false;  // for kOnce: already iterated
  };
  struct Space {
    std::shared_ptr<Entries> entries;
  };
  using Storage =
      std::variant<std::monostate, Nothing, bool, int64_t, double,
                   std::shared_ptr<const std::string>, std::shared_ptr<const Held<Items>>,
                   std::shared_ptr<const Held<Entries>>, Space, std::shared_ptr<Loop>, Function,
                   const Node*>;
  explicit Value(Storage storage) : storage_(std::move(storage)) {}

  Storage storage_;
  bool safe_ = false;
};

struct Loop {
  Value items;  // a list
  size_t index = 0;
  // The arguments of the last call of loop.changed(), as a tuple. It may refer to the loop itself
  // and is therefore cleared when the loop ends.
  mutable Value changed = {};
  bool over = false;

  // Returns the attribute of `loop`, such as loop.index; an undefined value if Jinja's loops do not
  // have it. Throws Error if it is not supported here.
  Value Attribute(std::string_view name, const At& at) const;
};

}  // namespace midscope::jinja
