// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/stack_editor.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "core/base/error.h"
#include "core/intervention/presets.h"
#include "gui/widgets/fold_box.h"
#include "gui/widgets/knob_help.h"

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

QToolButton* Corner(const QString& text, const QString& tip, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setToolTip(tip);
  button->setAutoRaise(true);
  return button;
}

// Of arguments that exclude each other, such as layers and first_layer, keeps the changed one. Does
// not change `term` where the result is still invalid.
void LeaveOutOther(TermText& term, size_t changed) {
  for (size_t i = 0; i < term.values.size(); ++i) {
    if (i == changed || term.values[i].empty() || !term.term->arguments[i].choices.empty())
      continue;
    TermText without = term;
    without.values[i].clear();
    if (!Reads({without})) continue;
    term = without;
    return;
  }
}

}  // namespace

StackEditor::StackEditor(QWidget* parent) : QWidget(parent) {
  add_ = new QToolButton(this);
  add_->setObjectName(QStringLiteral("add_term"));
  add_->setText(tr("Add a term"));
  add_->setToolTip(tr("All terms that a setting may have, with what each does"));
  add_->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(add_);
  menu->setToolTipsVisible(true);
  FillMenu(menu);
  add_->setMenu(menu);
  column_ = new QVBoxLayout;
  column_->setSpacing(1);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->addLayout(column_);
  presets_ = new QToolButton(this);
  presets_->setObjectName(QStringLiteral("presets"));
  presets_->setText(tr("Presets"));
  presets_->setToolTip(tr("Published settings; one replaces all terms"));
  presets_->setPopupMode(QToolButton::InstantPopup);
  presets_->setMenu(MakePresets());
  auto* row = new QHBoxLayout;
  row->addWidget(add_);
  row->addWidget(presets_);
  row->addStretch(1);
  outer->addLayout(row);
}

QMenu* StackEditor::MakePresets() {
  auto* menu = new QMenu(presets_);
  menu->setToolTipsVisible(true);
  for (const Preset& preset : InterventionPresets()) {
    QAction* action = menu->addAction(
        QString::fromStdString(preset.name), this,
        [this, text = preset.text] { Q_EMIT Changed(QString::fromStdString(text)); });
    QString tip = QString::fromStdString(preset.text).toHtmlEscaped();
    for (const std::string& part : {preset.models, preset.source, preset.bos, preset.warning}) {
      if (!part.empty())
        tip += QStringLiteral("<br>") + QString::fromStdString(part).toHtmlEscaped();
    }
    action->setToolTip(QStringLiteral("<p>") + tip + QStringLiteral("</p>"));
  }
  return menu;
}

void StackEditor::FillMenu(QMenu* menu) {
  for (const TermGroup group : {TermGroup::kPositions, TermGroup::kChannels, TermGroup::kEdits}) {
    menu->addSection(GroupTitle(group));
    for (const Term& term : InterventionTerms()) {
      // Presets are in a menu of their own.
      const bool whole = term.name == "none" || term.name == "preset";
      if (GroupOf(term) != group || whole) continue;
      QAction* action = menu->addAction(QString::fromStdString(term.name), this,
                                        [this, name = term.name] { Add(name); });
      action->setToolTip(TermHelp(term.name.c_str()));
    }
  }
}

std::vector<TermText> StackEditor::terms() const {
  std::vector<TermText> all;
  all.reserve(entries_.size());
  for (const Entry& entry : entries_) all.push_back(entry.form->value());
  return all;
}

void StackEditor::SetIntervention(const Intervention& intervention) {
  if (draft_ && intervention == shown_) return;
  shown_ = intervention;
  draft_ = false;
  const std::vector<TermText> terms = SplitTerms(intervention);
  if (!ShowValues(terms)) Rebuild(terms);
  RefreshTitles();
}

bool StackEditor::ShowValues(const std::vector<TermText>& terms) {
  if (terms.size() != entries_.size() || open_ >= 0) return false;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!entries_[i].form->SetValue(terms[i])) return false;
  }
  return true;
}

void StackEditor::Rebuild(const std::vector<TermText>& terms) {
  std::vector<bool> open;
  for (const Entry& entry : entries_) {
    open.push_back(entry.box->open());
    // The sender of this call may be one of the deleted buttons.
    entry.box->hide();
    entry.box->setParent(nullptr);
    entry.box->deleteLater();
  }
  entries_.clear();
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool was_open = terms.size() == open.size() && open[i];
    entries_.push_back(MakeEntry(i, terms[i], was_open || open_ == static_cast<int>(i)));
  }
  open_ = -1;
}

