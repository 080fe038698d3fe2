// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt/prompt_editor.h"

#include <QAction>
#include <QContextMenuEvent>
#include <QFileInfo>
#include <QMenu>
#include <QMimeData>
#include <QUrl>
#include <algorithm>
#include <memory>

#include "core/base/error.h"
#include "core/tokenizer/prompt.h"
#include "data/tasks/pieces_task.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

// Whether the file is not text but a file that the window opens.
bool IsOpenedByTheWindow(const QString& path) {
  const QStringList endings = {QStringLiteral("gguf"), QStringLiteral("safetensors"),
                               QStringLiteral("bin"), QStringLiteral("h5"),
                               QStringLiteral("midscope")};
  const QFileInfo file(path);
  return file.isDir() || endings.contains(file.suffix().toLower());
}

QString DroppedFile(const QMimeData* source) {
  const QList<QUrl> urls = source->urls();
  return urls.isEmpty() || !urls.front().isLocalFile() ? QString() : urls.front().toLocalFile();
}

}  // namespace

PromptEditor::PromptEditor(QWidget* parent) : QPlainTextEdit(parent) {
  setObjectName(QStringLiteral("own_text"));
  setAccessibleName(tr("Own text"));
  setPlaceholderText(
      tr("Paste or drop a text, select the passage that holds the answer, and mark it"));
  setUndoRedoEnabled(false);
  setTabChangesFocus(true);
  connect(this, &QPlainTextEdit::textChanged, this, &PromptEditor::HighlightAndTell);
}

QString PromptEditor::Text() const {
  QString text = document()->toRawText();
  text.replace(QChar::ParagraphSeparator, QLatin1Char('\n'));
  return text;
}

void PromptEditor::SetText(const QString& text) {
  SetMarkedText({text});
  moveCursor(QTextCursor::Start);
}

MarkedText PromptEditor::marked_text() const {
  MarkedText marked{Text()};
  if (!gold_.isNull() && gold_.hasSelection())
    marked.gold = {gold_.selectionStart(), gold_.selectionEnd()};
  for (const QTextCursor& piece : pieces_) {
    if (piece.hasSelection())
      marked.pieces.emplace_back(piece.selectionStart(), piece.selectionEnd());
  }
  return marked;
}

void PromptEditor::SetMarkedText(const MarkedText& marked) {
  quiet_ = true;
  gold_ = QTextCursor();
  pieces_.clear();
  const QString before = Text();
  const QString& after = marked.text;
  const qsizetype shorter = std::min(before.size(), after.size());
  qsizetype begin = 0;
  while (begin < shorter && before[begin] == after[begin]) ++begin;
  qsizetype end = 0;
  while (end < shorter - begin &&
         before[before.size() - 1 - end] == after[after.size() - 1 - end]) {
    ++end;
  }
  if (before != after) {
    QTextCursor changed =
        CursorOver(static_cast<int>(begin), static_cast<int>(before.size() - end));
    changed.insertText(after.mid(begin, after.size() - begin - end));
    setTextCursor(changed);
  }
  if (marked.gold.first < marked.gold.second)
    gold_ = CursorOver(marked.gold.first, marked.gold.second);
  for (const auto& [first, last] : marked.pieces) pieces_.push_back(CursorOver(first, last));
  quiet_ = false;
  HighlightAndTell();
}

bool PromptEditor::MarkWords(const QString& words) {
  const auto at = static_cast<int>(Text().indexOf(words));
  if (words.isEmpty() || at < 0) return false;
  gold_ = CursorOver(at, at + static_cast<int>(words.size()));
  HighlightAndTell();
  return true;
}

void PromptEditor::Load(const QString& text) { SetText(text); }

// Shows a context menu whose undo and redo act on the window's undo stack.
void PromptEditor::contextMenuEvent(QContextMenuEvent* event) {
  const std::unique_ptr<QMenu> menu(createStandardContextMenu(event->pos()));
  for (QAction* action : menu->actions()) {
    const bool undo = action->objectName() == QLatin1String("edit-undo");
    if (!undo && action->objectName() != QLatin1String("edit-redo")) continue;
    action->disconnect();
    action->setEnabled(true);
    connect(action, &QAction::triggered, this,
            undo ? &PromptEditor::UndoRequested : &PromptEditor::RedoRequested);
  }
  menu->exec(event->globalPos());
}

