// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "core/base/utf8.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_operations.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope::jinja {
namespace {

// The sort keys of an item, as in Jinja: its attributes (one, or several separated by commas);
// strings are compared without regard to case unless case_sensitive.
class SortKeys {
 public:
  SortKeys(const Value* attribute, const Value* case_sensitive, const At& at)
      : sensitive_(case_sensitive != nullptr && case_sensitive->IsTrue()), at_(at) {
    if (attribute == nullptr || attribute->IsNone()) return;
    if (attribute->text() == nullptr) {
      paths_.push_back(*attribute);
      return;
    }
    const Value comma = Value::Text(",");
    const Value parts = SplitText(*attribute->text(), &comma, -1, at);
    paths_.insert(paths_.end(), parts.list()->begin(), parts.list()->end());
  }

  Value Of(const Value& item) const {
    if (paths_.empty()) return Folded(item);
    Items keys;
    for (const Value& path : paths_) keys.push_back(Folded(AttributeOf(item, path, at_)));
    return keys.size() == 1 ? keys[0] : Value::List(std::move(keys), at_);
  }

 private:
  Value Folded(const Value& value) const {
    if (sensitive_ || value.text() == nullptr) return value;
    return Value::Text(ChangeCase(*value.text(), false, at_));
  }

  bool sensitive_;
  const At& at_;
  Items paths_;
};

std::string Backwards(std::string_view text) { return {text.rbegin(), text.rend()}; }

}  // namespace

Value SplitTextFromEnd(const std::string& text, const Value* separator, int64_t most,
                       const At& at) {
  const bool at_space = separator == nullptr || separator->IsNone();
  if (most < 0 && at_space) return SplitText(text, separator, most, at);
  if (at_space) Fail(at.line, "rsplit() at white space with a limit");
  const Value mark = Value::Text(Backwards(TextOf(*separator, at)), at);
  at.MakeText(text.size());
  const Value backwards = SplitText(Backwards(text), &mark, most, at);
  Items parts;
  for (auto part = backwards.list()->rbegin(); part != backwards.list()->rend(); ++part)
    parts.push_back(Value::Text(Backwards(*part->text()), at));
  return Value::List(std::move(parts), at);
}

std::vector<std::string> LinesOf(const std::string& text, const At& at) {
  at.MakeText(text.size());
  at.Scan(text.size());
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t i = 0; i < text.size();) {
    const Character c = CharacterAt(text, i);
    const size_t end = i;
    i += c.length;
    const bool ends = (c.code >= 0x0a && c.code <= 0x0d) || (c.code >= 0x1c && c.code <= 0x1e) ||
                      c.code == 0x85 || c.code == 0x2028 || c.code == 0x2029;
    if (!ends) continue;
    if (c.code == '\r' && i < text.size() && text[i] == '\n') ++i;
    lines.push_back(text.substr(begin, end - begin));
    if (lines.size() > kMaxItems) at.MakeItems(lines.size());
    begin = i;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

// The filter sort(reverse, case_sensitive, attribute).
Value SortItems(const Value& value, const Arguments& a, const At& at) {
  const SortKeys keys(a.Find(2, "attribute"), a.Find(1, "case_sensitive"), at);
  const Value* reverse = a.Find(0, "reverse");
  const bool down = reverse != nullptr && reverse->IsTrue();
  const Value items = ItemsOf(value, at);
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : *items.list()) keyed.emplace_back(keys.Of(item), item);
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& left, const auto& right) {
    return ApplyOperator(down ? ">" : "<", left.first, right.first, at).IsTrue();
  });
  Items sorted;
  for (auto& [key, item] : keyed) sorted.push_back(std::move(item));
  return Value::List(std::move(sorted), at);
}

// The filter unique(case_sensitive, attribute).
Value UniqueItems(const Value& value, const Arguments& a, const At& at) {
  const SortKeys keys(a.Find(1, "attribute"), a.Find(0, "case_sensitive"), at);
  const Value items = ItemsOf(value, at);
  Items seen;
  Items kept;
  for (const Value& item : *items.list()) {
    Value key = keys.Of(item);
    if (key.list() != nullptr || key.mapping() != nullptr) Fail(at.line, "unique of such items");
    if (std::any_of(seen.begin(), seen.end(),
                    [&](const Value& other) { return IsEqual(other, key, at); }))
      continue;
    seen.push_back(std::move(key));
    kept.push_back(item);
  }
  return Value::List(std::move(kept), at, Form::kOnce);
}

// The filters min(case_sensitive, attribute) and max.
Value ExtremeItem(const Value& value, const Arguments& a, bool largest, const At& at) {
  const SortKeys keys(a.Find(1, "attribute"), a.Find(0, "case_sensitive"), at);
  const Value items = ItemsOf(value, at);
  Value best;
  Value best_key;
  for (size_t i = 0; i < items.list()->size(); ++i) {
    const Value& item = (*items.list())[i];
    const Value key = keys.Of(item);
    if (i > 0 && !ApplyOperator(largest ? ">" : "<", key, best_key, at).IsTrue()) continue;
    best = item;
    best_key = key;
  }
  return best;
}

// The filter sum(attribute, start).
Value SumItems(const Value& value, const Arguments& a, const At& at) {
  const Value* attribute = a.Find(0, "attribute");
  const Value* start = a.Find(1, "start");
  Value sum = start == nullptr ? Value::Of(int64_t{0}) : *start;
  const Value items = ItemsOf(value, at);
  for (const Value& item : *items.list()) {
    const bool whole = attribute == nullptr || attribute->IsNone();
    sum = ApplyOperator("+", sum, whole ? item : AttributeOf(item, *attribute, at), at);
  }
  return sum;
}

// The filter indent(width, first, blank).
Value IndentLines(const Value& value, const Arguments& a, const At& at) {
  const Value* width = a.Find(0, "width");
  const auto flag = [&](size_t position, const char* name) {
    const Value* given = a.Find(position, name);
    return given != nullptr && given->IsTrue();
  };
  std::string indent(4, ' ');
  if (width != nullptr && width->text() != nullptr) indent = *width->text();
  if (width != nullptr && width->text() == nullptr) {
    const int64_t spaces = std::max<int64_t>(WholeNumber(*width, at), 0);
    if (spaces > 1000) Fail(at.line, "an indent of more than 1000");
    indent.assign(static_cast<size_t>(spaces), ' ');
  }
  std::string text = flag(1, "first") ? indent : "";
  const bool blank = flag(2, "blank");
  const std::vector<std::string> lines = LinesOf(ToText(value, at) + "\n", at);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += '\n';
    if (i > 0 && (blank || !lines[i].empty())) text += indent;
    text += lines[i];
    if (text.size() > kMaxTextBytes) at.MakeText(text.size());
  }
  return Value::Text(std::move(text), at);
}

}  // namespace midscope::jinja
