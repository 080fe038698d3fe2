// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/chat/chat_template.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_operations.h"
#include "kernels/check.h"

namespace midscope::jinja {

namespace {

using TextMethod = std::function<Value(const std::string&, const Arguments&, const At&)>;

int64_t Number(const Value* value, int64_t otherwise, const At& at) {
  return value == nullptr ? otherwise : WholeNumber(*value, at);
}

// startswith and endswith accept one string, or any of a list.
bool BeginsOrEnds(const std::string& text, const Arguments& arguments, bool begins, const At& at) {
  if (arguments.values.size() != 1) Fail(at.line, "startswith() or endswith() of this form");
  const auto matches = [&](const Value& part) {
    at.Scan(TextOf(part, at).size());
    return begins ? text.starts_with(TextOf(part, at)) : text.ends_with(TextOf(part, at));
  };
  const Value& given = arguments.values[0];
  if (given.list() == nullptr || given.form() != Form::kTuple) return matches(given);
  return std::any_of(given.list()->begin(), given.list()->end(), matches);
}

Value Split(const std::string& text, const Arguments& a, const At& at) {
  return SplitText(text, a.Find(0, "sep"), Number(a.Find(1, "maxsplit"), -1, at), at);
}

Value SplitFromEnd(const std::string& text, const Arguments& a, const At& at) {
  return SplitTextFromEnd(text, a.Find(0, "sep"), Number(a.Find(1, "maxsplit"), -1, at), at);
}

Value Lines(const std::string& text, const Arguments& a, const At& at) {
  if (!a.values.empty()) Fail(at.line, "splitlines() of this form");
  Items lines;
  for (std::string& line : LinesOf(text, at)) lines.push_back(Value::Text(std::move(line), at));
  return Value::List(std::move(lines), at);
}

// partition and rpartition return the text before, the separator and the text after.
Value Partition(const std::string& text, const Arguments& a, bool from_end, const At& at) {
  if (a.values.size() != 1 || TextOf(a.values[0], at).empty())
    Fail(at.line, "partition() of this form");
  const auto part = [&](std::string piece) { return Value::Text(std::move(piece), at); };
  const auto split = from_end ? SplitTextFromEnd : SplitText;
  const Value both = split(text, &a.values[0], 1, at);
  Items parts = {part(text), part(""), part("")};
  if (both.list()->size() == 2) {
    parts = {both.list()->front(), a.values[0], both.list()->back()};
  } else if (from_end) {
    std::swap(parts[0], parts[2]);
  }
  return Value::List(std::move(parts), at, Form::kTuple);
}

// Returns the index of the character at which `part` begins; -1 if there is none.
Value FindPart(const std::string& text, const Arguments& a, const At& at) {
  if (a.values.size() != 1) Fail(at.line, "find() of this form");
  const size_t place = FindIn(text, TextOf(a.values[0], at), 0, at);
  if (place == std::string::npos) return Value::Of(int64_t{-1});
  return Value::Of(CountCharacters(std::string_view(text).substr(0, place), at));
}

Value CountPart(const std::string& text, const Arguments& a, const At& at) {
  if (a.values.size() != 1 || TextOf(a.values[0], at).empty())
    Fail(at.line, "count() of this form");
  const std::string& part = TextOf(a.values[0], at);
  size_t count = 0;
  for (size_t from = 0; (from = FindIn(text, part, from, at)) != std::string::npos; ++count)
    from += part.size();
  return Value::Of(count);
}

Value RemoveEnd(const std::string& text, const Arguments& a, bool prefix, const At& at) {
  const bool there = BeginsOrEnds(text, a, prefix, at);
  const size_t size = there ? TextOf(a.values[0], at).size() : 0;
  return Value::Text(text.substr(prefix ? size : 0, text.size() - size), at);
}

TextMethod Stripping(bool left, bool right) {
  return [=](const std::string& text, const Arguments& a, const At& at) {
    return Value::Text(StripCharacters(text, a.Find(0, "chars"), left, right, at));
  };
}

const std::map<std::string, TextMethod, std::less<>>& TextMethods() {
  static const std::map<std::string, TextMethod, std::less<>> methods = {
      {"strip", Stripping(true, true)},
      {"lstrip", Stripping(true, false)},
      {"rstrip", Stripping(false, true)},
      {"split", Split},
      {"rsplit", SplitFromEnd},
      {"splitlines", Lines},
      {"format", FormatFields},
      {"partition", [](const std::string& text, const Arguments& a,
                       const At& at) { return Partition(text, a, false, at); }},
      {"rpartition", [](const std::string& text, const Arguments& a,
                        const At& at) { return Partition(text, a, true, at); }},
      {"find", FindPart},
      {"count", CountPart},
      {"startswith", [](const std::string& text, const Arguments& a,
                        const At& at) { return Value::Of(BeginsOrEnds(text, a, true, at)); }},
      {"endswith", [](const std::string& text, const Arguments& a,
                      const At& at) { return Value::Of(BeginsOrEnds(text, a, false, at)); }},
      {"removeprefix", [](const std::string& text, const Arguments& a,
                          const At& at) { return RemoveEnd(text, a, true, at); }},
      {"removesuffix", [](const std::string& text, const Arguments& a,
                          const At& at) { return RemoveEnd(text, a, false, at); }},
      {"join",
       [](const std::string& text, const Arguments& a, const At& at) {
         if (a.values.size() != 1) Fail(at.line, "join() of this form");
         // Unlike the filter, Python's join() only accepts strings.
         const Value items = ItemsOf(a.values[0], at);
         for (const Value& item : *items.list()) TextOf(item, at);
         return JoinItems(items, text, at);
       }},
  };
  return methods;
}

Value Pairs(const Entries& entries, const At& at) {
  Items pairs;
  for (const auto& [key, value] : entries.all())
    pairs.push_back(Value::List({KeyOf(entries, key, at), value}, at, Form::kTuple));
  return Value::List(std::move(pairs), at, Form::kItems);
}

Value CallMapping(const std::string& name, const Value& value, const Arguments& arguments,
                  const At& at) {
  const Entries& entries = *value.mapping();
  if (name == "items" && arguments.values.empty()) return Pairs(entries, at);
  if (name == "keys" && arguments.values.empty())
    return Value::List(*ItemsOf(value, at).list(), at, Form::kKeys);
  if (name == "values" && arguments.values.empty()) {
    Items values;
    for (const auto& [key, entry] : entries.all()) values.push_back(entry);
    return Value::List(std::move(values), at, Form::kValues);
  }
  if (name == "get" && !arguments.values.empty()) {
    if (entries.keys_are_numbers()) Fail(at.line, "get() of a mapping of numbers");
    const Value* found =
        arguments.values[0].text() == nullptr ? nullptr : entries.Find(*arguments.values[0].text());
    if (found != nullptr) return *found;
    return arguments.values.size() > 1 ? arguments.values[1] : Value::None();
  }
  Fail(at.line, "the method " + Quote(name));
}

// Calls a method of `loop`: loop.cycle(a, b) or loop.changed(value).
Value CallLoop(const std::string& name, const Loop& loop, const Arguments& arguments,
               const At& at) {
  const std::vector<Value>& given = arguments.values;
  if (loop.over) Fail(at.line, "a method of a loop that has ended");
  if (name == "cycle" && !given.empty() && arguments.names.empty())
    return given[loop.index % given.size()];
  if (name != "changed" || !arguments.names.empty()) Fail(at.line, "the method " + Quote(name));
  const Value now = Value::List(given, at, Form::kTuple);
  const bool changed = !IsEqual(loop.changed, now, at);
  loop.changed = now;
  return Value::Of(changed);
}

// Calls a method of a list: index or count.
Value CallList(const std::string& name, const Items& items, const Arguments& arguments,
               const At& at) {
  const bool counts = name == "count";
  if ((!counts && name != "index") || arguments.values.size() != 1)
    Fail(at.line, "the method " + Quote(name));
  int64_t count = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!IsEqual(items[i], arguments.values[0], at)) continue;
    if (!counts) return Value::Of(i);
    ++count;
  }
  if (!counts) Fail(at.line, "index() of a missing item");
  return Value::Of(count);
}

}  // namespace

