// SPDX-License-Identifier: GPL-3.0-or-later
// Edits a task: as its line of text, and as a box of tasks with a field for each parameter. Each
// follows the other. A text that cannot be read stays, with its error below; the fields are
// disabled until it can be read.
#pragma once

#include <QWidget>

class QComboBox;
class QLabel;
class QVBoxLayout;

namespace midscope {

class FoldBox;
class ParameterForm;
struct TaskSpec;

class TaskForm : public QWidget {
  Q_OBJECT

 public:
  explicit TaskForm(QWidget* parent = nullptr);

  // The line without white space at its ends; it may be a text that cannot be read.
  QString text() const;
  void SetText(const QString& text);
  // The message below the line; "" for none.
  QString error() const;

 Q_SIGNALS:
  // Emitted when the line has changed, by itself or by the fields.
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
  ParameterForm* fields_ = nullptr;  // of the task `shown_`
  QString shown_;
};

}  // namespace midscope
