// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the progress of the running request: stage, bar, rate, time left and a cancel button.
#pragma once

#include <QElapsedTimer>
#include <QWidget>
#include <string>
#include <vector>

#include "core/base/job.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace midscope {

class ProgressRow : public QWidget {
  Q_OBJECT

 public:
  explicit ProgressRow(QWidget* parent = nullptr);

  // `what` describes the request; "" if nothing is running.
  void SetBusy(const QString& what);
  void SetProgress(const Progress& progress);

  // Returns text such as "12 / 100 samples · 3.2 per s · 28 s left". The first `before` items were
  // done before the `seconds` began; the rate is omitted until another one is done.
  static QString RateText(const Progress& progress, int64_t before, double seconds);

 Q_SIGNALS:
  void CancelRequested();

 private:
  QLabel* what_;
  QProgressBar* bar_;
  QLabel* rate_;
  QPushButton* cancel_;
  std::vector<QWidget*> parts_;  // the four above
  QElapsedTimer stage_clock_;
  std::string stage_;
  int64_t stage_first_ = 0;
};

}  // namespace midscope
