// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/task_form.h"

#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"
#include "gui/base/display_text.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/fold_box.h"
#include "gui/widgets/parameter_form.h"

namespace midscope {

const std::vector<UsualTask>& UsualTasks() {
  static const std::vector<UsualTask> list = {
      {QStringLiteral("list:lines=20"), QObject::tr("List of 20 lines")},
      {QStringLiteral("kv:pairs=10"), QObject::tr("10 keys and values")},
      {QStringLiteral("mdqa:documents=10"), QObject::tr("Question over 10 documents")},
      {QStringLiteral("lines:lines=20"), QObject::tr("20 numbered lines")},
      {QStringLiteral("passkey:tokens=500"), QObject::tr("Pass key in 500 tokens")},
      {QStringLiteral("needle:tokens=500"), QObject::tr("Needle in 500 tokens")},
  };
  return list;
}

TaskForm::TaskForm(QWidget* parent)
    : QWidget(parent),
      line_(new QComboBox(this)),
      error_(MakeErrorLabel(this)),
      name_(new QComboBox(this)) {
  line_->setObjectName(QStringLiteral("task"));
  line_->setEditable(true);
  for (const UsualTask& usual : UsualTasks()) line_->addItem(usual.text);
  line_->setToolTip(
      tr("<p>The task, as <i>--task</i> takes it. All tasks and their parameters are in the "
         "fields below and in <i>midscope help tasks</i></p>"));
  error_->setObjectName(QStringLiteral("task_error"));
  name_->setObjectName(QStringLiteral("task_name"));
  for (const TaskType& task : Tasks()) {
    name_->addItem(QString::fromStdString(task.name));
    name_->setItemData(name_->count() - 1, QString::fromStdString(task.summary), Qt::ToolTipRole);
  }
  auto* content = new QWidget(this);
  column_ = new QVBoxLayout(content);
  column_->setContentsMargins(14, 0, 0, 0);
  column_->addWidget(name_);
  fold_ = Named(new FoldBox(QString(), content, this), "task_fold");
  auto* column = WithoutMargins(new QVBoxLayout(this));
  column->setSpacing(2);
  column->addWidget(line_);
  column->addWidget(error_);
  column->addWidget(fold_);
  connect(line_, &QComboBox::editTextChanged, this, &TaskForm::OnLineEdited);
  connect(name_, &QComboBox::currentIndexChanged, this, &TaskForm::OnTaskChosen);
  OnLineEdited();
}

QString TaskForm::text() const { return line_->currentText().trimmed(); }

void TaskForm::SetText(const QString& text) { line_->setEditText(text); }

QString TaskForm::error() const { return error_->isHidden() ? QString() : error_->text(); }

void TaskForm::OnLineEdited() {
  const QString unread =
      ErrorText([this] { ShowSpec(ParseTaskDraft(text().toStdString(), Tasks())); });
  if (fields_) fields_->setEnabled(unread.isEmpty());
  RefreshError();
  Q_EMIT Edited();
}

// Another task starts with its defaults, because equally named parameters differ in meaning.
void TaskForm::OnTaskChosen() {
  ShowLine(name_->currentText());
  OnLineEdited();
}

void TaskForm::OnFieldsEdited() {
  const TaskSpec spec{name_->currentText().toStdString(), fields_->options()};
  ShowLine(QString::fromStdString(StatedTaskText(spec)));
  RefreshError();
  Q_EMIT Edited();
}

void TaskForm::ShowLine(const QString& text) {
  const QSignalBlocker quiet(line_);
  line_->setEditText(text);
}

void TaskForm::ShowSpec(const TaskSpec& spec) {
  const QString name = QString::fromStdString(spec.task);
  if (shown_ != name) {
    shown_ = name;
    const QSignalBlocker quiet(name_);
    name_->setCurrentText(name);
    delete fields_;
    fields_ = new ParameterForm(spec.parameters.descriptions(), this, "task_parameter_");
    fields_->SetKeepsStated(true);
    column_->addWidget(fields_);
    connect(fields_, &ParameterForm::Changed, this, &TaskForm::OnFieldsEdited);
    fold_->SetTitle(tr("Fields of %1").arg(name));
  }
  const QSignalBlocker quiet(fields_);
  fields_->SetOptions(spec.parameters);
}

// Shows why the task is invalid, such as a missing required file.
void TaskForm::RefreshError() {
  ShowError(error_, ErrorText([this] { ParseTaskSpec(text().toStdString(), Tasks()); }));
}

}  // namespace midscope
