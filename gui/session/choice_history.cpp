// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/choice_history.h"

#include <QUndoCommand>
#include <QUndoStack>
#include <algorithm>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
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

class PlaceStep : public QUndoCommand {
 public:
  PlaceStep(Session* session, size_t before, size_t after, const QString& text)
      : QUndoCommand(text), session_(session), before_(before), after_(after) {}
  void redo() override { session_->SetPlace(after_); }
  void undo() override { session_->SetPlace(before_); }

 private:
  Session* session_;
  size_t before_;
  size_t after_;
};

// Pushed after the change was made.
class ChannelStep : public QUndoCommand {
 public:
  ChannelStep(Session* session, qint64 before, qint64 after)
      : QUndoCommand(QObject::tr("channel %1").arg(after)),
        session_(session),
        before_(before),
        after_(after) {}
  void redo() override { session_->SetChannel(after_); }
  void undo() override { session_->SetChannel(before_); }

 private:
  Session* session_;
  qint64 before_;
  qint64 after_;
};

}  // namespace

class ChoiceHistory::PinStep : public QUndoCommand {
 public:
  PinStep(ChoiceHistory* history, std::vector<PinnedHead> before, std::vector<PinnedHead> after)
      : QUndoCommand(PinText(before, after)),
        history_(history),
        before_(std::move(before)),
        after_(std::move(after)) {}
  void redo() override { history_->RestorePins(after_); }
  void undo() override { history_->RestorePins(before_); }

 private:
  ChoiceHistory* history_;
  std::vector<PinnedHead> before_;
  std::vector<PinnedHead> after_;
};

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
  stack_->push(new PlaceStep(session_, live.place, place, tr("place %1").arg(named)));
}

void ChoiceHistory::AddChannel(qint64 before, qint64 after) {
  if (before == after || session_->shows_file()) return;
  stack_->push(new ChannelStep(session_, before, after));
}

void ChoiceHistory::AddPins() {
  if (selection_->pinned() == pins_) return;
  std::vector<PinnedHead> before = std::exchange(pins_, selection_->pinned());
  stack_->push(new PinStep(this, std::move(before), pins_));
}

void ChoiceHistory::RestorePins(const std::vector<PinnedHead>& pins) {
  pins_ = pins;
  selection_->RestorePins(pins);
}

}  // namespace midscope
