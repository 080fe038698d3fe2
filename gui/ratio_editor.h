// SPDX-License-Identifier: GPL-3.0-or-later
// A window in which the ratios of ratios(FILE) are written: taken from what is on the screen,
// pasted or typed, then kept in a file and used as setting B.
#pragma once

#include <QDialog>
#include <QString>

class QTableView;

namespace midscope {

class MainWindow;
class RatioTable;

class RatioEditor : public QDialog {
  Q_OBJECT

 public:
  explicit RatioEditor(MainWindow* window);

  RatioTable* table() const { return table_; }
  // Where Use keeps its files: one for each set of numbers, named by their digest.
  void SetFolder(const QString& folder) { folder_ = folder; }
  static QString UsualFolder();

  // The ratios of B's run, or A's where B has none, or 1 everywhere.
  void TakeFromScreen();
  // Keeps the table in the folder and makes it B's position scheme. Errors go to the error bar.
  void Use();
  void SaveAs(const QString& path);

 private:
  void Paste();
  void Write(const QString& path) const;

  MainWindow* window_;
  RatioTable* table_;
  QTableView* view_;
  QString folder_ = UsualFolder();
};

}  // namespace midscope
