// SPDX-License-Identifier: MIT
#include "core/plan/plan_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"

namespace midscope {

void CheckLayers(const LayerSet& layers, const ModelConfig& config, const std::string& term) {
  for (const auto& range : layers.ranges) {
    // An open end ("from layer 2 on") is written as a very large last layer.
    const bool open_end = range.last >= kEveryLayerAfter;
    if (range.first >= config.layers || (!open_end && range.last >= config.layers)) {
      const std::string named =
          open_end ? fmt::format("first_layer={}", range.first) : "layers=" + layers.Text();
      throw UsageError(term, named + " leaves the model's layers",
                       fmt::format("It has layers 0-{}", config.layers - 1));
    }
  }
}

void CheckNoWindow(std::span<const AttentionPlan> plans, const std::string& term,
                   const std::string& why) {
  const auto windowed = std::find_if(plans.begin(), plans.end(), [](const AttentionPlan& plan) {
    return plan.window > 0 || plan.chunk > 0;
  });
  if (windowed == plans.end()) return;
  const std::string keys = windowed->chunk > 0
                               ? fmt::format("its own chunk of {} keys", windowed->chunk)
                               : fmt::format("the last {} keys", windowed->window);
  throw UsageError(term,
                   fmt::format("layer {} sees {} alone{}", windowed - plans.begin(), keys, why),
                   "Add attend(all), or switch the model's window off: --sliding-window off");
}

RowRange RowsOf(const RowChoice& choice, int64_t prompt_tokens) {
  switch (choice.rows) {
    case ChannelRows::kAnswer:
      return {prompt_tokens - 1, INT64_MAX};
    case ChannelRows::kLast:
      return {prompt_tokens - 1, prompt_tokens};
    case ChannelRows::kLastN:
      return {std::max<int64_t>(0, prompt_tokens - choice.last_rows), INT64_MAX};
    case ChannelRows::kAll:
      return {0, INT64_MAX};
  }
  return {0, INT64_MAX};
}

}  // namespace midscope
