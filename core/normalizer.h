// SPDX-License-Identifier: MIT
// What tokenizers do to text before they cut it: a chain of steps, each exactly as the component of
// the same name in Hugging Face `tokenizers`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/aligned_text.h"
#include "core/pattern.h"
#include "core/precompiled_map.h"
#include "core/unicode_text.h"

namespace midscope {

// Immutable; may be used by several threads at once. Without steps text stays as it is.
class Normalizer {
 public:
  Normalizer();
  ~Normalizer();
  Normalizer(Normalizer&&) noexcept;
  Normalizer& operator=(Normalizer&&) noexcept;

  // Steps run in the order in which they were added.
  void AddForm(NormalForm form);
  void AddLowercase();
  void AddStrip(bool left, bool right);  // white space
  void AddStripAccents();                // marks
  void AddPrepend(std::string text);     // before any text that isn't empty
  void AddReplace(Pattern pattern, std::string content);
  void AddPrecompiled(PrecompiledMap map);

  bool empty() const { return steps_.empty(); }
  void Apply(AlignedText* text) const;
  std::string Apply(std::string_view text) const;

  class Step;

 private:
  std::vector<std::unique_ptr<const Step>> steps_;
};

}  // namespace midscope
