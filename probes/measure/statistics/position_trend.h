// SPDX-License-Identifier: MIT
// The trend of a series by position: whether its cubic fit rises or falls throughout, and its
// roughness. Used by the search for positional channels (channel_search.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace midscope {

enum class Trend { kNone, kRising, kFalling };

// Least-squares cubics over series of `points` values at places 0, 1, .... Solved by QR in a
// centred and scaled variable: x^3 up to 700^3 is too badly conditioned for normal equations.
class CubicFit {
 public:
  // Throws std::logic_error for fewer than 5 points.
  explicit CubicFit(int64_t points);
  ~CubicFit();
  CubicFit(CubicFit&&) noexcept;
  CubicFit& operator=(CubicFit&&) noexcept;

  // The fitted cubic at the series' own places. values [points].
  std::vector<double> Fitted(std::span<const double> values) const;
  // Whether the fitted cubic never falls (rising) or never rises (falling) from one place to the
  // next. A series of equal values, or with a NaN in it, has no trend.
  Trend TrendOf(std::span<const double> values) const;

 private:
  struct Basis;
  std::unique_ptr<Basis> basis_;
};

// Savitzky-Golay smoothing with cubics; the first and last window / 2 values from the cubic through
// the first and last window: scipy.signal.savgol_filter(values, window, 3), whose even windows are
// centred between two positions, a shift by half a position.
class CubicSmoother {
 public:
  // A window of 0 or 1 changes nothing. Throws std::logic_error for 2 to 4.
  explicit CubicSmoother(int64_t window);

  // Returns as many values as given, which must be at least a window.
  std::vector<double> Smoothed(std::span<const double> values) const;

 private:
  int64_t window_;
  int64_t offset_;                              // of an inner place within its window
  std::vector<double> inner_;                   // [window]
  std::vector<std::vector<double>> at_places_;  // [place in the window][window]
};

// Sum of squared second differences of the series brought to [0, 1] and smoothed; smaller is
// smoother. NaN for a series of equal values or with a NaN in it.
double Roughness(std::span<const double> values, const CubicSmoother& smoother);

}  // namespace midscope
