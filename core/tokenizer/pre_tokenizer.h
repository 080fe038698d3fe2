// SPDX-License-Identifier: MIT
// Splits text into pieces, each of which the token model encodes separately: a chain of steps, each
// equivalent to the component of the same name in Hugging Face `tokenizers`.
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

// Which pieces get a space before them.
enum class PrefixScheme { kNever, kFirst, kAlways };  // kFirst: at the beginning of the text

// Immutable once its steps are added; thread-safe. Without steps, the text is one piece.
class PreTokenizer {
 public:
  PreTokenizer();
  ~PreTokenizer();
  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;

  // Steps run in the order in which they were added, each on the pieces of the previous step.
  // invert: text that does not match is the separator.
  void AddSplit(Pattern pattern, SplitBehavior behavior, bool invert = false);
  // Inserts `replacement` before pieces that do not begin with it.
  void AddPrefix(std::string replacement, PrefixScheme scheme);
  void AddReplace(std::string from, std::string to);
  // Splits by GPT-2's pattern, which `ByteLevel` uses.
  void AddByteLevel();

  size_t steps() const { return steps_.size(); }

  // Calls `piece(changed, begin, end)` for each piece, in order: bytes [begin, end) of `changed`,
  // which is valid during the call. Throws Error if the text cannot be matched.
  using Piece = std::function<void(const AlignedText& changed, size_t begin, size_t end)>;
  void Split(const AlignedText& text, size_t begin, size_t end, const Piece& piece) const;

  class Step;

 private:
  std::vector<std::unique_ptr<const Step>> steps_;
};

// The pre-tokenization scheme that a GGUF file names in `tokenizer.ggml.pre`.
struct NamedScheme {
  PreTokenizer pre_tokenizer;
  bool ignores_merges = false;  // a piece that is one token becomes that token, without merges
  bool composes = false;        // text is first converted to normal form C
  bool adds_bos = false;        // llama.cpp puts BOS first if the file does not specify it
};

// Throws Error for an unknown name, because a guess would silently give wrong ids.
NamedScheme MakeNamedScheme(const std::string& name);

}  // namespace midscope
