// SPDX-License-Identifier: GPL-3.0-or-later
// The attention of the last query of one head over the tokens, A and B in one plot; the gold
// passage and the piece under the pointer are shaded.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>

#include "core/base/record.h"
#include "gui/base/view_types.h"
#include "gui/plots/plot.h"

namespace midscope {

class AttentionPlot : public Plot {
  Q_OBJECT

 public:
  explicit AttentionPlot(QWidget* parent = nullptr);

  // The record `prompt` (see probes/engine/engine.h); null: tokens without texts and passages.
  void SetPrompt(const Record* prompt);
  // One value per key; empty for a side without a record.
  void SetRows(const QVector<double>& row_a, const QVector<double>& row_b);
  void SetNames(const QString& name_a, const QString& name_b);
  // Older rows, which are not of the requested setting, are grey and dotted.
  void SetOlder(bool older_a, bool older_b);
  void SetLogarithmic(bool on);
  // Marks the key that another view points at; -1 for none.
  void SetMarkedKey(int64_t key);

  const QVector<double>& row(Side side) const { return side == Side::kA ? row_a_ : row_b_; }
  const QStringList& tokens() const { return tokens_; }
  QCPGraph* graph_of(Side side) const { return side == Side::kA ? graph_a_ : graph_b_; }
  bool logarithmic() const { return logarithmic_; }
  // Tokens [begin, end) of the passage; begin == end for none.
  QPair<int64_t, int64_t> gold() const { return {gold_begin_, gold_end_}; }
  int64_t KeyAt(const QPointF& position) const;

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 Q_SIGNALS:
  // The key under the pointer; -1 for none.
  void KeyHovered(qint64 key);

 protected:
  void HoverAt(const QPointF& position) override;
  void HoverEnds() override;
  void RestyleData() override;

 private:
  struct Passage {
    QString name;
    int64_t begin = 0;
    int64_t end = 0;
  };
  QCPItemRect* MakeShade();
  void PlaceShade(QCPItemRect* shade, int64_t begin, int64_t end);
  // The smallest passage that contains the key, without gold and those over half the prompt.
  const Passage* PassageAt(int64_t key) const;
  static void FillGraph(QCPGraph* graph, const QVector<double>& row);
  void StyleDots();

  QCPGraph* graph_a_;
  QCPGraph* graph_b_;
  QCPItemRect* gold_shade_;
  QCPItemRect* hover_shade_;
  QCPItemText* hover_name_;
  QCPItemText* gold_name_;
  QCPItemStraightLine* marked_;
  QVector<double> row_a_;
  QVector<double> row_b_;
  QStringList tokens_;
  QVector<Passage> passages_;
  int64_t gold_begin_ = 0;
  int64_t gold_end_ = 0;
  bool logarithmic_ = false;
  bool older_a_ = false;
  bool older_b_ = false;
};

}  // namespace midscope
