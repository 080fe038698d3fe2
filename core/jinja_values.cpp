// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "core/jinja.h"
#include "core/unicode_text.h"
#include "core/utf8.h"

namespace midscope::jinja {
namespace {

// Longer than any conversation: values that a template makes of others stop growing here.
constexpr size_t kMaxItems = 1'000'000;
constexpr size_t kMaxBytes = size_t{256} << 20;

const Value undefined_value(Value::value_t::discarded);

const std::string& Text(const Value& value, size_t line) {
  if (!value.is_string()) Fail(line, "an operation on what is no text");
  return value.get_ref<const std::string&>();
}

// The characters to strip: white space, or those given.
std::string Strip(const std::string& text, const Arguments& arguments, bool left, bool right) {
  std::string set;
  const bool given = !arguments.values.empty() && arguments.values[0].is_string();
  if (given) set = arguments.values[0].get<std::string>();
  const auto stripped = [&](const Character& character, size_t at) {
    return given
               ? set.find(text.substr(at, character.length)) != std::string::npos
               : IsWhiteSpace(character.code) || (character.code >= 0x1c && character.code <= 0x1f);
  };
  size_t begin = 0;
  size_t end = text.size();
  while (left && begin < end && stripped(CharacterAt(text, begin), begin))
    begin += CharacterAt(text, begin).length;
  while (right && end > begin) {
    const Character last = CharacterBefore(text, end);
    if (!stripped(last, end - last.length)) break;
    end -= last.length;
  }
  return text.substr(begin, end - begin);
}

Value Split(const std::string& text, const Arguments& arguments) {
  Value parts = Value::array();
  if (arguments.values.size() != 1 || Text(arguments.values[0], arguments.line).empty())
    Fail(arguments.line, "split() without one separator");
  const std::string& separator = arguments.values[0].get_ref<const std::string&>();
  size_t done = 0;
  for (size_t at; (at = text.find(separator, done)) != std::string::npos;
       done = at + separator.size())
    parts.push_back(text.substr(done, at - done));
  parts.push_back(text.substr(done));
  return parts;
}

std::string ReplaceAll(const std::string& text, const std::string& from, const std::string& to,
                       size_t line) {
  if (from.empty()) Fail(line, "replacing nothing");
  std::string result;
  size_t done = 0;
  for (size_t at; (at = text.find(from, done)) != std::string::npos; done = at + from.size()) {
    result.append(text, done, at - done).append(to);
    if (result.size() > kMaxBytes) Fail(line, "a text too large");
  }
  return result.append(text, done);
}

// ASCII only: names of roles.
std::string Case(std::string text, bool upper, size_t line) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) Fail(line, "upper or lower case of " + Quote(text));
    if (upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') c = static_cast<char>(c ^ 0x20);
  }
  return text;
}

std::string Capitalise(const std::string& text, bool each_word, size_t line) {
  std::string result = Case(text, false, line);
  bool begins = true;
  for (char& c : result) {
    const bool letter = c >= 'a' && c <= 'z';
    if (begins && letter) c = static_cast<char>(c ^ 0x20);
    begins = each_word && !letter && c != '\'';
  }
  return result;
}

Value Pairs(const Value& dict) {
  Value pairs = Value::array();
  for (const auto& [key, value] : dict.items()) pairs.push_back(Value::array({key, value}));
  return pairs;
}

Value Length(const Value& value, size_t line) {
  if (value.is_array() || value.is_object()) return value.size();
  const std::string& text = Text(value, line);
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

Value Join(const Value& list, const Arguments& arguments) {
  if (!list.is_array()) Fail(arguments.line, "join of what is no list");
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0 && !arguments.values.empty()) text += Text(arguments.values[0], arguments.line);
    text += ToText(list[i], arguments.line);
  }
  return text;
}

Value SelectAttribute(const Value& list, const Arguments& arguments) {
  if (!list.is_array() || arguments.values.size() != 3 || !arguments.names.empty())
    Fail(arguments.line, "selectattr of this form");
  Value kept = Value::array();
  const Arguments rest{{arguments.values[2]}, {}, arguments.line};
  for (const Value& item : list) {
    if (ApplyTest(Text(arguments.values[1], arguments.line),
                  ItemOf(item, arguments.values[0], arguments.line), rest))
      kept.push_back(item);
  }
  return kept;
}

using Filter = std::function<Value(const Value&, const Arguments&)>;

