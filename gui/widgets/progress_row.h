// SPDX-License-Identifier: GPL-3.0-or-later
// Progress of the running request: stage, bar, rate, time left and a cancel button.
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include "core/base/job.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace midscope {

class ProgressRow : public QWidget {
  Q_OBJECT

 public:
  explicit ProgressRow(QWidget* parent = nullptr);

  // `what` describes the request; empty: nothing is running.
  void SetBusy(const QString& what);
  void SetProgress(const Progress& progress);

  // "12 / 100 samples · 3.2 per s · 28 s left"; the first `before` were done when the time began;
  // no rate before another one is done.
  static QString RateText(const Progress& progress, int64_t before, double seconds);

 Q_SIGNALS:
  void CancelRequested();

 private:
  QLabel* what_;
  QProgressBar* bar_;
  QLabel* rate_;
  QPushButton* cancel_;
  QElapsedTimer stage_clock_;
  std::string stage_;
  int64_t stage_first_ = 0;
};

}  // namespace midscope
