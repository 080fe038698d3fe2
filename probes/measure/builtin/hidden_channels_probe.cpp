// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <utility>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/record_names.h"
#include "core/decoder/captures.h"
#include "probes/base/number_list.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

std::vector<int64_t> Channels(const ProbeInput& input) {
  const int64_t hidden = input.decoder.config().hidden;
  return ParseNumberList("--channels", input.options.Text("channels"), 0, hidden - 1);
}

class ChannelsProbe : public Probe {
 public:
  explicit ChannelsProbe(const ProbeInput& input)
      : config_(input.decoder.config()), channels_(config_, Channels(input)) {}

  std::vector<Hook*> Hooks() override { return {&channels_}; }

  Record Finish(const RunResult&) override {
    return HiddenChannelsRecord(config_, channels_.channels(), channels_.positions(),
                                channels_.values());
  }

 private:
  const ModelConfig& config_;
  HiddenChannels channels_;
};

}  // namespace

Record HiddenChannelsRecord(const ModelConfig& config, const std::vector<int64_t>& channels,
                            int64_t positions, std::vector<float> values) {
  Record record;
  record.name = kHiddenChannelsRecord;
  record.axes = {CountedAxis("layer", config.layers), ValuedAxis("channel", channels),
                 CountedAxis("position", positions)};
  record.axes.back().unit = "tokens";
  record.arrays = {{kHiddenChannel,
                    {"layer", "channel", "position"},
                    std::move(values),
                    "",
                    "residual stream after each block, chosen channels, by position"}};
  record.signal = kHiddenChannel;
  return record;
}

ProbeType HiddenChannelsProbe() {
  ProbeType type;
  type.name = kHiddenChannelsRecord;
  type.summary = "chosen channels of the residual stream after every block, at every position";
  type.options = {TextParameter(
      "channels",
      "channels of the residual stream to follow over all positions, such as 100,215 or 96-103")};
  type.source = "arXiv 2406.02536, Fig. 3 and 12 (positional hidden states)";
  type.departures = "the public code averages 200 texts in float16; here one prompt in float32";
  type.wanted = [](const OptionSet& options) { return !options.Text("channels").empty(); };
  type.make = [](const ProbeInput& input) { return std::make_unique<ChannelsProbe>(input); };
  return type;
}

}  // namespace midscope
