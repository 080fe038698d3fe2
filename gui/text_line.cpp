// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/text_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>

#include "core/error.h"
#include "core/intervention_text.h"

namespace midscope {
namespace {

QString TextOf(const Intervention& intervention) {
  return QString::fromStdString(PrintIntervention(intervention));
}

}  // namespace

TextLine::TextLine(const QString& name, const QString& color, QWidget* parent) : QWidget(parent) {
  auto* label = new QLabel(name, this);
  label->setStyleSheet(QStringLiteral("font-weight: bold; color: %1").arg(color));
  edit_ = new QLineEdit(this);
  edit_->setObjectName(QStringLiteral("text_") + name);
  edit_->setToolTip(
      tr("<p>The setting as text, the same in the command line and in files: none, pi(1.5), "
         "ms-poe(min=1.2, max=1.8), channel(100, factor=-1, layers=8-25); joined by +</p>"));
  error_ = new QLabel(this);
  error_->setWordWrap(true);
  error_->setTextFormat(Qt::PlainText);
  error_->setStyleSheet(QStringLiteral("color: #d04040"));
  error_->hide();
  auto* row = new QHBoxLayout;
  row->addWidget(label);
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

QString TextLine::error() const { return error_->isHidden() ? QString() : error_->text(); }

void TextLine::SetIntervention(const Intervention& intervention) {
  const bool typing = edit_->isModified() || !error().isEmpty();
  const bool same = shown_ == intervention && !edit_->text().isEmpty();
  shown_ = intervention;
  if (typing && same) return;
  edit_->setText(TextOf(intervention));
  edit_->setCursorPosition(0);
  error_->hide();
}

void TextLine::Enter(const QString& text) {
  edit_->setText(text);
  OnEdited(text);
  OnFinished();
}

void TextLine::OnEdited(const QString& text) {
  try {
    const Intervention parsed = ParseIntervention(text.toStdString());
    error_->hide();
    if (parsed == shown_) return;
    shown_ = parsed;
    Q_EMIT Edited(parsed);
  } catch (const Error& error) {
    error_->setText(QString::fromUtf8(error.what()));
    error_->show();
  }
}

void TextLine::OnFinished() {
  if (!error_->isHidden()) return;
  edit_->setText(TextOf(shown_));
  edit_->setModified(false);
}

}  // namespace midscope
