// SPDX-License-Identifier: GPL-3.0-or-later
// The most likely next tokens under A and B, side by side.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <QVector>
#include <limits>
#include <vector>

#include "core/base/record.h"
#include "gui/panels/panel.h"

class QLabel;
class QTableView;

namespace midscope {

class BarPlot;
class NextTokensTable;

// The most likely next tokens of A and B side by side, one rank per row, with the rank of B's token
// under A. The answer's first token is marked; if it is not among them, it has a separate row
// below.

class NextTokensTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kTokenA, kProbabilityA, kTokenB, kProbabilityB, kRankInA, kColumns };

  using QAbstractTableModel::QAbstractTableModel;

  // `a`, `b`: records next_tokens of one prompt; a side is empty if its record is null or another
  // record. `grey`: the side is not of the requested setting.
  // `other_tokens`: why ids of A and B are not comparable, for two models; "": they are.
  void Show(const Record* a, const Record* b, bool grey_a, bool grey_b,
            const QString& other_tokens = QString());

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  // Whether there is a row for the answer below the ranks.
  bool has_answer_row() const;

 private:
  struct Side {
    QStringList tokens;
    QVector<qlonglong> ids;
    QVector<double> probabilities;
    QString answer;  // its first token; "": none
    qlonglong answer_id = -1;
    qlonglong answer_rank = -1;
    double answer_probability = std::numeric_limits<double>::quiet_NaN();
    bool grey = false;
    bool LacksAnswer() const { return answer_rank >= tokens.size(); }
  };
  static Side SideOf(const Record* record, bool grey);
  QString TextOf(int row, int column) const;
  QString RankInA(int row) const;
  bool IsAnswer(int row, int column) const;

  Side a_;
  Side b_;
  QString other_tokens_;
};

class NextTokensPanel : public Panel {
  Q_OBJECT

 public:
  explicit NextTokensPanel(const PanelContext& context);

  // Includes generated text, which the answer strip shows and no panel does.
  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  NextTokensTable* table() const { return table_; }

 private:
  void Draw() override;

  NextTokensTable* table_;
  QTableView* view_;
  QLabel* note_;
  BarPlot* bars_a_;  // for export only
  BarPlot* bars_b_;
};

}  // namespace midscope
