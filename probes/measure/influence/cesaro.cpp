// SPDX-License-Identifier: MIT
#include "probes/measure/influence/cesaro.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "probes/measure/statistics/statistics.h"

namespace midscope {

std::vector<double> CesaroInfluence(int64_t tokens, int64_t layers, double alpha) {
  std::vector<double> row(static_cast<size_t>(tokens), 0.0);
  row.back() = 1;
  for (int64_t layer = 0; layer < layers; ++layer) {
    double attended = 0;  // sum over later tokens i >= j of row[i] / (i + 1)
    for (size_t j = row.size(); j-- > 0;) {
      attended += row[j] / static_cast<double>(j + 1);
      row[j] = (1 - alpha) * row[j] + alpha * attended;
    }
  }
  return row;
}

namespace {

std::vector<double> TheoryByPart(size_t parts, int64_t tokens, int64_t layers, double alpha) {
  const std::vector<double> influence = CesaroInfluence(tokens, layers, alpha);
  std::vector<double> sums(parts);
  std::vector<double> counts(parts);
  for (size_t token = 0; token < influence.size(); ++token) {
    const size_t part = token * parts / influence.size();
    sums[part] += influence[token];
    ++counts[part];
  }
  const double mean = 1 / static_cast<double>(tokens);
  for (size_t part = 0; part < parts; ++part) sums[part] /= counts[part] * mean;
  return sums;
}

}  // namespace

CesaroFit FitCesaro(std::span<const double> by_part, int64_t tokens, int64_t layers) {
  constexpr int kSteps = 100;
  CesaroFit best{kUndefined, std::vector<double>(by_part.size(), kUndefined), kUndefined};
  if (!std::all_of(by_part.begin(), by_part.end(), [](double value) { return value > 0; }))
    return best;
  for (int step = 1; step < kSteps; ++step) {
    const double alpha = static_cast<double>(step) / kSteps;
    std::vector<double> theory = TheoryByPart(by_part.size(), tokens, layers, alpha);
    double squares = 0;
    for (size_t part = 0; part < theory.size(); ++part)
      squares += std::pow(std::log(by_part[part] / theory[part]), 2);
    const double difference = std::sqrt(squares / static_cast<double>(theory.size()));
    if (std::isnan(best.difference) || difference < best.difference)
      best = {alpha, std::move(theory), difference};
  }
  return best;
}

}  // namespace midscope
