// SPDX-License-Identifier: MIT
#include "probes/builtin/residual_rows_probe.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter_kinds.h"
#include "core/base/trimmed.h"
#include "core/decoder/captures.h"
#include "probes/base/number_list.h"
#include "probes/base/record_axes.h"

namespace midscope {
namespace {

constexpr const char* kLastRows = "residual-rows";
constexpr const char* kRowsAt = "residual-at";

// Adds the rows of one item of --residual-at: a number, a range, or the name of a passage.
void AddRows(const Prompt& prompt, std::string_view item, std::set<int64_t>& rows) {
  const auto last = static_cast<int64_t>(prompt.ids.size()) - 1;
  if (!item.empty() && std::isdigit(static_cast<unsigned char>(item.front()))) {
    for (const int64_t row : ParseNumberList("option --residual-at", item, 0, last))
      rows.insert(row);
    return;
  }
  const PromptSpan* span = prompt.FindSpan(std::string(item));
  if (!span) {
    throw UsageError("option --residual-at",
                     "the prompt has no passage '" + std::string(item) + "'",
                     "Give tokens from 0, ranges and passages, such as 0-3,17,gold");
  }
  for (int64_t row = span->token_begin; row < span->token_end; ++row) rows.insert(row);
}

// The rows that both options ask for, ascending.
std::vector<int64_t> ChosenRows(const ProbeInput& input) {
  std::set<int64_t> rows;
  const int64_t tokens = input.prompt_tokens();
  const int64_t last = std::min(input.options.Integer(kLastRows), tokens);
  for (int64_t row = tokens - last; row < tokens; ++row) rows.insert(row);
  const std::string text = input.options.Text(kRowsAt);
  for (std::string_view rest = text; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    AddRows(input.prompt, Trimmed(rest.substr(0, comma), " "), rows);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return {rows.begin(), rows.end()};
}

class RowsProbe : public Probe {
 public:
  explicit RowsProbe(const ProbeInput& input)
      : config_(input.decoder.config()), rows_(config_, ChosenRows(input)) {}

  std::vector<Hook*> Hooks() override { return {&rows_}; }

  Record Finish(const RunResult&) override {
    Record record;
    record.name = "residual_rows";
    record.axes = {CountedAxis("layer", config_.layers), ValuedAxis("position", rows_.positions()),
                   CountedAxis("hidden", config_.hidden)};
    record.arrays = {{"residual",
                      {"layer", "position", "hidden"},
                      rows_.values(),
                      "",
                      "residual stream after each block, at the chosen prompt positions"}};
    record.signal = "residual";
    return record;
  }

 private:
  const ModelConfig& config_;
  ResidualRows rows_;
};

}  // namespace

ProbeType ResidualRowsProbe() {
  Parameter rows = WholeNumberParameter(
      kLastRows,
      "how many of the last prompt rows of the residual stream to keep, after every block", 0,
      kNoMaximum, 0);
  rows.unit = "rows";

  ProbeType type;
  type.name = "residual_rows";
  type.summary = "chosen prompt rows of the residual stream after every block";
  type.options = {rows, TextParameter(kRowsAt,
                                      "rows of the residual stream to keep as well: tokens from 0, "
                                      "ranges and passages, such as 0-3,17,gold")};
  type.wanted = [](const OptionSet& options) {
    return options.Integer(kLastRows) > 0 || !options.Text(kRowsAt).empty();
  };
  type.make = [](const ProbeInput& input) { return std::make_unique<RowsProbe>(input); };
  return type;
}

}  // namespace midscope
