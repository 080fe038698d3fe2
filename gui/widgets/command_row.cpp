// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/command_row.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/progress_row.h"

namespace midscope {

CommandRow::CommandRow(const QString& prefix, const QString& start, const QString& cancel,
                       QWidget* parent)
    : QWidget(parent) {
  start_ = MakeButton(QString(), prefix + QStringLiteral("_start"), start, this);
  cancel_ = MakeButton(tr("Cancel"), prefix + QStringLiteral("_cancel"), cancel, this);
  progress_ = new QProgressBar(this);
  progress_->setObjectName(prefix + QStringLiteral("_progress"));
  progress_->setTextVisible(false);
  QSizePolicy keeps_room = progress_->sizePolicy();
  keeps_room.setRetainSizeWhenHidden(true);
  progress_->setSizePolicy(keeps_room);
  left_ = new QLabel(this);
  left_->setObjectName(prefix + QStringLiteral("_left"));
  note_ = new ElidedLabel(this);
  note_->setObjectName(prefix + QStringLiteral("_note"));
  buttons_ = MakeControlFlow();
  for (QPushButton* button : {start_, cancel_}) buttons_->addWidget(button);
  // A row of its own, so that no button moves when its text comes.
  auto* row = new QHBoxLayout;
  row->addWidget(progress_);
  row->addWidget(left_, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(buttons_);
  column->addLayout(row);
  column->addWidget(note_);
  connect(start_, &QPushButton::clicked, this, &CommandRow::StartRequested);
  connect(cancel_, &QPushButton::clicked, this, &CommandRow::CancelRequested);
  SetRunning(false);
}

void CommandRow::Add(QWidget* widget) { buttons_->addWidget(widget); }

void CommandRow::SetNote(const QString& note) { note_->SetText(note); }

void CommandRow::SetRunning(bool running) {
  if (running != std::exchange(running_, running)) {
    stage_.clear();
    left_->clear();
    progress_->setRange(0, 0);
  }
  start_->setEnabled(!running);
  cancel_->setEnabled(running);
  progress_->setVisible(running);
}

void CommandRow::SetProgress(const Progress& progress) {
  if (progress.stage != std::exchange(stage_, progress.stage)) {
    first_ = progress.done;
    clock_.start();
  }
  progress_->setRange(0, static_cast<int>(progress.total));
  progress_->setValue(static_cast<int>(progress.done));
  left_->setText(
      ProgressRow::RateText(progress, first_, static_cast<double>(clock_.elapsed()) / 1000));
}

}  // namespace midscope
