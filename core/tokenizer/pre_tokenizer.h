// SPDX-License-Identifier: MIT
// Cuts text into the pieces that a token model encodes separately: a chain of steps, each equal to
// the component of the same name in Hugging Face `tokenizers`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/pattern.h"

namespace midscope {

// The treatment of a separator.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// The pieces that get a space in front.
enum class PrefixScheme { kNever, kFirst, kAlways };  // kFirst: at the beginning of the text

// Immutable once its steps are added; thread-safe. Without steps text is one piece.
class PreTokenizer {
 public:
  PreTokenizer();
  ~PreTokenizer();
  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;

  // Steps run in the order in which they were added, each on the pieces of the one before. invert:
  // text that does not match separates.
  void AddSplit(Pattern pattern, SplitBehavior behavior, bool invert = false);
  // Pieces that do not begin with `replacement` get one before them.
  void AddPrefix(std::string replacement, PrefixScheme scheme);
  void AddReplace(std::string from, std::string to);
  // GPT-2's pattern, what `ByteLevel` cuts with.
  void AddByteLevel();

  size_t steps() const { return steps_.size(); }

  // Calls `piece(changed, begin, end)` for each piece, in order: bytes [begin, end) of `changed`,
  // which lives during the call. Throws Error where the text can't be matched.
  using Piece = std::function<void(const AlignedText& changed, size_t begin, size_t end)>;
  void Split(const AlignedText& text, size_t begin, size_t end, const Piece& piece) const;

  class Step;

 private:
  std::vector<std::unique_ptr<const Step>> steps_;
};

// The scheme that a GGUF file names in `tokenizer.ggml.pre`.
struct NamedScheme {
  PreTokenizer pre_tokenizer;
  bool ignores_merges = false;  // a piece that is one token is taken as it is, before any merge
  bool composes = false;        // text is brought into normal form C first
  bool adds_bos = false;        // llama.cpp puts BOS first where the file does not state it
};

// Throws Error for an unknown name (which would silently give other ids).
NamedScheme MakeNamedScheme(const std::string& name);

}  // namespace midscope
