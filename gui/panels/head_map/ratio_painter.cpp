// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/head_map/ratio_painter.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/intervention/head_ratio_file.h"
#include "core/terms/terms.h"
#include "gui/session/session.h"
#include "probes/base/records.h"

namespace midscope {

RatioPainter::RatioPainter(const Session* session, QObject* parent)
    : QObject(parent), session_(session) {}

std::optional<HeadRatioTable> RatioPainter::Stated(Side side) const {
  const auto& model = session_->model(side);
  if (!model || session_->shows_file()) return std::nullopt;
  const ModelConfig& config = model->config;
  const Intervention& setting = session_->setting(side);
  if (!PositionScheme(setting)) return EqualRatios(config.layers, config.heads, 1);
  if (const auto* pi = setting.Find<PositionInterpolation>()) {
    HeadRatioTable table = EqualRatios(config.layers, config.heads, pi->ratio);
    table.rows = pi->rows;
    return table;
  }
  const auto* table = setting.Find<HeadRatioTable>();
  const auto count = static_cast<size_t>(config.layers * config.heads);
  if (!table || table->heads != config.heads || table->ratios.size() != count) return std::nullopt;
  return *table;
}

std::optional<HeadRatioTable> RatioPainter::Table() const {
  if (auto stated = Stated(Side::kB)) return stated;
  const auto& model = session_->model(Side::kB);
  if (!model || session_->shows_file()) return std::nullopt;
  HeadRatioTable table = EqualRatios(model->config.layers, model->config.heads, 1);
  table.rows = PositionSchemeRows(session_->setting(Side::kB));
  if (session_->setting(Side::kB).Find<MsPoe>()) table.file = kEditedMsPoe;
  const Record* record = session_->record(Side::kB, kPositionRatio);
  if (!record || !session_->IsRequested(Side::kB, *record) || IsPartial(*record)) return table;
  const HeadTable run = ArrayTable(record, kPositionRatio);
  if (run.heads == table.heads && run.values.size() == table.ratios.size())
    table.ratios = run.values;
  return table;
}

bool RatioPainter::Replaces() const {
  return !Stated(Side::kB) && !session_->setting(Side::kB).Find<MsPoe>();
}

int64_t RatioPainter::HeadsPerGroup() const {
  const auto& model = session_->model(Side::kB);
  return model ? model->config.heads_per_key_value_head() : 1;
}

std::vector<HeadId> RatioPainter::WithGroups(const std::vector<HeadId>& heads) const {
  const int64_t group = HeadsPerGroup();
  std::vector<HeadId> all;
  for (const HeadId& head : heads) {
    const int64_t first = head.head / group * group;
    for (int64_t each = first; each < first + group; ++each) {
      const HeadId member{head.layer, each};
      if (std::find(all.begin(), all.end(), member) == all.end()) all.push_back(member);
    }
  }
  return all;
}

void RatioPainter::Paint(const std::vector<HeadId>& heads, double change, bool dragging) {
  const auto* shown = session_->setting(Side::kB).Find<HeadRatioTable>();
  const bool changed = painted_ && (!shown || *shown != *painted_);
  if (begin_ && changed) dropped_ = true;
  if (dropped_) {
    begin_.reset();
    painted_.reset();
    dropped_ = dragging;
    return;
  }
  if (!begin_) begin_ = Table();
  if (!begin_) return;
  HeadRatioTable table =
      InFolder(ScaledRatios(*begin_, grouped_ ? WithGroups(heads) : heads, change), folder_, false);
  if (!dragging) {
    begin_.reset();
    table = InFolder(table, folder_, true);
  }
  painted_ = dragging ? std::optional<HeadRatioTable>(table) : std::nullopt;
  Q_EMIT Painted(table, dragging);
}

void RatioPainter::Set(const std::vector<std::pair<HeadId, double>>& ratios) {
  std::optional<HeadRatioTable> table = Table();
  if (!table) throw UsageError("position ratios", "there are none", "Open a model first");
  for (const auto& [head, ratio] : ratios) {
    if (!(ratio >= kSmallestRatio && ratio <= kLargestRatio)) {
      throw UsageError("ratio " + NumberText(ratio), "it is not in range",
                       "Give " + NumberText(kSmallestRatio) + " to " + NumberText(kLargestRatio));
    }
    table = WithRatios(*table, grouped_ ? WithGroups({head}) : std::vector<HeadId>{head}, ratio);
  }
  begin_.reset();
  Q_EMIT Painted(InFolder(*table, folder_, true), false);
}

HeadRatioTable RatioPainter::Edited(Edit edit, const HeadRatioTable& table) const {
  switch (edit) {
    case Edit::kGrouped:
      return GroupedRatios(table, HeadsPerGroup());
    case Edit::kReversed:
      return ReversedRatios(table);
    case Edit::kOnes: {
      HeadRatioTable ones =
          EqualRatios(static_cast<int64_t>(table.ratios.size()) / table.heads, table.heads, 1);
      ones.rows = table.rows;
      return ones;
    }
    case Edit::kRandom:
      return table;
    case Edit::kFromScore:
      break;
  }
  const Side from = session_->second() ? Side::kB : Side::kA;  // of the model of B
  const Record* scores = session_->record(from, kPositionAwarenessRecord);
  if (!scores || IsPartial(*scores)) {
    throw UsageError("ratios from score", "A has no position-awareness scores yet",
                     "Wait for the run");
  }
  return RatiosByScore(table, ArrayTable(scores, kPositionAwarenessScore));
}

void RatioPainter::Apply(Edit edit) {
  const std::optional<HeadRatioTable> table = Table();
  if (!table) throw UsageError("position ratios", "there are none", "Open a model first");
  HeadRatioTable next = Edited(edit, *table);
  const uint64_t seed = next.shuffle.value_or(0) + 1;
  next.shuffle.reset();
  next = InFolder(next, folder_, true);
  // The file contains the original order, and the setting's text the seed.
  if (edit == Edit::kRandom) next = ShuffledRatios(next, seed);
  begin_.reset();
  Q_EMIT Painted(next, false);
}

}  // namespace midscope
