// SPDX-License-Identifier: GPL-3.0-or-later
// One line of plain text. If it does not fit, its end is elided and the tooltip shows the whole
// text.
#pragma once

#include <QWidget>

namespace midscope {

class ElidedLabel : public QWidget {
  Q_OBJECT

 public:
  // `mode`: where a text that is too long is cut; settings and models differ at either end.
  explicit ElidedLabel(QWidget* parent = nullptr, Qt::TextElideMode mode = Qt::ElideRight);

  // Line ends in the text are displayed as ⏎.
  void SetText(const QString& text);
  const QString& text() const { return text_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString text_;
  Qt::TextElideMode mode_;
};

}  // namespace midscope
