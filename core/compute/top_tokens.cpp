// SPDX-License-Identifier: MIT
#include "core/compute/top_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace midscope {

std::vector<TopToken> TopTokens(std::span<const float> logits, int64_t k) {
  const auto count =
      static_cast<size_t>(std::clamp<int64_t>(k, 0, static_cast<int64_t>(logits.size())));
  if (count == 1) {  // used for every generated token
    const auto first = std::max_element(logits.begin(), logits.end());
    return {{static_cast<int32_t>(first - logits.begin()), *first}};
  }
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto larger = [&](int32_t a, int32_t b) {
    const float x = logits[static_cast<size_t>(a)];
    const float y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                    larger);
  std::vector<TopToken> top;
  top.reserve(count);
  for (size_t i = 0; i < count; ++i) top.push_back({ids[i], logits[static_cast<size_t>(ids[i])]});
  return top;
}

std::vector<TopToken> TopTokensOfRows(std::span<const float> logits, int64_t vocabulary,
                                      int64_t k) {
  std::vector<TopToken> top;
  for (size_t at = 0; at < logits.size(); at += static_cast<size_t>(vocabulary)) {
    const auto row = logits.subspan(at, static_cast<size_t>(vocabulary));
    const auto strange =
        std::find_if(row.begin(), row.end(), [](float logit) { return !std::isfinite(logit); });
    if (strange == row.end()) {
      const std::vector<TopToken> of_row = TopTokens(row, k);
      top.insert(top.end(), of_row.begin(), of_row.end());
    } else {
      const TopToken first{static_cast<int32_t>(strange - row.begin()), *strange};
      top.insert(top.end(), static_cast<size_t>(k), first);
    }
  }
  return top;
}

}  // namespace midscope
