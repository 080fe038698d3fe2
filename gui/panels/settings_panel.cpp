// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/settings_panel.h"

#include <QGroupBox>
#include <QHBoxLayout>
#include <QPushButton>

#include "gui/base/head_text.h"
#include "gui/panels/knobs_panel.h"
#include "gui/panels/stack_editor.h"
#include "gui/plots/plot_style.h"
#include "gui/widgets/fold_box.h"
#include "gui/widgets/text_line.h"

namespace midscope {

SettingsPanel::SettingsPanel(QWidget* parent) : QWidget(parent) {
  auto* box = new QGroupBox(tr("Settings"), this);
  text_a_ = new TextLine(QStringLiteral("A"), SideColor(Side::kA).name(), box);
  text_b_ = new TextLine(QStringLiteral("B"), SideColor(Side::kB).name(), box);
  auto* pin = new QPushButton(tr("Pin B as A"), box);
  pin->setObjectName(QStringLiteral("pin"));
  pin->setToolTip(tr("Make B the reference that the next change is compared with"));
  auto* swap = new QPushButton(tr("Swap"), box);
  swap->setObjectName(QStringLiteral("swap"));
  swap->setToolTip(tr("Exchange A and B"));
  auto* clear = new QPushButton(tr("Clear"), box);
  clear->setObjectName(QStringLiteral("clear"));
  clear->setToolTip(tr("Set A and B to none"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(pin);
  buttons->addWidget(swap);
  buttons->addWidget(clear);
  auto* box_column = new QVBoxLayout(box);
  box_column->addWidget(text_a_);
  box_column->addWidget(text_b_);
  box_column->addLayout(buttons);
  knobs_ = new KnobsPanel(this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(box);
  column->addWidget(knobs_);
  stack_ = new StackEditor;
  terms_ = new FoldBox(QString(), stack_, this);
  terms_->setObjectName(QStringLiteral("terms_of_b"));
  column->addWidget(terms_);
  RefreshTitle();
  connect(text_a_, &TextLine::Edited, this, [this](const Intervention& a) {
    Q_EMIT Changed({a, shown_.b}, false);
  });
  connect(text_b_, &TextLine::Edited, this, [this](const Intervention& b) {
    Q_EMIT Changed({shown_.a, b}, false);
  });
  connect(knobs_, &KnobsPanel::Changed, this, [this](const Intervention& b, bool dragging) {
    Q_EMIT Changed({shown_.a, b}, dragging);
  });
  connect(stack_, &StackEditor::Changed, text_b_, &TextLine::Enter);
  connect(pin, &QPushButton::clicked, this, [this] {
    Q_EMIT Changed({shown_.b, shown_.b}, false);
  });
  connect(swap, &QPushButton::clicked, this, [this] {
    Q_EMIT Changed({shown_.b, shown_.a}, false);
  });
  connect(clear, &QPushButton::clicked, this, [this] { Q_EMIT Changed({}, false); });
}

void SettingsPanel::Show(const SettingPair& pair) {
  shown_ = pair;
  text_a_->SetIntervention(pair.a);
  text_b_->SetIntervention(pair.b);
  knobs_->SetIntervention(pair.b);
  stack_->SetIntervention(pair.b);
  RefreshTitle();
}

void SettingsPanel::RefreshTitle() {
  const auto count = static_cast<int>(stack_->terms().size());
  terms_->SetTitle(count == 0 ? tr("Terms of B: none") : tr("Terms of B: %1").arg(count));
}

void SettingsPanel::OfferPassages(const QStringList& names) {
  passages_ = names;
  OfferSpans();
}

void SettingsPanel::OfferRange(qint64 begin, qint64 end) {
  range_ = end > begin ? QStringLiteral("%1:%2").arg(begin).arg(end) : QString();
  OfferSpans();
}

void SettingsPanel::OfferSpans() {
  offers_["span"] = passages_;
  if (!range_.isEmpty()) offers_["span"].prepend(range_);
  stack_->SetOffers(offers_);
}

void SettingsPanel::OfferHead(HeadId head) {
  offers_["head"] = {HeadText(head)};
  stack_->SetOffers(offers_);
}

void SettingsPanel::SetModel(int64_t layers, int64_t hidden) { knobs_->SetModel(layers, hidden); }

}  // namespace midscope
