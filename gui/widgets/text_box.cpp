// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/text_box.h"

#include <QSignalBlocker>

namespace midscope {

TextBox::TextBox(QWidget* parent) : QComboBox(parent) {
  setEditable(true);
  setInsertPolicy(QComboBox::NoInsert);
  setCompleter(nullptr);  // completion would change typed text
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
}

void TextBox::Offer(const QStringList& texts) {
  const QSignalBlocker quiet(this);
  const QString before = currentText();
  clear();
  addItems(texts);
  setEditText(before);
}

}  // namespace midscope
