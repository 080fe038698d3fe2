// SPDX-License-Identifier: GPL-3.0-or-later
// Selects the sample of a results file and, if its records have them, the place and the setting.
// Hidden if the file has no samples.
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

  // Actions for the next and previous sample, with their shortcuts, for a menu.
  QList<QAction*> actions_of_menu() const;
  // Selects a place, counted from 1, if the file has records for it.
  void ChoosePlace(qint64 place);

 Q_SIGNALS:
  // Emitted if no file with samples is shown: requests the previous or next sample of the task.
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
