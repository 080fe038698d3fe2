// SPDX-License-Identifier: MIT
// Trend of a series over positions (whether its cubic fit rises or falls throughout) and its
// roughness, for the search for positional channels (channel_search.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace midscope {

enum class Trend { kNone, kRising, kFalling };

// Least-squares cubic fits to series of `points` values at positions 0, 1, .... Uses QR with a
// centred and scaled variable, because with powers up to 700^3 normal equations are too
// ill-conditioned.
class CubicFit {
 public:
  // Throws std::logic_error for fewer than 5 points.
  explicit CubicFit(int64_t points);
  ~CubicFit();
  CubicFit(CubicFit&&) noexcept;
  CubicFit& operator=(CubicFit&&) noexcept;

  // Returns the fitted cubic at the positions of the series. values: [points].
  std::vector<double> Fitted(std::span<const double> values) const;
  // Returns kRising if the fitted cubic never falls from one position to the next, kFalling if it
  // never rises. A series of equal values, or with a NaN, has no trend.
  Trend TrendOf(std::span<const double> values) const;

 private:
  struct Basis;
  std::unique_ptr<Basis> basis_;
};

// Savitzky-Golay smoothing with cubics, as scipy.signal.savgol_filter(values, window, 3): the first
// and last window / 2 values are from the cubic fit to the first and last window; even windows are
// centred between two positions, which shifts the result by half a position.
class CubicSmoother {
 public:
  // `window`: number of values; 0 or 1 leaves values unchanged. Throws std::logic_error for 2 to 4.
  explicit CubicSmoother(int64_t window);

  // Returns the smoothed values, as many as are given; there must be at least `window`.
  std::vector<double> Smoothed(std::span<const double> values) const;

 private:
  int64_t window_;
  int64_t offset_;             // index, within its window, of a value away from the ends
  std::vector<double> inner_;  // weights away from the ends, [window]
  std::vector<std::vector<double>> at_places_;  // [index in the window][window]
};

// Returns the sum of squared second differences of the series, scaled to [0, 1] and smoothed;
// smaller is smoother. NaN if all values are equal or one is NaN.
double Roughness(std::span<const double> values, const CubicSmoother& smoother);

}  // namespace midscope
