// SPDX-License-Identifier: MIT
#include "core/decoder/attention/attention_tables.h"

#include <algorithm>
#include <map>
#include <utility>

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
  // Within the window no row has a far key.
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

// Copies to the rows [begin, end) of `to`, as far as they are below `rows`, the rows of `from` that
// are `shift` further on. A prompt in chunks may move tokens of a later chunk.
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

}  // namespace midscope
