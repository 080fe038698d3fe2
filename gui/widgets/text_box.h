// SPDX-License-Identifier: GPL-3.0-or-later
// A line of text that can be typed or chosen from a list.
#pragma once

#include <QComboBox>
#include <QStringList>
#include <functional>

namespace midscope {

class TextBox : public QComboBox {
  Q_OBJECT

 public:
  explicit TextBox(QWidget* parent = nullptr);

  // What the open list shows beside each text, and choosing one does not put into the line.
  using Notes = std::function<QStringList()>;
  // Replaces the list; keeps the line's text and emits no signal. `notes`: asked for whenever the
  // list is opened; none: nothing.
  void Offer(const QStringList& texts, Notes notes = nullptr);
  void showPopup() override;
  // The role of an item's note.
  static constexpr int kNoteRole = Qt::UserRole;

 private:
  Notes notes_;
};

}  // namespace midscope
