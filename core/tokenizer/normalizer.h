// SPDX-License-Identifier: MIT
// The normalisation step of tokenizers: a chain of steps, each equivalent to the component of the
// same name in Hugging Face `tokenizers`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/pattern.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope {

// SentencePiece's compiled normalisation rules (`precompiled_charsmap`): a double-array trie
// (s-yata/darts-clone) from byte strings to replacements.
class PrecompiledMap {
 public:
  // Throws Error naming `thing` if following the trie could read outside the bytes.
  PrecompiledMap(std::string_view bytes, const std::string& thing);

  // Returns the replacement for the shortest prefix of `text` that has one, like `tokenizers`
  // (crate spm_precompiled); it replaces the whole `text`.
  std::optional<std::string_view> Find(std::string_view text) const;

 private:
  std::vector<uint32_t> units_;
  std::string replacements_;  // each ends with a zero byte
};

// Maximum length of a normalised text, as a multiple of the original length, plus kNormalizerSlack
// bytes. Unicode normal forms make a text at most 18 times as long.
inline constexpr size_t kNormalizerGrowth = 32;
inline constexpr size_t kNormalizerSlack = 4096;
inline constexpr size_t kMaxNormalizerSteps = 200;

// Immutable after its steps are added, and thread-safe. Without steps, text is unchanged.
class Normalizer {
 public:
  // `thing` names the file in messages.
  explicit Normalizer(std::string thing = "tokenizer");
  ~Normalizer();
  Normalizer(Normalizer&&) noexcept;
  Normalizer& operator=(Normalizer&&) noexcept;

  // Steps run in the order in which they were added. Throws Error if there are too many steps.
  void AddForm(NormalForm form);
  void AddLowercase();
  void AddStrip(bool left, bool right);  // of white space
  void AddStripAccents();                // removes marks
  void AddPrepend(std::string text);     // before any non-empty text
  void AddReplace(Pattern pattern, std::string content);
  void AddPrecompiled(PrecompiledMap map);

  bool empty() const { return steps_.empty(); }
  // Throws Error naming the file if the text grows beyond the limits above.
  void Apply(AlignedText* text) const;
  std::string Apply(std::string_view text) const;

  class Step;

 private:
  void Add(std::unique_ptr<const Step> step);

  std::string thing_;
  std::vector<std::unique_ptr<const Step>> steps_;
};

}  // namespace midscope
