// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/command_row.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/session/command_arguments.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/progress_row.h"

namespace midscope {
namespace {

constexpr int kBarWidth = 120;

}  // namespace

CommandRow::CommandRow(const QString& prefix, const QString& start, const QString& cancel,
                       std::shared_ptr<EngineLink> link, QWidget* parent)
    : QWidget(parent), process_(new SweepProcess(std::move(link), this)) {
  start_ = Named(new QPushButton(this), prefix + QStringLiteral("_start"), start);
  cancel_ = Named(new QPushButton(tr("Cancel"), this), prefix + QStringLiteral("_cancel"), cancel);
  progress_ = Named(new QProgressBar(this), prefix + QStringLiteral("_progress"));
  progress_->setTextVisible(false);
  progress_->setMaximumWidth(kBarWidth);
  left_ = Named(new QLabel(this), prefix + QStringLiteral("_left"));
  note_ = Named(new ElidedLabel(this), prefix + QStringLiteral("_note"));
  buttons_ = MakeControlFlow({start_, cancel_});
  // As high without the bar, so that no button moves.
  auto* row = new QHBoxLayout;
  row->addStrut(progress_->sizeHint().height());
  row->addWidget(progress_);
  row->addWidget(left_);
  row->addWidget(note_, 1);
  auto* column = WithoutMargins(new QVBoxLayout(this));
  column->addLayout(buttons_);
  column->addLayout(row);
  connect(start_, &QPushButton::clicked, this, &CommandRow::StartRequested);
  connect(cancel_, &QPushButton::clicked, process_, &SweepProcess::Stop);
  connect(process_, &SweepProcess::Noted, this, &CommandRow::SetNote);
  connect(process_, &SweepProcess::Progressed, this, &CommandRow::ShowProgress);
  connect(process_, &SweepProcess::Finished, this, [this](const QString& failure, bool stopped) {
    SetRunning(false);
    if (stopped || !failure.isEmpty()) SetNote(stopped ? tr("Cancelled") : failure);
    Q_EMIT Finished(failure, stopped);
  });
  SetRunning(false);
}

void CommandRow::Add(QWidget* widget) { buttons_->addWidget(widget); }

QPushButton* CommandRow::AddButton(const QString& text, const QString& name,
                                   const QString& tooltip) {
  auto* button = Named(new QPushButton(text, this), name, tooltip);
  Add(button);
  return button;
}

void CommandRow::SetNote(const QString& note) { note_->SetText(note); }

void CommandRow::Try(const std::function<void()>& work) {
  const QString why = ErrorText(work);
  if (!why.isEmpty()) SetNote(why);
}

void CommandRow::Run(const QStringList& arguments, const std::optional<InputFile>& input,
                     bool table, const QString& note) {
  SetNote(note.isEmpty() ? CommandText(arguments) : note);
  process_->Start(arguments, table, input);
  SetRunning(process_->running());
}

void CommandRow::SetRunning(bool running) {
  stage_.clear();
  left_->clear();
  progress_->setRange(0, 0);
  start_->setEnabled(!running);
  cancel_->setEnabled(running);
  progress_->setVisible(running);
}

void CommandRow::ShowProgress(const Progress& progress) {
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
