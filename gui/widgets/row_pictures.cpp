// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/row_pictures.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QIcon>
#include <QPainter>
#include <QPixmap>

namespace midscope {
namespace {

constexpr int kPromptRows = 6;  // rows in the icon; the last one predicts the first answer token
constexpr int kAnswerRows = 2;
constexpr int kLastRows = 3;  // rows filled for last:N
constexpr QSize kCell(5, 11);
constexpr int kCellGap = 4;               // pixels between prompt and answer
constexpr int kPictureScale = 2;          // for high-resolution screens
constexpr QColor kChanged(48, 140, 230);  // visible on white and on black

struct RowPicture {
  const char* text;  // prefix of the item's text
  int prompt_rows;   // number of filled rows, counted from the last one
  bool answer;       // whether the answer's rows are filled
  const char* help;
};

// If one prefix begins with another, the longer one is first.
constexpr RowPicture kRowPictures[] = {
    {"last:", kLastRows, true,
     QT_TRANSLATE_NOOP("rows", "the last N rows of the prompt and the answer's rows")},
    {"last N", kLastRows, true,
     QT_TRANSLATE_NOOP("rows", "the last N rows of the prompt and the answer's rows")},
    {"last", 1, false, QT_TRANSLATE_NOOP("rows", "the last row of the prompt alone")},
    {"answer", 1, true,
     QT_TRANSLATE_NOOP("rows", "the last row of the prompt and the answer's rows")},
    {"all", kPromptRows, true, QT_TRANSLATE_NOOP("rows", "every row")}};

QIcon PictureOf(const RowPicture& choice) {
  constexpr int kCells = kPromptRows + kAnswerRows;
  QPixmap picture(QSize(kCells * kCell.width() + kCellGap, kCell.height() + 2) * kPictureScale);
  picture.setDevicePixelRatio(kPictureScale);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  painter.setPen(QPen(QColor(128, 128, 128), 1));  // visible on white and on black
  for (int cell = 0; cell < kCells; ++cell) {
    const bool answer = cell >= kPromptRows;
    const bool filled = answer ? choice.answer : cell >= kPromptRows - choice.prompt_rows;
    painter.setBrush(filled ? QBrush(kChanged) : QBrush(Qt::NoBrush));
    painter.drawRect(QRectF(cell * kCell.width() + (answer ? kCellGap : 0) + 0.5, 0.5,
                            kCell.width() - 2, kCell.height()));
  }
  return QIcon(picture);
}

}  // namespace

void ShowRowPictures(QComboBox* rows) {
  for (int i = 0; i < rows->count(); ++i) {
    for (const RowPicture& choice : kRowPictures) {
      if (!rows->itemText(i).startsWith(QLatin1String(choice.text))) continue;
      rows->setItemIcon(i, PictureOf(choice));
      rows->setItemData(i, QCoreApplication::translate("rows", choice.help), Qt::ToolTipRole);
      break;
    }
  }
  rows->setIconSize(
      QSize((kPromptRows + kAnswerRows) * kCell.width() + kCellGap, kCell.height() + 2));
}

}  // namespace midscope
