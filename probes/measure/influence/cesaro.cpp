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

std::vector<double> RelativeByPart(std::span<const double> by_token, int64_t parts) {
  const auto tokens = std::ssize(by_token);
  const double mean_of_all = Mean(by_token);
  // Returns the first token of part `part`, or of a later part.
  const auto first = [&](int64_t part) { return (part * tokens + parts - 1) / parts; };
  std::vector<double> relative;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = part * tokens / parts;
    const int64_t count = first(part + 1) - first(part);
    const auto of_part = by_token.subspan(static_cast<size_t>(count > 0 ? first(part) : begin),
                                          static_cast<size_t>(std::max<int64_t>(1, count)));
    relative.push_back(Mean(of_part) / mean_of_all);
  }
  return relative;
}

CesaroFit FitCesaro(std::span<const double> by_part, int64_t tokens, int64_t layers) {
  constexpr int kSteps = 100;
  CesaroFit best{kUndefined, kUndefined};
  if (!std::all_of(by_part.begin(), by_part.end(), [](double value) { return value > 0; }))
    return best;
  for (int step = 1; step < kSteps; ++step) {
    const double alpha = static_cast<double>(step) / kSteps;
    const std::vector<double> theory =
        RelativeByPart(CesaroInfluence(tokens, layers, alpha), std::ssize(by_part));
    double squares = 0;
    for (size_t part = 0; part < theory.size(); ++part)
      squares += std::pow(std::log(by_part[part] / theory[part]), 2);
    const double difference = std::sqrt(squares / static_cast<double>(theory.size()));
    if (std::isnan(best.difference) || difference < best.difference) best = {alpha, difference};
  }
  return best;
}

}  // namespace midscope
