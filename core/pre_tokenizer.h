// SPDX-License-Identifier: MIT
// Cuts text into the pieces inside which byte-pair encoding joins bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace midscope {

// Immutable; may be used by several threads at once.
class PreTokenizer {
 public:
  // By the name in `tokenizer.ggml.pre`. Throws Error for one that is not known (which would give
  // other ids without a word).
  explicit PreTokenizer(const std::string& name);
  ~PreTokenizer();
  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;

  // Calls `piece(begin, end)` for each piece, in order; together they are the whole text. `text`
  // must be UTF-8. Throws Error where the text can't be matched within the library's limits.
  void Split(std::string_view text,
             const std::function<void(size_t begin, size_t end)>& piece) const;

  // Whether a piece that is one token of the vocabulary is taken as it is, before any merge.
  bool ignores_merges() const;

 private:
  struct Patterns;
  std::unique_ptr<const Patterns> patterns_;
};

}  // namespace midscope
