// SPDX-License-Identifier: MIT
#include "probes/builtin/learned_positions_probe.h"

#include <memory>

#include "core/base/error.h"
#include "probes/builtin/learned_positions.h"

namespace midscope {
namespace {

class LearnedPositionsReader : public Probe {
 public:
  explicit LearnedPositionsReader(const ProbeInput& input) : decoder_(input.decoder) {
    if (decoder_.config().positions == PositionKind::kLearned) return;
    throw UsageError("probe 'learned_positions'", "the model's positions are not learned",
                     "Leave it out; `midscope rope` shows rotary positions");
  }

  Record Finish(const RunResult&) override { return *LearnedPositionsOf(decoder_); }

 private:
  const Decoder& decoder_;
};

}  // namespace

std::optional<Record> LearnedPositionsOf(const Decoder& decoder) {
  const ModelConfig& config = decoder.config();
  if (config.positions != PositionKind::kLearned) return std::nullopt;
  return LearnedPositions({decoder.LearnedPositions(), config.trained_context, config.hidden});
}

ProbeType LearnedPositionsProbe() {
  ProbeType type;
  type.name = "learned_positions";
  type.summary =
      "learned position embeddings beside the sinusoidal encoding: periods of their dimensions, "
      "spectrum, likeness by distance";
  type.source =
      "sinusoidal encoding: Vaswani et al., arXiv 1706.03762, section 3.5; likeness of learned "
      "embeddings: Wang and Chen, 'What do position embeddings learn?', arXiv 2010.04903";
  type.limits =
      "models with learned positions alone; it reads weights, so that no prompt changes it";
  type.on_request = true;
  type.make = [](const ProbeInput& input) {
    return std::make_unique<LearnedPositionsReader>(input);
  };
  return type;
}

}  // namespace midscope
