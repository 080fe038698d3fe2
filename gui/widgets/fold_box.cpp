// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/fold_box.h"

#include <QToolButton>
#include <QVBoxLayout>

#include "gui/base/appearance.h"

namespace midscope {

FoldBox::FoldBox(const QString& title, QWidget* content, QWidget* parent)
    : QWidget(parent), heading_(new QToolButton(this)), content_(content) {
  heading_->setCheckable(true);
  heading_->setAutoRaise(true);
  heading_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  heading_->setArrowType(Qt::RightArrow);
  // Elides a long heading, so that it does not widen the page.
  heading_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  SetTitle(title);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  column->addWidget(heading_);
  column->addWidget(content_);
  content_->hide();
  connect(heading_, &QToolButton::toggled, this, [this](bool open) {
    heading_->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
    content_->setVisible(open);
    Q_EMIT Toggled(open);
  });
}

void FoldBox::SetTitle(const QString& title) {
  heading_->setText(title);
  setToolTip(QStringLiteral("<p>") + title.toHtmlEscaped() + QStringLiteral("</p>"));
}

void FoldBox::SetChanged(bool changed) {
  changed_ = changed;
  heading_->setStyleSheet(
      changed ? QStringLiteral("color: %1; font-weight: bold").arg(ChangedColor().name())
              : QString());
}

QString FoldBox::title() const { return heading_->text(); }

void FoldBox::SetOpen(bool open) { heading_->setChecked(open); }

bool FoldBox::open() const { return heading_->isChecked(); }

}  // namespace midscope
