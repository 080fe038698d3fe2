// SPDX-License-Identifier: MIT
// str.format and the operator % of Python on texts, with the parts of the format language that
// templates use: width, fill, alignment, sign, and the types of integers, floats and texts.
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_operations.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope::jinja {
namespace {

constexpr size_t kMaxWidth = 10'000;

struct Spec {
  std::string fill = " ";
  char align = 0;  // < > ^ =; 0: depends on the kind of value
  char sign = 0;
  bool alternate = false;
  size_t width = 0;
  std::optional<size_t> precision;
  char type = 0;
};

class SpecReader {
 public:
  SpecReader(std::string_view text, const At& at) : text_(text), at_(at) {}

  bool Take(char c) { return !text_.empty() && text_.front() == c && (Skip(), true); }
  char TakeOneOf(std::string_view set) {
    if (text_.empty() || set.find(text_.front()) == set.npos) return 0;
    return Skip();
  }
  size_t Number() {
    size_t number = 0;
    while (!text_.empty() && IsDigit(text_.front())) {
      number = number * 10 + static_cast<size_t>(Skip() - '0');
      if (number > kMaxWidth) FailLimit(at_.line, kMaxWidth, "characters in one field");
    }
    return number;
  }
  std::string_view rest() const { return text_; }
  void TakeFill(Spec* spec) {
    if (text_.empty()) return;
    const size_t length = CharacterAt(text_, 0).length;
    constexpr std::string_view kAligns = "<>^=";
    if (length < text_.size() && kAligns.find(text_[length]) != kAligns.npos) {
      spec->fill = text_.substr(0, length);
      text_.remove_prefix(length);
    }
    spec->align = TakeOneOf(kAligns);
  }

 private:
  char Skip() {
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }

  std::string_view text_;
  const At& at_;
};

// Parses a format: "[[fill]align][sign][#][0][width][.precision][type]".
Spec ReadSpec(std::string_view text, const At& at) {
  Spec spec;
  SpecReader reader(text, at);
  reader.TakeFill(&spec);
  spec.sign = reader.TakeOneOf("+- ");
  spec.alternate = reader.Take('#');
  if (reader.Take('0') && spec.align == 0) {
    spec.fill = "0";
    spec.align = '=';
  }
  spec.width = reader.Number();
  if (reader.Take('.')) spec.precision = reader.Number();
  spec.type = reader.TakeOneOf("sdoxXbfFeEgG");
  if (!reader.rest().empty()) Fail(at.line, "the format " + Quote(text));
  return spec;
}

std::string Padded(const std::string& text, const Spec& spec, char align, const At& at) {
  const size_t size = CountCharacters(text, at);
  if (size >= spec.width) return text;
  const size_t missing = spec.width - size;
  const size_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  at.MakeText(text.size() + missing * spec.fill.size());
  std::string before;
  std::string after;
  for (size_t i = 0; i < missing; ++i) (i < left ? before : after) += spec.fill;
  const bool signed_text = !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ');
  const size_t sign = align == '=' && signed_text ? 1 : 0;
  return text.substr(0, sign) + before + text.substr(sign) + after;
}

std::string FormatNumber(const Value& value, const Spec& spec, const At& at) {
  const std::string sign = spec.sign == 0 ? "" : std::string(1, spec.sign);
  const bool integral = value.integer() != nullptr || value.boolean() != nullptr;
  const bool as_integer =
      spec.type == 0 || std::string_view("doxXb").find(spec.type) != std::string_view::npos;
  std::string text;
  if (integral && as_integer) {
    if (spec.precision) Fail(at.line, "a precision of an integer");
    const char type = spec.type == 0 ? 'd' : spec.type;
    text = fmt::format(fmt::runtime("{:" + sign + (spec.alternate ? "#" : "") + type + "}"),
                       WholeNumber(value, at));
  } else if (spec.type == 0 && !spec.precision) {
    text = ToText(value, at);
    if (!sign.empty() && sign != "-" && text[0] != '-') text.insert(0, sign);
  } else {
    if (as_integer || spec.type == 's' || spec.alternate) Fail(at.line, "this format of a number");
    const double number = integral ? static_cast<double>(WholeNumber(value, at)) : *value.real();
    text = fmt::format(fmt::runtime("{:" + sign + ".{}" + spec.type + "}"), number,
                       spec.precision.value_or(6));
  }
  return Padded(text, spec, spec.align == 0 ? '>' : spec.align, at);
}

std::string FormatText(const std::string& text, const Spec& spec, const At& at) {
  if ((spec.type != 0 && spec.type != 's') || spec.sign != 0 || spec.alternate || spec.align == '=')
    Fail(at.line, "this format of a text");
  const size_t size = CountCharacters(text, at);
  const bool cut = spec.precision && *spec.precision < size;
  const std::string kept = cut ? text.substr(0, CharacterOffset(text, *spec.precision)) : text;
  return Padded(kept, spec, spec.align == 0 ? '<' : spec.align, at);
}

// Returns format(value, spec) of Python.
std::string FormatValue(const Value& value, std::string_view spec, const At& at) {
  if (spec.empty()) return ToText(value, at);
  const Spec read = ReadSpec(spec, at);
  if (value.text() != nullptr) return FormatText(*value.text(), read, at);
  const bool number =
      value.integer() != nullptr || value.real() != nullptr || value.boolean() != nullptr;
  if (!number) Fail(at.line, "a format of this value");
  return FormatNumber(value, read, at);
}

// Replaces the fields of a text for str.format.
class Fields {
 public:
  Fields(const Arguments& arguments, const At& at) : arguments_(arguments), at_(at) {}

  // Formats one replacement field such as "name.attribute[key]!r:spec".
  std::string Write(std::string_view field) {
    if (field.find('{') != field.npos) Fail(at_.line, "a format with fields inside");
    const size_t colon = field.find(':');
    const std::string_view spec = colon == field.npos ? "" : field.substr(colon + 1);
    std::string_view name = field.substr(0, colon);
    char conversion = 0;
    if (const size_t mark = name.find('!'); mark != name.npos) {
      if (mark + 2 != name.size()) Fail(at_.line, "this conversion in a format");
      conversion = name.back();
      name = name.substr(0, mark);
    }
    Value value = Find(name);
    if (conversion == 's') value = Value::Text(ToText(value, at_));
    if (conversion == 'r') value = Value::Text(Representation(value, at_));
    if (conversion != 0 && conversion != 's' && conversion != 'r')
      Fail(at_.line, "this conversion in a format");
    return FormatValue(value, spec, at_);
  }

 private:
  Value Find(std::string_view name) {
    const std::string_view first = name.substr(0, name.find_first_of(".["));
    Value value = Argument(first);
    for (std::string_view rest = name.substr(first.size()); !rest.empty();) {
      const bool attribute = rest.front() == '.';
      const size_t end = attribute ? rest.find_first_of(".[", 1) : rest.find(']');
      const std::string_view part = rest.substr(1, end == rest.npos ? rest.npos : end - 1);
      if (part.empty() || (!attribute && end == rest.npos)) Fail(at_.line, "this format");
      value = ItemOf(value, Key(part, !attribute), at_);
      rest = end == rest.npos ? "" : rest.substr(attribute ? end : end + 1);
    }
    return value;
  }

  Value Key(std::string_view part, bool may_be_number) const {
    const bool digits = part.find_first_not_of("0123456789") == part.npos && part.size() < 10;
    if (may_be_number && digits) return Value::Of(int64_t{std::stoll(std::string(part))});
    return Value::Text(std::string(part));
  }

  Value Argument(std::string_view name) {
    const bool number = name.find_first_not_of("0123456789") == name.npos && name.size() < 10;
    if (!number) {
      const Value* found = arguments_.Find(arguments_.values.size(), name);
      if (found == nullptr) Fail(at_.line, "a format of " + Quote(name) + ", which is not given");
      return *found;
    }
    (name.empty() ? automatic_ : manual_) = true;
    if (automatic_ && manual_) Fail(at_.line, "a format with numbered and other fields");
    const size_t index =
        name.empty() ? next_++ : static_cast<size_t>(std::stoll(std::string(name)));
    if (index >= arguments_.positional()) Fail(at_.line, "a format with more fields than values");
    return arguments_.values[index];
  }

  const Arguments& arguments_;
  const At& at_;
  size_t next_ = 0;
  bool automatic_ = false;
  bool manual_ = false;
};

void Append(const std::string& part, std::string* text, const At& at) {
  if (text->size() + part.size() > kMaxTextBytes) at.MakeText(text->size() + part.size());
  *text += part;
}

}  // namespace

Value FormatFields(const std::string& pattern, const Arguments& arguments, const At& at) {
  at.Scan(pattern.size());
  Fields fields(arguments, at);
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '{' && c != '}') {
      text += c;
    } else if (i + 1 < pattern.size() && pattern[i + 1] == c) {
      text += pattern[i++];
    } else {
      const size_t end = c == '{' ? pattern.find('}', i) : pattern.npos;
      if (end == pattern.npos) Fail(at.line, "a format with a single brace");
      at.Step();
      Append(fields.Write(std::string_view(pattern).substr(i + 1, end - i - 1)), &text, at);
      i = end;
    }
  }
  return Value::Text(std::move(text), at);
}

