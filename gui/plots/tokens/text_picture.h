// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt as text, each token on the colour of a number, for files: the whole text in the width
// of the picture, which grows in height. Its CSV has a row per token.
#pragma once

#include <QVector>
#include <vector>

#include "gui/base/prompt_text.h"
#include "gui/plots/plot.h"
#include "gui/plots/tokens/token_scale.h"

namespace midscope {

class TextPicture : public Plot {
  Q_OBJECT

 public:
  // One text above the other, such as A's and B's.
  struct Row {
    QString name;
    QVector<double> values;  // one per token
    bool operator==(const Row&) const = default;
  };

  explicit TextPicture(QWidget* parent = nullptr);

  // `rows`: all that the CSV has; `drawn`: how many of them, from the first on, are drawn. `bar`:
  // what the numbers are.
  void Show(const PromptText& prompt, const std::vector<Row>& rows, size_t drawn,
            const TokenScale& scale, const QString& bar);
  const std::vector<Row>& rows() const { return rows_; }

  void ResetView() override {}
  QString TooltipAt(const QPointF& /*position*/) const override { return {}; }
  QSize FileSize(const QSize& size) override;
  QString Table() const override;

 private:
  class Item;
  // Draws the texts from `top` on; returns where they end. Without a painter it only measures.
  double Draw(QPainter* painter, const QRectF& into) const;
  double DrawText(QPainter* painter, const QRectF& into, const Row& row, double top) const;
  void DrawToken(QPainter* painter, const QRectF& rect, const QString& text, int64_t token,
                 const Row& row) const;

  PromptText prompt_;
  std::vector<Row> rows_;
  size_t drawn_ = 0;
  TokenScale scale_;
  QString bar_;
};

}  // namespace midscope
