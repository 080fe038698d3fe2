// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/text_line.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "gui/base/display_text.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

QString TextOf(const Intervention& intervention) {
  return QString::fromStdString(PrintIntervention(intervention));
}

}  // namespace

TextLine::TextLine(const QString& name, const QString& color, QWidget* parent) : QWidget(parent) {
  letter_ = name;
  label_ = new QLabel(name, this);
  label_->setTextFormat(Qt::PlainText);
  label_->setStyleSheet(QStringLiteral("font-weight: bold; color: %1").arg(color));
  edit_ = Named(new QLineEdit(this), QStringLiteral("text_") + name);
  edit_->installEventFilter(this);
  error_ = MakeErrorLabel(this);
  auto* row = new QHBoxLayout;
  row->addWidget(label_);
  row->addWidget(edit_, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  column->addLayout(row);
  column->addWidget(error_);
  SetIntervention({});
  connect(edit_, &QLineEdit::textEdited, this, &TextLine::OnEdited);
  connect(edit_, &QLineEdit::editingFinished, this, &TextLine::OnFinished);
}

QString TextLine::error() const { return failed_ ? error_->text() : QString(); }

void TextLine::ShowNote(const QString& note, bool error) {
  failed_ = error;
  error_->setStyleSheet(error ? ErrorStyle() : QString());
  ShowError(error_, note);
}

void TextLine::SetIntervention(const Intervention& intervention) {
  const bool typing = edit_->isModified() || failed_;
  const bool same = shown_ == intervention && !edit_->text().isEmpty();
  shown_ = intervention;
  if (typing && same) return;
  ShowText();
  ShowNote(QString(), false);
}

void TextLine::SetName(const QString& name) {
  constexpr int kLongest = 14;
  const QString shown = name.size() > kLongest ? name.left(kLongest - 1) + QChar(0x2026) : name;
  label_->setText(name.isEmpty() ? letter_ : tr("%1 “%2”").arg(letter_, shown));
  label_->setToolTip(name);
}

// Reduces paths to file names, because folders would hide the rest; while the line is edited, the
// text is complete.
void TextLine::ShowText() {
  const QString text = TextOf(shown_);
  edit_->setText(edit_->hasFocus() ? text : WithoutFolders(text));
  edit_->setCursorPosition(0);
  edit_->setToolTip(
      tr("<p>%1</p><p>The setting as text, the same in the command line and in files: none, "
         "pi(1.5), ms-poe(min=1.2, max=1.8), channel(100, factor=-1, layers=8-25); joined by +</p>"
         "<p>Arguments that were not given are printed with their defaults; rows=answer changes "
         "the last row of the prompt and the rows of the answer</p>")
          .arg(text.toHtmlEscaped()));
}

bool TextLine::eventFilter(QObject* watched, QEvent* event) {
  const bool focus = event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut;
  if (watched == edit_ && focus && !edit_->isModified() && !failed_) ShowText();
  return QWidget::eventFilter(watched, event);
}

void TextLine::Enter(const QString& text) {
  edit_->setText(text);
  edit_->setModified(true);
  OnFinished();
}

std::optional<Intervention> TextLine::Take(const QString& text) {
  edit_->setText(text);
  edit_->setModified(true);
  std::optional<Intervention> taken = Accept();
  if (taken) shown_ = *taken;
  return taken;
}

void TextLine::OnEdited(const QString& text) {
  try {
    const bool waits = ParseIntervention(text.toStdString()) != shown_;
    ShowNote(waits ? tr("not applied yet: press Enter") : QString(), false);
  } catch (const Error& error) {
    ShowNote(QString::fromUtf8(error.what()), true);
  }
}

// Replaces the text by the printed form of its setting; returns nullopt if it has an error, which
// stays shown.
std::optional<Intervention> TextLine::Accept() {
  OnEdited(edit_->text());
  if (failed_) return std::nullopt;
  const Intervention parsed = ParseIntervention(edit_->text().toStdString());
  ShowNote(QString(), false);
  edit_->setText(TextOf(parsed));
  edit_->setModified(false);
  return parsed;
}

void TextLine::OnFinished() {
  if (!edit_->isModified()) return;
  const std::optional<Intervention> parsed = Accept();
  if (!parsed || *parsed == shown_) return;
  shown_ = *parsed;
  Q_EMIT Edited(*parsed);
}

}  // namespace midscope
