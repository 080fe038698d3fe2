// SPDX-License-Identifier: GPL-3.0-or-later
// Undo and redo of settings A and B, and of other choices. One drag of a slider is one step.
#pragma once

#include <QObject>
#include <QString>
#include <QUndoCommand>
#include <QUndoStack>
#include <functional>
#include <utility>
#include <vector>

#include "core/intervention/intervention.h"
#include "gui/base/view_types.h"
#include "gui/widgets/selection.h"
#include "gui/widgets/term_cards.h"

class QUndoStack;

namespace midscope {

class Session;

struct SettingPair {
  Intervention a;
  Intervention b;
  // Terms that are switched off: they are omitted from the texts of settings and never run.
  std::vector<OffTerm> off_a = {};
  std::vector<OffTerm> off_b = {};
  Intervention& setting(Side side) { return side == Side::kA ? a : b; }
  const Intervention& setting(Side side) const { return side == Side::kA ? a : b; }
  std::vector<OffTerm>& off(Side side) { return side == Side::kA ? off_a : off_b; }
  const std::vector<OffTerm>& off(Side side) const { return side == Side::kA ? off_a : off_b; }
  bool operator==(const SettingPair&) const = default;
};

// Pinned copies B to A; Swapped exchanges A and B. Switched-off terms move with their setting.
SettingPair Pinned(const SettingPair& pair);
SettingPair Swapped(const SettingPair& pair);

class SettingHistory : public QObject {
  Q_OBJECT

 public:
  explicit SettingHistory(QObject* parent = nullptr);

  const SettingPair& current() const { return current_; }
  // `dragging`: the change is part of an unfinished drag, which the first call with false ends.
  void Change(const SettingPair& next, bool dragging);
  // Sets the pair and clears the undo stack.
  void Reset(const SettingPair& start);
  QUndoStack* stack() { return &stack_; }
  // Sets how the texts of steps display a setting; default: its text.
  void ShowSettingsAs(std::function<QString(const QString&)> shown) { shown_ = std::move(shown); }

 Q_SIGNALS:
  void Applied(const midscope::SettingPair& pair, bool dragging);

 private:
  class Step;
  QString StepText(const SettingPair& before, const SettingPair& after) const;
  void Apply(const SettingPair& pair, bool dragging);

  QUndoStack stack_;
  SettingPair current_;
  std::function<QString(const QString&)> shown_;
  int gesture_ = 0;
  bool in_gesture_ = false;
};

// Undo and redo for the user's choices of what to view: pinned heads, the place of the gold passage
// and the channel. Selecting a head, zooming and hovering are not steps, because users browse
// through many heads and undo would have to visit each one.

// An undo step from one value to another.

template <typename Value>
class ValueStep : public QUndoCommand {
 public:
  // `show` makes a value the current one. `text`: the step's name in the Edit menu.
  ValueStep(const QString& text, Value before, Value after, std::function<void(const Value&)> show)
      : QUndoCommand(text),
        before_(std::move(before)),
        after_(std::move(after)),
        show_(std::move(show)) {}
  void redo() override { show_(after_); }
  void undo() override { show_(before_); }

 private:
  const Value before_;
  const Value after_;
  const std::function<void(const Value&)> show_;
};

class ChoiceHistory : public QObject {
  Q_OBJECT

 public:
  // Pushes steps onto `stack`. Session, selection and stack must outlive this object.
  ChoiceHistory(Session* session, Selection* selection, QUndoStack* stack,
                QObject* parent = nullptr);

  // Shows another place: an index into the prompts of the model. Pushes no step if the index is out
  // of range or already shown.
  void ChoosePlace(size_t place);
  // Call after the session's channel has changed. Pushes no step while a file is shown.
  void AddChannel(qint64 before, qint64 after);

 private:
  void AddPins();
  void RestorePins(const std::vector<PinnedHead>& pins);

  Session* session_;
  Selection* selection_;
  QUndoStack* stack_;
  std::vector<PinnedHead> pins_;  // current pins
};

}  // namespace midscope
