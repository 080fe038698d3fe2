// SPDX-License-Identifier: MIT
// Converts Oniguruma's dialect (doc/RE of kkos/oniguruma, Ruby syntax) to PCRE2's: common syntax is
// kept, classes that PCRE2 defines differently are written out, and anything else is refused.
#include <cctype>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/tokenizer/pattern.h"

namespace midscope {
namespace {

// Unicode's white space. PCRE2's own \s also contains U+180E, which lost the property in Unicode
// 6.3.
constexpr std::string_view kWhite = R"(\x{09}-\x{0d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a})"
                                    R"(\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
// PCRE2's own \w lacks marks, connecting punctuation and letter-like symbols. Of numbers that are
// not digits, Oniguruma's \w only contains those of Latin-1.
constexpr std::string_view kWord =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";

class Translator {
 public:
  explicit Translator(std::string_view expression) : expression_(expression) {}

  std::string Run() {
    while (at_ < expression_.size()) {
      const char c = expression_[at_];
      if (c == '\\') {
        Escape();
      } else if (in_class_) {
        InClass(c);
      } else if (c == '[') {
        BeginClass();
      } else if (c == '(') {
        Group();
      } else {
        Outside(c);
      }
    }
    if (in_class_) Refuse("a class without its end");
    return std::move(out_);
  }

 private:
  [[noreturn]] void Refuse(const std::string& what) const {
    throw Failure("pattern " + Quote(expression_),
                  fmt::format("{} at byte {} is not supported", what, at_));
  }

  std::string_view Rest() const { return expression_.substr(at_); }

  void Take(size_t bytes) {
    out_ += expression_.substr(at_, bytes);
    at_ += bytes;
  }

  void Outside(char c) {
    // "{,n}" has another meaning in PCRE2 (literal text).
    if (c == '{' && Rest().starts_with("{,")) Refuse("'{,'");
    Take(1);
  }

  void Group() {
    for (const std::string_view known : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"}) {
      if (!Rest().starts_with(known)) continue;
      Take(known.size());
      return;
    }
    // Only at the very beginning do both dialects apply it to the whole expression.
    if (Rest().starts_with("(?i)") && at_ == 0) {
      Take(4);
      return;
    }
    if (Rest().starts_with("(?") || Rest().starts_with("(*")) Refuse("this kind of group");
    Take(1);
  }

  void BeginClass() {
    in_class_ = true;
    Take(1);
    if (at_ < expression_.size() && expression_[at_] == '^') Take(1);
    if (at_ < expression_.size() && expression_[at_] == ']') Refuse("a class that begins with ]");
  }

  void InClass(char c) {
    if (c == '[') Refuse("a class inside a class");
    if (Rest().starts_with("&&")) Refuse("an intersection of classes");
    if (c == ']') in_class_ = false;
    Take(1);
  }

  void Named(std::string_view members, bool negative) {
    at_ += 2;
    if (!in_class_) {
      out_ += (negative ? "[^" : "[") + std::string(members) + "]";
    } else if (negative) {
      at_ -= 2;
      Refuse("a negative class inside a class");
    } else {
      out_ += members;
    }
  }

  void Property() {
    const size_t close = expression_.find('}', at_);
    const bool braced = at_ + 2 < expression_.size() && expression_[at_ + 2] == '{';
    if (!braced || close == std::string_view::npos) Refuse("a property without { }");
    Take(close + 1 - at_);
  }

  void CodePoint() {
    const bool braced = Rest().starts_with("\\x{");
    const size_t digits = braced                      ? expression_.find('}', at_) - at_ - 3
                          : Rest().starts_with("\\u") ? 4
                                                      : 2;
    const size_t from = at_ + (braced ? 3 : 2);
    if (from > expression_.size() || digits > expression_.size() - from || digits == 0 ||
        digits > 8)
      Refuse("this character's number");
    for (size_t i = from; i < from + digits; ++i) {
      if (std::isxdigit(static_cast<unsigned char>(expression_[i])) == 0)
        Refuse("this character's number");
    }
    // In Oniguruma, \x80 and above are bytes instead of characters.
    if (!braced && digits == 2 && expression_[from] >= '8') Refuse("a byte that is no character");
    out_ += "\\x{" + std::string(expression_.substr(from, digits)) + "}";
    at_ = from + digits + (braced ? 1 : 0);
  }

  void Escape() {
    if (at_ + 1 >= expression_.size()) Refuse("a backslash at the end");
    const char c = expression_[at_ + 1];
    switch (c) {
      case 's':
      case 'S':
        return Named(kWhite, c == 'S');
      case 'w':
      case 'W':
        return Named(kWord, c == 'W');
      case 'd':
      case 'D':
        return Named(R"(\p{Nd})", c == 'D');
      case 'p':
      case 'P':
        return Property();
      case 'x':
      case 'u':
        return CodePoint();
      case 'n':
      case 'r':
      case 't':
      case 'f':
        return Take(2);
      case 'b':
      case 'B':
      case 'A':
      case 'z':
        if (in_class_) Refuse(std::string("\\") + c + " inside a class");
        // Word boundaries depend on \w, which differs in PCRE2.
        if (c == 'b' || c == 'B') Refuse(std::string("\\") + c);
        return Take(2);
      default:
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) Refuse(std::string("\\") + c);
        // An escaped multi-byte character means that character.
        if (static_cast<unsigned char>(c) >= 0x80) {
          ++at_;
          return;
        }
        return Take(2);
    }
  }

  std::string_view expression_;
  size_t at_ = 0;
  bool in_class_ = false;
  std::string out_;
};

}  // namespace

std::string ToPcre2(std::string_view expression) { return Translator(expression).Run(); }

}  // namespace midscope
