// SPDX-License-Identifier: MIT
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_operations.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope::jinja {
namespace {

// Returns repr(value) of Python: the shortest text that reads back as the same number, always with
// a point.
std::string RealText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 512> buffer{};
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string Hex(char32_t code, size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(digits, '0');
  for (size_t i = digits; i-- > 0; code >>= 4) text[i] = kDigits[code & 15];
  return text;
}

// Whether str.isprintable of Python is true for this character.
bool IsPrintable(char32_t code) {
  if (code == ' ') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

// Writes a value with its contents, like repr() or json.dumps of Python.
class Writer {
 public:
  // Writes like repr() if `format` is null, else as JSON in that format.
  Writer(const JsonFormat* format, const At& at) : format_(format), at_(at) {}

  std::string Run(const Value& value) {
    Write(value);
    return std::move(out_);
  }

 private:
  void Add(std::string_view text) {
    if (out_.size() + text.size() > kMaxTextBytes) at_.MakeText(out_.size() + text.size());
    out_ += text;
  }

  void Write(const Value& value) {
    at_.Step();
    if (value.text() != nullptr) {
      at_.Scan(value.text()->size());
      if (format_ != nullptr) {
        Quoted(*value.text());
      } else {
        Add(value.is_safe() ? "Markup(" : "");
        Represent(*value.text());
        Add(value.is_safe() ? ")" : "");
      }
    } else if (value.list() != nullptr) {
      WriteList(value);
    } else if (value.mapping() != nullptr) {
      WriteMapping(*value.mapping());
    } else if (format_ == nullptr) {
      Add(ToText(value, at_));
    } else {
      Constant(value);
    }
  }

  void Constant(const Value& value) {
    if (value.IsNone()) {
      Add("null");
    } else if (value.boolean() != nullptr) {
      Add(*value.boolean() ? "true" : "false");
    } else if (value.integer() != nullptr) {
      Add(std::to_string(*value.integer()));
    } else if (value.real() != nullptr) {
      const double real = *value.real();
      Add(std::isnan(real)   ? "NaN"
          : std::isinf(real) ? (real < 0 ? "-Infinity" : "Infinity")
                             : RealText(real));
    } else {
      Fail(at_.line, "tojson of what JSON does not have");
    }
  }

  void Separate(bool first) {
    const bool lines = format_ != nullptr && format_->lines;
    if (!first) Add(format_ == nullptr ? ", " : format_->item_separator);
    if (lines) NewLine();
  }
  void NewLine() {
    Add("\n");
    for (int i = 0; i < depth_; ++i) Add(format_->indent);
  }
  void Close(const char* bracket, bool empty) {
    --depth_;
    if (!empty && format_ != nullptr && format_->lines) NewLine();
    Add(bracket);
  }

  void WriteList(const Value& value) {
    const Items& items = *value.list();
    const Form form = value.form();
    if (form == Form::kRange || form == Form::kOnce || (format_ != nullptr && form > Form::kTuple))
      Fail(at_.line, "printing a value that is not a list (put | list after it)");
    const bool tuple = format_ == nullptr && form == Form::kTuple;
    constexpr std::array<const char*, 5> kNames = {"", "", "dict_keys(", "dict_values(",
                                                   "dict_items("};
    Add(kNames.at(static_cast<size_t>(form)));
    Add(tuple ? "(" : "[");
    ++depth_;
    for (size_t i = 0; i < items.size(); ++i) {
      Separate(i == 0);
      Write(items[i]);
    }
    if (tuple && items.size() == 1) Add(",");
    Close(tuple ? ")" : "]", items.empty());
    if (form > Form::kTuple) Add(")");
  }

  void WriteMapping(const Entries& entries) {
    if (entries.keys_are_numbers()) Fail(at_.line, "the text of a mapping of numbers");
    std::vector<const std::pair<std::string, Value>*> order;
    for (const auto& entry : entries.all()) order.push_back(&entry);
    if (format_ != nullptr && format_->sort_keys)
      std::sort(order.begin(), order.end(),
                [](const auto* a, const auto* b) { return a->first < b->first; });
    Add("{");
    ++depth_;
    for (size_t i = 0; i < order.size(); ++i) {
      Separate(i == 0);
      at_.Scan(order[i]->first.size());
      format_ == nullptr ? Represent(order[i]->first) : Quoted(order[i]->first);
      Add(format_ == nullptr ? ": " : format_->key_separator);
      Write(order[i]->second);
    }
    Close("}", order.empty());
  }

  void Represent(const std::string& text) {
    const bool other = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
    const char quote = other ? '"' : '\'';
    Add(std::string(1, quote));
    for (size_t i = 0; i < text.size();) {
      const Character c = CharacterAt(text, i);
      if (c.code == static_cast<char32_t>(quote) || c.code == '\\') {
        Add("\\" + std::string(1, static_cast<char>(c.code)));
      } else if (c.code == '\n' || c.code == '\r' || c.code == '\t') {
        Add(c.code == '\n' ? "\\n" : c.code == '\r' ? "\\r" : "\\t");
      } else if (IsPrintable(c.code)) {
        Add(std::string_view(text).substr(i, c.length));
      } else {
        Add(c.code < 0x100     ? "\\x" + Hex(c.code, 2)
            : c.code < 0x10000 ? "\\u" + Hex(c.code, 4)
                               : "\\U" + Hex(c.code, 8));
      }
      i += c.length;
    }
    Add(std::string(1, quote));
  }

  void Quoted(const std::string& text) {
    Add("\"");
    for (size_t i = 0; i < text.size();) {
      const Character c = CharacterAt(text, i);
      constexpr std::string_view kCodes = "\"\\\n\r\t\f\b";
      constexpr std::string_view kLetters = "\"\\nrtfb";
      const size_t known = c.code < 0x80 ? kCodes.find(static_cast<char>(c.code)) : kCodes.npos;
      if (known != kCodes.npos) {
        Add("\\" + std::string(1, kLetters[known]));
      } else if (c.code < 0x20 || (format_->ensure_ascii && c.code > 0x7e)) {
        Escape(c.code);
      } else {
        Add(std::string_view(text).substr(i, c.length));
      }
      i += c.length;
    }
    Add("\"");
  }

  void Escape(char32_t code) {
    if (code < 0x10000) return Add("\\u" + Hex(code, 4));
    code -= 0x10000;
    Add("\\u" + Hex(0xd800 + (code >> 10), 4) + "\\u" + Hex(0xdc00 + (code & 0x3ff), 4));
  }

  const JsonFormat* format_;
  const At& at_;
  int depth_ = 0;
  std::string out_;
};

bool IsPythonSpace(char32_t code) { return IsWhiteSpace(code) || (code >= 0x1c && code <= 0x1f); }

}  // namespace

const std::string& TextOf(const Value& value, const At& at) {
  if (value.text() == nullptr) Fail(at.line, "a string operation on a value that is not a string");
  return *value.text();
}

std::string ToText(const Value& value, const At& at) {
  if (value.IsUndefined()) return "";
  if (value.text() != nullptr) {
    at.MakeText(value.text()->size());
    return *value.text();
  }
  if (value.IsNone()) return "None";
  if (value.boolean() != nullptr) return *value.boolean() ? "True" : "False";
  if (value.integer() != nullptr) return std::to_string(*value.integer());
  if (value.real() != nullptr) return RealText(*value.real());
  if (value.list() == nullptr && value.mapping() == nullptr)
    Fail(at.line, "writing out a loop, a namespace or a function");
  std::string text = Writer(nullptr, at).Run(value);
  at.MakeText(text.size());
  return text;
}

std::string Representation(const Value& value, const At& at) {
  std::string text = Writer(nullptr, at).Run(value);
  at.MakeText(text.size());
  return text;
}

std::string ToJson(const Value& value, const JsonFormat& format, const At& at) {
  std::string text = Writer(&format, at).Run(value);
  at.MakeText(text.size());
  return text;
}

size_t FindIn(std::string_view text, std::string_view part, size_t from, const At& at) {
  if (from > text.size()) return std::string::npos;
  if (part.empty()) return from;
  // memmem takes linear time, unlike string::find.
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  const size_t place = found == nullptr
                           ? std::string::npos
                           : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  at.Scan((found == nullptr ? text.size() : place) - from + part.size());
  return place;
}

std::string StripCharacters(const std::string& text, const Value* characters, bool left, bool right,
                            const At& at) {
  std::string_view set;
  const bool given = characters != nullptr && !characters->IsNone();
  if (given) set = TextOf(*characters, at);
  if (set.size() > 1000) Fail(at.line, "stripping more than 1000 characters");
  const auto stripped = [&](const Character& character, size_t offset) {
    if (!given) return IsPythonSpace(character.code);
    at.Scan(set.size());
    return set.find(std::string_view(text).substr(offset, character.length)) !=
           std::string_view::npos;
  };
  at.MakeText(text.size());
  at.Scan(text.size());
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

namespace {

Items SplitAtSpace(const std::string& text, int64_t most, const At& at) {
  Items parts;
  at.Scan(text.size());
  size_t i = 0;
  const auto skip = [&](bool space) {
    while (i < text.size() && IsPythonSpace(CharacterAt(text, i).code) == space)
      i += CharacterAt(text, i).length;
  };
  for (skip(true); i < text.size(); skip(true)) {
    const size_t begin = i;
    if (most >= 0 && parts.size() == static_cast<size_t>(most)) {
      // The last part keeps its inner white space, but not that at its end.
      parts.push_back(
          Value::Text(StripCharacters(text.substr(begin), nullptr, false, true, at), at));
      return parts;
    }
    skip(false);
    parts.push_back(Value::Text(text.substr(begin, i - begin), at));
    if (parts.size() > kMaxItems) at.MakeItems(parts.size());
  }
  return parts;
}

}  // namespace

Value SplitText(const std::string& text, const Value* separator, int64_t most, const At& at) {
  if (separator == nullptr || separator->IsNone())
    return Value::List(SplitAtSpace(text, most, at), at);
  const std::string& mark = TextOf(*separator, at);
  if (mark.empty()) Fail(at.line, "split() at nothing");
  Items parts;
  size_t done = 0;
  while (most < 0 || parts.size() < static_cast<size_t>(most)) {
    const size_t place = FindIn(text, mark, done, at);
    if (place == std::string::npos) break;
    parts.push_back(Value::Text(text.substr(done, place - done), at));
    if (parts.size() > kMaxItems) at.MakeItems(parts.size());
    done = place + mark.size();
  }
  parts.push_back(Value::Text(text.substr(done), at));
  return Value::List(std::move(parts), at);
}

std::string ReplaceIn(const std::string& text, const std::string& from, const std::string& to,
                      int64_t most, const At& at) {
  if (from.empty()) Fail(at.line, "replacing nothing");
  std::string result;
  size_t done = 0;
  for (int64_t count = 0; most < 0 || count < most; ++count) {
    const size_t place = FindIn(text, from, done, at);
    if (place == std::string::npos) break;
    if (result.size() + (place - done) + to.size() > kMaxTextBytes)
      at.MakeText(result.size() + (place - done) + to.size());
    result.append(text, done, place - done).append(to);
    done = place + from.size();
  }
  at.MakeText(result.size() + text.size() - done);
  return result.append(text, done);
}

std::string ChangeCase(std::string text, bool upper, const At& at) {
  at.Scan(text.size());
  for (char& c : text) {
    // Supports only ASCII, which is enough for names of roles.
    if (static_cast<unsigned char>(c) >= 0x80)
      Fail(at.line, "upper or lower case of " + Quote(text));
    if (upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') c = static_cast<char>(c ^ 0x20);
  }
  return text;
}

std::string Capitalise(std::string text, bool each_word, const At& at) {
  std::string result = ChangeCase(std::move(text), false, at);
  bool begins = true;
  for (char& c : result) {
    const bool letter = c >= 'a' && c <= 'z';
    if (begins && letter) c = static_cast<char>(c ^ 0x20);
    begins = each_word && !letter && c != '\'';
  }
  return result;
}

Value JoinItems(const Value& items, std::string_view separator, const At& at) {
  const Value all = ItemsOf(items, at);
  std::string text;
  for (size_t i = 0; i < all.list()->size(); ++i) {
    at.Step();
    const std::string item = ToText((*all.list())[i], at);
    if (text.size() + separator.size() + item.size() > kMaxTextBytes)
      at.MakeText(text.size() + separator.size() + item.size());
    if (i > 0) text += separator;
    text += item;
  }
  return Value::Text(std::move(text), at);
}

size_t CountCharacters(std::string_view text, const At& at) {
  at.Scan(text.size());
  return static_cast<size_t>(midscope::CountCharacters(text));
}

size_t CharacterOffset(std::string_view text, size_t index) {
  size_t offset = 0;
  for (; index > 0; --index) offset += CharacterAt(text, offset).length;
  return offset;
}

}  // namespace midscope::jinja
