// SPDX-License-Identifier: GPL-3.0-or-later
// Undo and redo of what the user has chosen to look at: pinned heads, the place of the gold passage
// and the channel. The plain choice of a head, zooms and previews by the pointer are not steps: a
// selection is browsed, and undo would have to go through every cell.
#pragma once

#include <QObject>
#include <vector>

#include "gui/widgets/selection.h"

class QUndoStack;

namespace midscope {

class Session;

class ChoiceHistory : public QObject {
  Q_OBJECT

 public:
  // Pushes steps onto the stack. All outlive it.
  ChoiceHistory(Session* session, Selection* selection, QUndoStack* stack,
                QObject* parent = nullptr);

  // Index into the prompts of the model. No step where the place is not there, or is shown.
  void ChoosePlace(size_t place);
  // After the session was set from one channel to the other. In a file's view it is not a step.
  void AddChannel(qint64 before, qint64 after);

 private:
  class PinStep;
  void AddPins();
  void RestorePins(const std::vector<PinnedHead>& pins);

  Session* session_;
  Selection* selection_;
  QUndoStack* stack_;
  std::vector<PinnedHead> pins_;  // as they are
};

}  // namespace midscope
