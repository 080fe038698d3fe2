// SPDX-License-Identifier: MIT
#include "core/tokenizer/prompt.h"

#include <algorithm>

namespace midscope {

const PromptSpan* Prompt::FindSpan(const std::string& name) const {
  const auto found = std::find_if(spans.begin(), spans.end(),
                                  [&](const PromptSpan& span) { return span.name == name; });
  return found == spans.end() ? nullptr : &*found;
}

}  // namespace midscope
