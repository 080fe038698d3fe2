// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/tokens/text_picture.h"

#include <algorithm>
#include <cmath>

#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr double kRowGap = 5;
constexpr double kTextGap = 10;  // pixels between the texts of two rows
constexpr int kSideMargin = 8;
constexpr int kBarWidth = 120;  // width of the colour scale in pixels
constexpr double kBarHeight = 10;
constexpr double kLightest = 0.45;  // lightness of the background above which letters are black

}  // namespace

// The plot item that draws the text inside the invisible axes.
class TextPicture::Item : public QCPAbstractItem {
 public:
  explicit Item(TextPicture* picture) : QCPAbstractItem(picture), picture_(picture) {
    setClipToAxisRect(false);
  }
  double selectTest(const QPointF& /*position*/, bool /*only_selectable*/,
                    QVariant* /*details*/ = nullptr) const override {
    return -1;
  }

 protected:
  void draw(QCPPainter* painter) override {
    picture_->Draw(painter, QRectF(picture_->axisRect()->rect()));
  }

 private:
  TextPicture* picture_;
};

TextPicture::TextPicture(QWidget* parent)
    : Plot(tr("Text"), QStringLiteral("text"), parent), prompt_(ReadPromptText(nullptr)) {
  for (QCPAxis* axis : axisRect()->axes()) axis->setVisible(false);
  xAxis->grid()->setVisible(false);
  yAxis->grid()->setVisible(false);
  axisRect()->setAutoMargins(QCP::msNone);
  axisRect()->setMargins(QMargins(kSideMargin, 4, kSideMargin, 4));
  new Item(this);
}

void TextPicture::Show(const PromptText& prompt, const std::vector<Row>& rows, size_t drawn,
                       const TokenScale& scale, const QString& bar) {
  prompt_ = prompt;
  rows_ = rows;
  drawn_ = drawn;
  scale_ = scale;
  bar_ = bar;
}

int TextPicture::PictureArea(int width) {
  const QRectF into(0, 0, width - 2 * kSideMargin, 0);
  return static_cast<int>(std::ceil(Draw(nullptr, into)));
}

double TextPicture::Draw(QPainter* painter, const QRectF& into) const {
  double top = into.top() + 4;
  const double line = QFontMetricsF(font()).height() + kRowGap;
  const QColor ink = palette().color(QPalette::Text);
  for (size_t i = 0; i < std::min(drawn_, rows_.size()); ++i) {
    if (painter) {
      painter->setFont(font());
      painter->setPen(ink);
      painter->drawText(QPointF(into.left(), top + line - kRowGap), rows_[i].name);
    }
    top = DrawText(painter, into, rows_[i], top + line + 2) + kTextGap;
  }
  if (painter) {
    const QColor ground = palette().color(QPalette::Base);
    const double low = scale_.diverging ? -scale_.highest : 0;
    for (int x = 0; x < kBarWidth; ++x) {
      const double value = low + (scale_.highest - low) * x / kBarWidth;
      const QColor color = scale_.ColorOf(value, ground);
      painter->fillRect(QRectF(into.left() + x, top, 1.2, kBarHeight),
                        color.isValid() ? color : ground);
    }
    painter->setPen(ink);
    painter->drawText(
        QPointF(into.left() + kBarWidth + kTextGap, top + kBarHeight),
        tr("%1 to %2: %3").arg(low, 0, 'g', 3).arg(scale_.highest, 0, 'g', 3).arg(bar_));
  }
  return top + line;
}

double TextPicture::DrawText(QPainter* painter, const QRectF& into, const Row& row,
                             double top) const {
  const QFontMetricsF metrics(font());
  const double line = metrics.height() + kRowGap;
  const auto tokens = static_cast<int64_t>(prompt_.tokens.size());
  double x = 0;
  double y = top;
  // The width of the rest of the word that begins with this token.
  const auto word_width = [&](int64_t token) {
    QString word;
    for (; token < tokens; ++token) {
      const QString part = prompt_.Part(token);
      const bool ends = part.contains('\n') || (!word.isEmpty() && part.startsWith(' '));
      if (ends) break;
      word += part;
    }
    return metrics.horizontalAdvance(word);
  };
  for (int64_t token = 0; token < tokens; ++token) {
    const QStringList parts = prompt_.Part(token).split('\n');
    const bool begins = token == 0 || prompt_.Part(token).startsWith(' ');
    if (begins && x > 0 && x + word_width(token) > into.width()) {
      x = 0;
      y += line;
    }
    for (qsizetype i = 0; i < parts.size(); ++i) {
      if (i > 0) {
        x = 0;
        y += line;
      }
      if (parts[i].isEmpty()) continue;
      const double width = metrics.horizontalAdvance(parts[i]);
      if (x > 0 && x + width > into.width()) {
        x = 0;
        y += line;
      }
      DrawToken(painter, QRectF(into.left() + x, y, width, line), parts[i], token, row);
      x += width;
    }
  }
  return x > 0 ? y + line : y;
}

void TextPicture::DrawToken(QPainter* painter, const QRectF& rect, const QString& text,
                            int64_t token, const Row& row) const {
  if (!painter) return;
  const QRectF ground = rect.adjusted(0, 1, 0, -1);
  QColor ink = palette().color(QPalette::Text);
  const QColor color =
      scale_.ColorOf(row.values.value(token, std::nan("")), palette().color(QPalette::Base));
  if (color.isValid()) {
    painter->fillRect(ground, color);
    ink = color.lightnessF() > kLightest ? Qt::black : Qt::white;
  }
  if (token >= prompt_.gold.begin && token < prompt_.gold.end)
    painter->fillRect(QRectF(ground.left(), ground.bottom() - 2, ground.width(), 2.5), GoldColor());
  painter->setPen(ink);
  painter->drawText(QPointF(rect.left(), rect.top() + QFontMetricsF(font()).ascent() + 2), text);
}

QString TextPicture::Table() const {
  QString csv = QStringLiteral("token,text,gold");
  for (const Row& row : rows_) csv += QLatin1Char(',') + CsvField(row.name);
  csv += QLatin1Char('\n');
  for (int64_t token = 0; token < static_cast<int64_t>(prompt_.tokens.size()); ++token) {
    const bool gold = token >= prompt_.gold.begin && token < prompt_.gold.end;
    QString text = prompt_.tokens[token];
    text.replace('\n', QStringLiteral("\\n"));  // the CSV has one row per line
    csv += QString::number(token) + QLatin1Char(',') + CsvField(text) +
           (gold ? QStringLiteral(",1") : QStringLiteral(",0"));
    for (const Row& row : rows_) {
      const double value = row.values.value(token, std::nan(""));
      csv += QLatin1Char(',') + (std::isfinite(value) ? QString::number(value, 'g', 9) : QString());
    }
    csv += QLatin1Char('\n');
  }
  return csv;
}

}  // namespace midscope
