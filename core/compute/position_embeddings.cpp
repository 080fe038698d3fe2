// SPDX-License-Identifier: MIT
#include "core/compute/position_embeddings.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace midscope {
namespace {

constexpr double kBase = 10000;

template <class Out, class Round>
void FillRow(const std::vector<float>& frequencies, int64_t width, float position, Out* out,
             Round round) {
  const auto pairs = frequencies.size();
  for (size_t j = 0; j < pairs; ++j) {
    const float angle = position * frequencies[j];
    out[j] = round(std::sin(angle));
    out[pairs + j] = round(std::cos(angle));
  }
  std::fill(out + 2 * pairs, out + width, round(0.0f));
}

}  // namespace

PositionEmbeddings::PositionEmbeddings(WeightMatrix table, int64_t offset)
    : table_(std::move(table)), offset_(offset) {}

PositionEmbeddings::PositionEmbeddings(int64_t width, int64_t offset, kernels::Dtype dtype)
    : frequencies_(static_cast<size_t>(width / 2)), width_(width), offset_(offset), dtype_(dtype) {
  const int64_t last = width / 2 - 1;
  const auto step =
      static_cast<float>(-std::log(kBase) / static_cast<double>(std::max<int64_t>(last, 1)));
  for (size_t j = 0; j < frequencies_.size(); ++j)
    frequencies_[j] = std::exp(static_cast<float>(j) * step);
}

void PositionEmbeddings::Row(double position, void* out) const {
  if (frequencies_.empty()) {
    table_.Row(offset_ + static_cast<int64_t>(position), out);
    return;
  }
  const auto at = static_cast<float>(position + static_cast<double>(offset_));
  switch (dtype_) {
    case kernels::Dtype::kFloat32:
      return FillRow(frequencies_, width_, at, static_cast<float*>(out),
                     [](float value) { return value; });
    case kernels::Dtype::kBFloat16:
      return FillRow(frequencies_, width_, at, static_cast<kernels::BFloat16*>(out),
                     kernels::ToBFloat16);
    case kernels::Dtype::kFloat16:
      return FillRow(frequencies_, width_, at, static_cast<kernels::Float16*>(out),
                     kernels::ToFloat16);
  }
}

}  // namespace midscope
