// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons to decide whether the drawn numbers have changed.
#pragma once

#include <QVector>
#include <algorithm>
#include <cmath>

namespace midscope {

// As ==, except that NaN (no value) equals NaN.
inline bool SameNumber(double left, double right) {
  return left == right || (std::isnan(left) && std::isnan(right));
}

inline bool SameNumbers(const QVector<double>& left, const QVector<double>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), SameNumber);
}

}  // namespace midscope
