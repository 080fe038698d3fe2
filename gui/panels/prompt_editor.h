// SPDX-License-Identifier: GPL-3.0-or-later
// Editor of the user's own text with one passage marked as gold, which is tracked through edits.
#pragma once

#include <QPlainTextEdit>
#include <QTextCursor>
#include <utility>

namespace midscope {

class PromptEditor : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit PromptEditor(QWidget* parent = nullptr);

  // The exact text: unlike toPlainText(), it keeps no-break spaces.
  QString Text() const;
  void SetText(const QString& text);
  // Marks the selection as the gold passage; an empty selection removes the mark.
  void MarkSelection();
  // Bytes [begin, end) of the UTF-8 text; begin == end removes the mark.
  void MarkBytes(int64_t begin, int64_t end);
  // The passage marked as gold; "" for none.
  QString GoldText() const;
  // Bytes [begin, end) of the UTF-8 text; begin == end for none.
  std::pair<int64_t, int64_t> GoldBytes() const;
  QSize sizeHint() const override;

 Q_SIGNALS:
  // Emitted when the gold passage, its text or its position has changed.
  void GoldChanged();

 private:
  void Highlight();

  QTextCursor gold_;
};

}  // namespace midscope
