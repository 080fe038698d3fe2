// SPDX-License-Identifier: GPL-3.0-or-later
// A tour of a window: notes beside its real controls, one after the other. The window stays usable.
#pragma once

#include <QObject>
#include <QPointer>
#include <QWidget>
#include <functional>
#include <vector>

class QFrame;
class QLabel;
class QPushButton;

namespace midscope {

struct TourStep {
  QString title;
  QString text;
  // Brings the step's widget into sight and returns it.
  std::function<QWidget*()> show;
};

class Tour : public QObject {
  Q_OBJECT

 public:
  Tour(std::vector<TourStep> steps, QWidget* window);

  // Shows a step, counted from 0; beyond the last one, ends the tour.
  void Show(int step);
  void End();
  // -1: the tour does not run.
  int step() const { return step_; }
  const std::vector<TourStep>& steps() const { return steps_; }
  // The widget of the shown step; null if the tour does not run.
  QWidget* target() const { return target_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void Place();

  std::vector<TourStep> steps_;
  QWidget* window_;
  QPointer<QWidget> target_;
  QFrame* frame_;  // around the target
  QFrame* note_;
  QLabel* text_;
  QPushButton* back_;
  QPushButton* next_;
  int step_ = -1;
};

}  // namespace midscope
