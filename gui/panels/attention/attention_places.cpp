// SPDX-License-Identifier: GPL-3.0-or-later
// AttentionPanel: the plots below the first one, such as the attention of the chosen head at every
// place of the prompt.
#include <algorithm>
#include <utility>

#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/attention/attention_places.h"
#include "gui/plots/attention_plot.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"

namespace midscope {

// The plots below the first one scroll, so that the panel does not grow with their number.
void AttentionPanel::MakeStack() {
  stack_ = Named(new QScrollArea(this), "attention_stack");
  stack_->setWidgetResizable(true);
  stack_->setFrameShape(QFrame::NoFrame);
  stack_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  stack_->setMinimumHeight(kAttentionHeight);
  stack_->hide();
  auto* rows = new QWidget(stack_);
  stack_column_ = WithoutMargins(new QVBoxLayout(rows));
  stack_column_->setSpacing(0);
  stack_->setWidget(rows);
  column_->addWidget(stack_);
}

void AttentionPanel::MakeStacked(size_t count) {
  while (stacked_.size() > count) {
    stacked_.back()->hide();
    stacked_.back()->deleteLater();
    stacked_.pop_back();
  }
  while (stacked_.size() < count) {
    AttentionPlot* plot = MakePlot(stack_column_);
    plot->SetCompact();
    plot->setMinimumHeight(kAttentionHeight);
    plot->SetLeft(plot_->axisRect()->left());
    plot->SetFileStem(QStringLiteral("attention_below_%1").arg(stacked_.size() + 1));
    plot->SetPrompt(session()->prompt());
    plot->SetLogarithmic(logarithmic_->isChecked());
    plot->SetRange(selection()->range());
    plot->SetMarkedKey(selection()->token());
    stacked_.push_back(plot);
    ShowWindow(plot);
  }
  stack_->setVisible(count > 0);
  column_->setStretchFactor(stack_, count > 1 ? 2 : 1);
  // The last plot has the numbers of the axis that all share.
  for (AttentionPlot* plot : stacked_) plot->ShowTokenLabels(plot == stacked_.back());
}

void AttentionPanel::DrawPlaces() {
  plot_->SetOthers({});
  const size_t places = session()->prompts().size();
  MakeStacked(places);
  for (size_t place = 0; place < places; ++place) DrawPlace(stacked_[place], place);
  const size_t unseen = UnseenPlaces().size();
  walk_places_->setVisible(unseen > 0 || walk_from_);
  walk_places_->setEnabled(!walk_from_);
  walk_places_->setText(walk_from_ ? tr("running the places…")
                                   : tr("Run the other %1").arg(unseen));
}

void AttentionPanel::DrawPlace(AttentionPlot* plot, size_t place) {
  const Record* prompt = &session()->prompts()[place];
  plot->SetPrompt(prompt);
  plot->SetReason(tr("not run at this place yet"));
  plot->SetCompare(selection()->compare());
  plot->SetOthers({});
  plot->SetHeadColor(QColor());
  plot->SetOlder(false, false);
  const Record* a = session()->RecordAt(Side::kA, kLastQueryAttention, place);
  // Draws no record of B if A and B do not differ: B's record then equals A's.
  const Record* b =
      session()->differs() ? session()->RecordAt(Side::kB, kLastQueryAttention, place) : nullptr;
  plot->SetRows(ShownRow(a, head_), ShownRow(b, head_));
  const auto counted = [&](Side side, const Record* attention) {
    return row_of_->currentIndex() == 0
               ? CountedKeysRow(session()->RecordAt(side, kCountedKeys, place), attention, head_)
               : CountedRow();
  };
  const bool same_tokens = WhyNotComparable(*session(), Compared::kTokens).isEmpty();
  plot->SetCounted(counted(Side::kA, a), same_tokens ? counted(Side::kB, b) : CountedRow());
  plot->SetTitle(tr("%1, gold at %2").arg(RowName(head_), PlaceName(*prompt)));
}

std::vector<size_t> AttentionPanel::UnseenPlaces() const {
  std::vector<size_t> unseen;
  for (size_t place = 0; place < session()->prompts().size(); ++place) {
    const bool has_a = session()->RecordAt(Side::kA, kLastQueryAttention, place) != nullptr;
    const bool has_b = !session()->differs() ||
                       session()->RecordAt(Side::kB, kLastQueryAttention, place) != nullptr;
    if (!has_a || !has_b) unseen.push_back(place);
  }
  return unseen;
}

void AttentionPanel::WalkPlaces() {
  if (walk_from_ || session()->has_pending_request()) return;
  walk_from_ = session()->place();
  ContinueWalk();
}

// Continues with the next place when the shown one has its records. A failed or cancelled run ends
// the walk.
void AttentionPanel::ContinueWalk() {
  if (!walk_from_ || session()->has_pending_request()) return;
  const bool settled =
      session()->settled(Side::kA) && (!session()->differs() || session()->settled(Side::kB));
  const std::vector<size_t> unseen = UnseenPlaces();
  if (settled && !unseen.empty() && beside() == Beside::kPlacesBelow) {
    session()->SetPlace(unseen.front());
    return;
  }
  session()->SetPlace(*std::exchange(walk_from_, std::nullopt));
  DrawPlaces();
}

QVector<double> AttentionRow(const Record* record, HeadId head) {
  if (!record) return {};
  return LastAxisRow(*record, kLastQueryAttention, {head.layer, head.head});
}

QVector<double> MeanAttentionRow(const Record& record, int64_t layer, int64_t first,
                                 int64_t count) {
  QVector<double> mean;
  for (int64_t head = first; head < first + count; ++head) {
    const QVector<double> row = AttentionRow(&record, {layer, head});
    if (mean.isEmpty()) mean.resize(row.size(), 0);
    for (qsizetype key = 0; key < std::min(mean.size(), row.size()); ++key) {
      mean[key] += row[key] / static_cast<double>(count);
    }
  }
  return mean;
}

CountedRow CountedKeysRow(const Record* record, const Record* attention, HeadId head) {
  const char* setting = "intervention";
  if (!record || !attention ||
      AttributeText(*record, setting) != AttributeText(*attention, setting)) {
    return {};
  }
  if (!record->attributes.contains(kThresholdWeight)) return {};
  return {LastAxisRow(*record, kCountedKeys, {head.layer, head.head}),
          NumberAttribute(*record, kThresholdWeight, 0),
          QString::fromStdString(AttributeText(*record, "threshold"))};
}

}  // namespace midscope
