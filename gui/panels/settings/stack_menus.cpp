// SPDX-License-Identifier: GPL-3.0-or-later
// StackEditor: the menus of terms, of presets and of a card.
#include <QAction>
#include <QMenu>

#include "core/terms/presets.h"
#include "core/terms/terms.h"
#include "gui/panels/settings/stack_editor.h"
#include "gui/widgets/term_chip.h"
#include "gui/widgets/term_fields.h"

namespace midscope {
namespace {

QString GroupTitle(TermGroup group) {
  switch (group) {
    case TermGroup::kPositions:
      return StackEditor::tr("Positions");
    case TermGroup::kChannels:
      return StackEditor::tr("Channels");
    case TermGroup::kEdits:
      break;
  }
  return StackEditor::tr("Masks, moves, boosts, ablations");
}

QString PresetTip(const Preset& preset, const QString& first) {
  QString tip = first;
  for (const std::string& part :
       {preset.text, preset.models, preset.source, preset.bos, preset.warning}) {
    if (part.empty()) continue;
    if (!tip.isEmpty()) tip += QStringLiteral("<br>");
    tip += QString::fromStdString(part).toHtmlEscaped();
  }
  return QStringLiteral("<p>") + tip + QStringLiteral("</p>");
}

}  // namespace

void StackEditor::MakePresets(QMenu* menu) {
  for (const Preset& preset : InterventionPresets()) {
    QAction* action =
        menu->addAction(QString::fromStdString(preset.name), this, [this, text = preset.text] {
          Q_EMIT Changed(QString::fromStdString(text), shown_off_, false);
        });
    action->setToolTip(PresetTip(preset, {}));
    preset_actions_.push_back(action);
  }
}

// Presets that do not fit the open model are disabled, with the reason; presets published for the
// open model are bold.
void StackEditor::RefreshPresets() {
  for (size_t i = 0; i < preset_actions_.size(); ++i) {
    const Preset& preset = InterventionPresets()[i];
    const QString why = WhyNotOn(ParseIntervention(preset.text), *model_);
    const bool own = IsPublishedFor(preset, *model_);
    QAction* action = preset_actions_[i];
    const QString name = QString::fromStdString(preset.name);
    action->setText(own && why.isEmpty() ? tr("%1 — of this model").arg(name) : name);
    action->setEnabled(why.isEmpty());
    QFont font = action->font();
    font.setBold(own && why.isEmpty());
    action->setFont(font);
    const QString first =
        why.isEmpty() ? QString() : tr("<b>Not on this model: %1</b>").arg(why.toHtmlEscaped());
    action->setToolTip(PresetTip(preset, first));
  }
}

void StackEditor::FillMenu(QMenu* menu) {
  for (const TermGroup group : {TermGroup::kPositions, TermGroup::kChannels, TermGroup::kEdits}) {
    menu->addSection(GroupTitle(group));
    for (const TermType& term : TermTypes()) {
      // Presets are in a separate menu.
      const bool whole = term.name == "none" || term.name == kPresetTerm;
      if (GroupOf(term) != group || whole) continue;
      QAction* action = menu->addAction(QString::fromStdString(term.name), this,
                                        [this, name = term.name] { Add(name); });
      action->setToolTip(TermHelp(term.name.c_str()));
    }
  }
}

void StackEditor::FillCardMenu(size_t card) {
  QMenu* menu = entries_.at(card).chip->menu();
  menu->clear();
  TermFields* form = entries_[card].form;
  const auto add = [menu](const QString& id, const QString& title, const QString& tip) {
    QAction* action = menu->addAction(title);
    action->setObjectName(id);
    action->setToolTip(tip);
    return action;
  };
  QAction* all = add(QStringLiteral("card_all"), tr("&All arguments"),
                     tr("Also shows the arguments that have their defaults"));
  all->setCheckable(true);
  all->setChecked(form->shows_all());
  connect(all, &QAction::toggled, form, &TermFields::ShowAll);
  QAction* duplicate =
      add(QStringLiteral("card_duplicate"), tr("&Duplicate"),
          tr("Duplicates the term; the copy is off where the term may occur only once"));
  connect(duplicate, &QAction::triggered, this, [this, card] { Duplicate(card); });
  const QString term = QString::fromStdString(TermLine(entries_[card].form->value()));
  for (const CopyTarget& target : targets_) {
    QAction* copy = add(QStringLiteral("card_copy_") + target.id,
                        tr("Copy into %1").arg(target.title), target.tip);
    connect(copy, &QAction::triggered, this,
            [this, term, id = target.id] { Q_EMIT CopyRequested(term, id); });
  }
  menu->addSeparator();
  for (const int by : {-1, 1}) {
    QAction* move =
        add(by < 0 ? QStringLiteral("card_before") : QStringLiteral("card_after"),
            by < 0 ? tr("Move up") : tr("Move down"), tr("Only terms of one kind have an order"));
    move->setEnabled(CanMove(card, by));
    connect(move, &QAction::triggered, this, [this, card, by] { Move(card, by); });
  }
  menu->addSeparator();
  QAction* remove =
      add(QStringLiteral("card_remove"), tr("&Remove"), tr("Takes it away (undo: Ctrl+Z)"));
  connect(remove, &QAction::triggered, this, [this, card] { Remove(card); });
}

}  // namespace midscope
