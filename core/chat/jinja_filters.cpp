// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/base/utf8.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_operations.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope::jinja {
namespace {

using Filter = std::function<Value(const Value&, const Arguments&, const At&)>;

Value Length(const Value& value, const At& at) {
  if (value.IsUndefined()) return Value::Of(int64_t{0});
  if (value.form() == Form::kOnce) Fail(at.line, "length of what has none (put | list before it)");
  if (value.list() != nullptr) return Value::Of(value.list()->size());
  if (value.mapping() != nullptr) return Value::Of(value.mapping()->all().size());
  return Value::Of(CountCharacters(TextOf(value, at), at));
}

Value Default(const Value& value, const Arguments& a, const At&) {
  const Value* otherwise = a.Find(0, "default_value");
  const Value* also_false = a.Find(1, "boolean");
  const bool replaced =
      value.IsUndefined() || (also_false != nullptr && also_false->IsTrue() && !value.IsTrue());
  if (!replaced) return value;
  return otherwise == nullptr ? Value::Text("") : *otherwise;
}

Value Replace(const Value& value, const Arguments& a, const At& at) {
  const Value* from = a.Find(0, "old");
  const Value* to = a.Find(1, "new");
  const Value* most = a.Find(2, "count");
  if (from == nullptr || to == nullptr) Fail(at.line, "replace of this form");
  return Value::Text(ReplaceIn(ToText(value, at), ToText(*from, at), ToText(*to, at),
                               most == nullptr || most->IsNone() ? -1 : WholeNumber(*most, at),
                               at));
}

Value Join(const Value& value, const Arguments& a, const At& at) {
  const Value* separator = a.Find(0, "d");
  const Value* attribute = a.Find(1, "attribute");
  const std::string between = separator == nullptr ? "" : ToText(*separator, at);
  if (attribute == nullptr || attribute->IsNone()) return JoinItems(value, between, at);
  const Value items = ItemsOf(value, at);
  Items parts;
  for (const Value& item : *items.list()) parts.push_back(AttributeOf(item, *attribute, at));
  return JoinItems(Value::List(std::move(parts), at), between, at);
}

Value Json(const Value& value, const Arguments& a, const At& at) {
  JsonFormat format;
  const auto flag = [&](size_t position, const char* name) {
    const Value* given = a.Find(position, name);
    return given != nullptr && given->IsTrue();
  };
  format.ensure_ascii = flag(0, "ensure_ascii");
  const Value* indent = a.Find(1, "indent");
  if (indent != nullptr && !indent->IsNone()) {
    format.lines = true;
    format.item_separator = ",";
    if (indent->text() != nullptr) {
      format.indent = *indent->text();
    } else {
      const int64_t width = std::max<int64_t>(WholeNumber(*indent, at), 0);
      if (width > 100) Fail(at.line, "an indent of more than 100");
      format.indent = std::string(static_cast<size_t>(width), ' ');
    }
  }
  const Value* separators = a.Find(2, "separators");
  if (separators != nullptr && !separators->IsNone()) {
    const Items* both = separators->list();
    if (both == nullptr || both->size() != 2) Fail(at.line, "separators of this form");
    format.item_separator = TextOf((*both)[0], at);
    format.key_separator = TextOf((*both)[1], at);
  }
  format.sort_keys = flag(3, "sort_keys");
  return Value::Text(ToJson(value, format, at));
}

// Makes one of the filters select, reject, selectattr and rejectattr, which return the items that
// pass, or do not pass, a test.
Filter Selecting(bool by_attribute, bool passing) {
  return [=](const Value& value, const Arguments& a, const At& at) {
    if (!value.IsTrue()) return Value::List({}, at, Form::kOnce);
    const size_t skipped = by_attribute ? 1 : 0;
    if (a.values.size() < skipped || !a.names.empty()) Fail(at.line, "selecting of this form");
    Arguments rest;
    for (size_t i = skipped + 1; i < a.values.size(); ++i) rest.values.push_back(a.values[i]);
    const bool tested = a.values.size() > skipped;
    const Value items = ItemsOf(value, at);
    Items kept;
    for (const Value& item : *items.list()) {
      at.Step();
      const Value part = by_attribute ? AttributeOf(item, a.values[0], at) : item;
      const bool passes =
          tested ? ApplyTest(TextOf(a.values[skipped], at), part, rest, at) : part.IsTrue();
      if (passes == passing) kept.push_back(item);
    }
    return Value::List(std::move(kept), at, Form::kOnce);
  };
}

// The filter map: map('filter', ...) or map(attribute=...).
Value MapItems(const Value& value, const Arguments& a, const At& at) {
  if (!value.IsTrue()) return Value::List({}, at, Form::kOnce);
  const Value* attribute = a.positional() == 0 ? a.Find(0, "attribute") : nullptr;
  const Value* otherwise = a.positional() == 0 ? a.Find(0, "default") : nullptr;
  if (attribute == nullptr && a.positional() == 0) Fail(at.line, "map of this form");
  Arguments rest;
  if (attribute == nullptr) {
    rest.values.assign(a.values.begin() + 1, a.values.end());
    rest.names = a.names;
    // map('map', ...) is refused, because filters could be nested as deeply as there are arguments.
    if (TextOf(a.values[0], at) == "map") Fail(at.line, "map of map");
  }
  const Value items = ItemsOf(value, at);
  Items mapped;
  for (const Value& item : *items.list()) {
    at.Step();
    if (attribute != nullptr) {
      Value part = AttributeOf(item, *attribute, at);
      mapped.push_back(part.IsUndefined() && otherwise != nullptr ? *otherwise : part);
    } else {
      mapped.push_back(ApplyFilter(TextOf(a.values[0], at), item, rest, at));
    }
  }
  return Value::List(std::move(mapped), at, Form::kOnce);
}

Value Reverse(const Value& value, const Arguments&, const At& at) {
  if (value.text() != nullptr)
    return SliceOf(value, Value::None(), Value::None(), Value::Of(int64_t{-1}), at);
  const Value items = ItemsOf(value, at);
  Items reversed(items.list()->rbegin(), items.list()->rend());
  return Value::List(std::move(reversed), at, Form::kOnce);
}

Value FirstOrLast(const Value& value, bool first, const At& at) {
  if (!first && value.form() == Form::kOnce) Fail(at.line, "last of what has no end yet");
  const Value items = ItemsOf(value, at);
  if (items.list()->empty()) return {};
  return first ? items.list()->front() : items.list()->back();
}

Value WholeOf(const Value& value, const Arguments& a, const At& at) {
  if (value.integer() != nullptr || value.boolean() != nullptr)
    return Value::Of(WholeNumber(value, at));
  int64_t number = 0;
  if (value.text() != nullptr) {
    const std::string text = StripCharacters(*value.text(), nullptr, true, true, at);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size()) return Value::Of(number);
    if (!text.empty() && text.find_first_of("0123456789") != std::string::npos)
      Fail(at.line, "conversion of " + Quote(text) + " to an integer");
  } else if (!value.IsUndefined() && !value.IsNone()) {
    Fail(at.line, "conversion of this value to an integer");
  }
  const Value* otherwise = a.Find(0, "default");
  return otherwise == nullptr ? Value::Of(int64_t{0}) : *otherwise;
}

