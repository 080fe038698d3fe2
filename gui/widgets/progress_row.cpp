// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/progress_row.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <cmath>

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

}  // namespace midscope
