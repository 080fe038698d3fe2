// SPDX-License-Identifier: MIT
#include "core/chat/jinja_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/text.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_limits.h"

namespace midscope::jinja {

namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}
bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
void AppendUtf8(unsigned code, std::string* text) {
  const auto tail = [&](int shift) { *text += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    *text += static_cast<char>(code);
  } else if (code < 0x800) {
    *text += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else {
    *text += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  }
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) {
    // Jinja converts all newlines to one kind and removes the last one.
    for (size_t i = 0; i < source.size(); ++i) {
      if (source[i] == '\r') {
        source_ += '\n';
        if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
      } else {
        source_ += source[i];
      }
    }
    if (source_.ends_with('\n')) source_.pop_back();
  }

  std::vector<Lexeme> Run() {
    while (at_ < source_.size()) {
      const size_t tag = FindTag();
      Text(tag);
      if (tag < source_.size()) Tag();
    }
    Add(TokenKind::kEnd, "");
    return std::move(lexemes_);
  }

 private:
  void Add(TokenKind kind, std::string text) { lexemes_.push_back({kind, std::move(text), line_}); }

  bool At(std::string_view text) const {
    return std::string_view(source_).substr(at_).starts_with(text);
  }

  void Advance(size_t to) {
    line_ +=
        static_cast<size_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                       source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  size_t FindTag() const {
    for (size_t i = at_; i + 1 < source_.size(); ++i) {
      if (source_[i] == '{' &&
          (source_[i + 1] == '{' || source_[i + 1] == '%' || source_[i + 1] == '#'))
        return i;
    }
    return source_.size();
  }

  // Adds the text up to `tag`, without the white space that the tags on its two sides remove.
  void Text(size_t tag) {
    size_t begin = at_;
    size_t end = tag;
    if (strip_after_) {
      while (begin < end && IsSpace(source_[begin])) ++begin;
    } else if (trim_newline_ && begin < end && source_[begin] == '\n') {
      ++begin;
    }
    if (tag < source_.size()) {
      const char mark = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
      if (mark == '-') {
        while (end > begin && IsSpace(source_[end - 1])) --end;
      } else if (mark != '+' && source_[tag + 1] != '{') {
        // Beginning of the white space before a block at the start of its line.
        size_t left = end;
        while (left > begin && source_[left - 1] != '\n' && IsSpace(source_[left - 1])) --left;
        // The line may begin before this text, at a newline that was just removed.
        const bool line_begins = left == 0 || source_[left - 1] == '\n';
        if (line_begins) end = left;
      }
    }
    strip_after_ = trim_newline_ = false;
    if (end > begin) Add(TokenKind::kText, source_.substr(begin, end - begin));
    Advance(tag);
  }

  void Tag() {
    const char kind = source_[at_ + 1];
    Advance(at_ + 2);
    if (kind == '#') return Comment();
    if (At("-") || At("+")) Advance(at_ + 1);
    if (kind == '%' && Raw()) return;
    Add(kind == '{' ? TokenKind::kPrintBegin : TokenKind::kBlockBegin, "");
    const std::string close = kind == '{' ? "}}" : "%}";
    braces_ = 0;
    while (true) {
      while (at_ < source_.size() && IsSpace(source_[at_])) Advance(at_ + 1);
      if (at_ >= source_.size()) Fail(line_, "a tag without its end");
      if (braces_ == 0 && (At(close) || At("-" + close) || At("+" + close))) break;
      Symbol();
    }
    EndTag(close, kind == '%');
    Add(TokenKind::kTagEnd, "");
  }

  // Reads {% raw %} TEXT {% endraw %}, if it is at this position (between {% and raw).
  bool Raw() {
    const auto word = [&](size_t from, std::string_view name) -> size_t {
      while (from < source_.size() && IsSpace(source_[from])) ++from;
      if (!std::string_view(source_).substr(from).starts_with(name)) return std::string::npos;
      from += name.size();
      if (from < source_.size() && (IsNameStart(source_[from]) || IsDigit(source_[from])))
        return std::string::npos;
      while (from < source_.size() && IsSpace(source_[from])) ++from;
      return from;
    };
    const size_t close = word(at_, "raw");
    if (close == std::string::npos) return false;
    Advance(close);
    if (!At("%}") && !At("-%}")) Fail(line_, "this form of {% raw %}");
    EndTag("%}", /*block=*/false);
    for (size_t tag = at_; (tag = source_.find("{%", tag)) != std::string::npos; tag += 2) {
      const bool marked =
          tag + 2 < source_.size() && (source_[tag + 2] == '-' || source_[tag + 2] == '+');
      const size_t end = word(tag + (marked ? 3 : 2), "endraw");
      if (end == std::string::npos) continue;
      Text(tag);
      Advance(end);
      if (!At("%}") && !At("-%}") && !At("+%}")) Fail(line_, "this form of {% endraw %}");
      EndTag("%}", /*block=*/true);
      return true;
    }
    Fail(line_, "{% raw %} without its end");
  }

  void EndTag(const std::string& close, bool block) {
    strip_after_ = At("-");
    trim_newline_ = block && !At("+");
    Advance(at_ + close.size() + (At(close) ? 0 : 1));
  }

  void Comment() {
    const size_t close = source_.find("#}", at_);
    if (close == std::string::npos) Fail(line_, "a comment without its end");
    strip_after_ = close > at_ && source_[close - 1] == '-';
    trim_newline_ = true;
    Advance(close + 2);
  }

  void Symbol() {
    const char c = source_[at_];
    if (c == '\'' || c == '"') return String();
    size_t end = at_ + 1;
    if (IsNameStart(c)) {
      while (end < source_.size() && (IsNameStart(source_[end]) || IsDigit(source_[end]))) ++end;
      if (end - at_ > kMaxNameBytes) FailLimit(line_, kMaxNameBytes, "letters in a name");
      Add(TokenKind::kName, source_.substr(at_, end - at_));
    } else if (IsDigit(c)) {
      while (end < source_.size() && IsDigit(source_[end])) ++end;
      if (end + 1 < source_.size() && source_[end] == '.' && IsDigit(source_[end + 1])) {
        ++end;
        while (end < source_.size() && IsDigit(source_[end])) ++end;
      }
      if (end - at_ > 15) Fail(line_, "a number that is too long");
      Add(TokenKind::kNumber, source_.substr(at_, end - at_));
    } else {
      constexpr std::array<std::string_view, 6> kPairs = {"==", "!=", "<=", ">=", "//", "**"};
      const std::string_view pair = std::string_view(source_).substr(at_, 2);
      if (std::find(kPairs.begin(), kPairs.end(), pair) != kPairs.end()) ++end;
      if (c == '{' || c == '[' || c == '(') ++braces_;
      if (c == '}' || c == ']' || c == ')') --braces_;
      if (std::string_view("+-*/%~<>=!()[]{}.,:|").find(c) == std::string_view::npos || braces_ < 0)
        Fail(line_, "the character '" + std::string(1, c) + "'");
      Add(TokenKind::kOperator, source_.substr(at_, end - at_));
    }
    Advance(end);
  }

  void String() {
    const char quote = source_[at_];
    std::string text;
    size_t i = at_ + 1;
    for (; i < source_.size() && source_[i] != quote; ++i) {
      if (source_[i] != '\\') {
        text += source_[i];
        continue;
      }
      if (++i >= source_.size()) break;
      const char c = source_[i];
      constexpr std::string_view kLetters = "ntr\\'\"";
      constexpr std::string_view kMeanings = "\n\t\r\\'\"";
      const size_t known = kLetters.find(c);
      if (known != std::string_view::npos) {
        text += kMeanings[known];
      } else if (c == 'u' || c == 'x') {
        const size_t digits = c == 'u' ? 4 : 2;
        const std::string number = source_.substr(i + 1, digits);
        if (number.size() != digits ||
            number.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
          Fail(line_, "a \\" + std::string(1, c) + " without its number");
        const auto code = static_cast<unsigned>(std::stoul(number, nullptr, 16));
        if (code >= 0xd800 && code < 0xe000) Fail(line_, "half a character (\\u" + number + ")");
        AppendUtf8(code, &text);
        i += digits;
      } else {
        text += '\\';
        text += c;
      }
    }
    if (i >= source_.size()) Fail(line_, "a text without its end");
    Add(TokenKind::kString, std::move(text));
    Advance(i + 1);
  }

  std::string source_;
  size_t at_ = 0;
  size_t line_ = 1;
  int braces_ = 0;
  bool strip_after_ = false;
  bool trim_newline_ = false;
  std::vector<Lexeme> lexemes_;
};

}  // namespace

std::vector<Lexeme> Lex(std::string_view source) { return Lexer(source).Run(); }

}  // namespace midscope::jinja
