// SPDX-License-Identifier: MIT
// SentencePiece's compiled normalisation rules (`precompiled_charsmap`): a double-array trie
// (s-yata/darts-clone) from byte strings to replacements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

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

}  // namespace midscope
