// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/place_buttons.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QToolButton>

#include "gui/base/appearance.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

PlaceButtons::PlaceButtons(QComboBox* box, QWidget* parent) : QWidget(parent), box_(box) {
  row_ = new QHBoxLayout(this);
  row_->setContentsMargins(0, 0, 0, 0);
  row_->setSpacing(0);
  setStyleSheet(PressedStyle());
  row_->addWidget(box_);
  for (int i = 0; i < kMostButtons; ++i) {
    auto* button = Named(new QToolButton(this), QStringLiteral("place_%1").arg(i));
    button->setCheckable(true);
    button->setAutoExclusive(true);
    button->setFocusPolicy(Qt::TabFocus);
    connect(button, &QToolButton::clicked, this, [this, i] { box_->setCurrentIndex(i); });
    row_->addWidget(button);
    buttons_.push_back(button);
  }
  connect(box_, &QComboBox::currentIndexChanged, this, &PlaceButtons::ShowCurrent);
  Refresh();
}

void PlaceButtons::Refresh() {
  const int count = box_->count();
  const bool few = count > 0 && count <= kMostButtons;
  box_->setVisible(!few);
  for (int i = 0; i < kMostButtons; ++i) {
    QToolButton* button = buttons_[static_cast<size_t>(i)];
    button->setVisible(few && i < count);
    if (i >= count) continue;
    const QString text = box_->itemText(i);
    button->setText(text.section(QStringLiteral("  ("), 0, 0));
    button->setToolTip(text);
    button->setAccessibleName(tr("Place %1").arg(text));
  }
  ShowCurrent();
}

void PlaceButtons::ShowCurrent() {
  for (size_t i = 0; i < buttons_.size(); ++i)
    buttons_[i]->setChecked(static_cast<int>(i) == box_->currentIndex());
}

}  // namespace midscope
