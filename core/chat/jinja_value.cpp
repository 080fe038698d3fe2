// SPDX-License-Identifier: MIT
#include "core/chat/jinja_value.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/chat/jinja.h"

namespace midscope::jinja {

void FailLimit(size_t line, int64_t limit, const std::string& what) {
  throw Failure(fmt::format("chat template, line {}", line),
                fmt::format("goes beyond the limit of {} {}", limit, what),
                "Give another template, or write the conversation out as plain text");
}

const Value* Entries::Find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

void Entries::Set(std::string key, Value value) {
  const auto [place, made] = index_.try_emplace(key, entries_.size());
  if (made) {
    entries_.emplace_back(std::move(key), std::move(value));
  } else {
    entries_[place->second].second = std::move(value);
  }
}

void Entries::Clear() {
  index_.clear();
  entries_.clear();
}

Value Value::Text(std::string text) {
  return Value(Storage(std::make_shared<const std::string>(std::move(text))));
}

Value Value::Text(std::string text, const At& at) {
  at.MakeText(text.size());
  return Text(std::move(text));
}

Value Value::List(Items items, const At& at, Form form) {
  at.MakeItems(items.size());
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  if (++depth > kMaxValueDepth) FailLimit(at.line, kMaxValueDepth, "lists within each other");
  return Value(Storage(std::make_shared<const Held<Items>>(std::move(items), depth, form)));
}

Value Value::Mapping(Entries entries, const At& at) {
  // Charges the copies of the key in the entry and in the index.
  at.MakeItems(4 * entries.all().size());
  int depth = 0;
  for (const auto& [key, value] : entries.all()) {
    at.MakeText(key.size());
    depth = std::max(depth, value.depth());
  }
  if (++depth > kMaxValueDepth) FailLimit(at.line, kMaxValueDepth, "mappings within each other");
  return Value(Storage(std::make_shared<const Held<Entries>>(std::move(entries), depth)));
}

Value Value::Namespace(std::shared_ptr<Entries> entries) {
  return Value(Storage(Space{std::move(entries)}));
}

Value Value::OfJson(const nlohmann::ordered_json& json, const At& at) {
  at.Step();
  if (json.is_null()) return None();
  if (json.is_boolean()) return Of(json.get<bool>());
  if (json.is_string()) return Text(json.get<std::string>(), at);
  if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX)
    Fail(at.line, "a number this large");
  if (json.is_number_integer()) return Of(json.get<int64_t>());
  if (json.is_number()) return Of(json.get<double>());
  if (json.is_array()) {
    Items items;
    for (const auto& item : json) items.push_back(OfJson(item, at));
    return List(std::move(items), at);
  }
  Entries entries;
  for (const auto& [key, value] : json.items()) entries.Set(key, OfJson(value, at));
  return Mapping(std::move(entries), at);
}

const std::string* Value::text() const {
  const auto* held = std::get_if<std::shared_ptr<const std::string>>(&storage_);
  return held == nullptr ? nullptr : held->get();
}

const Items* Value::list() const {
  const auto* held = std::get_if<std::shared_ptr<const Held<Items>>>(&storage_);
  return held == nullptr ? nullptr : &(*held)->value;
}

Form Value::form() const {
  const auto* held = std::get_if<std::shared_ptr<const Held<Items>>>(&storage_);
  return held == nullptr ? Form::kList : (*held)->form;
}

bool Value::IsListOrTuple() const {
  return list() != nullptr && (form() == Form::kList || form() == Form::kTuple);
}

void Value::UseItems(const At& at) const {
  const auto* held = std::get_if<std::shared_ptr<const Held<Items>>>(&storage_);
  if (held == nullptr || (*held)->form != Form::kOnce) return;
  if (std::exchange((*held)->used, true))
    Fail(at.line, "iterating twice over the result of a filter (put | list after it)");
}

const Entries* Value::mapping() const {
  const auto* held = std::get_if<std::shared_ptr<const Held<Entries>>>(&storage_);
  return held == nullptr ? nullptr : &(*held)->value;
}

Entries* Value::space() const {
  const auto* held = std::get_if<Space>(&storage_);
  return held == nullptr ? nullptr : held->entries.get();
}

const Loop* Value::loop() const {
  const auto* held = std::get_if<std::shared_ptr<Loop>>(&storage_);
  return held == nullptr ? nullptr : held->get();
}

const Node* Value::macro() const {
  const auto* held = std::get_if<const Node*>(&storage_);
  return held == nullptr ? nullptr : *held;
}

bool Value::IsTrue() const {
  if (IsUndefined() || IsNone()) return false;
  if (boolean() != nullptr) return *boolean();
  if (integer() != nullptr) return *integer() != 0;
  if (real() != nullptr) return *real() != 0;
  if (text() != nullptr) return !text()->empty();
  if (list() != nullptr) return form() == Form::kOnce || !list()->empty();
  if (mapping() != nullptr) return !mapping()->all().empty();
  return true;
}

int Value::depth() const {
  if (const auto* items = std::get_if<std::shared_ptr<const Held<Items>>>(&storage_))
    return (*items)->depth;
  if (const auto* entries = std::get_if<std::shared_ptr<const Held<Entries>>>(&storage_))
    return (*entries)->depth;
  if (loop() != nullptr) return loop()->items.depth() + 1;
  // A namespace's values are released by the renderer, so it does not add to a value's depth.
  return 0;
}

Value Loop::Attribute(std::string_view name, const At& at) const {
  const Items& all = *items.list();
  if (name == "index") return Value::Of(index + 1);
  if (name == "index0") return Value::Of(index);
  if (name == "first") return Value::Of(index == 0);
  if (name == "last") return Value::Of(index + 1 == all.size());
  if (name == "length") return Value::Of(all.size());
  if (name == "revindex") return Value::Of(all.size() - index);
  if (name == "revindex0") return Value::Of(all.size() - index - 1);
  if (name == "previtem") return index == 0 ? Value() : all[index - 1];
  if (name == "nextitem") return index + 1 == all.size() ? Value() : all[index + 1];
  if (name == "depth") return Value::Of(int64_t{1});  // recursive loops are not supported
  if (name == "depth0") return Value::Of(int64_t{0});
  if (name == "cycle" || name == "changed") Fail(at.line, "a method that is not called");
  return {};
}

}  // namespace midscope::jinja
