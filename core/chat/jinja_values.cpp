// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/utf8.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_operations.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope::jinja {
namespace {

// Returns Python's integer value; booleans are integers too.
std::optional<int64_t> Integer(const Value& value) {
  if (value.integer() != nullptr) return *value.integer();
  if (value.boolean() != nullptr) return *value.boolean() ? 1 : 0;
  return std::nullopt;
}

std::optional<double> Real(const Value& value) {
  if (value.real() != nullptr) return *value.real();
  if (const auto integer = Integer(value)) return static_cast<double>(*integer);
  return std::nullopt;
}

bool IsEqualList(const Items& left, const Items& right, const At& at) {
  if (&left == &right) return true;
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [&](const Value& a, const Value& b) { return IsEqual(a, b, at); });
}

bool IsEqualMapping(const Entries& left, const Entries& right, const At& at) {
  if (&left == &right) return true;
  if (left.all().size() != right.all().size()) return false;
  return std::all_of(left.all().begin(), left.all().end(), [&](const auto& entry) {
    at.Scan(entry.first.size());
    const Value* other = right.Find(entry.first);
    return other != nullptr && IsEqual(entry.second, *other, at);
  });
}

[[noreturn]] void FailOperation(std::string_view name, const At& at) {
  Fail(at.line, "the operation " + Quote(name) + " on these values");
}

// Rounds down, as Python does.
int64_t FloorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// The result is an integer if the exponent is not negative, as in Python.
Value Power(int64_t base, int64_t exponent, const At& at) {
  if (base == 0 && exponent < 0) Fail(at.line, "a division by zero");
  const double power = std::pow(static_cast<double>(base), static_cast<double>(exponent));
  constexpr double kExact = 1LL << 53;
  if (exponent < 0) return Value::Of(power);
  if (std::abs(power) > kExact) Fail(at.line, "a number this large");
  return Value::Of(static_cast<int64_t>(power));
}

Value WholeArithmetic(std::string_view name, int64_t a, int64_t b, const At& at) {
  constexpr int64_t kLimit = int64_t{1} << 31;  // so that no product overflows
  if (a > kLimit || a < -kLimit || b > kLimit || b < -kLimit) Fail(at.line, "a number this large");
  if (name == "+") return Value::Of(a + b);
  if (name == "-") return Value::Of(a - b);
  if (name == "*") return Value::Of(a * b);
  if (name == "**") return Power(a, b, at);
  if (name != "/" && name != "//" && name != "%") FailOperation(name, at);
  if (b == 0) Fail(at.line, "a division by zero");
  if (name == "/") return Value::Of(static_cast<double>(a) / static_cast<double>(b));
  const int64_t quotient = FloorDivide(a, b);
  return Value::Of(name == "//" ? quotient : a - quotient * b);
}

Value RealArithmetic(std::string_view name, double a, double b, const At& at) {
  if (name == "+") return Value::Of(a + b);
  if (name == "-") return Value::Of(a - b);
  if (name == "*") return Value::Of(a * b);
  if (name == "**" && a >= 0) return Value::Of(std::pow(a, b));
  if (name != "/") FailOperation(name, at);
  if (b == 0) Fail(at.line, "a division by zero");
  return Value::Of(a / b);
}

template <typename T>
bool Compare(std::string_view name, const T& left, const T& right) {
  if (name == "<") return left < right;
  if (name == ">") return left > right;
  if (name == "<=") return left <= right;
  return left >= right;
}

// Compares by the first items that differ, as in Python.
Value CompareLists(std::string_view name, const Items& left, const Items& right, const At& at) {
  const size_t both = std::min(left.size(), right.size());
  for (size_t i = 0; i < both; ++i) {
    if (!IsEqual(left[i], right[i], at)) return ApplyOperator(name, left[i], right[i], at);
  }
  return Value::Of(Compare(name, left.size(), right.size()));
}

