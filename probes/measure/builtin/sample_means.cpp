// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/sample_means.h"

#include "probes/measure/statistics/rank_statistics.h"

namespace midscope {

std::vector<double> MeanOverSamples(const std::vector<double>& values, size_t samples) {
  const size_t each = values.size() / samples;
  std::vector<double> means(each);
  for (size_t i = 0; i < each; ++i) {
    std::vector<double> of_samples;
    for (size_t s = 0; s < samples; ++s) of_samples.push_back(values[s * each + i]);
    means[i] = MeanOfNumbers(of_samples);
  }
  return means;
}

}  // namespace midscope