namespace {

// Finds the values of a % operation: for "%(key)s" by key, for "%s" in order.
class PercentValues {
 public:
  PercentValues(const Value& given, const At& at) : given_(given), at_(at) {
    if (given.list() != nullptr && given.form() == Form::kTuple)
      all_ = *given.list();
    else
      all_ = {given};
  }

  Value Next() {
    if (next_ >= all_.size()) Fail(at_.line, "a format with more fields than values");
    return all_[next_++];
  }
  Value Named(std::string_view key) {
    if (given_.mapping() == nullptr) Fail(at_.line, "a format with names and no mapping");
    next_ = all_.size();
    Value value = ItemOf(given_, Value::Text(std::string(key)), at_);
    if (value.IsUndefined()) Fail(at_.line, "a format of " + Quote(key) + ", which is not given");
    return value;
  }
  void CheckAllUsed() const {
    if (next_ < all_.size() && given_.mapping() == nullptr)
      Fail(at_.line, "a format with fewer fields than values");
  }

 private:
  const Value& given_;
  const At& at_;
  Items all_;
  size_t next_ = 0;
};

std::string PercentField(Value value, Spec spec, char type, const At& at) {
  spec.type = type;
  if (type == 's' || type == 'r') {
    spec.sign = 0;
    if (spec.align != '<') spec.align = '>';
    if (spec.fill == "0") spec.fill = " ";
    return FormatText(
        type == 's' ? ToText(value, at) : Representation(value, at),
        [&] {
          spec.type = 's';
          return spec;
        }(),
        at);
  }
  if (type == 'i' || type == 'u') spec.type = 'd';
  if (value.real() != nullptr && spec.type == 'd') {
    if (!(std::abs(*value.real()) < 1e15)) Fail(at.line, "this format of a number");
    value = Value::Of(static_cast<int64_t>(*value.real()));
  }
  if (value.integer() == nullptr && value.real() == nullptr && value.boolean() == nullptr)
    Fail(at.line, "this format of a value that is not a number");
  return FormatNumber(value, spec, at);
}

}  // namespace