Value ApplyComparison(std::string_view name, const Value& left, const Value& right, const At& at) {
  if (left.text() != nullptr && right.text() != nullptr) {
    at.Scan(std::min(left.text()->size(), right.text()->size()));
    return Value::Of(Compare(name, *left.text(), *right.text()));
  }
  if (left.IsListOrTuple() && right.IsListOrTuple() && left.form() == right.form())
    return CompareLists(name, *left.list(), *right.list(), at);
  const auto a = Integer(left);
  const auto b = Integer(right);
  if (a && b) return Value::Of(Compare(name, *a, *b));
  const auto x = Real(left);
  const auto y = Real(right);
  if (!x || !y) FailOperation(name, at);
  return Value::Of(Compare(name, *x, *y));
}

Value JoinTexts(const Value& left, const Value& right, const At& at) {
  // Two strings are joined without copying either, because they may be long.
  if (left.text() != nullptr && right.text() != nullptr) {
    at.MakeText(left.text()->size() + right.text()->size());
    return Value::Text(*left.text() + *right.text());
  }
  const std::string a = ToText(left, at);
  const std::string b = ToText(right, at);
  at.MakeText(a.size() + b.size());
  return Value::Text(a + b);
}

// Escapes HTML like escape() of markupsafe; a string marked as safe is unchanged.
Value Escaped(const Value& value, const At& at) {
  if (value.is_safe()) return value;
  constexpr std::string_view kCharacters = "&<>'\"";
  constexpr std::array<std::string_view, 5> kEscapes = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
  at.MakeText(value.text()->size() * 5);
  std::string text;
  for (const char c : *value.text()) {
    const size_t special = kCharacters.find(c);
    special == kCharacters.npos ? text += c : text += kEscapes.at(special);
  }
  return Value::Text(std::move(text), at);
}

Value JoinLists(const Value& left, const Value& right, const At& at) {
  at.MakeItems(left.list()->size() + right.list()->size());
  Items joined = *left.list();
  joined.insert(joined.end(), right.list()->begin(), right.list()->end());
  return Value::List(std::move(joined), at, left.form());
}

Value Repeat(const Value& value, int64_t times, const At& at) {
  const auto count = static_cast<size_t>(std::clamp<int64_t>(times, 0, kMaxTextBytes + 1));
  if (value.text() != nullptr) {
    const size_t size = value.text()->size() * count;
    at.MakeText(size);
    std::string text;
    text.reserve(size);
    for (size_t i = 0; size > 0 && i < count; ++i) text += *value.text();
    return value.is_safe() ? Value::Text(std::move(text)).AsSafe() : Value::Text(std::move(text));
  }
  at.MakeItems(value.list()->size() * count);
  Items items;
  for (size_t i = 0; !value.list()->empty() && i < count; ++i)
    items.insert(items.end(), value.list()->begin(), value.list()->end());
  return Value::List(std::move(items), at, value.form());
}

}  // namespace

bool IsEqual(const Value& left, const Value& right, const At& at) {
  at.Step();
  if (left.text() != nullptr && right.text() != nullptr) {
    if (left.text() == right.text()) return true;
    if (left.text()->size() != right.text()->size()) return false;
    at.Scan(left.text()->size());
    return *left.text() == *right.text();
  }
  if (left.list() != nullptr && right.list() != nullptr) {
    if (left.form() != right.form()) return false;
    if (left.form() == Form::kOnce) return left.list() == right.list();
    return IsEqualList(*left.list(), *right.list(), at);
  }
  if (left.mapping() != nullptr && right.mapping() != nullptr)
    return left.mapping()->keys_are_numbers() == right.mapping()->keys_are_numbers() &&
           IsEqualMapping(*left.mapping(), *right.mapping(), at);
  const auto a = Integer(left);
  const auto b = Integer(right);
  if (a && b) return *a == *b;
  const auto x = Real(left);
  const auto y = Real(right);
  if (x && y) return *x == *y;
  return (left.IsUndefined() && right.IsUndefined()) || (left.IsNone() && right.IsNone()) ||
         (left.space() != nullptr && left.space() == right.space()) ||
         (left.loop() != nullptr && left.loop() == right.loop()) ||
         (left.macro() != nullptr && left.macro() == right.macro());
}

