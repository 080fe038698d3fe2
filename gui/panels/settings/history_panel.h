// SPDX-License-Identifier: GPL-3.0-or-later
// The settings that were tried on these prompts as a table: how well each did, and one click back
// to it without a run. Up to four are kept as C to F, which the outcome draws.
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
  // The user has chosen the setting for a side.
  void SettingOffered(midscope::Side side, const QString& setting);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  Q_INVOKABLE void Fill();
  // The setting of a row in full; "" for none.
  QString SettingAt(int row) const;
  void FillRow(int row, size_t tried);
  QString Chosen() const;

  Session* session_;
  TriedSettings* tried_;
  QTableWidget* table_;
  bool filling_ = false;
};

}  // namespace midscope
