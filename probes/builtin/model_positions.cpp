// SPDX-License-Identifier: MIT
#include "probes/builtin/model_positions.h"

#include <utility>
#include <vector>

#include "probes/builtin/learned_positions.h"

namespace midscope {

std::optional<Record> LearnedPositionsOf(const Decoder& decoder) {
  const ModelConfig& config = decoder.config();
  if (config.positions != PositionKind::kLearned) return std::nullopt;
  PositionTable table;
  table.positions = config.trained_context;
  table.dimensions = config.hidden;
  for (int64_t position = 0; position < table.positions; ++position) {
    const std::vector<float> row = decoder.PositionEmbedding(static_cast<double>(position));
    table.values.insert(table.values.end(), row.begin(), row.end());
  }
  return LearnedPositions(table);
}

}  // namespace midscope
