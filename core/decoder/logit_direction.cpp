// SPDX-License-Identifier: MIT
#include "core/decoder/logit_direction.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/base/sums.h"
#include "core/compute/weights.h"
#include "kernels/check.h"

namespace midscope {
namespace {

// Number of matrix rows that are copied to the host at a time.
constexpr int64_t kRows = 64;

using RowVisitor = std::function<void(int64_t row, std::span<const float> values)>;

// Visits rows [first, last) of a matrix in float32, after rounding to the run's dtype.
void VisitRows(const WeightMatrix& matrix, int64_t first, int64_t last, const RowVisitor& visit) {
  const int64_t width = matrix.inputs();
  for (int64_t begin = first; begin < last; begin += kRows) {
    const int64_t count = std::min(kRows, last - begin);
    const at::Tensor rows = matrix.Rows(begin, count).to(at::kCPU, at::kFloat).contiguous();
    for (int64_t i = 0; i < count; ++i) {
      visit(begin + i, std::span(rows.data_ptr<float>() + i * width, static_cast<size_t>(width)));
    }
  }
}

// Converts a direction after a norm to one before it, without the factor 1 / deviation.
std::vector<double> BeforeNorm(NormKind kind, const Norm& norm, std::span<const double> after) {
  std::vector<double> before(after.begin(), after.end());
  if (!norm.weight.empty()) {
    for (size_t i = 0; i < before.size(); ++i) before[i] *= norm.weight[i];
  }
  if (kind == NormKind::kLayer) {
    const double mean = Sum(before) / static_cast<double>(before.size());
    for (double& value : before) value -= mean;
  }
  return before;
}

// Returns 1 / sqrt(mean(x^2) + epsilon); for a LayerNorm, 1 / sqrt(variance(x) + epsilon).
double InverseDeviation(const ModelConfig& config, std::span<const double> x) {
  const auto count = static_cast<double>(x.size());
  const double mean = config.norm == NormKind::kLayer ? Sum(x) / count : 0.0;
  double squares = 0;
  for (const double value : x) squares += (value - mean) * (value - mean);
  return 1 / std::sqrt(squares / count + config.norm_epsilon);
}

// Returns the component of `values` along the direction; 0 if there are no values.
double Along(const std::vector<float>& values, std::span<const double> direction) {
  return values.empty() ? 0.0 : Dot(values, direction);
}

// Returns [heads * head_dim]: directions in the latent values of z, from directions [heads * value]
// in the heads' outputs, which value_out of LatentWeights computes from z.
std::vector<double> OfLatentValues(const ModelConfig& config, const LatentWeights& weights,
                                   std::span<const double> of_outputs) {
  std::vector<double> of_z(static_cast<size_t>(config.heads * config.head_dim));
  VisitRows(weights.value_out.weight, 0, config.heads * config.latent.value,
            [&](int64_t row, std::span<const float> values) {
              const int64_t head = row / config.latent.value;
              const double of_output = of_outputs[static_cast<size_t>(row)];
              double* to =
                  &of_z[static_cast<size_t>(head * config.head_dim + config.rope_dimensions)];
              for (size_t i = 0; i < values.size(); ++i) to[i] += of_output * values[i];
            });
  return of_z;
}

}  // namespace

LogitDirection MakeLogitDirection(const ModelConfig& config, const Weights& weights, int32_t token,
                                  int32_t against) {
  MIDSCOPE_CHECK(token >= 0 && token < config.vocabulary, "a token outside the vocabulary");
  MIDSCOPE_CHECK(against >= 0 && against < config.vocabulary, "a token outside the vocabulary");
  std::vector<double> difference(static_cast<size_t>(config.hidden));
  const auto add = [&](int32_t id, double sign) {
    VisitRows(weights.output.weight, id, id + 1, [&](int64_t, std::span<const float> row) {
      for (size_t i = 0; i < row.size(); ++i) difference[i] += sign * row[i];
    });
  };
  add(token, 1);
  add(against, -1);
  LogitDirection result;
  result.constant = Along(weights.final_norm.bias, difference);
  const std::vector<float>& bias = weights.output.bias;
  if (!bias.empty()) {
    result.constant +=
        double{bias[static_cast<size_t>(token)]} - bias[static_cast<size_t>(against)];
  }
  result.direction = BeforeNorm(config.norm, weights.final_norm, difference);
  result.constant *= config.output_scale;
  for (double& value : result.direction) value *= config.output_scale;
  double factor = 1.0;
  result.of_layer.resize(weights.layers.size());
  for (size_t layer = weights.layers.size(); layer-- > 0;) {
    factor *= weights.layers[layer].layer_scale;
    result.of_layer[layer] = factor;
  }
  return result;
}

HeadDirections MakeHeadDirections(const ModelConfig& config, const LayerWeights& weights,
                                  std::span<const float> z, std::span<const double> direction) {
  MIDSCOPE_CHECK_EQ(direction.size(), config.hidden);
  MIDSCOPE_CHECK(!config.latent.used() || !config.output_norms,
                 "an output norm reads heads' outputs, z holds latent values");
  MIDSCOPE_CHECK(!config.output_norms || (!config.HasMixers() && config.attention_scale == 1.0),
                 "an output norm reads the outputs of heads alone, unscaled");
  HeadDirections result;
  std::vector<double> before(direction.begin(), direction.end());
  if (config.output_norms) {
    before = BeforeNorm(config.norm, weights.attention_output_norm, direction);
    result.constant = Along(weights.attention_output_norm.bias, direction);
  }
  const std::vector<float>& bias = weights.attention_out.bias;
  result.of_z.assign(static_cast<size_t>(weights.attention_out.weight.inputs()), 0.0);
  std::vector<double> update(before.size());
  VisitRows(weights.attention_out.weight, 0, config.hidden,
            [&](int64_t row, std::span<const float> values) {
              const auto i = static_cast<size_t>(row);
              for (size_t j = 0; j < values.size(); ++j) result.of_z[j] += before[i] * values[j];
              if (!config.output_norms) return;
              for (size_t j = 0; j < values.size(); ++j)
                update[i] += static_cast<double>(values[j]) * z[j];
              if (!bias.empty()) update[i] += bias[i];
            });
  if (config.latent.used()) result.of_z = OfLatentValues(config, weights.latent, result.of_z);
  const double scale = config.output_norms ? InverseDeviation(config, update) : 1.0;
  const double own = config.attention_scale * scale;
  for (double& value : result.of_z) value *= config.update_scale * own;
  result.constant = config.update_scale * (result.constant + own * Along(bias, before));
  return result;
}

}  // namespace midscope
