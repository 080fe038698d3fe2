// SPDX-License-Identifier: GPL-3.0-or-later
// Editor of the user's own text with one passage marked as gold and others as pieces among which
// that one moves; marks are tracked through edits. Takes text files that are dropped on it. It has
// no undo of its own: its state is a value, and undo is the window's
// (gui/panels/prompt/prompt_history.h).
#pragma once

#include <QPlainTextEdit>
#include <QTextCursor>
#include <utility>
#include <vector>

#include "core/base/spans.h"

namespace midscope {

// The text and its marks, in characters [begin, end) of it.
struct MarkedText {
  QString text;
  std::pair<int, int> gold = {0, 0};  // equal: none
  std::vector<std::pair<int, int>> pieces = {};
  bool operator==(const MarkedText&) const = default;
};

class PromptEditor : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit PromptEditor(QWidget* parent = nullptr);

  // The exact text: unlike toPlainText(), it keeps no-break spaces.
  QString Text() const;
  void SetText(const QString& text);
  MarkedText marked_text() const;
  // Replaces only what differs, so that the view stays where it is; emits GoldChanged once.
  void SetMarkedText(const MarkedText& marked);
  // Marks the first occurrence of the words as the gold passage; returns whether there is one.
  bool MarkWords(const QString& words);
  // Replaces text and marks.
  void Load(const QString& text);
  // Loads a file's text; emits Refused where it is not text.
  void LoadFile(const QString& path);
  // Marks the selection as the gold passage; an empty selection removes the mark.
  void MarkSelection();
  // Bytes [begin, end) of the UTF-8 text; begin == end removes the mark.
  void MarkBytes(int64_t begin, int64_t end);
  // The passage marked as gold; "" for none.
  QString GoldText() const;
  // Bytes [begin, end) of the UTF-8 text; begin == end for none.
  std::pair<int64_t, int64_t> GoldBytes() const;

  // Marks the selection as a piece, in place of pieces that it overlaps; without a selection the
  // piece with the text cursor is no longer a piece.
  void MarkPiece();
  // Marks the paragraphs (parted by blank lines) of the selection, or of the whole text.
  void MarkParagraphs();
  void ClearPieces();
  // In the order of the text, in bytes of it.
  std::vector<ByteSpan> Pieces() const;
  void SetPieces(const std::vector<ByteSpan>& pieces);

  // Marks all places of the words (any case); returns how many.
  int SetFind(const QString& words);
  // Selects the next (previous) one, from the other end after the last; returns its number from 1,
  // 0 for none.
  int FindNext(bool backwards);
  QSize sizeHint() const override;

 Q_SIGNALS:
  // Emitted when the text, the gold passage, or a piece has changed.
  void GoldChanged();
  void Refused(const QString& why);
  // Chosen in the context menu.
  void UndoRequested();
  void RedoRequested();

 protected:
  bool canInsertFromMimeData(const QMimeData* source) const override;
  void insertFromMimeData(const QMimeData* source) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  QTextCursor CursorOver(int begin, int end);
  void RemovePieces(int begin, int end);
  void Highlight();
  void HighlightAndTell();

  bool quiet_ = false;  // text and marks are being replaced together
  QTextCursor gold_;
  std::vector<QTextCursor> pieces_;
  QString words_;       // that are searched
  QList<int> matches_;  // where they begin
};

}  // namespace midscope