void PromptEditor::LoadFile(const QString& path) {
  try {
    Load(QString::fromStdString(ReadPromptFile(path.toStdString())));
  } catch (const Error& error) {
    Q_EMIT Refused(QString::fromUtf8(error.what()));
  }
}

bool PromptEditor::canInsertFromMimeData(const QMimeData* source) const {
  const QString file = DroppedFile(source);
  if (!file.isEmpty()) return !IsOpenedByTheWindow(file);
  return QPlainTextEdit::canInsertFromMimeData(source);
}

void PromptEditor::insertFromMimeData(const QMimeData* source) {
  const QString file = DroppedFile(source);
  if (file.isEmpty()) {
    QPlainTextEdit::insertFromMimeData(source);
  } else {
    LoadFile(file);
  }
}

QTextCursor PromptEditor::CursorOver(int begin, int end) {
  QTextCursor cursor(document());
  cursor.setPosition(begin);
  cursor.setPosition(end, QTextCursor::KeepAnchor);
  return cursor;
}

void PromptEditor::MarkBytes(int64_t begin, int64_t end) {
  const QByteArray bytes = Text().toUtf8();
  const auto place = [&bytes](int64_t byte) {
    return static_cast<int>(QString::fromUtf8(bytes.left(byte)).size());
  };
  gold_ = CursorOver(place(begin), place(end));
  HighlightAndTell();
}

// The selection without white space at its ends: a triple click selects the line's end too, which
// is in no piece.
QTextCursor PromptEditor::TrimmedSelection() {
  const QTextCursor cursor = textCursor();
  const QString text = Text();
  int begin = cursor.selectionStart();
  int end = cursor.selectionEnd();
  while (begin < end && text[begin].isSpace()) ++begin;
  while (begin < end && text[end - 1].isSpace()) --end;
  return begin < end ? CursorOver(begin, end) : cursor;
}

void PromptEditor::MarkSelection() {
  gold_ = TrimmedSelection();
  HighlightAndTell();
}

QString PromptEditor::GoldText() const {
  if (gold_.isNull() || !gold_.hasSelection()) return {};
  return Text().mid(gold_.selectionStart(), gold_.selectionEnd() - gold_.selectionStart());
}

std::pair<int64_t, int64_t> PromptEditor::GoldBytes() const {
  if (gold_.isNull() || !gold_.hasSelection()) return {0, 0};
  const QString text = Text();
  return {text.left(gold_.selectionStart()).toUtf8().size(),
          text.left(gold_.selectionEnd()).toUtf8().size()};
}

void PromptEditor::RemovePieces(int begin, int end) {
  std::erase_if(pieces_, [&](const QTextCursor& piece) {
    return piece.selectionStart() < end && piece.selectionEnd() > begin;
  });
}

void PromptEditor::MarkPiece() {
  const QTextCursor cursor = TrimmedSelection();
  if (cursor.hasSelection()) {
    RemovePieces(cursor.selectionStart(), cursor.selectionEnd());
    pieces_.push_back(cursor);
  } else {
    RemovePieces(cursor.position(), cursor.position() + 1);
  }
  HighlightAndTell();
}

void PromptEditor::MarkParagraphs() {
  const QTextCursor cursor = textCursor();
  const QString text = Text();
  const int begin = cursor.hasSelection() ? cursor.selectionStart() : 0;
  const int end = cursor.hasSelection() ? cursor.selectionEnd() : static_cast<int>(text.size());
  const QByteArray bytes = text.mid(begin, end - begin).toUtf8();
  RemovePieces(begin, end);
  for (const ByteSpan& span :
       ParagraphPieces({bytes.constData(), static_cast<size_t>(bytes.size())})) {
    const auto first = static_cast<int>(QString::fromUtf8(bytes.left(span.begin)).size());
    const auto size =
        static_cast<int>(QString::fromUtf8(bytes.mid(span.begin, span.end - span.begin)).size());
    pieces_.push_back(CursorOver(begin + first, begin + first + size));
  }
  HighlightAndTell();
}

