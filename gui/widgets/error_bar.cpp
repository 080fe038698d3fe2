// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/error_bar.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QRegularExpression>
#include <QShortcut>
#include <QToolButton>
#include <algorithm>

#include "gui/base/display_text.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

namespace {

// Returns a message with the options of command lines in the words of the window: "switch on
// --beyond-context" becomes "switch on Beyond context under Model > Options", "--lens-top" becomes
// "lens top".
QString InWindowWords(QString message) {
  message.replace(QStringLiteral("--beyond-context"),
                  QObject::tr("Beyond context under Model > Options"));
  static const QRegularExpression option(QStringLiteral("(?<![\\w-])--([a-z][a-z-]*[a-z])"));
  for (QRegularExpressionMatch match = option.match(message); match.hasMatch();
       match = option.match(message)) {
    QString words = match.captured(1);
    message.replace(match.capturedStart(), match.capturedLength(),
                    words.replace(QLatin1Char('-'), QLatin1Char(' ')));
  }
  return message;
}

}  // namespace

ErrorBar::ErrorBar(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("error_bar"));
  setStyleSheet(
      QStringLiteral("#error_bar { background: #8c1d1d; border-radius: 4px; } "
                     "#error_bar QLabel { color: white; }"));
  text_ = Named(new QLabel(this), "error_text");
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  // The tooltip has what does not fit.
  text_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  count_ = new QLabel(this);
  action_ = Named(new QToolButton(this), "error_action");
  auto* copy = new QToolButton(this);
  copy->setText(tr("Copy"));
  copy->setToolTip(tr("Copy the message"));
  auto* dismiss = Named(new QToolButton(this), "error_dismiss", tr("Dismiss this message (Esc)"));
  dismiss->setText(tr("Dismiss"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(10, 2, 6, 2);
  row->addWidget(text_, 1);
  row->addWidget(count_);
  row->addWidget(action_);
  row->addWidget(copy);
  row->addWidget(dismiss);
  connect(action_, &QToolButton::clicked, this, &ErrorBar::RunAction);
  connect(dismiss, &QToolButton::clicked, this, &ErrorBar::DismissTop);
  // Inactive while the bar is hidden.
  connect(new QShortcut(Qt::Key_Escape, this), &QShortcut::activated, this, &ErrorBar::DismissTop);
  connect(copy, &QToolButton::clicked, this,
          [this] { QApplication::clipboard()->setText(text_->text()); });
  Refresh();
}

void ErrorBar::Add(const QString& message, const QString& what) {
  const auto known = std::find_if(messages_.begin(), messages_.end(),
                                  [&message](const Message& each) { return each.text == message; });
  // An operation that is repeated after another one has failed does not hide that failure: after a
  // prompt that cannot be made, the previous one is run again.
  const bool behind = !what.isEmpty() && known != messages_.end() && messages_.back().what != what;
  if (behind) return;
  if (known != messages_.end()) messages_.erase(known);
  messages_.push_back({message, what});
  Refresh();
}

void ErrorBar::Succeed(const QString& what) {
  if (what.isEmpty()) return;
  if (std::erase_if(messages_, [&what](const Message& each) { return each.what == what; }) > 0)
    Refresh();
}

void ErrorBar::OfferAction(const QString& message, const QString& label,
                           const std::function<void()>& action) {
  for (Message& each : messages_) {
    if (each.text != message) continue;
    each.label = label;
    each.action = action;
  }
  Refresh();
}

// Removes the message first, because the action may add errors.
void ErrorBar::RunAction() {
  if (messages_.empty() || !messages_.back().action) return;
  const std::function<void()> action = messages_.back().action;
  DismissTop();
  action();
}

void ErrorBar::Try(const std::function<void()>& work, const QString& what) {
  const QString why = ErrorText(work);
  why.isEmpty() ? Succeed(what) : Add(why, what);
}

QStringList ErrorBar::messages() const {
  QStringList texts;
  for (const Message& message : messages_) texts << message.text;
  return texts;
}

void ErrorBar::DismissTop() {
  if (!messages_.empty()) messages_.pop_back();
  Refresh();
}

void ErrorBar::Refresh() {
  setVisible(!messages_.empty());
  text_->setText(messages_.empty() ? QString() : InWindowWords(messages_.back().text));
  text_->setToolTip(QStringLiteral("<p>") + text_->text().toHtmlEscaped() + QStringLiteral("</p>"));
  const QString label = messages_.empty() ? QString() : messages_.back().label;
  action_->setText(label);
  action_->setVisible(!label.isEmpty());
  count_->setText(messages_.size() > 1 ? tr("1 of %1").arg(messages_.size()) : QString());
}

QString ErrorStyle() { return QStringLiteral("color: #d04040"); }

QLabel* MakeErrorLabel(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setStyleSheet(ErrorStyle());
  label->hide();
  return label;
}

void ShowError(QLabel* label, const QString& text) {
  label->setText(InWindowWords(text));
  label->setVisible(!text.isEmpty());
}

}  // namespace midscope