bool Contains(const Value& whole, const Value& part, const At& at) {
  if (whole.IsUndefined()) return false;
  if (whole.text() != nullptr)
    return FindIn(*whole.text(), TextOf(part, at), 0, at) != std::string::npos;
  if (whole.mapping() != nullptr) {
    if (whole.mapping()->keys_are_numbers()) {
      return part.integer() != nullptr &&
             whole.mapping()->Find(std::to_string(*part.integer())) != nullptr;
    }
    if (part.text() == nullptr) return false;
    at.Scan(part.text()->size());
    return whole.mapping()->Find(*part.text()) != nullptr;
  }
  if (whole.list() == nullptr) Fail(at.line, "'in' with a value that is not a list");
  whole.UseItems(at);
  return std::any_of(whole.list()->begin(), whole.list()->end(),
                     [&](const Value& item) { return IsEqual(item, part, at); });
}

int64_t WholeNumber(const Value& value, const At& at) {
  const auto integer = Integer(value);
  if (!integer) Fail(at.line, "an operation on a value that is not an integer");
  return *integer;
}

Value ApplyOperator(std::string_view name, const Value& left, const Value& right, const At& at) {
  if (name == "==" || name == "!=") return Value::Of(IsEqual(left, right, at) == (name == "=="));
  if (name == "in" || name == "not in")
    return Value::Of(Contains(right, left, at) == (name == "in"));
  const bool texts = left.text() != nullptr && right.text() != nullptr;
  if (name == "+" && texts && (left.is_safe() || right.is_safe()))
    return JoinTexts(Escaped(left, at), Escaped(right, at), at).AsSafe();
  if (name == "~" || (name == "+" && texts)) return JoinTexts(left, right, at);
  if (name == "<" || name == ">" || name == "<=" || name == ">=")
    return ApplyComparison(name, left, right, at);
  if (name == "+" && left.IsListOrTuple() && right.IsListOrTuple() && left.form() == right.form())
    return JoinLists(left, right, at);
  if (name == "%" && left.text() != nullptr) return FormatPercent(left, right, at);
  const auto a = Integer(left);
  const auto b = Integer(right);
  if (name == "*" && b && (left.text() != nullptr || left.IsListOrTuple()))
    return Repeat(left, *b, at);
  if (a && b) return WholeArithmetic(name, *a, *b, at);
  const auto x = Real(left);
  const auto y = Real(right);
  if (x && y) return RealArithmetic(name, *x, *y, at);
  if (x || y) Fail(at.line, "an operation on a value that is not a number");
  FailOperation(name, at);
}

Value KeyOf(const Entries& entries, const std::string& key, const At& at) {
  return entries.keys_are_numbers() ? Value::Of(static_cast<int64_t>(std::stoll(key)))
                                    : Value::Text(key, at);
}

Value ItemsOf(const Value& value, const At& at) {
  if (value.list() != nullptr) {
    value.UseItems(at);
    return value;
  }
  Items items;
  if (value.mapping() != nullptr) {
    for (const auto& [key, entry] : value.mapping()->all())
      items.push_back(KeyOf(*value.mapping(), key, at));
  } else if (value.text() != nullptr) {
    at.MakeItems(value.text()->size());
    for (size_t i = 0; i < value.text()->size();) {
      const size_t length = CharacterAt(*value.text(), i).length;
      items.push_back(Value::Text(value.text()->substr(i, length), at));
      i += length;
    }
  } else if (!value.IsUndefined()) {
    Fail(at.line, "iterating over a value that is not a list");
  }
  return Value::List(std::move(items), at);
}

namespace {

Value PartOf(const Value& value, const Value& index, const At& at);
Value SlicedOf(const Value& value, const Value& begin, const Value& end, const Value& step,
               const At& at);

}  // namespace

