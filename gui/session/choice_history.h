// SPDX-License-Identifier: GPL-3.0-or-later
// Undo and redo for the user's choices of what to view: pinned heads, the place of the gold passage
// and the channel. Selecting a head, zooming and hovering are not steps, because users browse
// through many heads and undo would have to visit each one.
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
