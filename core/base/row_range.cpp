// SPDX-License-Identifier: MIT
#include "core/base/row_range.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace midscope {

namespace {

bool AreIndices(const std::vector<double>& ids) {
  for (size_t row = 0; row < ids.size(); ++row) {
    if (ids[row] != static_cast<double>(row)) return false;
  }
  return true;
}

}  // namespace

PositionIds::PositionIds(std::vector<double> ids) {
  if (!AreIndices(ids)) ids_ = std::make_shared<const std::vector<double>>(std::move(ids));
}

double PositionIds::At(int64_t row) const {
  if (!ids_) return static_cast<double>(row);
  const auto count = static_cast<int64_t>(ids_->size());
  if (row < count) return (*ids_)[static_cast<size_t>(row)];
  return ids_->back() + static_cast<double>(row - count + 1);
}

int64_t PositionIds::Reach(int64_t rows) const {
  if (!ids_ || rows <= 0) return rows;
  const auto count = std::min(rows, static_cast<int64_t>(ids_->size()));
  const double largest = *std::max_element(ids_->begin(), ids_->begin() + count);
  return static_cast<int64_t>(std::floor(std::max(largest, At(rows - 1)))) + 1;
}

bool PositionIds::NeverFall() const { return !ids_ || std::is_sorted(ids_->begin(), ids_->end()); }

bool PositionIds::operator==(const PositionIds& other) const {
  return ids_ == other.ids_ || (ids_ && other.ids_ && *ids_ == *other.ids_);
}

std::partial_ordering PositionIds::operator<=>(const PositionIds& other) const {
  if (ids_ == other.ids_) return std::partial_ordering::equivalent;
  if (!ids_ || !other.ids_) return given() <=> other.given();
  return *ids_ <=> *other.ids_;
}

int64_t PositionIds::FirstDifference(const PositionIds& a, const PositionIds& b) {
  if (a == b) return INT64_MAX;
  const auto count = [](const PositionIds& ids) {
    return ids.ids_ ? static_cast<int64_t>(ids.ids_->size()) : 0;
  };
  // After the rows with given ids, both sequences of ids continue in steps of 1.
  const int64_t rows = std::max(count(a), count(b)) + 1;
  for (int64_t row = 0; row < rows; ++row) {
    if (a.At(row) != b.At(row)) return row;
  }
  return INT64_MAX;
}

}  // namespace midscope
