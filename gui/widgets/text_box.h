// SPDX-License-Identifier: GPL-3.0-or-later
// A line of text that can be typed or chosen from a list.
#pragma once

#include <QComboBox>
#include <QStringList>

namespace midscope {

class TextBox : public QComboBox {
  Q_OBJECT

 public:
  explicit TextBox(QWidget* parent = nullptr);

  // Replaces the list; keeps the line's text and emits no signal.
  void Offer(const QStringList& texts);
};

}  // namespace midscope
