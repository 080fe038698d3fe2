// SPDX-License-Identifier: GPL-3.0-or-later
// Undo and redo for the prompt: the fields of its panel, the user's own text with its marks, and
// the prompt that was run. Continuous typing is one step.
#pragma once

#include <QElapsedTimer>
#include <QObject>

#include "gui/panels/prompt/prompt_panel.h"

class QUndoStack;

namespace midscope {

class Session;

class PromptHistory : public QObject {
  Q_OBJECT

 public:
  // Pushes steps onto `stack`. Session, panel and stack must outlive this object.
  PromptHistory(Session* session, PromptPanel* panel, QUndoStack* stack, QObject* parent = nullptr);

  // Runs the panel's request on the open model. Pushes a step if the prompt differs from the last
  // one. Throws Error (usage) if the request cannot be read.
  void Run();

 private:
  class EditStep;
  class RunStep;
  void OnEdited();
  void Show(const PromptFields& fields);

  Session* session_;
  PromptPanel* panel_;
  QUndoStack* stack_;
  PromptFields fields_;  // current values
  bool showing_ = false;
  QElapsedTimer since_edit_;
  int typing_ = 1;  // number of the current run of key presses
};

}  // namespace midscope
