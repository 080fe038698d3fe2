// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/text_box.h"

#include <QAbstractItemView>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <utility>

namespace midscope {
namespace {

// "cuda:0 — NVIDIA H100": the item's text and its note.
class NotedItemDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const QString note = index.data(TextBox::kNoteRole).toString();
    if (!note.isEmpty()) option->text += QStringLiteral(" — ") + note;
  }
};

}  // namespace

TextBox::TextBox(QWidget* parent) : QComboBox(parent) {
  setEditable(true);
  setInsertPolicy(QComboBox::NoInsert);
  setCompleter(nullptr);  // completion would change typed text
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
}

void TextBox::Offer(const QStringList& texts, Notes notes) {
  const QSignalBlocker quiet(this);
  const QString before = currentText();
  clear();
  addItems(texts);
  setEditText(before);
  notes_ = std::move(notes);
  if (notes_ && !dynamic_cast<NotedItemDelegate*>(itemDelegate()))
    setItemDelegate(new NotedItemDelegate(this));
}

void TextBox::showPopup() {
  if (notes_) {
    const QStringList notes = notes_();
    for (int i = 0; i < count(); ++i) setItemData(i, notes.value(i), kNoteRole);
    // The line is narrower than the notes.
    view()->setMinimumWidth(view()->sizeHintForColumn(0) +
                            view()->verticalScrollBar()->sizeHint().width());
  }
  QComboBox::showPopup();
}

}  // namespace midscope
