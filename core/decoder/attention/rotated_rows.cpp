// SPDX-License-Identifier: MIT
#include "core/decoder/attention/rotated_rows.h"
#include "core/plan/query_scale.h"

#include <algorithm>
#include <complex>
#include <vector>

#include <ATen/ATen.h>

namespace midscope {

namespace {

// The complex factor of a pair of elements.
using Turn = std::complex<double>;

Turn TurnOf(const kernels::RotaryView& table, int64_t row, int64_t pair) {
  const int64_t at = row * table.pairs + pair;
  return {table.cos[at], table.sin[at]};
}

// Sets out [head_dim] to x [head_dim] with pair p (elements p and p + pairs) multiplied by turn(p).
template <typename TurnOfPair>
void TurnHead(const float* x, int64_t head_dim, int64_t pairs, const TurnOfPair& turn, float* out) {
  std::copy(x, x + head_dim, out);
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const Turn turned = Turn(x[pair], x[pair + pairs]) * turn(pair);
    out[pair] = static_cast<float>(turned.real());
    out[pair + pairs] = static_cast<float>(turned.imag());
  }
}

at::Tensor OnHost(const at::Tensor& x) { return x.to(at::kCPU, at::kFloat).contiguous(); }

}  // namespace

at::Tensor RotatedQueries(const ModelConfig& config, const RotaryTables& tables, RowRange rows,
                          const at::Tensor& q) {
  const at::Tensor source = OnHost(q);
  const int64_t head_dim = q.size(1) / config.heads;
  at::Tensor out = at::empty_like(source);
  for (int64_t row = rows.first; row < rows.last; ++row) {
    for (int64_t head = 0; head < config.heads; ++head) {
      const kernels::RotaryView& table = tables.q[static_cast<size_t>(head)];
      const int64_t at = ((row - rows.first) * config.heads + head) * head_dim;
      TurnHead(
          source.data_ptr<float>() + at, head_dim, table.cos ? table.pairs : 0,
          [&](int64_t pair) { return TurnOf(table, row, pair); }, out.data_ptr<float>() + at);
    }
  }
  return out;
}

at::Tensor RotatedKeys(const ModelConfig& config, int64_t layer, const RotaryTables& tables,
                       int64_t query, RowRange rows, const at::Tensor& k) {
  const at::Tensor source = OnHost(k);
  const int64_t head_dim = config.HeadDim(layer);
  const int64_t key_heads = config.KeyValueHeads(layer);
  at::Tensor out = at::empty({rows.last - rows.first, config.heads * head_dim},
                             at::TensorOptions().dtype(at::kFloat));
  for (int64_t row = rows.first; row < rows.last; ++row) {
    const bool far = tables.near > 0 && query - row >= tables.near;
    for (int64_t head = 0; head < config.heads; ++head) {
      const auto h = static_cast<size_t>(head);
      const kernels::RotaryView& table = tables.k[h];
      const auto turn = [&](int64_t pair) -> Turn {
        if (!far) return TurnOf(table, row, pair);
        const Turn far_query = TurnOf(tables.far_q[h], query, pair);
        return TurnOf(tables.far_k[h], row, pair) * std::conj(far_query) *
               TurnOf(tables.q[h], query, pair) / std::norm(far_query);
      };
      const int64_t group = head / (config.heads / key_heads);
      const int64_t from = ((row - rows.first) * key_heads + group) * head_dim;
      const int64_t to = ((row - rows.first) * config.heads + head) * head_dim;
      TurnHead(source.data_ptr<float>() + from, head_dim, table.cos ? table.pairs : 0, turn,
               out.data_ptr<float>() + to);
    }
  }
  return out;
}

at::Tensor ScaledQueries(const ModelConfig& config, const LayerOps& ops, const AttentionPlan& plan,
                         RowRange rows, const at::Tensor& q) {
  const bool given = plan.position_ids.given();
  const bool by_row = config.query_growth_unrotated;
  const int64_t offset = by_row ? 1 : 0;
  const bool grows =
      config.query_growth > 0 && (!by_row || plan.inverse_frequency.empty()) &&
      ((given && !by_row) || static_cast<double>(rows.last + offset) > config.query_growth_context);
  const bool scales_by_plan = plan.log_scale_base > 0 && (given || rows.last > plan.log_scale_base);
  if (!grows && !scales_by_plan) return q;
  std::vector<float> scales;
  scales.reserve(static_cast<size_t>(rows.last - rows.first));
  for (int64_t row = rows.first; row < rows.last; ++row) {
    const double position = plan.position_ids.At(row);
    const double grown = by_row ? static_cast<double>(row + offset) : position;
    const double own = grows ? QueryGrowth(grown, config) : 1.0;
    const double by_plan = scales_by_plan ? QueryScale(position, plan.log_scale_base) : 1.0;
    scales.push_back(static_cast<float>(own * by_plan));
  }
  return (q.to(at::kFloat) * ops.FewOnDevice(scales).unsqueeze(1)).to(q.scalar_type());
}

}  // namespace midscope
