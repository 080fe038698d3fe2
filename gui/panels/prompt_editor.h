// SPDX-License-Identifier: GPL-3.0-or-later
// One's own text, with a passage that can be marked as gold and moves with edits.
#pragma once

#include <QPlainTextEdit>
#include <QTextCursor>
#include <utility>

namespace midscope {

class PromptEditor : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit PromptEditor(QWidget* parent = nullptr);

  // The text as it stands: unlike toPlainText(), no-break spaces stay what they are.
  QString Text() const;
  void SetText(const QString& text);
  // The selection becomes the gold passage; none is selected: none is marked.
  void MarkSelection();
  // Bytes [begin, end) of the UTF-8 text; equal: none is marked.
  void MarkBytes(int64_t begin, int64_t end);
  // The passage marked as gold; "" for none.
  QString GoldText() const;
  // Bytes [begin, end) of the UTF-8 text; equal for none.
  std::pair<int64_t, int64_t> GoldBytes() const;
  QSize sizeHint() const override;

 Q_SIGNALS:
  // Another passage is marked, or its text, or where it is, has changed.
  void GoldChanged();

 private:
  void Highlight();

  QTextCursor gold_;
};

}  // namespace midscope