Value Trim(const Value& v, const Arguments& a, const At& at) {
  return Value::Text(StripCharacters(ToText(v, at), a.Find(0, "chars"), true, true, at));
}

Value Pairs(const Value& value, const At& at, Form form) {
  if (value.IsUndefined()) return Value::List({}, at, form);
  if (value.mapping() == nullptr) Fail(at.line, "'items' of a value that is not a mapping");
  return Value::List(*CallMethod("items", value, {}, at).list(), at, form);
}

Value AbsoluteOf(const Value& value, const At& at) {
  const bool negative = ApplyOperator("<", value, Value::Of(int64_t{0}), at).IsTrue();
  return negative ? ApplyOperator("-", Value::Of(int64_t{0}), value, at) : value;
}

// The filter float: converts as float() of Python; returns `default` if that is impossible.
Value RealOf(const Value& value, const Arguments& a, const At& at) {
  if (value.real() != nullptr) return value;
  if (value.integer() != nullptr || value.boolean() != nullptr)
    return Value::Of(static_cast<double>(WholeNumber(value, at)));
  if (value.text() != nullptr) {
    const std::string text = StripCharacters(*value.text(), nullptr, true, true, at);
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size()) return Value::Of(number);
    if (text.find_first_of("0123456789") != std::string::npos)
      Fail(at.line, "conversion of " + Quote(text) + " to a number");
  }
  const Value* otherwise = a.Find(0, "default");
  return otherwise == nullptr ? Value::Of(0.0) : *otherwise;
}