const Value* Arguments::Find(size_t position, std::string_view name) const {
  if (position < positional()) return &values[position];
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return &values[positional() + i];
  }
  return nullptr;
}

bool IsMethod(const Value& value, std::string_view name) {
  if (value.text() != nullptr) {
    return TextMethods().contains(name) || name == "upper" || name == "lower" || name == "title" ||
           name == "capitalize" || name == "replace";
  }
  constexpr std::array<std::string_view, 11> kMapping = {
      "items", "keys",  "values",     "get",     "update",  "pop",
      "copy",  "clear", "setdefault", "popitem", "fromkeys"};
  return value.mapping() != nullptr &&
         std::find(kMapping.begin(), kMapping.end(), name) != kMapping.end();
}

namespace {

Value CallAny(const std::string& name, const Value& value, const Arguments& arguments,
              const At& at) {
  if (value.IsUndefined()) Fail(at.line, "a part of what is undefined");
  if (value.mapping() != nullptr) return CallMapping(name, value, arguments, at);
  if (value.loop() != nullptr) return CallLoop(name, *value.loop(), arguments, at);
  if (value.IsListOrTuple()) return CallList(name, *value.list(), arguments, at);
  if (value.text() != nullptr) {
    const auto method = TextMethods().find(name);
    if (method != TextMethods().end()) return method->second(*value.text(), arguments, at);
    for (const char* filter : {"upper", "lower", "title", "capitalize", "replace"}) {
      if (name == filter) return ApplyFilter(name, value, arguments, at);
    }
  }
  Fail(at.line, "the method " + Quote(name));
}

}  // namespace

