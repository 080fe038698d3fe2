// SPDX-License-Identifier: MIT
// Operations of the template language on values, with the semantics of Python and Jinja. Each
// throws Error for unsupported operations and limits. Internal to core.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/chat/jinja_value.h"

namespace midscope::jinja {

// Arguments of a call, filter or test. `names` are those of the last arguments.
struct Arguments {
  std::vector<Value> values;
  std::vector<std::string> names;

  // The argument at `position`, or the one called `name`; null where it is not given.
  const Value* Find(size_t position, std::string_view name) const;
  // Those without a name.
  size_t positional() const { return values.size() - names.size(); }
};

// jinja_values.cpp: operators, parts of values.
bool IsEqual(const Value& left, const Value& right, const At& at);
bool Contains(const Value& whole, const Value& part, const At& at);
Value ApplyOperator(std::string_view name, const Value& left, const Value& right, const At& at);
// VALUE[INDEX], and VALUE.NAME with the name as a text.
Value ItemOf(const Value& value, const Value& index, const At& at);
Value SliceOf(const Value& value, const Value& begin, const Value& end, const Value& step,
              const At& at);
int64_t WholeNumber(const Value& value, const At& at);
// A key of `entries` as templates see it: a text, or a number.
Value KeyOf(const Entries& entries, const std::string& key, const At& at);
// The items of a loop: the list itself, the keys of a mapping, the characters of a text.
Value ItemsOf(const Value& value, const At& at);

// jinja_text.cpp: values as text, and work on texts.
const std::string& TextOf(const Value& value, const At& at);  // of a text alone
// As str() of Python writes it; nothing for what is undefined.
std::string ToText(const Value& value, const At& at);
// As json.dumps of Python. indent: none, a number or a text.
struct JsonFormat {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool lines = false;  // each entry on a line of its own, after the indent
  std::string indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
std::string ToJson(const Value& value, const JsonFormat& format, const At& at);
// The first place of `part` at or after `from`, else npos; time linear in the text.
size_t FindIn(std::string_view text, std::string_view part, size_t from, const At& at);
// As repr() of Python writes it.
std::string Representation(const Value& value, const At& at);
std::string StripCharacters(const std::string& text, const Value* characters, bool left, bool right,
                            const At& at);
// separator null: at white space. most: how often at most; -1 any.
Value SplitText(const std::string& text, const Value* separator, int64_t most, const At& at);
// As SplitText, from the end.
Value SplitTextFromEnd(const std::string& text, const Value* separator, int64_t most, const At& at);
// The lines of a text without their ends, as str.splitlines of Python.
std::vector<std::string> LinesOf(const std::string& text, const At& at);
std::string ReplaceIn(const std::string& text, const std::string& from, const std::string& to,
                      int64_t most, const At& at);
std::string ChangeCase(std::string text, bool upper, const At& at);
std::string Capitalise(std::string text, bool each_word, const At& at);
Value JoinItems(const Value& items, std::string_view separator, const At& at);
size_t CountCharacters(std::string_view text, const At& at);
// Byte offset of the character at `index`, which is at most their number.
size_t CharacterOffset(std::string_view text, size_t index);

// jinja_format.cpp: `pattern`.format(arguments), and `pattern` % given.
Value FormatFields(const std::string& pattern, const Arguments& arguments, const At& at);
Value FormatPercent(const Value& pattern, const Value& given, const At& at);

// jinja_sequences.cpp: filters that order or sum up items.
Value SortItems(const Value& value, const Arguments& arguments, const At& at);
Value UniqueItems(const Value& value, const Arguments& arguments, const At& at);
Value ExtremeItem(const Value& value, const Arguments& arguments, bool largest, const At& at);
Value SumItems(const Value& value, const Arguments& arguments, const At& at);
Value IndentLines(const Value& value, const Arguments& arguments, const At& at);
// An item's attribute "a.b", or the item at a number.
Value AttributeOf(const Value& item, const Value& path, const At& at);

// jinja_filters.cpp, jinja_methods.cpp
Value ApplyFilter(const std::string& name, const Value& value, const Arguments& arguments,
                  const At& at);
bool ApplyTest(const std::string& name, const Value& value, const Arguments& arguments,
               const At& at);
Value CallMethod(const std::string& name, const Value& value, const Arguments& arguments,
                 const At& at);
// Whether `value.name` is a method, so that without a call it is no entry.
bool IsMethod(const Value& value, std::string_view name);

// jinja_functions.cpp: what every template can call.
const std::vector<std::pair<std::string_view, Function>>& Functions();
// State that functions share in one rendering.
struct Surroundings {
  const std::string& date;  // strftime_now
  // All namespaces: they may hold each other, so that whoever renders must clear them.
  std::vector<std::shared_ptr<Entries>>& spaces;
};
Value CallFunction(Function function, const Arguments& arguments, const Surroundings& surroundings,
                   const At& at);

}  // namespace midscope::jinja