// The filter format: "%s of %s" | format(a, b).
Value Format(const Value& value, const Arguments& a, const At& at) {
  if (!a.names.empty() && a.positional() > 0) Fail(at.line, "format of this form");
  Entries named;
  for (size_t i = 0; i < a.names.size(); ++i) named.Set(a.names[i], a.values[i]);
  return FormatPercent(value.text() != nullptr ? value : Value::Text(ToText(value, at)),
                       a.names.empty() ? Value::List(a.values, at, Form::kTuple)
                                       : Value::Mapping(std::move(named), at),
                       at);
}

// Sorts pairs by their keys: numbers, or strings without regard to case.
Value SortedPairs(const Value& value, const Arguments& arguments, const At& at) {
  if (!arguments.values.empty()) Fail(at.line, "the filter 'dictsort' of this form");
  const Value pairs = Pairs(value, at, Form::kList);
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& pair : *pairs.list()) {
    const Value& key = (*pair.list())[0];
    const bool number = key.integer() != nullptr;
    keyed.emplace_back(number ? key : Value::Text(ChangeCase(*key.text(), false, at)), pair);
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
    if (a.first.integer() != nullptr) return *a.first.integer() < *b.first.integer();
    return *a.first.text() < *b.first.text();
  });
  Items sorted;
  for (auto& [key, pair] : keyed) sorted.push_back(std::move(pair));
  return Value::List(std::move(sorted), at);
}

const std::map<std::string, Filter>& Filters() {
  static const std::map<std::string, Filter> filters = {
      {"default", Default},
      {"d", Default},
      {"replace", Replace},
      {"trim", Trim},
      {"length", [](const Value& v, const Arguments&, const At& at) { return Length(v, at); }},
      {"count", [](const Value& v, const Arguments&, const At& at) { return Length(v, at); }},
      {"upper", [](const Value& v, const Arguments&,
                   const At& at) { return Value::Text(ChangeCase(ToText(v, at), true, at)); }},
      {"lower", [](const Value& v, const Arguments&,
                   const At& at) { return Value::Text(ChangeCase(ToText(v, at), false, at)); }},
      {"title", [](const Value& v, const Arguments&,
                   const At& at) { return Value::Text(Capitalise(ToText(v, at), true, at)); }},
      {"capitalize",
       [](const Value& v, const Arguments&, const At& at) {
         return Value::Text(Capitalise(ToText(v, at), false, at));
       }},
      {"string", [](const Value& v, const Arguments&,
                    const At& at) { return v.text() != nullptr ? v : Value::Text(ToText(v, at)); }},
      {"safe", [](const Value& v, const Arguments&,
                  const At& at) { return Value::Text(ToText(v, at)).AsSafe(); }},
      {"join", Join},
      {"tojson", Json},
      {"items",
       [](const Value& v, const Arguments&, const At& at) { return Pairs(v, at, Form::kOnce); }},
      {"dictsort", SortedPairs},
      {"list", [](const Value& v, const Arguments&,
                  const At& at) { return Value::List(*ItemsOf(v, at).list(), at); }},
      {"sort", SortItems},
      {"unique", UniqueItems},
      {"min", [](const Value& v, const Arguments& a,
                 const At& at) { return ExtremeItem(v, a, false, at); }},
      {"max", [](const Value& v, const Arguments& a,
                 const At& at) { return ExtremeItem(v, a, true, at); }},
      {"sum", SumItems},
      {"abs", [](const Value& v, const Arguments&, const At& at) { return AbsoluteOf(v, at); }},
      {"float", RealOf},
      {"format", Format},
      {"indent", IndentLines},
      {"first",
       [](const Value& v, const Arguments&, const At& at) { return FirstOrLast(v, true, at); }},
      {"last",
       [](const Value& v, const Arguments&, const At& at) { return FirstOrLast(v, false, at); }},
      {"select", Selecting(false, true)},
      {"reject", Selecting(false, false)},
      {"selectattr", Selecting(true, true)},
      {"rejectattr", Selecting(true, false)},
      {"map", MapItems},
      {"reverse", Reverse},
      {"int", WholeOf},
  };
  return filters;
}

using Test = std::function<bool(const Value&, const Arguments&, const At&)>;

// Makes the test that applies a comparison operator to the value and the argument.
Test Comparing(const char* name) {
  return [name](const Value& v, const Arguments& a, const At& at) {
    if (a.values.size() != 1) Fail(at.line, "the test " + Quote(name) + " of this form");
    return ApplyOperator(name, v, a.values[0], at).IsTrue();
  };
}

