// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/position_trend.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/check.h"

namespace midscope {
namespace {

constexpr int kTerms = 4;  // coefficients of a cubic

using Terms = Eigen::Matrix<double, Eigen::Dynamic, kTerms>;
using Vector = Eigen::VectorXd;

Eigen::Map<const Vector> AsVector(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

// Returns a matrix whose row i is 1, t, t^2, t^3 at t = (i - centre) / scale.
Terms Powers(int64_t points, double centre, double scale) {
  Terms powers(points, kTerms);
  for (int64_t i = 0; i < points; ++i) {
    const double t = (static_cast<double>(i) - centre) / scale;
    powers.row(i) << 1.0, t, t * t, t * t * t;
  }
  return powers;
}

// Returns the weights with which a window's values enter its cubic fit at `place` (0: first value).
std::vector<double> WeightsAt(int64_t window, double place) {
  const Terms powers = Powers(window, place, static_cast<double>(window) / 2);
  // The cubic's value at `place` is its constant term: the first row of the pseudo-inverse.
  const Eigen::MatrixXd inverse =
      powers.householderQr().solve(Eigen::MatrixXd::Identity(window, window));
  const Vector row = inverse.row(0);
  return {row.begin(), row.end()};
}

// Finds the smallest and largest value of a series; returns false if they are equal.
bool FindRange(std::span<const double> values, double& low, double& high) {
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  low = *lowest;
  high = *highest;
  const bool has_nan =
      std::any_of(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  return !has_nan && high > low;
}

}  // namespace

struct CubicFit::Basis {
  Terms powers;
  Terms steps;  // row i: powers at position i + 1 minus powers at position i
  Eigen::HouseholderQR<Terms> qr;

  Eigen::Matrix<double, kTerms, 1> Coefficients(std::span<const double> values) const {
    MIDSCOPE_CHECK_EQ(values.size(), powers.rows());
    return qr.solve(AsVector(values));
  }
};

CubicFit::CubicFit(int64_t points) : basis_(std::make_unique<Basis>()) {
  MIDSCOPE_CHECK_GT(points, kTerms);
  const double centre = static_cast<double>(points - 1) / 2;
  basis_->powers = Powers(points, centre, centre);
  basis_->steps = basis_->powers.bottomRows(points - 1) - basis_->powers.topRows(points - 1);
  basis_->qr = Eigen::HouseholderQR<Terms>(basis_->powers);
}

CubicFit::~CubicFit() = default;
CubicFit::CubicFit(CubicFit&&) noexcept = default;
CubicFit& CubicFit::operator=(CubicFit&&) noexcept = default;

std::vector<double> CubicFit::Fitted(std::span<const double> values) const {
  const Vector fitted = basis_->powers * basis_->Coefficients(values);
  return {fitted.begin(), fitted.end()};
}

Trend CubicFit::TrendOf(std::span<const double> values) const {
  // Computes steps from the coefficients, not as differences of fitted values, to avoid
  // cancellation.
  const Vector steps = basis_->steps * basis_->Coefficients(values);
  double low = 0;
  double high = 0;
  if (!FindRange(values, low, high)) return Trend::kNone;
  if (steps.minCoeff() >= 0) return Trend::kRising;
  if (steps.maxCoeff() <= 0) return Trend::kFalling;
  return Trend::kNone;
}

CubicSmoother::CubicSmoother(int64_t window) : window_(window) {
  if (window == 0 || window == 1) return;
  MIDSCOPE_CHECK_GT(window, kTerms);
  offset_ = (window - 1) / 2;
  inner_ = WeightsAt(window, static_cast<double>(window - 1) / 2);
  for (int64_t place = 0; place < window; ++place) {
    at_places_.push_back(WeightsAt(window, static_cast<double>(place)));
  }
}

std::vector<double> CubicSmoother::Smoothed(std::span<const double> values) const {
  const auto count = static_cast<int64_t>(values.size());
  MIDSCOPE_CHECK_GE(count, window_);
  if (inner_.empty()) return {values.begin(), values.end()};
  const int64_t edge = window_ / 2;
  std::vector<double> smoothed(values.size());
  for (int64_t i = 0; i < count; ++i) {
    const bool inner = i >= edge && i < count - edge;
    const int64_t first = inner ? i - offset_ : i < edge ? 0 : count - window_;
    const std::vector<double>& weights =
        inner ? inner_ : at_places_[static_cast<size_t>(i - first)];
    smoothed[static_cast<size_t>(i)] =
        std::inner_product(weights.begin(), weights.end(), values.begin() + first, 0.0);
  }
  return smoothed;
}

double Roughness(std::span<const double> values, const CubicSmoother& smoother) {
  double low = 0;
  double high = 0;
  if (!FindRange(values, low, high)) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> scaled(values.size());
  std::transform(values.begin(), values.end(), scaled.begin(),
                 [&](double value) { return (value - low) / (high - low); });
  const std::vector<double> smoothed = smoother.Smoothed(scaled);
  double sum = 0;
  for (size_t i = 2; i < smoothed.size(); ++i) {
    const double second = smoothed[i] - 2 * smoothed[i - 1] + smoothed[i - 2];
    sum += second * second;
  }
  return sum;
}

}  // namespace midscope
