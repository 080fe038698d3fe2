// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/table_waves.h"

namespace midscope {
namespace {

constexpr const char* kName = "position_embeddings";
// Maximum number of positions; the time for similarities grows with its square.
constexpr int64_t kMostPositions = 8192;
constexpr double kBase = 10000;

// Returns the table of position embeddings [position, channel].
std::vector<float> TableOf(const Decoder& decoder, int64_t positions) {
  std::vector<float> table;
  for (int64_t position = 0; position < positions; ++position) {
    const std::vector<float> row = decoder.PositionEmbedding(static_cast<double>(position));
    table.insert(table.end(), row.begin(), row.end());
  }
  return table;
}

// Returns the Euclidean lengths of the rows, of `channels` channels each.
std::vector<double> LengthsOfRows(std::span<const float> table, int64_t channels) {
  std::vector<double> lengths;
  const auto width = static_cast<size_t>(channels);
  for (size_t at = 0; at < table.size(); at += width) {
    const std::span<const float> row = table.subspan(at, width);
    lengths.push_back(std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0)));
  }
  return lengths;
}

std::vector<double> SinusoidalSimilarity(int64_t positions, int64_t width) {
  std::vector<double> similarity(static_cast<size_t>(positions), 0.0);
  const int64_t pairs = std::max<int64_t>(width / 2, 1);
  for (int64_t j = 0; j < pairs; ++j) {
    const double theta =
        std::pow(kBase, -2 * static_cast<double>(j) / static_cast<double>(2 * pairs));
    for (size_t distance = 0; distance < similarity.size(); ++distance)
      similarity[distance] += std::cos(static_cast<double>(distance) * theta) / pairs;
  }
  return similarity;
}

class PositionEmbeddingTable : public Probe {
 public:
  explicit PositionEmbeddingTable(const ProbeInput& input) : decoder_(input.decoder) {
    const ModelConfig& config = decoder_.config();
    if (EmbedsPositions(config.positions)) return;
    const bool rotary = config.positions == PositionKind::kRotary;
    throw UsageError(std::string("probe '") + kName + "'",
                     rotary ? "the model has none: its positions are rotations of queries and keys"
                            : std::string("the model has none: ") + UnrotatedText(config.positions),
                     rotary ? "midscope rope shows their periods" : "Leave it out");
  }

  Record Finish(const RunResult&) override {
    const ModelConfig& config = decoder_.config();
    const int64_t positions = std::min(config.trained_context, kMostPositions);
    std::vector<float> table = TableOf(decoder_, positions);
    std::vector<double> lengths = LengthsOfRows(table, config.hidden);
    ChannelPeriods periods = PeriodsOfChannels(table, config.hidden);
    std::vector<double> similarity = SimilarityByDistance(table, config.hidden);
    Record record;
    record.name = kName;
    record.axes = {CountedAxis("position", positions), CountedAxis("channel", config.hidden),
                   CountedAxis("distance", positions)};
    record.arrays = {
        {"position_embedding",
         {"position", "channel"},
         std::move(table),
         "",
         "what is added to the embedding of a token at the position"},
        {"embedding_length", {"position"}, std::move(lengths), "", "Euclidean length of the row"},
        {"dominant_period",
         {"channel"},
         std::move(periods.period),
         "positions",
         "period of the channel's largest Fourier component over positions; longer ones than the "
         "table count as its length"},
        {"period_share",
         {"channel"},
         std::move(periods.share),
         "",
         "share of the channel's variance over positions that this component has"},
        {"similarity",
         {"distance"},
         std::move(similarity),
         "",
         "cosine of two rows so far apart, mean over positions"},
        {"sinusoidal_similarity",
         {"distance"},
         SinusoidalSimilarity(positions, config.hidden),
         "",
         "the same of the sinusoidal table of Vaswani et al. of this width"}};
    record.signal = "similarity";
    return record;
  }

 private:
  const Decoder& decoder_;
};

}  // namespace

ProbeType PositionEmbeddingsProbe() {
  ProbeType type;
  type.name = kName;
  type.summary =
      "the model's table of positions, learned or sinusoidal: periods of its channels, similarity "
      "by distance beside the sinusoidal one";
  type.source =
      "Vaswani et al. 2017 (arXiv 1706.03762), section 3.5; Wang and Chen 2020 (2010.04903) on "
      "learned tables";
  type.limits = "models that add embeddings of positions alone; the first 8192 positions";
  type.on_request = true;
  type.make = [](const ProbeInput& input) {
    return std::make_unique<PositionEmbeddingTable>(input);
  };
  return type;
}

}  // namespace midscope
