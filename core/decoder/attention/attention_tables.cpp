// SPDX-License-Identifier: MIT
#include "core/decoder/attention/attention_tables.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <complex>
#include <map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/plan/near_far_plan.h"
#include "core/plan/row_plans.h"

namespace midscope {

RotaryTables AttentionTables::Make(const LayerOps& ops, const AttentionPlan& plan, int64_t rows) {
  RotaryTables tables;
  tables.scale.assign(plan.q_ratio.size(), static_cast<float>(plan.logit_scale));
  tables.alibi_slopes = plan.alibi_slopes;
  tables.window = plan.window;
  tables.softcap = static_cast<float>(plan.softcap);
  if (plan.inverse_frequency.empty()) {
    tables.q.resize(plan.q_ratio.size());
    tables.k = tables.q;
    return tables;
  }
  // Heads with the same positions get the same table, because kernels share rotated keys between
  // equal pointers.
  std::map<std::pair<double, RowPositions>, kernels::RotaryView> known;
  const auto views_of = [&](const std::vector<double>& ratios, const RowPositions& positions) {
    std::vector<kernels::RotaryView> views;
    views.reserve(ratios.size());
    for (const double ratio : ratios) {
      const auto [place, is_new] = known.try_emplace({ratio, positions});
      if (is_new) {
        auto table =
            rotary_.Reserve({plan.inverse_frequency, plan.magnitude, ratio, positions}, rows);
        if (!ops.forms_tables()) Fill(*table);
        place->second = table->View();
        tables.owned.push_back(std::move(table));
      }
      views.push_back(place->second);
    }
    return views;
  };
  tables.q = views_of(plan.q_ratio, {.ids = plan.position_ids});
  tables.k = views_of(plan.k_ratio, {.ids = plan.position_ids});
  // Far tables are only needed if the sequence is longer than the window.
  if (plan.near_far && plan.position_ids.Reach(rows) > plan.near_far->window) {
    tables.near = plan.near_far->window;
    tables.far_q = views_of(plan.q_ratio, FarQueries(*plan.near_far, plan.position_ids));
    tables.far_k = views_of(plan.k_ratio, FarKeys(*plan.near_far, plan.position_ids));
  }
  return tables;
}

void AttentionTables::Fill(const RotaryCache::Table& table) const {
  if (!table.Fill(executor_, cancel_)) throw Cancelled();
}

RotaryTables AttentionTables::Edited(const LayerOps& ops, const AttentionPlan& plan, int64_t rows,
                                     const RotaryTables& tables, const RowEdits& edits) {
  RotaryTables edited = tables;
  edited.edits = edits;
  edited.edits.hidden.insert(edited.edits.hidden.end(), tables.edits.hidden.begin(),
                             tables.edits.hidden.end());
  if (edits.moved.empty()) return edited;
  if (plan.position_ids.given()) {
    AttentionPlan moved_plan = plan;
    moved_plan.position_ids = MovedIds(plan.position_ids, edits.moved, rows);
    RotaryTables moved = Make(ops, moved_plan, rows);
    edited.q = std::move(moved.q);
    edited.k = std::move(moved.k);
    edited.owned.insert(edited.owned.end(), moved.owned.begin(), moved.owned.end());
    return edited;
  }
  for (const auto& table : tables.owned) {
    Fill(*table);
    edited.owned.push_back(moved_.Get(table, edits.moved, rows));
    const kernels::RotaryView moved = edited.owned.back()->View();
    for (auto* views : {&edited.q, &edited.k}) {
      for (kernels::RotaryView& view : *views) {
        if (view.cos == table->cos()) view = moved;
      }
    }
  }
  return edited;
}

namespace {

// Sets rows [begin, end) of `to` to the rows of `from` that are `shift` rows further on. Rows from
// `rows` on are skipped: a prompt in chunks may move tokens of a later chunk.
void CopyRows(const float* from, int64_t pairs, const MovedTokens& moved, int64_t rows, float* to) {
  const int64_t end = std::min(moved.end, rows);
  if (moved.begin >= end) return;
  std::copy_n(from + (moved.begin + moved.shift) * pairs, (end - moved.begin) * pairs,
              to + moved.begin * pairs);
}

}  // namespace

MovedTables::Table MovedTables::Get(const Table& table, const std::vector<MovedTokens>& moved,
                                    int64_t rows) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.from == table && entry.rows >= rows && entry.moved == moved;
  });
  if (found != entries_.end()) return found->to;
  const int64_t pairs = table->pairs();
  auto to = std::make_shared<RotaryCache::Table>(rows, pairs);
  std::copy_n(table->cos(), rows * pairs, to->cos());
  std::copy_n(table->sin(), rows * pairs, to->sin());
  for (const MovedTokens& tokens : moved) {
    CopyRows(table->cos(), pairs, tokens, rows, to->cos());
    CopyRows(table->sin(), pairs, tokens, rows, to->sin());
  }
  entries_.push_back({table, moved, rows, to});
  return to;
}

namespace {

// The rotation of a pair of elements, as a complex factor.
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
