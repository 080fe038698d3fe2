// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/command_row.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/session/command_arguments.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

namespace {

constexpr int kWhatWidth = 220;
constexpr int kRateWidth = 310;
constexpr double kSoonest = 0.2;  // seconds; rates over a shorter time are unreliable

}  // namespace

ProgressRow::ProgressRow(QWidget* parent) : QWidget(parent) {
  what_ = Named(new QLabel(this), "progress_what");
  bar_ = new QProgressBar(this);
  bar_->setTextVisible(false);
  bar_->setFixedWidth(90);
  bar_->setMaximumHeight(12);
  rate_ = Named(new QLabel(this), "progress_rate");
  cancel_ = Named(new QPushButton(tr("Cancel"), this), "cancel",
                  tr("Cancel the running request; finished results are kept"));
  // Every part keeps its place and size, whether something runs or not.
  what_->setFixedWidth(kWhatWidth);
  rate_->setFixedWidth(kRateWidth);
  for (QLabel* label : {what_, rate_}) label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  parts_ = {what_, bar_, rate_, cancel_};
  for (QWidget* part : parts_) {
    QSizePolicy policy = part->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    part->setSizePolicy(policy);
  }
  auto* row = WithoutMargins(new QHBoxLayout(this));
  for (QWidget* part : parts_) row->addWidget(part);
  connect(cancel_, &QPushButton::clicked, this, &ProgressRow::CancelRequested);
  SetBusy(QString());
}

void ProgressRow::SetBusy(const QString& what) {
  what_->setText(what);
  bar_->setRange(0, 0);
  rate_->clear();
  stage_.clear();
  for (QWidget* part : parts_) part->setVisible(!what.isEmpty());
}

void ProgressRow::SetProgress(const Progress& progress) {
  if (progress.stage != stage_ || progress.done < stage_first_) {
    stage_ = progress.stage;
    stage_first_ = progress.done;
    stage_clock_.start();
  }
  constexpr int kSteps = 1000;
  bar_->setRange(0, progress.total > 0 ? kSteps : 0);
  if (progress.total > 0) {
    bar_->setValue(static_cast<int>(kSteps * static_cast<double>(progress.done) /
                                    static_cast<double>(progress.total)));
  }
  rate_->setText(
      RateText(progress, stage_first_, static_cast<double>(stage_clock_.elapsed()) / 1000));
}

QString ProgressRow::RateText(const Progress& progress, int64_t before, double seconds) {
  QString text = QString::number(progress.done);
  if (progress.total > 0) text += QStringLiteral(" / %1").arg(progress.total);
  if (!progress.unit.empty()) text += QLatin1Char(' ') + QString::fromStdString(progress.unit);
  if (progress.done <= before || seconds < kSoonest) return text;
  const double rate = static_cast<double>(progress.done - before) / seconds;
  text += tr(" · %1 per s").arg(rate, 0, 'g', 3);
  if (progress.total > 0) {
    const double left = static_cast<double>(progress.total - progress.done) / rate;
    text += left < 90 ? tr(" · %1 s left").arg(std::ceil(left))
                      : tr(" · %1 min left").arg(std::ceil(left / 60));
  }
  return text;
}

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
