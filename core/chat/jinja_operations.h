// SPDX-License-Identifier: MIT
// Operations of the template language on values, with the semantics of Python and Jinja. Each
// throws Error for unsupported operations and exceeded limits. Internal to core.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/chat/jinja_value.h"

namespace midscope::jinja {

// Arguments of a call, filter or test. `names` are the names of the last arguments.
struct Arguments {
  std::vector<Value> values;
  std::vector<std::string> names;

  // Returns the argument at `position`, or the one called `name`; null if neither is given.
  const Value* Find(size_t position, std::string_view name) const;
  // Returns the number of arguments without a name.
  size_t positional() const { return values.size() - names.size(); }
};

// In jinja_values.cpp: operators, and access to parts of values.
bool IsEqual(const Value& left, const Value& right, const At& at);
bool Contains(const Value& whole, const Value& part, const At& at);
Value ApplyOperator(std::string_view name, const Value& left, const Value& right, const At& at);
// Returns VALUE[INDEX], or VALUE.NAME if the index is the name as a string.
Value ItemOf(const Value& value, const Value& index, const At& at);
Value SliceOf(const Value& value, const Value& begin, const Value& end, const Value& step,
              const At& at);
int64_t WholeNumber(const Value& value, const At& at);
// Returns a key of `entries` as templates see it: a string, or a number.
Value KeyOf(const Entries& entries, const std::string& key, const At& at);
// Returns the items of a loop: the list itself, the keys of a mapping, the characters of a string.
Value ItemsOf(const Value& value, const At& at);

// In jinja_text.cpp: conversion of values to text, and operations on strings.
const std::string& TextOf(const Value& value, const At& at);  // only for strings
// Returns the text that str() of Python gives; empty for an undefined value.
std::string ToText(const Value& value, const At& at);
// The format of json.dumps of Python. indent: none, a number or a string.
struct JsonFormat {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool lines = false;  // each entry on its own line, after the indent
  std::string indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
std::string ToJson(const Value& value, const JsonFormat& format, const At& at);
// Returns the first offset of `part` at or after `from`, else npos; time is linear in the text.
size_t FindIn(std::string_view text, std::string_view part, size_t from, const At& at);
// Returns the text that repr() of Python gives.
std::string Representation(const Value& value, const At& at);
std::string StripCharacters(const std::string& text, const Value* characters, bool left, bool right,
                            const At& at);
// Splits a text; a null separator splits at white space. most: maximum number of splits; -1: no
// maximum.
Value SplitText(const std::string& text, const Value* separator, int64_t most, const At& at);
// Splits a text from its end, like str.rsplit of Python.
Value SplitTextFromEnd(const std::string& text, const Value* separator, int64_t most, const At& at);
// Returns the lines of a text without their ends, like str.splitlines of Python.
std::vector<std::string> LinesOf(const std::string& text, const At& at);
std::string ReplaceIn(const std::string& text, const std::string& from, const std::string& to,
                      int64_t most, const At& at);
std::string ChangeCase(std::string text, bool upper, const At& at);
std::string Capitalise(std::string text, bool each_word, const At& at);
Value JoinItems(const Value& items, std::string_view separator, const At& at);
size_t CountCharacters(std::string_view text, const At& at);
// Returns the byte offset of the character at `index`, which is at most the number of characters.
size_t CharacterOffset(std::string_view text, size_t index);

// In jinja_format.cpp: return pattern.format(arguments) and pattern % given, as in Python.
Value FormatFields(const std::string& pattern, const Arguments& arguments, const At& at);
Value FormatPercent(const Value& pattern, const Value& given, const At& at);

// In jinja_sequences.cpp: filters that sort or aggregate items.
Value SortItems(const Value& value, const Arguments& arguments, const At& at);
Value UniqueItems(const Value& value, const Arguments& arguments, const At& at);
Value ExtremeItem(const Value& value, const Arguments& arguments, bool largest, const At& at);
Value SumItems(const Value& value, const Arguments& arguments, const At& at);
Value IndentLines(const Value& value, const Arguments& arguments, const At& at);
// Returns an item's attribute by a path such as "a.b", or its element if the path is a number.
Value AttributeOf(const Value& item, const Value& path, const At& at);

// Apply a filter, a test or a method by its name (in jinja_filters.cpp and jinja_methods.cpp).
Value ApplyFilter(const std::string& name, const Value& value, const Arguments& arguments,
                  const At& at);
bool ApplyTest(const std::string& name, const Value& value, const Arguments& arguments,
               const At& at);
Value CallMethod(const std::string& name, const Value& value, const Arguments& arguments,
                 const At& at);
// Whether `name` is a method of the value's type. Reading value.name without a call is then an
// error.
bool IsMethod(const Value& value, std::string_view name);

// In jinja_functions.cpp: functions that every template can call.
const std::vector<std::pair<std::string_view, Function>>& Functions();
// State that functions share during one rendering.
struct Surroundings {
  const std::string& date;  // for strftime_now
  // All namespaces. They may refer to each other in a cycle, so the renderer must clear them.
  std::vector<std::shared_ptr<Entries>>& spaces;
};
Value CallFunction(Function function, const Arguments& arguments, const Surroundings& surroundings,
                   const At& at);

}  // namespace midscope::jinja
