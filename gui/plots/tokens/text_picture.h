// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the prompt as text for picture files, each token on a colour for its value. The text has
// the width of the picture, whose height grows to contain all of it. Its CSV has one row per token.
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
  // One of the texts that are drawn below each other, such as those of A and B.
  struct Row {
    QString name;
    QVector<double> values;  // one per token
    bool operator==(const Row&) const = default;
  };

  explicit TextPicture(QWidget* parent = nullptr);

  // `rows`: rows for the CSV, of which the first `drawn` are drawn. `bar`: label of the values.
  void Show(const PromptText& prompt, const std::vector<Row>& rows, size_t drawn,
            const TokenScale& scale, const QString& bar);
  const std::vector<Row>& rows() const { return rows_; }

  void ResetView() override {}
  QString TooltipAt(const QPointF& /*position*/) const override { return {}; }
  QString Table() const override;

 protected:
  // The height of the texts.
  int PictureArea(int width) override;

 private:
  class Item;
  // Draws all texts into the rectangle and returns the y coordinate of their end. If `painter` is
  // null, only computes that.
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