void PromptEditor::ClearPieces() {
  pieces_.clear();
  HighlightAndTell();
}

std::vector<ByteSpan> PromptEditor::Pieces() const {
  std::vector<std::pair<int, int>> ranges;
  for (const QTextCursor& piece : pieces_) {
    if (piece.hasSelection()) ranges.emplace_back(piece.selectionStart(), piece.selectionEnd());
  }
  std::sort(ranges.begin(), ranges.end());
  const QString text = Text();
  std::vector<ByteSpan> spans;
  int64_t byte = 0;
  int at = 0;
  const auto byte_of = [&](int position) {
    byte += text.mid(at, position - at).toUtf8().size();
    at = position;
    return byte;
  };
  for (const auto& [begin, end] : ranges) {
    // An edit may have merged two pieces.
    if (begin < at) continue;
    const int64_t first = byte_of(begin);
    spans.push_back({"", first, byte_of(end)});
  }
  return spans;
}

void PromptEditor::SetPieces(const std::vector<ByteSpan>& pieces) {
  const QByteArray bytes = Text().toUtf8();
  const auto place = [&bytes](int64_t byte) {
    return static_cast<int>(QString::fromUtf8(bytes.left(byte)).size());
  };
  pieces_.clear();
  for (const ByteSpan& piece : pieces)
    pieces_.push_back(CursorOver(place(piece.begin), place(piece.end)));
  HighlightAndTell();
}

int PromptEditor::SetFind(const QString& words) {
  words_ = words;
  Highlight();
  return static_cast<int>(matches_.size());
}

int PromptEditor::FindNext(bool backwards) {
  if (matches_.isEmpty()) return 0;
  const int at = textCursor().selectionStart();
  const bool selected = textCursor().hasSelection();
  qsizetype index = 0;
  if (backwards) {
    const auto before = std::lower_bound(matches_.begin(), matches_.end(), at);
    index = before == matches_.begin() ? matches_.size() - 1 : before - matches_.begin() - 1;
  } else {
    const auto after = std::lower_bound(matches_.begin(), matches_.end(), selected ? at + 1 : at);
    index = after == matches_.end() ? 0 : after - matches_.begin();
  }
  setTextCursor(CursorOver(matches_[index], matches_[index] + static_cast<int>(words_.size())));
  ensureCursorVisible();
  return static_cast<int>(index) + 1;
}

// Small, so that the task page in the same tab widget has no empty space.
QSize PromptEditor::sizeHint() const { return {200, 110}; }

void PromptEditor::HighlightAndTell() {
  if (quiet_) return;
  Highlight();
  Q_EMIT GoldChanged();
}

void PromptEditor::Highlight() {
  QList<QTextEdit::ExtraSelection> selections;
  const auto add = [&](const QTextCursor& cursor, QColor color, int alpha) {
    QTextEdit::ExtraSelection selection;
    selection.cursor = cursor;
    color.setAlpha(alpha);
    selection.format.setBackground(color);
    selections.append(selection);
  };
  for (const QTextCursor& piece : pieces_) {
    if (piece.hasSelection()) add(piece, SideColor(Side::kA), 45);
  }
  if (!gold_.isNull() && gold_.hasSelection()) add(gold_, GoldColor(), 120);
  matches_.clear();
  if (!words_.isEmpty()) {
    const QString text = Text();
    for (qsizetype at = text.indexOf(words_, 0, Qt::CaseInsensitive); at >= 0;
         at = text.indexOf(words_, at + words_.size(), Qt::CaseInsensitive)) {
      matches_.append(static_cast<int>(at));
      add(CursorOver(static_cast<int>(at), static_cast<int>(at + words_.size())),
          SideColor(Side::kB), 110);
    }
  }
  setExtraSelections(selections);
}

}  // namespace midscope
