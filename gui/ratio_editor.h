// SPDX-License-Identifier: GPL-3.0-or-later
// A dialog to edit the ratios of a ratios(FILE) scheme. They are copied from the screen, pasted or
// typed, then written to a file and used as setting B.
#pragma once

#include <QAbstractTableModel>
#include <QDialog>
#include <QString>
#include <vector>

#include "core/base/record.h"
#include "core/intervention/intervention.h"
#include "gui/base/head_ratios.h"

class QTableView;

namespace midscope {

class ErrorBar;
class RatioTable;
class Session;
class SettingHistory;

// An editable table [layer, head] of position ratios. Cells are blue above 1 and red below, darker
// with the distance from 1 on a logarithmic scale.

class RatioTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit RatioTable(QObject* parent = nullptr);

  // Sets all ratios to 1.
  void Reset(int64_t layers, int64_t heads);
  // Sets the ratios from a record `position_ratio`. Returns false if the record has none.
  bool TakeFrom(const Record& record);
  // Pastes rows of numbers, separated by tabs, commas, semicolons or spaces, starting at the given
  // cell; ignores numbers beyond the table's edge. If a text is not a ratio, throws Error (usage)
  // and changes nothing.
  void Paste(const QString& text, int layer, int head);
  // The table as rows of numbers separated by tabs.
  QString Text() const;
  // The table as [[head 0, head 1, ...] of layer 0, ...], the format of ratios(FILE).
  std::string Json() const;
  HeadRatioTable Table() const;
  double ratio(int64_t layer, int64_t head) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  size_t Place(int64_t layer, int64_t head) const;

  int64_t layers_ = 0;
  int64_t heads_ = 0;
  std::vector<double> ratios_;  // [layer, head]
};

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
