// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/setting_history.h"

#include <QUndoStack>
#include <algorithm>
#include <utility>

#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"

namespace midscope {

namespace {

bool OnlyRatiosDiffer(Intervention before, const Intervention& after) {
  const auto* ratios = after.Find<HeadRatioTable>();
  if (!ratios) return false;
  before.Add(TermOf(*ratios));
  return before == after;
}

}  // namespace

// The text of a step in the Edit menu.
QString SettingHistory::StepText(const SettingPair& before, const SettingPair& after) const {
  if (before.a == after.a && before.b == after.b) {
    const bool of_a = before.off_b == after.off_b;
    return of_a ? QObject::tr("A: a term that is off") : QObject::tr("B: a term that is off");
  }
  if (before.a == after.b && before.b == after.a) return QObject::tr("swap of A and B");
  constexpr qsizetype kLongest = 40;
  const bool a_alone = before.b == after.b;
  QString text = QString::fromStdString(PrintIntervention(a_alone ? after.a : after.b));
  const QString shown = shown_ ? shown_(text) : text;
  const bool named = shown_ && !shown.isEmpty() && shown != text;
  // The text of a ratio table is the path of its file, which says little.
  if (!named && OnlyRatiosDiffer(a_alone ? before.a : before.b, a_alone ? after.a : after.b))
    return a_alone ? QObject::tr("A: position ratios") : QObject::tr("B: position ratios");
  if (named) text = tr("“%1”").arg(shown);
  if (text.size() > kLongest) text = text.left(kLongest - 1) + QChar(0x2026);
  return (a_alone ? QStringLiteral("A: ") : QStringLiteral("B: ")) + text;
}

SettingPair Pinned(const SettingPair& pair) { return {pair.b, pair.b, pair.off_b, pair.off_b}; }

SettingPair Swapped(const SettingPair& pair) { return {pair.b, pair.a, pair.off_b, pair.off_a}; }

class SettingHistory::Step : public QUndoCommand {
 public:
  Step(SettingHistory* history, SettingPair before, SettingPair after, int gesture, bool dragging)
      : QUndoCommand(history->StepText(before, after)),
        history_(history),
        before_(std::move(before)),
        after_(std::move(after)),
        gesture_(gesture),
        dragging_(dragging) {}

  void redo() override { history_->Apply(after_, std::exchange(dragging_, false)); }
  void undo() override {
    history_->in_gesture_ = false;  // the next change begins a new step
    history_->Apply(before_, false);
  }
  int id() const override { return 1; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* later = static_cast<const Step*>(other);
    if (gesture_ == 0 || later->gesture_ != gesture_) return false;
    after_ = later->after_;
    setText(history_->StepText(before_, after_));
    return true;
  }

 private:
  SettingHistory* history_;
  SettingPair before_;
  SettingPair after_;
  int gesture_;  // 0: not part of a drag
  bool dragging_;
};

SettingHistory::SettingHistory(QObject* parent) : QObject(parent) { stack_.setUndoLimit(200); }

void SettingHistory::Change(const SettingPair& next, bool dragging) {
  if (dragging && !in_gesture_) ++gesture_;
  const int gesture = dragging || in_gesture_ ? gesture_ : 0;
  in_gesture_ = dragging;
  if (next == current_) {
    // The end of a drag changes no value, but capture runs wait for this signal.
    if (!dragging) Q_EMIT Applied(current_, false);
    return;
  }
  stack_.push(new Step(this, current_, next, gesture, dragging));
}

void SettingHistory::Reset(const SettingPair& start) {
  stack_.clear();
  current_ = start;
  in_gesture_ = false;
}

void SettingHistory::Apply(const SettingPair& pair, bool dragging) {
  current_ = pair;
  Q_EMIT Applied(pair, dragging);
}

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
