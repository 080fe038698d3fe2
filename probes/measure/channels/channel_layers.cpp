// SPDX-License-Identifier: MIT
#include "probes/measure/channels/channel_layers.h"

#include <algorithm>

namespace midscope {

LayerSet MiddleLayers(int64_t model_layers) {
  const int64_t first = (model_layers + 3) / 4;
  const int64_t last = std::max(first, model_layers * 5 / 6);
  return {false, {{std::min(first, model_layers - 1), std::min(last, model_layers - 1)}}};
}

std::optional<LayerSet> PublishedLayers(int64_t model_layers) {
  struct Published {
    int64_t layers, first, last;
  };
  static constexpr Published kTable5[] = {{28, 10, 22}, {32, 10, 25}, {40, 10, 34}, {48, 10, 42}};
  for (const Published& row : kTable5) {
    if (row.layers == model_layers) return LayerSet{false, {{row.first, row.last}}};
  }
  return std::nullopt;
}

}  // namespace midscope