const std::map<std::string, Filter>& Filters() {
  static const std::map<std::string, Filter> filters = {
      {"trim",
       [](const Value& v, const Arguments& a) { return Strip(ToText(v, a.line), a, true, true); }},
      {"length", [](const Value& v, const Arguments& a) { return Length(v, a.line); }},
      {"count", [](const Value& v, const Arguments& a) { return Length(v, a.line); }},
      {"upper",
       [](const Value& v, const Arguments& a) { return Case(Text(v, a.line), true, a.line); }},
      {"lower",
       [](const Value& v, const Arguments& a) { return Case(Text(v, a.line), false, a.line); }},
      {"title", [](const Value& v,
                   const Arguments& a) { return Capitalise(Text(v, a.line), true, a.line); }},
      {"capitalize", [](const Value& v,
                        const Arguments& a) { return Capitalise(Text(v, a.line), false, a.line); }},
      {"string", [](const Value& v, const Arguments& a) { return ToText(v, a.line); }},
      {"safe", [](const Value& v, const Arguments&) { return v; }},
      {"join", Join},
      {"items",
       [](const Value& v, const Arguments& a) {
         if (!v.is_object()) Fail(a.line, "items of what is no mapping");
         return Pairs(v);
       }},
      {"list",
       [](const Value& v, const Arguments& a) {
         if (!v.is_array()) Fail(a.line, "list of what is no list");
         return v;
       }},
      {"first",
       [](const Value& v, const Arguments& a) {
         if (!v.is_array()) Fail(a.line, "first of what is no list");
         return v.empty() ? undefined_value : v.front();
       }},
      {"last",
       [](const Value& v, const Arguments& a) {
         if (!v.is_array()) Fail(a.line, "last of what is no list");
         return v.empty() ? undefined_value : v.back();
       }},
      {"selectattr", SelectAttribute},
  };
  return filters;
}

int64_t Whole(const Value& value, size_t line) {
  if (!value.is_number_integer()) Fail(line, "an operation on what is no whole number");
  return value.get<int64_t>();
}

}  // namespace

bool IsUndefined(const Value& value) { return value.is_discarded(); }

bool IsTrue(const Value& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  if (value.is_array() || value.is_object()) return !value.empty();
  return false;
}

std::string ToText(const Value& value, size_t line) {
  if (IsUndefined(value)) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number_integer()) return std::to_string(value.get<int64_t>());
  Fail(line, "writing out a list or a mapping");
}

Value ApplyFilter(const std::string& name, const Value& value, const Arguments& arguments) {
  if (name == "default" || name == "d") {
    if (arguments.values.empty()) Fail(arguments.line, "default without a value");
    const bool also_false = arguments.values.size() > 1 && IsTrue(arguments.values[1]);
    return IsUndefined(value) || (also_false && !IsTrue(value)) ? arguments.values[0] : value;
  }
  if (name == "replace") {
    if (arguments.values.size() != 2) Fail(arguments.line, "replace of this form");
    return ReplaceAll(Text(value, arguments.line), Text(arguments.values[0], arguments.line),
                      Text(arguments.values[1], arguments.line), arguments.line);
  }
  const auto found = Filters().find(name);
  if (found == Filters().end()) Fail(arguments.line, "the filter " + Quote(name));
  return found->second(value, arguments);
}

bool ApplyTest(const std::string& name, const Value& value, const Arguments& arguments) {
  if (name == "defined") return !IsUndefined(value);
  if (name == "undefined") return IsUndefined(value);
  if (name == "none") return value.is_null() && !IsUndefined(value);
  if (name == "string") return value.is_string();
  if (name == "mapping") return value.is_object();
  if (name == "iterable" || name == "sequence")
    return value.is_array() || value.is_object() || value.is_string();
  if (name == "number") return value.is_number();
  if (name == "integer") return value.is_number_integer();
  if (name == "boolean") return value.is_boolean();
  if (name == "true") return value.is_boolean() && value.get<bool>();
  if (name == "false") return value.is_boolean() && !value.get<bool>();
  if ((name == "equalto" || name == "eq") && arguments.values.size() == 1)
    return IsTrue(ApplyOperator("==", value, arguments.values[0], arguments.line));
  if (name == "odd") return Whole(value, arguments.line) % 2 != 0;
  if (name == "even") return Whole(value, arguments.line) % 2 == 0;
  Fail(arguments.line, "the test " + Quote(name));
}

