// SPDX-License-Identifier: GPL-3.0-or-later
// Tabs: one for the model and one per open results file; and the settings of the shown file, which
// can be applied to the model. Hidden while no file is open.
#pragma once

#include <QList>
#include <QWidget>

#include "gui/session/setting_history.h"

class QAction;
class QComboBox;
class QLabel;
class QMenu;
class QSpinBox;
class QTabBar;
class QToolButton;

namespace midscope {

class ElidedLabel;
class Session;

class DocumentBar : public QWidget {
  Q_OBJECT

 public:
  explicit DocumentBar(Session* session, QWidget* parent = nullptr);

 Q_SIGNALS:
  // Emitted when the user applies settings of the shown file to the model.
  void SettingsOffered(const midscope::SettingPair& pair);

 private:
  void Refresh();
  void FillSettings();

  Session* session_;
  QTabBar* tabs_;
  ElidedLabel* settings_;
  QToolButton* use_;
  QMenu* menu_;
};

// Selects the sample of a results file and, if its records have them, the place and the setting.
// Hidden if the file has no samples.

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
