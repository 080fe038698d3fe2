// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/base/parameter.h"
#include "core/decoder/captures.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/chosen_prompt_rows.h"

namespace midscope {
namespace {

constexpr const char* kLastRows = "residual-rows";
constexpr const char* kRowsAt = "residual-at";

// Returns the rows that the two options select, ascending.
std::vector<int64_t> ChosenRows(const ProbeInput& input) {
  std::set<int64_t> rows;
  const int64_t tokens = input.prompt_tokens();
  const int64_t last = std::min(input.options.Integer(kLastRows), tokens);
  for (int64_t row = tokens - last; row < tokens; ++row) rows.insert(row);
  for (const int64_t row : ChosenPromptRows(input.prompt, input.options.Text(kRowsAt), kRowsAt))
    rows.insert(row);
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
  type.options = {rows, TextParameter(kRowsAt, std::string("rows of the residual stream to keep "
                                                           "as well: ") +
                                                   kPromptRowsText)};
  type.wanted = [](const OptionSet& options) {
    return options.Integer(kLastRows) > 0 || !options.Text(kRowsAt).empty();
  };
  type.make = [](const ProbeInput& input) { return std::make_unique<RowsProbe>(input); };
  return type;
}

}  // namespace midscope
