// SPDX-License-Identifier: GPL-3.0-or-later
// A table of the settings that were tried on these prompts, with their results. One click restores
// a setting without a run. Up to four are kept as C to F, which the outcome plot draws.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/base/view_types.h"

class QPushButton;
class QTableWidget;

namespace midscope {

class Session;
class TriedSettings;

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
