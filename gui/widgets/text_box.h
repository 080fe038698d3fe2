// SPDX-License-Identifier: GPL-3.0-or-later
// A line of text that may be chosen from a list instead of typed.
#pragma once

#include <QComboBox>
#include <QStringList>

namespace midscope {

class TextBox : public QComboBox {
  Q_OBJECT

 public:
  explicit TextBox(QWidget* parent = nullptr);

  // The list, instead of what was offered before; what stands in the line stays, and nothing is
  // said to anybody.
  void Offer(const QStringList& texts);
};

}  // namespace midscope