bool IsIterable(const Value& value) {
  return value.IsUndefined() || value.list() != nullptr || value.mapping() != nullptr ||
         value.text() != nullptr;
}

const std::map<std::string, Test>& Tests() {
  using A = Arguments;
  static const std::map<std::string, Test> tests = {
      {"defined", [](const Value& v, const A&, const At&) { return !v.IsUndefined(); }},
      {"undefined", [](const Value& v, const A&, const At&) { return v.IsUndefined(); }},
      {"none", [](const Value& v, const A&, const At&) { return v.IsNone(); }},
      {"string", [](const Value& v, const A&, const At&) { return v.text() != nullptr; }},
      {"mapping", [](const Value& v, const A&, const At&) { return v.mapping() != nullptr; }},
      {"iterable",
       [](const Value& v, const A&, const At&) { return IsIterable(v) || v.loop() != nullptr; }},
      {"sequence",
       [](const Value& v, const A&, const At&) {
         return IsIterable(v) &&
                (v.list() == nullptr || v.IsListOrTuple() || v.form() == Form::kRange);
       }},
      {"divisibleby",
       [](const Value& v, const A& a, const At& at) {
         if (a.values.size() != 1) Fail(at.line, "the test 'divisibleby' of this form");
         return WholeNumber(ApplyOperator("%", v, a.values[0], at), at) == 0;
       }},
      {"callable", [](const Value& v, const A&,
                      const At&) { return v.function() != nullptr || v.macro() != nullptr; }},
      {"number",
       [](const Value& v, const A&, const At&) {
         return v.integer() != nullptr || v.boolean() != nullptr || v.real() != nullptr;
       }},
      {"integer", [](const Value& v, const A&, const At&) { return v.integer() != nullptr; }},
      {"float", [](const Value& v, const A&, const At&) { return v.real() != nullptr; }},
      {"boolean", [](const Value& v, const A&, const At&) { return v.boolean() != nullptr; }},
      {"true",
       [](const Value& v, const A&, const At&) { return v.boolean() != nullptr && *v.boolean(); }},
      {"false",
       [](const Value& v, const A&, const At&) { return v.boolean() != nullptr && !*v.boolean(); }},
      {"odd", [](const Value& v, const A&, const At& at) { return WholeNumber(v, at) % 2 != 0; }},
      {"even", [](const Value& v, const A&, const At& at) { return WholeNumber(v, at) % 2 == 0; }},
      {"equalto", Comparing("==")},
      {"eq", Comparing("==")},
      {"==", Comparing("==")},
      {"ne", Comparing("!=")},
      {"!=", Comparing("!=")},
      {"lt", Comparing("<")},
      {"lessthan", Comparing("<")},
      {"le", Comparing("<=")},
      {"gt", Comparing(">")},
      {"greaterthan", Comparing(">")},
      {"ge", Comparing(">=")},
      {"in", Comparing("in")},
  };
  return tests;
}

}  // namespace

Value AttributeOf(const Value& item, const Value& path, const At& at) {
  if (path.text() == nullptr) return ItemOf(item, path, at);
  Value value = item;
  const Value point = Value::Text(".");
  const Value parts = SplitText(*path.text(), &point, -1, at);
  for (const Value& part : *parts.list()) {
    const bool digits = part.text()->find_first_not_of("0123456789") == std::string::npos;
    const bool number = digits && !part.text()->empty() && part.text()->size() < 10;
    value = ItemOf(value, number ? Value::Of(int64_t{std::stoll(*part.text())}) : part, at);
  }
  return value;
}

Value ApplyFilter(const std::string& name, const Value& value, const Arguments& arguments,
                  const At& at) {
  const auto found = Filters().find(name);
  if (found == Filters().end()) Fail(at.line, "the filter " + Quote(name));
  Value result = found->second(value, arguments, at);
  constexpr std::array<std::string_view, 7> kKeep = {"trim",   "upper",  "lower",  "capitalize",
                                                     "string", "indent", "reverse"};
  const bool keeps = std::find(kKeep.begin(), kKeep.end(), name) != kKeep.end();
  return value.is_safe() && keeps ? result.AsSafe() : result;
}

bool ApplyTest(const std::string& name, const Value& value, const Arguments& arguments,
               const At& at) {
  const auto found = Tests().find(name);
  if (found == Tests().end()) Fail(at.line, "the test " + Quote(name));
  return found->second(value, arguments, at);
}

}  // namespace midscope::jinja