Value CallMethod(const std::string& name, const Value& value, const Arguments& arguments,
                 const At& at) {
  // Methods of Markup escape their arguments, and return Markup.
  for (const char* other : {"replace", "join", "format", "partition", "rpartition"}) {
    if (value.is_safe() && name == other)
      Fail(at.line, "the method " + Quote(name) + " of a text that is marked safe");
  }
  Value result = CallAny(name, value, arguments, at);
  if (!value.is_safe()) return result;
  if (result.list() == nullptr) return result.AsSafe();
  Items parts;
  for (const Value& part : *result.list()) parts.push_back(part.AsSafe());
  return Value::List(std::move(parts), at);
}

// Functions that every template can call.

namespace {

[[noreturn]] void Refuse(const Arguments& arguments, const At& at) {
  std::string said = arguments.values.empty() ? "" : ToText(arguments.values[0], at);
  if (said.size() > 500) said = Quote(said, 500);
  throw Failure("chat template", "it refuses this conversation: " + DisplayText(said));
}

Value StrftimeNow(const Arguments& arguments, const std::string& date, const At& at) {
  if (arguments.values.size() != 1) Fail(at.line, "strftime_now() of this form");
  const std::string& format = TextOf(arguments.values[0], at);
  if (format.size() > 1000) FailLimit(at.line, 1000, "bytes in a date's format");
  return Value::Text(FormatChatDate(date, format), at);
}

// Returns the entries for "dict" and "namespace", which only take named arguments.
Entries NamedEntries(const Arguments& arguments, const char* function, const At& at) {
  if (arguments.positional() > 0) Fail(at.line, std::string(function) + "() of this form");
  Entries entries;
  for (size_t i = 0; i < arguments.values.size(); ++i)
    entries.Set(arguments.names[i], arguments.values[i]);
  return entries;
}

Value MakeNamespace(const Arguments& arguments, std::vector<std::shared_ptr<Entries>>& spaces,
                    const At& at) {
  auto entries = std::make_shared<Entries>(NamedEntries(arguments, "namespace", at));
  if (spaces.size() >= kMaxNames) FailLimit(at.line, kMaxNames, "namespaces");
  spaces.push_back(entries);
  return Value::Namespace(std::move(entries));
}

Value Range(const Arguments& arguments, const At& at) {
  const std::vector<Value>& given = arguments.values;
  if (given.empty() || given.size() > 3 || !arguments.names.empty())
    Fail(at.line, "range() of this form");
  const int64_t begin = given.size() > 1 ? WholeNumber(given[0], at) : 0;
  const int64_t end = WholeNumber(given[given.size() > 1 ? 1 : 0], at);
  const int64_t step = given.size() > 2 ? WholeNumber(given[2], at) : 1;
  if (step == 0) Fail(at.line, "range() with step 0");
  // The largest number of items of range(), as in Jinja's sandbox.
  constexpr int64_t kMaxRange = 100'000;
  if (std::min(begin, end) < -kMaxRange || std::max(begin, end) > kMaxRange ||
      step > 2 * kMaxRange || step < -2 * kMaxRange) {
    FailLimit(at.line, kMaxRange, "numbers in range()");
  }
  Items items;
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) items.push_back(Value::Of(i));
  return Value::List(std::move(items), at, Form::kRange);
}

}  // namespace

const std::vector<std::pair<std::string_view, Function>>& Functions() {
  static const std::vector<std::pair<std::string_view, Function>> functions = {
      {"raise_exception", Function::kRaiseException},
      {"strftime_now", Function::kStrftimeNow},
      {"namespace", Function::kNamespace},
      {"range", Function::kRange},
      {"dict", Function::kDict}};
  return functions;
}

Value CallFunction(Function function, const Arguments& arguments, const Surroundings& surroundings,
                   const At& at) {
  switch (function) {
    case Function::kRaiseException:
      Refuse(arguments, at);
    case Function::kStrftimeNow:
      return StrftimeNow(arguments, surroundings.date, at);
    case Function::kNamespace:
      return MakeNamespace(arguments, surroundings.spaces, at);
    case Function::kRange:
      return Range(arguments, at);
    case Function::kDict:
      return Value::Mapping(NamedEntries(arguments, "dict", at), at);
  }
  MIDSCOPE_BUG("a function of templates that is not listed");
}

}  // namespace midscope::jinja
