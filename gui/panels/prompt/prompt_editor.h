// SPDX-License-Identifier: GPL-3.0-or-later
// Editor for the user's own text. One passage is marked as gold, and others as pieces; the gold
// passage is moved among the pieces. Marks are tracked through edits. Accepts dropped text files.
// It has no undo of its own: its state is a value, and the window's undo restores it
// (gui/panels/prompt/prompt_history.h).
#pragma once

#include <QPlainTextEdit>
#include <QTextCursor>
#include <utility>
#include <vector>

#include "core/base/spans.h"

namespace midscope {

// The text and its marks, as character ranges [begin, end).
struct MarkedText {
  QString text;
  std::pair<int, int> gold = {0, 0};  // begin == end: no gold passage
  std::vector<std::pair<int, int>> pieces = {};
  bool operator==(const MarkedText&) const = default;
};

class PromptEditor : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit PromptEditor(QWidget* parent = nullptr);

  // The exact text. Unlike toPlainText(), it preserves no-break spaces.
  QString Text() const;
  void SetText(const QString& text);
  MarkedText marked_text() const;
  // Replaces only the text that differs, so that the view does not scroll. Emits GoldChanged once.
  void SetMarkedText(const MarkedText& marked);
  // Marks the first occurrence of the words as the gold passage. Returns false if there is none.
  bool MarkWords(const QString& words);
  // Replaces the text and the marks.
  void Load(const QString& text);
  // Loads the text of a file. Emits Refused if the file is not text.
  void LoadFile(const QString& path);
  // Marks the selected text as the gold passage; an empty selection removes the mark.
  void MarkSelection();
  // Marks bytes [begin, end) of the UTF-8 text as gold; begin == end removes the mark.
  void MarkBytes(int64_t begin, int64_t end);
  // The text of the gold passage; "" if there is none.
  QString GoldText() const;
  // The gold passage as bytes [begin, end) of the UTF-8 text; begin == end if there is none.
  std::pair<int64_t, int64_t> GoldBytes() const;

  // Marks the selected text as a piece and removes pieces that it overlaps. Without a selection,
  // removes the mark of the piece at the text cursor.
  void MarkPiece();
  // Marks each paragraph of the selection, or of the whole text, as a piece. Blank lines separate
  // paragraphs.
  void MarkParagraphs();
  void ClearPieces();
  // The pieces as byte spans of the text, in its order.
  std::vector<ByteSpan> Pieces() const;
  void SetPieces(const std::vector<ByteSpan>& pieces);

  // Highlights all occurrences of the words, ignoring case. Returns their number.
  int SetFind(const QString& words);
  // Selects the next (or previous) occurrence, wrapping around at the end. Returns its number,
  // counted from 1, or 0 if there is none.
  int FindNext(bool backwards);
  QSize sizeHint() const override;

 Q_SIGNALS:
  // Emitted when the text, the gold passage, or a piece has changed.
  void GoldChanged();
  void Refused(const QString& why);
  // Emitted by the context menu.
  void UndoRequested();
  void RedoRequested();

 protected:
  bool canInsertFromMimeData(const QMimeData* source) const override;
  void insertFromMimeData(const QMimeData* source) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  QTextCursor TrimmedSelection();
  QTextCursor CursorOver(int begin, int end);
  void RemovePieces(int begin, int end);
  void Highlight();
  void HighlightAndTell();

  bool quiet_ = false;  // text and marks are being replaced together
  QTextCursor gold_;
  std::vector<QTextCursor> pieces_;
  QString words_;       // the search words
  QList<int> matches_;  // begin of each match
};

}  // namespace midscope
