// SPDX-License-Identifier: GPL-3.0-or-later
// What is being worked on: stage, bar, rate and time left, and a button that stops it.
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

  // `what` in words; empty: at rest.
  void SetBusy(const QString& what);
  void SetProgress(const Progress& progress);

  // "12 / 100 samples · 3.2 per s · 28 s left" where the first `before` were done when the seconds
  // began; without a rate before anything more is done.
  static QString RateText(const Progress& progress, int64_t before, double seconds);

 Q_SIGNALS:
  void CancelAsked();

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
