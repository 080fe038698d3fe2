// SPDX-License-Identifier: GPL-3.0-or-later
// One tab for the model and one per open file of results, and the settings of the shown file, which
// can be put on the model. Hidden while no file is open.
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
  // The user puts settings of the shown file on the model.
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
