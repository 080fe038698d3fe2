// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/choice_history.h"

#include <QUndoStack>
#include <algorithm>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/base/value_step.h"
#include "gui/session/session.h"

namespace midscope {
namespace {

bool Contains(const std::vector<PinnedHead>& pins, HeadId head) {
  return std::any_of(pins.begin(), pins.end(),
                     [&head](const PinnedHead& pin) { return pin.head == head; });
}

// The text of a step in the Edit menu; names the head if one was pinned or unpinned.
QString PinText(const std::vector<PinnedHead>& before, const std::vector<PinnedHead>& after) {
  const bool more = after.size() > before.size();
  const std::vector<PinnedHead>& larger = more ? after : before;
  const std::vector<PinnedHead>& smaller = more ? before : after;
  if (larger.size() == smaller.size() + 1) {
    for (const PinnedHead& pin : larger) {
      if (Contains(smaller, pin.head)) continue;
      return (more ? QObject::tr("pin %1") : QObject::tr("unpin %1")).arg(HeadText(pin.head));
    }
  }
  return QObject::tr("pinned heads");
}

}  // namespace

ChoiceHistory::ChoiceHistory(Session* session, Selection* selection, QUndoStack* stack,
                             QObject* parent)
    : QObject(parent),
      session_(session),
      selection_(selection),
      stack_(stack),
      pins_(selection->pinned()) {
  connect(selection_, &Selection::PinsChanged, this, &ChoiceHistory::AddPins);
}

void ChoiceHistory::ChoosePlace(size_t place) {
  const SessionView& live = session_->live();
  const bool other = place < live.prompts.size() && place != live.place;
  if (!other || !session_->may_change_place()) return;
  const int64_t named = IntegerAttribute(live.prompts[place], "place", 0);
  stack_->push(new ValueStep<size_t>(tr("place %1").arg(named), live.place, place,
                                     [this](size_t shown) { session_->SetPlace(shown); }));
}

void ChoiceHistory::AddChannel(qint64 before, qint64 after) {
  if (before == after || session_->shows_file()) return;
  stack_->push(new ValueStep<qint64>(tr("channel %1").arg(after), before, after,
                                     [this](qint64 shown) { session_->SetChannel(shown); }));
}

void ChoiceHistory::AddPins() {
  if (selection_->pinned() == pins_) return;
  std::vector<PinnedHead> before = std::exchange(pins_, selection_->pinned());
  const QString text = PinText(before, pins_);
  stack_->push(new ValueStep<std::vector<PinnedHead>>(
      text, std::move(before), pins_,
      [this](const std::vector<PinnedHead>& pins) { RestorePins(pins); }));
}

void ChoiceHistory::RestorePins(const std::vector<PinnedHead>& pins) {
  pins_ = pins;
  selection_->RestorePins(pins);
}

}  // namespace midscope
