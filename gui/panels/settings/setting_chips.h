// SPDX-License-Identifier: GPL-3.0-or-later
// One button for each existing setting A to F, with its letter, name and mark. A click draws or
// hides the setting, a double click draws only it (or all again), and the menu names it.
#pragma once

#include <QWidget>
#include <vector>

class QToolButton;

namespace midscope {

class Session;
class TriedSettings;

class SettingChips : public QWidget {
  Q_OBJECT

 public:
  SettingChips(Session* session, TriedSettings* tried, QWidget* parent = nullptr);

  void Refresh();
  // The setting of a letter, 0 for A to 5 for F; "" if there is none.
  QString SettingAt(int letter) const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void AskName(int letter);
  void OpenMenu(int letter);

  Session* session_;
  TriedSettings* tried_;
  std::vector<QToolButton*> chips_;  // one per letter
};

}  // namespace midscope
