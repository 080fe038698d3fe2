// SPDX-License-Identifier: GPL-3.0-or-later
// Tabs: one for the model and one per open results file; and the settings of the shown file, which
// can be applied to the model. Hidden while no file is open.
#pragma once

#include <QWidget>

#include "gui/session/setting_history.h"

class QMenu;
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

}  // namespace midscope
