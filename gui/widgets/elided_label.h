// SPDX-License-Identifier: GPL-3.0-or-later
// One line of plain text, elided at its end where it does not fit; then the tooltip has it whole.
#pragma once

#include <QWidget>

namespace midscope {

class ElidedLabel : public QWidget {
  Q_OBJECT

 public:
  explicit ElidedLabel(QWidget* parent = nullptr);

  // Line ends are shown as ⏎.
  void SetText(const QString& text);
  const QString& text() const { return text_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString text_;
};

}  // namespace midscope
