// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/sample_means.h"

#include <cmath>

#include "core/base/record_names.h"
#include "probes/measure/statistics/intervals.h"
#include "probes/measure/statistics/rank_statistics.h"

namespace midscope {
namespace {

// Returns statistic(values of all samples) for each index of [...], from values [sample, ...].
template <typename Statistic>
std::vector<double> OverSamples(const std::vector<double>& values, size_t samples,
                                Statistic statistic) {
  const size_t each = values.size() / samples;
  std::vector<double> results(each);
  std::vector<double> of_samples(samples);
  for (size_t i = 0; i < each; ++i) {
    for (size_t s = 0; s < samples; ++s) of_samples[s] = values[s * each + i];
    results[i] = statistic(of_samples);
  }
  return results;
}

}  // namespace

std::vector<double> MeanOverSamples(const std::vector<double>& values, size_t samples) {
  return OverSamples(values, samples,
                     [](const std::vector<double>& numbers) { return MeanOfNumbers(numbers); });
}

Array HalfWidthOverSamples(const std::string& name, const std::vector<std::string>& axes,
                           const std::vector<double>& values, size_t samples) {
  std::vector<double> half_widths = OverSamples(values, samples, [](std::vector<double> numbers) {
    std::erase_if(numbers, [](double number) { return std::isnan(number); });
    const Interval interval = MeanInterval(numbers);
    return (interval.high - interval.low) / 2;
  });
  return {name + kHalfWidthSuffix, axes, std::move(half_widths), "",
          "half of the 95 % interval of " + name + " over samples, Student's t"};
}

}  // namespace midscope
