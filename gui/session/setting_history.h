// SPDX-License-Identifier: GPL-3.0-or-later
// Undo and redo of the two settings. One drag of a slider is one step.
#pragma once

#include <QObject>
#include <QUndoStack>

#include "core/intervention/intervention.h"

namespace midscope {

struct SettingPair {
  Intervention a;
  Intervention b;
  bool operator==(const SettingPair&) const = default;
};

class SettingHistory : public QObject {
  Q_OBJECT

 public:
  explicit SettingHistory(QObject* parent = nullptr);

  const SettingPair& current() const { return current_; }
  // `dragging`: part of a drag that goes on; the first call with false ends it.
  void Change(const SettingPair& next, bool dragging);
  // Sets the pair and clears the undo stack.
  void Reset(const SettingPair& start);
  QUndoStack* stack() { return &stack_; }

 Q_SIGNALS:
  void Applied(const midscope::SettingPair& pair, bool dragging);

 private:
  class Step;
  void Apply(const SettingPair& pair, bool dragging);

  QUndoStack stack_;
  SettingPair current_;
  int gesture_ = 0;
  bool in_gesture_ = false;
};

}  // namespace midscope
