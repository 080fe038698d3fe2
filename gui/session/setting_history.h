// SPDX-License-Identifier: GPL-3.0-or-later
// Undo and redo of settings A and B. One drag of a slider is one step.
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <functional>
#include <utility>
#include <vector>

#include "core/intervention/intervention.h"
#include "gui/base/view_types.h"
#include "gui/widgets/term_cards.h"

namespace midscope {

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

}  // namespace midscope
