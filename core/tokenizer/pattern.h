// SPDX-License-Identifier: MIT
// Regular expressions on UTF-8 text, in the dialect of tokenizers.
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
  // `expression` is in the dialect of `tokenizers` (Oniguruma with Unicode classes), as far as it
  // has the same meaning in PCRE2 or can be translated. Throws Error naming any part that cannot.
  explicit Pattern(const std::string& expression);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  // Matches exactly these bytes; no character is special.
  static Pattern Literal(std::string_view text);

  // A part of a subject: a match, or the text before, between or after matches.
  struct Cut {
    size_t begin;
    size_t end;
    bool match;
  };

  // The state of a search; can be reused.
  class Matcher {
   public:
    explicit Matcher(const Pattern& pattern);
    ~Matcher();
    Matcher(Matcher&&) noexcept;
    Matcher& operator=(Matcher&&) noexcept;

    // Returns the whole subject in order: matches (including empty ones) and the non-empty text
    // between them. Throws Error if the subject cannot be matched within the library's limits.
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

// Returns `expression` in PCRE2's dialect. Throws Error.
std::string ToPcre2(std::string_view expression);

}  // namespace midscope