Value FormatPercent(const Value& value, const Value& given, const At& at) {
  if (value.is_safe()) Fail(at.line, "a format of a text that is marked safe");
  const std::string& pattern = *value.text();
  at.Scan(pattern.size());
  PercentValues values(given, at);
  std::string text;
  for (size_t i = 0; i < pattern.size();) {
    const size_t mark = std::min(pattern.find('%', i), pattern.size());
    text.append(pattern, i, mark - i);
    if (mark == pattern.size()) break;
    at.Step();
    std::string_view rest = std::string_view(pattern).substr(mark + 1);
    std::optional<std::string_view> key;
    if (rest.starts_with('(')) {
      key = rest.substr(1, rest.find(')') - 1);
      rest.remove_prefix(std::min(rest.size(), key->size() + 2));
    }
    Spec spec;
    SpecReader reader(rest, at);
    while (const char flag = reader.TakeOneOf("-+ 0#")) {
      if (flag == '-') spec.align = '<';
      if (flag == '0' && spec.align == 0) spec.fill = "0", spec.align = '=';
      if (flag == '+' || (flag == ' ' && spec.sign == 0)) spec.sign = flag;
      if (flag == '#') spec.alternate = true;
    }
    if (spec.align == '<') spec.fill = " ";
    spec.width = reader.Number();
    if (reader.Take('.')) spec.precision = reader.Number();
    const char type = reader.TakeOneOf("srdiuoxXfFeEgG%");
    if (type == 0) Fail(at.line, "this format");
    i = pattern.size() - reader.rest().size();
    if (type == '%') {
      text += '%';
      continue;
    }
    Append(PercentField(key ? values.Named(*key) : values.Next(), spec, type, at), &text, at);
  }
  values.CheckAllUsed();
  return Value::Text(std::move(text), at);
}

}  // namespace midscope::jinja
