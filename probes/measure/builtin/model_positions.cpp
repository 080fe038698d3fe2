// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/model_positions.h"

#include <memory>
#include <utility>
#include <vector>

namespace midscope {

std::shared_ptr<const PositionTable> LearnedTableOf(const Decoder& decoder) {
  const ModelConfig& config = decoder.config();
  if (config.positions != PositionKind::kLearned) return nullptr;
  auto table = std::make_shared<PositionTable>();
  table->positions = config.trained_context;
  table->dimensions = config.hidden;
  table->values.reserve(static_cast<size_t>(table->positions * table->dimensions));
  for (int64_t position = 0; position < table->positions; ++position) {
    const std::vector<float> row = decoder.PositionEmbedding(static_cast<double>(position));
    table->values.insert(table->values.end(), row.begin(), row.end());
  }
  return table;
}

}  // namespace midscope
