// SPDX-License-Identifier: GPL-3.0-or-later
// Undo and redo of the prompt: what the fields of its panel say, the own text with its marks, and
// which prompt was run. Typing without a pause is one step.
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
  // Pushes steps onto the stack. All outlive it.
  PromptHistory(Session* session, PromptPanel* panel, QUndoStack* stack, QObject* parent = nullptr);

  // Runs the panel's request on the open model; a prompt other than the last one is a step. Throws
  // Error (usage) for a request that cannot be read.
  void Run();

 private:
  class EditStep;
  class RunStep;
  void OnEdited();
  void Show(const PromptFields& fields);

  Session* session_;
  PromptPanel* panel_;
  QUndoStack* stack_;
  PromptFields fields_;  // as they are
  bool showing_ = false;
  QElapsedTimer since_edit_;
  int typing_ = 1;  // number of the run of keys that goes on
};

}  // namespace midscope
