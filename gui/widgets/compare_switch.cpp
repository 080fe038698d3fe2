// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/compare_switch.h"

#include <QHBoxLayout>
#include <QToolButton>

#include "gui/base/appearance.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"

namespace midscope {

CompareSwitch::CompareSwitch(Selection* selection, QWidget* parent) : QWidget(parent) {
  auto* row = WithoutMargins(new QHBoxLayout(this));
  row->setSpacing(0);
  setStyleSheet(PressedStyle());
  const struct {
    const char* name;
    QString text;
    QString help;
  } choices[] = {
      {"compare_a", tr("A"), tr("Every panel shows A")},
      {"compare_b", tr("B"), tr("Every panel shows B, or A where B is missing")},
      {"compare_difference", tr("B − A"), tr("Every panel shows the difference")},
      {"compare_split", tr("A | B"), tr("Every panel shows A and B beside or over each other")}};
  for (size_t i = 0; i < std::size(choices); ++i) {
    auto* button =
        Named(new QToolButton(this), QString::fromLatin1(choices[i].name), choices[i].help);
    button->setText(choices[i].text);
    button->setAccessibleName(choices[i].help);
    button->setCheckable(true);
    const auto compare = static_cast<Compare>(i);
    connect(button, &QToolButton::clicked, this, [this, selection, compare] {
      selection->SetCompare(compare);
      Show(selection->compare());
    });
    row->addWidget(button);
    buttons_.push_back(button);
  }
  auto* flicker = Named(new QToolButton(this), "compare_flicker",
                        tr("Every panel shows A and B alternately: what differs moves"));
  flicker->setText(tr("blink"));
  flicker->setAccessibleName(flicker->toolTip());
  flicker->setCheckable(true);
  connect(flicker, &QToolButton::clicked, selection, &Selection::SetFlicker);
  connect(selection, &Selection::FlickerChanged, flicker, &QToolButton::setChecked);
  row->addWidget(flicker);
  connect(selection, &Selection::CompareChanged, this, &CompareSwitch::Show);
  Show(selection->compare());
}

void CompareSwitch::SetModels(const QString& a, const QString& b) {
  constexpr int kWidestName = 110;
  const auto name = [this](QToolButton* button, const QString& letter, const QString& model) {
    const QString shown = fontMetrics().elidedText(model, Qt::ElideMiddle, kWidestName);
    button->setText(model.isEmpty() ? letter : QStringLiteral("%1 %2").arg(letter, shown));
    const QString help = button->accessibleName();
    button->setToolTip(model.isEmpty() ? help : QStringLiteral("%1: %2").arg(help, model));
  };
  name(buttons_[0], tr("A"), a);
  name(buttons_[1], tr("B"), b);
}

void CompareSwitch::Show(Compare compare) {
  for (size_t i = 0; i < buttons_.size(); ++i) {
    buttons_[i]->setChecked(i == static_cast<size_t>(compare));
  }
}

}  // namespace midscope
