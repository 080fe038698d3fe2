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

  // Replaces the list; keeps the line's text and emits no signal. `notes`: what the open list shows
  // beside each text, and choosing one does not put into the line; none: nothing.
  void Offer(const QStringList& texts, const QStringList& notes = {});
  // The role of an item's note.
  static constexpr int kNoteRole = Qt::UserRole;
};

}  // namespace midscope