StackEditor::Entry StackEditor::MakeEntry(size_t index, const TermText& term, bool open) {
  Entry entry;
  entry.form = new TermFields(term, offers_);
  entry.box = new FoldBox(QString(), entry.form, this);
  entry.box->setObjectName(QStringLiteral("term_%1").arg(index));
  const std::pair<int, QString> moves[] = {{-1, tr("Before the one above")},
                                           {1, tr("After the one below")}};
  for (const auto& [by, tip] : moves) {
    QToolButton* button =
        Corner(by < 0 ? QStringLiteral("▲") : QStringLiteral("▼"), tip, entry.box);
    button->setObjectName(
        (by < 0 ? QStringLiteral("up_%1") : QStringLiteral("down_%1")).arg(index));
    connect(button, &QToolButton::clicked, this, [this, index, by = by] { Move(index, by); });
    entry.box->AddCorner(button);
  }
  QToolButton* remove = Corner(QStringLiteral("✕"), tr("Remove this term"), entry.box);
  remove->setObjectName(QStringLiteral("remove_%1").arg(index));
  connect(remove, &QToolButton::clicked, this, [this, index] { Remove(index); });
  entry.box->AddCorner(remove);
  connect(entry.form, &TermFields::Changed, this,
          [this, index](int argument) { OnArgumentEdited(index, static_cast<size_t>(argument)); });
  column_->addWidget(entry.box);
  entry.box->SetOpen(open);
  return entry;
}

void StackEditor::RefreshTitles() {
  for (size_t i = 0; i < entries_.size(); ++i) {
    FoldBox* box = entries_[i].box;
    box->SetTitle(QString::fromStdString(TermLine(entries_[i].form->value())));
    for (const int by : {-1, 1}) {
      const QString name = (by < 0 ? QStringLiteral("up_%1") : QStringLiteral("down_%1")).arg(i);
      if (auto* button = box->findChild<QToolButton*>(name)) button->setVisible(CanMove(i, by));
    }
  }
}

void StackEditor::SetOffers(const TermOffers& offers) {
  offers_ = offers;
  for (const Entry& entry : entries_) entry.form->SetOffers(offers);
}

void StackEditor::OnArgumentEdited(size_t index, size_t argument) {
  std::vector<TermText> next = terms();
  if (!Reads(next)) LeaveOutOther(next[index], argument);
  EmitChanged(next);
}

void StackEditor::EmitChanged(const std::vector<TermText>& terms) {
  const std::string text = StackLine(terms);
  std::vector<TermText> next = terms;
  try {
    const Intervention parsed = ParseIntervention(text);
    draft_ = false;
    // The session sends any other setting back by SetIntervention in its printed form.
    if (parsed == shown_) next = SplitTerms(shown_);
  } catch (const Error&) {
    draft_ = true;
  }
  if (!ShowValues(next)) Rebuild(next);
  RefreshTitles();
  Q_EMIT Changed(QString::fromStdString(text));
}

void StackEditor::Add(const std::string& name) {
  const std::vector<Term>& known = InterventionTerms();
  for (const Term& term : known) {
    if (term.name != name) continue;
    std::vector<TermText> next = terms();
    const bool scheme = GroupOf(term) == TermGroup::kPositions;
    if (scheme) {
      std::erase_if(next, [](const TermText& other) {
        return GroupOf(*other.term) == TermGroup::kPositions;
      });
    }
    // Position after printing: before the first term of a later kind.
    size_t place = 0;
    const auto order = [&known](const TermText& text) { return text.term - known.data(); };
    const TermText made = NewTerm(term);
    while (!scheme && place < next.size() &&
           (GroupOf(*next[place].term) == TermGroup::kPositions ||
            order(next[place]) <= order(made))) {
      ++place;
    }
    next.insert(next.begin() + static_cast<std::ptrdiff_t>(place), made);
    open_ = static_cast<int>(place);
    EmitChanged(next);
    return;
  }
}

void StackEditor::Remove(size_t index) {
  std::vector<TermText> next = terms();
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(index));
  EmitChanged(next);
}

bool StackEditor::CanMove(size_t index, int by) const {
  const size_t other = index + static_cast<size_t>(by);  // SIZE_MAX for -1 of 0: out of range
  return index < entries_.size() && other < entries_.size() &&
         entries_[index].form->value().term == entries_[other].form->value().term;
}

void StackEditor::Move(size_t index, int by) {
  if (!CanMove(index, by)) return;
  std::vector<TermText> next = terms();
  std::swap(next[index], next[index + static_cast<size_t>(by)]);
  EmitChanged(next);
}

}  // namespace midscope
