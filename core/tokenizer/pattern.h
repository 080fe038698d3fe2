// SPDX-License-Identifier: MIT
// Regular expressions over UTF-8, in the dialect of tokenizers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// Immutable; thread-safe with one Matcher per thread.
class Pattern {
 public:
  // `expression` in the dialect of `tokenizers` (Oniguruma with Unicode classes), as far as it
  // means the same in PCRE2 or can be written otherwise; Throws Error naming what can't.
  explicit Pattern(const std::string& expression);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  // Matches the same bytes, without special characters.
  static Pattern Literal(std::string_view text);

  // A part of a subject: a match, or the text before, between and after matches.
  struct Cut {
    size_t begin;
    size_t end;
    bool match;
  };

  // The state of a search; reusable.
  class Matcher {
   public:
    explicit Matcher(const Pattern& pattern);
    ~Matcher();
    Matcher(Matcher&&) noexcept;
    Matcher& operator=(Matcher&&) noexcept;

    // All of the subject in order: matches (empty ones too) and non-empty rest. Throws Error where
    // the subject can't be matched within the library's limits.
    void FindAll(std::string_view subject, std::vector<Cut>* cuts);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Code;
  explicit Pattern(std::unique_ptr<const Code> code);
  std::unique_ptr<const Code> code_;
};

// `expression` in PCRE2's dialect. Throws Error.
std::string ToPcre2(std::string_view expression);

}  // namespace midscope
