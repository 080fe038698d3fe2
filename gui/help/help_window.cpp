// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/help/help_window.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QPushButton>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace midscope {

HelpWindow::HelpWindow(QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("help_window"));
  text_ = new QTextBrowser(this);
  text_->setOpenExternalLinks(true);
  text_->setAccessibleName(tr("Help"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  QPushButton* copy = buttons->addButton(tr("Copy text"), QDialogButtonBox::ActionRole);
  connect(copy, &QPushButton::clicked, this,
          [this] { QApplication::clipboard()->setText(text_->toPlainText()); });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::hide);
  auto* column = new QVBoxLayout(this);
  column->addWidget(text_, 1);
  column->addWidget(buttons);
  resize(640, 620);
}

void HelpWindow::ShowPage(const HelpPage& page, const HelpContext& context) {
  QString title = page.title;
  title.remove(QLatin1Char('&'));
  setWindowTitle(title);
  text_->setHtml(QStringLiteral("<h2>%1</h2>").arg(title.toHtmlEscaped()) + page.html(context));
  show();
  raise();
}

void HelpWindow::ShowText(const QString& title, const QString& text) {
  setWindowTitle(title);
  text_->setHtml(
      QStringLiteral("<h2>%1</h2><p>%2</p>").arg(title.toHtmlEscaped(), text.toHtmlEscaped()));
  show();
  raise();
}

}  // namespace midscope
