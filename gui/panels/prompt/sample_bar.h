// SPDX-License-Identifier: GPL-3.0-or-later
// Selects the sample of a file of results, and the place and setting where its records have them.
// Hidden where a file has no samples.
#pragma once

#include <QList>
#include <QWidget>

class QAction;
class QComboBox;
class QLabel;
class QSpinBox;

namespace midscope {

class Session;

class SampleBar : public QWidget {
  Q_OBJECT

 public:
  explicit SampleBar(Session* session, QWidget* parent = nullptr);

  // Next and previous sample, with their shortcuts, for a menu.
  QList<QAction*> actions_of_menu() const;
  // Selects the place, 1-based, where the file has records of it.
  void ChoosePlace(qint64 place);

 Q_SIGNALS:
  // Emitted where no file with samples is shown: requests the task's previous or next sample.
  void StepRequested(int step);

 private:
  void Step(int step);
  void ShowFile();
  void ShowSample();
  void Choose();

  Session* session_;
  QSpinBox* sample_;
  QLabel* of_;
  QWidget* setting_row_;
  QComboBox* setting_;
  QWidget* place_row_;
  QComboBox* place_;
  QLabel* note_;
  QAction* next_;
  QAction* previous_;
};

}  // namespace midscope