Value CallMethod(const std::string& name, const Value& value, const Arguments& arguments) {
  if (value.is_object()) {
    if (name == "items") return Pairs(value);
    if (name == "get" && !arguments.values.empty()) {
      const auto found = value.find(Text(arguments.values[0], arguments.line));
      if (found != value.end()) return *found;
      return arguments.values.size() > 1 ? arguments.values[1] : Value(nullptr);
    }
  } else if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (name == "strip") return Strip(text, arguments, true, true);
    if (name == "lstrip") return Strip(text, arguments, true, false);
    if (name == "rstrip") return Strip(text, arguments, false, true);
    if (name == "split") return Split(text, arguments);
    if ((name == "startswith" || name == "endswith") && arguments.values.size() == 1) {
      const std::string& part = Text(arguments.values[0], arguments.line);
      return name == "startswith" ? text.starts_with(part) : text.ends_with(part);
    }
    for (const char* filter : {"upper", "lower", "title", "capitalize", "replace"}) {
      if (name == filter) return ApplyFilter(name, value, arguments);
    }
  }
  Fail(arguments.line, "the method " + Quote(name));
}

Value ApplyOperator(const std::string& name, const Value& left, const Value& right, size_t line) {
  if (name == "==" || name == "!=") {
    const bool equal = IsUndefined(left) || IsUndefined(right)
                           ? IsUndefined(left) && IsUndefined(right)
                           : left == right;
    return equal == (name == "==");
  }
  if (name == "in" || name == "not in") {
    bool inside = false;
    if (right.is_string()) {
      inside = right.get_ref<const std::string&>().find(Text(left, line)) != std::string::npos;
    } else if (right.is_object()) {
      inside = right.contains(Text(left, line));
    } else if (right.is_array()) {
      inside = std::find(right.begin(), right.end(), left) != right.end();
    } else if (!IsUndefined(right)) {
      Fail(line, "'in' with what is no list");
    }
    return inside == (name == "in");
  }
  if (name == "~" || (name == "+" && left.is_string() && right.is_string())) {
    std::string joined = ToText(left, line) + ToText(right, line);
    if (joined.size() > kMaxBytes) Fail(line, "a text too large");
    return joined;
  }
  if (name == "+" && left.is_array() && right.is_array()) {
    if (left.size() + right.size() > kMaxItems) Fail(line, "a list too large");
    Value joined = left;
    for (const Value& item : right) joined.push_back(item);
    return joined;
  }
  const int64_t a = Whole(left, line);
  const int64_t b = Whole(right, line);
  constexpr int64_t kLimit = int64_t{1} << 31;
  if (a > kLimit || a < -kLimit || b > kLimit || b < -kLimit) Fail(line, "a number this large");
  if (name == "+") return a + b;
  if (name == "-") return a - b;
  if (name == "*") return a * b;
  if (name == "<") return a < b;
  if (name == ">") return a > b;
  if (name == "<=") return a <= b;
  if (name == ">=") return a >= b;
  if ((name == "%" || name == "//") && b != 0) {
    // Rounded down, as Python does.
    const int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    return name == "//" ? quotient : a - quotient * b;
  }
  Fail(line, "the operation " + Quote(name));
}

Value ItemOf(const Value& value, const Value& index, size_t line) {
  if (IsUndefined(value)) Fail(line, "a part of what is undefined");
  if (value.is_object() && index.is_string()) {
    const auto found = value.find(index.get_ref<const std::string&>());
    return found == value.end() ? undefined_value : *found;
  }
  if (value.is_array() && index.is_number_integer()) {
    int64_t at = index.get<int64_t>();
    const auto size = static_cast<int64_t>(value.size());
    if (at < 0) at += size;
    return at < 0 || at >= size ? undefined_value : value[static_cast<size_t>(at)];
  }
  // Texts and numbers have no parts that templates ask for, except to find out that they have none.
  if (index.is_string()) return undefined_value;
  Fail(line, "this kind of index");
}

Value SliceOf(const Value& value, const Value& begin, const Value& end, const Value& step,
              size_t line) {
  if (!value.is_array()) Fail(line, "a slice of what is no list");
  const auto size = static_cast<int64_t>(value.size());
  const int64_t by = step.is_null() ? 1 : Whole(step, line);
  if (by != 1 && by != -1) Fail(line, "a slice with this step");
  const auto bound = [&](const Value& given, int64_t otherwise) {
    if (given.is_null()) return otherwise;
    const int64_t at = Whole(given, line);
    return std::clamp<int64_t>(at < 0 ? at + size : at, by > 0 ? 0 : -1, by > 0 ? size : size - 1);
  };
  Value part = Value::array();
  const int64_t last = bound(end, by > 0 ? size : -1);
  for (int64_t i = bound(begin, by > 0 ? 0 : size - 1); by > 0 ? i < last : i > last; i += by)
    part.push_back(value[static_cast<size_t>(i)]);
  return part;
}

}  // namespace midscope::jinja
