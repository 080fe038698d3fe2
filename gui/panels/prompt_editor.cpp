// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt_editor.h"

#include "gui/plots/plot_style.h"

namespace midscope {

PromptEditor::PromptEditor(QWidget* parent) : QPlainTextEdit(parent) {
  setObjectName(QStringLiteral("own_text"));
  setPlaceholderText(tr("Paste a text, select the passage that holds the answer, and mark it"));
  connect(this, &QPlainTextEdit::textChanged, this, [this] {
    Highlight();
    Q_EMIT GoldChanged();
  });
}

QString PromptEditor::Text() const {
  QString text = document()->toRawText();
  text.replace(QChar::ParagraphSeparator, QLatin1Char('\n'));
  return text;
}

void PromptEditor::SetText(const QString& text) {
  gold_ = QTextCursor();
  setPlainText(text);
  Q_EMIT GoldChanged();
}

void PromptEditor::MarkBytes(int64_t begin, int64_t end) {
  const QByteArray bytes = Text().toUtf8();
  const auto place = [&bytes](int64_t byte) {
    return static_cast<int>(QString::fromUtf8(bytes.left(byte)).size());
  };
  gold_ = QTextCursor(document());
  gold_.setPosition(place(begin));
  gold_.setPosition(place(end), QTextCursor::KeepAnchor);
  Highlight();
  Q_EMIT GoldChanged();
}

void PromptEditor::MarkSelection() {
  gold_ = textCursor();
  Highlight();
  Q_EMIT GoldChanged();
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

// Small, so that the page of tasks beside it has no empty space.
QSize PromptEditor::sizeHint() const { return {200, 110}; }

void PromptEditor::Highlight() {
  QTextEdit::ExtraSelection selection;
  selection.cursor = gold_;
  QColor color = GoldColor();
  color.setAlpha(120);
  selection.format.setBackground(color);
  const bool marked = !gold_.isNull() && gold_.hasSelection();
  setExtraSelections(marked ? QList{selection} : QList<QTextEdit::ExtraSelection>());
}

}  // namespace midscope
