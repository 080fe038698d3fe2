// SPDX-License-Identifier: GPL-3.0-or-later
// Edits a task as a line of text, and as a list of tasks with a field per parameter; each updates
// the other. A text that cannot be parsed is kept and its error is shown below; until it can be
// parsed, the fields are disabled.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

class QComboBox;
class QLabel;
class QVBoxLayout;

namespace midscope {

class FoldBox;
class ParameterForm;
struct TaskSpec;

// A task that is offered for a choice.
struct UsualTask {
  QString text;   // "kv:pairs=10"
  QString title;  // "10 keys and values"
};
const std::vector<UsualTask>& UsualTasks();

class TaskForm : public QWidget {
  Q_OBJECT

 public:
  explicit TaskForm(QWidget* parent = nullptr);

  // The trimmed line of text; it may not be parsable.
  QString text() const;
  void SetText(const QString& text);
  // The message below the line; "" if there is none.
  QString error() const;

 Q_SIGNALS:
  // Emitted when the line has changed, whether by typing or by the fields.
  void Edited();

 private:
  void OnLineEdited();
  void OnTaskChosen();
  void OnFieldsEdited();
  void ShowLine(const QString& text);
  void ShowSpec(const TaskSpec& spec);
  void RefreshError();

  QComboBox* line_;
  QLabel* error_;
  FoldBox* fold_;
  QComboBox* name_;
  QVBoxLayout* column_;
  ParameterForm* fields_ = nullptr;  // for the task `shown_`
  QString shown_;
};

}  // namespace midscope
