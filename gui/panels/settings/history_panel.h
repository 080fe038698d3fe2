// SPDX-License-Identifier: GPL-3.0-or-later
// A table of the settings that were tried on these prompts, with their results. One click restores
// a setting without a run. Up to four are kept as C to F, which the outcome plot draws.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/base/view_types.h"

class QPushButton;
class QTableWidget;
class QToolButton;

namespace midscope {

class Session;
class TriedSettings;

// One button for each existing setting A to F, with its letter, name and mark. A click draws or
// hides the setting, a double click draws only it (or all again), and the menu names it.

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

class HistoryPanel : public QWidget {
  Q_OBJECT

 public:
  HistoryPanel(Session* session, TriedSettings* tried, QWidget* parent = nullptr);

  QTableWidget* table() const { return table_; }

 Q_SIGNALS:
  // Emitted when the user has chosen a setting for A or B.
  void SettingOffered(midscope::Side side, const QString& setting);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  Q_INVOKABLE void Fill();
  // The full setting of a row; "" if there is none.
  QString SettingAt(int row) const;
  void FillRow(int row, size_t tried);
  QString Chosen() const;

  Session* session_;
  TriedSettings* tried_;
  QTableWidget* table_;
  bool filling_ = false;
};

}  // namespace midscope
