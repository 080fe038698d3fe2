// SPDX-License-Identifier: GPL-3.0-or-later
// AttentionPanel: the chosen head at every place of the prompt.
#include <QPushButton>
#include <utility>

#include "core/base/record_names.h"
#include "gui/base/place_name.h"
#include "gui/panels/attention_panel.h"
#include "gui/plots/attention_plot.h"
#include "gui/session/session.h"
#include "gui/widgets/selection.h"

namespace midscope {

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
  const Record* b = session()->RecordAt(Side::kB, kLastQueryAttention, place);
  plot->SetRows(ShownRow(a, head_), ShownRow(b, head_));
  plot->SetCounted({}, {});
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
  if (walk_from_ || session()->asked_and_waiting()) return;
  walk_from_ = session()->place();
  ContinueWalk();
}

// The next place once the shown one has its numbers. A run that failed or was cancelled ends it.
void AttentionPanel::ContinueWalk() {
  if (!walk_from_ || session()->asked_and_waiting()) return;
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

}  // namespace midscope
