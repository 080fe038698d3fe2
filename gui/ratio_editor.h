// SPDX-License-Identifier: GPL-3.0-or-later
// A dialog to edit the ratios of a ratios(FILE) scheme. They are copied from the screen, pasted or
// typed, then written to a file and used as setting B.
#pragma once

#include <QDialog>
#include <QString>

#include "gui/base/head_ratios.h"

class QTableView;

namespace midscope {

class ErrorBar;
class RatioTable;
class Session;
class SettingHistory;

// State that the dialog reads and changes. All of it must outlive the dialog.
struct RatioEditorContext {
  const Session* session = nullptr;
  SettingHistory* history = nullptr;
  ErrorBar* errors = nullptr;
};

class RatioEditor : public QDialog {
  Q_OBJECT

 public:
  explicit RatioEditor(const RatioEditorContext& context, QWidget* parent = nullptr);

  RatioTable* table() const { return table_; }
  // Sets the folder in which Use writes files, one per distinct table, named by the digest of the
  // table.
  void SetFolder(const QString& folder) { folder_ = folder; }

  // Copies the ratios of B's run, or else of A's, or else sets all to 1.
  void TakeFromScreen();
  // Writes the table to the folder and sets it as B's position scheme. Errors are shown on the
  // error bar.
  void Use();
  void SaveAs(const QString& path);

 private:
  void Paste();
  void Write(const QString& path) const;

  RatioEditorContext context_;
  RatioTable* table_;
  QTableView* view_;
  QString folder_ = RatioFolder();
};

}  // namespace midscope