// Parts of a string marked as safe are also safe.
Value ItemOf(const Value& value, const Value& index, const At& at) {
  Value part = PartOf(value, index, at);
  return value.is_safe() && part.text() != nullptr ? part.AsSafe() : part;
}

Value SliceOf(const Value& value, const Value& begin, const Value& end, const Value& step,
              const At& at) {
  Value part = SlicedOf(value, begin, end, step, at);
  return value.is_safe() ? part.AsSafe() : part;
}

namespace {

Value PartOf(const Value& value, const Value& index, const At& at) {
  if (value.IsUndefined()) Fail(at.line, "a part of what is undefined");
  if (value.mapping() != nullptr && value.mapping()->keys_are_numbers()) {
    if (index.integer() == nullptr) return {};
    const Value* found = value.mapping()->Find(std::to_string(*index.integer()));
    return found == nullptr ? Value() : *found;
  }
  if (index.text() != nullptr) {
    at.Scan(index.text()->size());
    const Value* found = value.mapping() != nullptr ? value.mapping()->Find(*index.text())
                         : value.space() != nullptr ? value.space()->Find(*index.text())
                                                    : nullptr;
    if (found != nullptr) return *found;
    if (value.loop() != nullptr) return value.loop()->Attribute(*index.text(), at);
    // A missing attribute is an undefined value instead of an error, because templates test for it.
    return {};
  }
  if (value.list() == nullptr && value.text() == nullptr) Fail(at.line, "this kind of index");
  if (value.list() != nullptr && !value.IsListOrTuple() && value.form() != Form::kRange) return {};
  int64_t place = WholeNumber(index, at);
  const auto size = static_cast<int64_t>(
      value.list() != nullptr ? value.list()->size() : CountCharacters(*value.text(), at));
  if (place < 0) place += size;
  if (place < 0 || place >= size) return {};
  if (value.list() != nullptr) return (*value.list())[static_cast<size_t>(place)];
  const size_t offset = CharacterOffset(*value.text(), static_cast<size_t>(place));
  return Value::Text(value.text()->substr(offset, CharacterAt(*value.text(), offset).length), at);
}

Value SlicedOf(const Value& value, const Value& begin, const Value& end, const Value& step,
               const At& at) {
  if (value.IsUndefined()) Fail(at.line, "a part of what is undefined");
  const bool is_text = value.text() != nullptr;
  if (!is_text && !value.IsListOrTuple()) Fail(at.line, "a slice of a value that is not a list");
  const auto size =
      static_cast<int64_t>(is_text ? CountCharacters(*value.text(), at) : value.list()->size());
  const int64_t by = step.IsNone() ? 1 : WholeNumber(step, at);
  if (by == 0) Fail(at.line, "a slice with step 0");
  const auto bound = [&](const Value& given, int64_t otherwise) {
    if (given.IsNone()) return otherwise;
    const int64_t place = WholeNumber(given, at);
    return std::clamp<int64_t>(place < 0 ? place + size : place, by > 0 ? 0 : -1,
                               by > 0 ? size : size - 1);
  };
  const int64_t first = bound(begin, by > 0 ? 0 : size - 1);
  const int64_t last = bound(end, by > 0 ? size : -1);
  if (is_text && by == 1) {
    const size_t from = CharacterOffset(*value.text(), static_cast<size_t>(first));
    const size_t to =
        first < last ? CharacterOffset(*value.text(), static_cast<size_t>(last)) : from;
    return Value::Text(value.text()->substr(from, to - from), at);
  }
  const Value all = ItemsOf(value, at);
  Items part;
  // Limits the step to size + 1, so that adding it cannot overflow.
  const int64_t stride = std::clamp<int64_t>(by, -size - 1, size + 1);
  for (int64_t i = first; by > 0 ? i < last : i > last; i += stride)
    part.push_back((*all.list())[static_cast<size_t>(i)]);
  return is_text ? JoinItems(Value::List(std::move(part), at), "", at)
                 : Value::List(std::move(part), at, value.form());
}

}  // namespace

}  // namespace midscope::jinja
