// SPDX-License-Identifier: GPL-3.0-or-later
// A button for each of the settings A to F that there is: its letter, name and mark. A click draws
// it or leaves it out, a double click draws it alone or all again, the menu names it.
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
  // The setting under the letter; "": there is none. 0 for A to 5 for F.
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
