// SPDX-License-Identifier: MIT
#include "probes/builtin/residual_rows_probe.h"

#include <numeric>

#include "core/base/parameter_kinds.h"
#include "core/decoder/captures.h"
#include "probes/base/record_axes.h"

namespace midscope {
namespace {

class RowsProbe : public Probe {
 public:
  explicit RowsProbe(const ProbeInput& input)
      : config_(input.decoder.config()), rows_(config_, input.options.Integer("residual-rows")) {}

  std::vector<Hook*> Hooks() override { return {&rows_}; }

  Record Finish(const RunResult&) override {
    std::vector<int64_t> positions(static_cast<size_t>(rows_.rows()));
    std::iota(positions.begin(), positions.end(), rows_.first_row());
    Record record;
    record.name = "residual_rows";
    record.axes = {CountedAxis("layer", config_.layers), ValuedAxis("position", positions),
                   CountedAxis("hidden", config_.hidden)};
    record.arrays = {{"residual",
                      {"layer", "position", "hidden"},
                      rows_.values(),
                      "",
                      "residual stream after each block, the last prompt positions"}};
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
      "residual-rows",
      "how many of the last prompt rows of the residual stream to keep, after every block", 0,
      kNoMaximum, 0);
  rows.unit = "rows";

  ProbeType type;
  type.name = "residual_rows";
  type.summary = "the residual stream's last prompt rows after every block";
  type.options = {rows};
  type.wanted = [](const OptionSet& options) { return options.Integer("residual-rows") > 0; };
  type.make = [](const ProbeInput& input) { return std::make_unique<RowsProbe>(input); };
  return type;
}

}  // namespace midscope
