// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/table_waves.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <unsupported/Eigen/FFT>

namespace midscope {
namespace {

using Table = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using TableView = Eigen::Map<const Table>;

TableView ViewOf(std::span<const float> values, int64_t channels) {
  return {values.data(), static_cast<Eigen::Index>(values.size()) / channels, channels};
}

}  // namespace

ChannelPeriods PeriodsOfChannels(std::span<const float> values, int64_t channels) {
  const TableView table = ViewOf(values, channels);
  ChannelPeriods periods;
  Eigen::FFT<double> transform;
  const auto positions = static_cast<size_t>(table.rows());
  std::vector<double> wave(positions);
  std::vector<std::complex<double>> spectrum;
  for (int64_t channel = 0; channel < table.cols(); ++channel) {
    const double mean = table.col(channel).cast<double>().mean();
    for (size_t i = 0; i < positions; ++i)
      wave[i] = table(static_cast<Eigen::Index>(i), channel) - mean;
    transform.fwd(spectrum, wave);
    double all = 0;
    double largest = 0;
    size_t best = 0;
    for (size_t bin = 1; 2 * bin <= positions; ++bin) {
      // Every frequency has a mirror image except half a turn per position.
      const double power = std::norm(spectrum[bin]) * (2 * bin == positions ? 1 : 2);
      all += power;
      if (power <= largest) continue;
      largest = power;
      best = bin;
    }
    const bool constant = best == 0;
    periods.period.push_back(constant ? NAN
                                      : static_cast<double>(positions) / static_cast<double>(best));
    periods.share.push_back(constant ? NAN : largest / all);
  }
  return periods;
}

std::vector<double> SimilarityByDistance(std::span<const float> values, int64_t channels) {
  const TableView table = ViewOf(values, channels);
  const Table rows = table.rowwise().normalized();
  const Eigen::Index positions = rows.rows();
  std::vector<double> sums(static_cast<size_t>(positions), 0.0);
  constexpr Eigen::Index kBlock = 256;
  for (Eigen::Index first = 0; first < positions; first += kBlock) {
    const Eigen::Index count = std::min(kBlock, positions - first);
    const Table cosines =
        rows.middleRows(first, count) * rows.bottomRows(positions - first).transpose();
    for (Eigen::Index r = 0; r < count; ++r) {
      for (Eigen::Index c = r; c < cosines.cols(); ++c)
        sums[static_cast<size_t>(c - r)] += cosines(r, c);
    }
  }
  for (size_t distance = 0; distance < sums.size(); ++distance)
    sums[distance] /= static_cast<double>(sums.size() - distance);
  return sums;
}

}  // namespace midscope
