// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/chosen_prompt_rows.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/text.h"
#include "probes/base/number_list.h"

namespace midscope {
namespace {

// Adds the prompt rows of one item of a list: a number, a range, or the name of a passage.
void AddRows(const Prompt& prompt, std::string_view item, const std::string& option,
             std::set<int64_t>& rows) {
  const auto last = static_cast<int64_t>(prompt.ids.size()) - 1;
  if (!item.empty() && std::isdigit(static_cast<unsigned char>(item.front()))) {
    for (const int64_t row : ParseNumberList("option --" + option, item, 0, last)) rows.insert(row);
    return;
  }
  const PromptSpan* span = prompt.FindSpan(std::string(item));
  if (!span) {
    throw UsageError("option --" + option, "the prompt has no passage '" + std::string(item) + "'",
                     std::string("Give ") + kPromptRowsText);
  }
  for (int64_t row = span->token_begin; row < span->token_end; ++row) rows.insert(row);
}

}  // namespace

std::vector<int64_t> ChosenPromptRows(const Prompt& prompt, const std::string& text,
                                      const std::string& option) {
  std::set<int64_t> rows;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    AddRows(prompt, Trimmed(rest.substr(0, comma), " "), option, rows);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return {rows.begin(), rows.end()};
}

}  // namespace midscope
