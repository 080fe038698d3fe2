// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/settings/stack_editor.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QRegularExpression>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/error.h"
#include "core/intervention/passage.h"
#include "core/plan/attention_plan.h"
#include "core/terms/terms.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/term_chip.h"

namespace midscope {

namespace {

// A prompt length at which every setting that fits the model can be compiled.
constexpr int64_t kSomeTokens = 64;

// Reduces names to their letters, so that "Llama-2-7B-chat" and "llama 2 7b Chat" are equal.
QString OnlyLetters(const QString& name) {
  static const QRegularExpression others(QStringLiteral("[^a-z0-9]"));
  return name.toLower().remove(others);
}

}  // namespace

QString WhyNotOn(const Intervention& setting, const ModelConfig& config) {
  try {
    CompilePlans(WithAnyPassages(setting), config, kSomeTokens);
    return {};
  } catch (const Error& error) {
    return QString::fromUtf8(error.what());
  }
}

bool IsPublishedFor(const Preset& preset, const ModelConfig& config) {
  const QString models = QString::fromStdString(preset.models);
  if (models.startsWith(QLatin1String("as "))) {
    for (const Preset& other : InterventionPresets()) {
      if (models.mid(3).toStdString() == other.name) return IsPublishedFor(other, config);
    }
    return false;
  }
  const QString open = OnlyLetters(QString::fromStdString(config.name));
  static const QRegularExpression between(QStringLiteral("[,/]"));
  const QStringList names = models.split(between, Qt::SkipEmptyParts);
  return std::any_of(names.begin(), names.end(), [&open](const QString& each) {
    const QString name = OnlyLetters(each);
    // The second part of "7B/13B-Chat" does not name a model.
    return !name.isEmpty() && name.front().isLetter() && open.contains(name);
  });
}

namespace {

constexpr int kFitMilliseconds = 120;
constexpr size_t kMostOpen = 2;

// If arguments exclude each other, such as layers and first_layer, keeps the one that was changed.
// Leaves `term` unchanged if the result would still be invalid.
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

auto At(std::vector<TermCard>& cards, size_t place) {
  return cards.begin() + static_cast<std::ptrdiff_t>(place);
}

}  // namespace

StackEditor::StackEditor(QWidget* parent) : QWidget(parent) {
  add_ = Named(new QToolButton(this), "add_term",
               tr("All terms that a setting may have, with what each does"));
  add_->setText(tr("+ Add a change"));
  presets_ = Named(new QToolButton(this), "presets",
                   tr("Published settings; one replaces all terms that are in force"));
  presets_->setText(tr("Presets"));
  row_ = new QHBoxLayout;
  row_->setSpacing(2);
  for (QToolButton* button : {add_, presets_}) {
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFocusPolicy(Qt::StrongFocus);
    auto* menu = new QMenu(button);
    menu->setToolTipsVisible(true);
    button->setMenu(menu);
    row_->addWidget(button);
  }
  together_ = Named(new QLabel(this), "changes_together",
                    tr("All changes whose boxes are ticked are in force at the same time"));
  together_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row_->addWidget(together_, 1);
  FillMenu(add_->menu());
  MakePresets(presets_->menu());
  column_ = new QVBoxLayout;
  column_->setSpacing(2);
  auto* column = WithoutMargins(new QVBoxLayout(this));
  column->setSpacing(6);
  column->addLayout(column_);
  column->addLayout(row_);
  fit_timer_.setSingleShot(true);
  fit_timer_.setInterval(kFitMilliseconds);
  connect(&fit_timer_, &QTimer::timeout, this, &StackEditor::CheckFit);
}

void StackEditor::Suggest(std::optional<TermText> term) {
  suggestion_ = std::move(term);
  if (!cards().empty()) return;
  Rebuild({});
  RefreshChips();
}

std::vector<TermCard> StackEditor::cards() const {
  return suggests_ ? std::vector<TermCard>() : ShownCards();
}

std::vector<TermCard> StackEditor::ShownCards() const {
  std::vector<TermCard> all;
  all.reserve(entries_.size());
  for (const Entry& entry : entries_) all.push_back({entry.form->value(), entry.on});
  return all;
}

void StackEditor::SetSetting(const Intervention& intervention, const std::vector<OffTerm>& off) {
  if (draft_ && intervention == shown_ && off == shown_off_) return;
  shown_ = intervention;
  shown_off_ = off;
  draft_ = false;
  const std::vector<TermCard> cards = MakeCards(intervention, off);
  if (!ShowValues(cards)) Rebuild(cards);
  RefreshChips();
}

bool StackEditor::ShowValues(const std::vector<TermCard>& cards) {
  if (cards.size() != entries_.size()) return false;
  suggests_ = false;
  for (size_t i = 0; i < cards.size(); ++i) {
    if (!entries_[i].form->SetValue(cards[i].term)) return false;
    entries_[i].on = cards[i].on;
  }
  return true;
}

void StackEditor::Rebuild(const std::vector<TermCard>& in_setting) {
  std::vector<TermCard> cards = in_setting;
  suggests_ = cards.empty() && suggestion_;
  if (suggests_) cards.push_back({*suggestion_, false});
  // Index of the card that had the focus, so that it keeps the keyboard focus.
  const int focused =
      CardAt(QApplication::focusWidget() ? QApplication::focusWidget()->mapToGlobal(QPoint(1, 1))
                                         : QPoint(-1, -1));
  for (const Entry& entry : entries_) {
    // Deletes the widgets later, because the sender of this call may be one of these widgets.
    for (QWidget* widget : {static_cast<QWidget*>(entry.chip), static_cast<QWidget*>(entry.form)}) {
      widget->hide();
      widget->setParent(nullptr);
      widget->deleteLater();
    }
  }
  entries_.clear();
  for (size_t i = 0; i < cards.size(); ++i) {
    entries_.push_back(MakeEntry(i, cards[i]));
    OpenCard(i, cards.size() <= kMostOpen);
  }
  if (focused >= 0 && !entries_.empty()) {
    const auto last = static_cast<int>(entries_.size()) - 1;
    entries_[static_cast<size_t>(std::min(focused, last))].chip->face()->setFocus();
  }
}

StackEditor::Entry StackEditor::MakeEntry(size_t index, const TermCard& card) {
  Entry entry;
  entry.on = card.on;
  entry.chip = new TermChip(index, this);
  entry.form = Named(new TermFields(card.term, offers_, this, model_ ? &*model_ : nullptr),
                     QStringLiteral("card_form_%1").arg(index));
  entry.form->hide();
  WireChip(index, entry.chip);
  connect(entry.form, &TermFields::Changed, this, [this, index](int argument, bool dragging) {
    OnArgumentEdited(index, static_cast<size_t>(argument), dragging);
  });
  column_->addWidget(entry.chip);
  column_->addWidget(entry.form);
  entry.chip->show();
  return entry;
}

void StackEditor::WireChip(size_t index, TermChip* chip) {
  connect(chip, &TermChip::Toggled, this, [this, index](bool on) { SwitchCard(index, on); });
  connect(chip, &TermChip::OpenChanged, this, [this, index](bool open) { OpenCard(index, open); });
  connect(chip, &TermChip::RemoveRequested, this, [this, index] { Remove(index); });
  connect(chip, &TermChip::DuplicateRequested, this, [this, index] { Duplicate(index); });
  connect(chip, &TermChip::MoveRequested, this, [this, index](int by) { Move(index, by); });
  connect(chip, &TermChip::Dragged, this,
          [this, index](const QPoint& position) { OnDragged(index, position); });
  connect(chip, &TermChip::Dropped, this,
          [this, index](const QPoint& position) { OnDropped(index, position); });
  connect(chip->menu(), &QMenu::aboutToShow, this, [this, index] { FillCardMenu(index); });
}

void StackEditor::OpenCard(size_t card, bool open) {
  entries_.at(card).chip->SetOpen(open);
  entries_.at(card).form->setVisible(open);
}

void StackEditor::RefreshChips() {
  const size_t on = suggests_ ? 0 : TermsInForce(ShownCards()).size();
  together_->setText(on > 1 ? tr("%1 act together").arg(on) : QString());
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const TermText term = entry.form->value();
    const QString full = QString::fromStdString(TermLine(term));
    entry.chip->SetSuggested(suggests_);
    entry.chip->ShowTerm(CardText(term), full, entry.on, entry.chip->warning());
  }
  fit_timer_.start();
}

// Marks the cards that do not fit the model, checking each one alone.
void StackEditor::CheckFit() {
  if (!model_) return;
  for (const Entry& entry : entries_) {
    const TermText term = entry.form->value();
    QString why;
    try {
      why = WhyNotOn(ParseIntervention(TermLine(term)), *model_);
    } catch (const Error& error) {
      // An invalid term in force is reported below the text line, with its column.
      if (!entry.on) why = QString::fromUtf8(error.what());
    }
    if (why == entry.chip->warning()) continue;
    entry.chip->ShowTerm(CardText(term), QString::fromStdString(TermLine(term)), entry.on, why);
  }
}

void StackEditor::SetModel(const ModelConfig& config) {
  model_ = config;
  Rebuild(cards());
  RefreshChips();
  RefreshPresets();
}

void StackEditor::SetOffers(const TermOffers& offers) {
  offers_ = offers;
  for (const Entry& entry : entries_) entry.form->SetOffers(offers);
}

// A suggestion that is edited becomes a term of the setting.
void StackEditor::OnArgumentEdited(size_t index, size_t argument, bool dragging) {
  std::vector<TermCard> next = ShownCards();
  if (suggests_) next[index].on = true;
  std::vector<TermText> checked =
      next[index].on ? TermsInForce(next) : std::vector<TermText>{next[index].term};
  if (!Reads(checked)) LeaveOutOther(next[index].term, argument);
  EmitChanged(next, dragging);
}

void StackEditor::EmitChanged(const std::vector<TermCard>& cards, bool dragging) {
  const std::string text = StackLine(TermsInForce(cards));
  const std::vector<OffTerm> off = OffTermsOf(cards);
  std::vector<TermCard> next = cards;
  try {
    const Intervention parsed = ParseIntervention(text);
    draft_ = false;
    // For any other setting, the session calls SetSetting with the printed form.
    if (parsed == shown_ && off == shown_off_) next = MakeCards(shown_, off);
  } catch (const Error&) {
    draft_ = true;
  }
  if (!ShowValues(next)) Rebuild(next);
  RefreshChips();
  Q_EMIT Changed(QString::fromStdString(text), off, dragging);
}

void StackEditor::Add(const std::string& name) {
  const TermType* term = FindTermType(name);
  if (!term) return;
  std::vector<TermCard> next = cards();
  const TermText made = NewTerm(*term);
  if (GroupOf(*term) == TermGroup::kPositions) {
    std::erase_if(
        next, [&made](const TermCard& other) { return other.on && SameKind(other.term, made); });
  }
  const size_t place = PlaceFor(made, next);
  next.insert(At(next, place), {made, true});
  EmitChanged(next);
  OpenCard(place, true);
}

void StackEditor::Remove(size_t card) {
  if (suggests_) return;
  std::vector<TermCard> next = cards();
  next.erase(At(next, card));
  EmitChanged(next);
}

void StackEditor::Duplicate(size_t card) {
  if (suggests_) return;
  std::vector<TermCard> next = cards();
  next.insert(At(next, card + 1), next[card]);
  if (next[card].on && !Reads(TermsInForce(next))) next[card + 1].on = false;
  EmitChanged(next);
}

void StackEditor::SwitchCard(size_t card, bool on) {
  std::vector<TermCard> next = ShownCards();
  next[card].on = on;
  for (size_t i = 0; on && i < next.size(); ++i) {
    const bool scheme = GroupOf(*next[card].term.term) == TermGroup::kPositions;
    if (scheme && i != card && SameKind(next[i].term, next[card].term)) next[i].on = false;
  }
  EmitChanged(next);
}

bool StackEditor::CanMove(size_t card, int by) const {
  const auto other = static_cast<std::ptrdiff_t>(card) + by;
  if (suggests_ || card >= entries_.size() || other < 0 ||
      other >= static_cast<std::ptrdiff_t>(entries_.size()))
    return false;
  return by != 0 &&
         SameKind(entries_[card].form->value(), entries_[static_cast<size_t>(other)].form->value());
}

void StackEditor::Move(size_t card, int by) {
  if (!CanMove(card, by)) return;
  std::vector<TermCard> next = cards();
  const TermCard moved = next[card];
  const size_t place = card + static_cast<size_t>(by);  // a negative `by` wraps around correctly
  next.erase(At(next, card));
  next.insert(At(next, place), moved);
  const bool focused = entries_[card].chip->face()->hasFocus();
  EmitChanged(next);
  if (focused && place < entries_.size()) entries_[place].chip->face()->setFocus();
}

int StackEditor::CardAt(const QPoint& position) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const QWidget* chip = entries_[i].chip;
    if (chip->rect().contains(chip->mapFromGlobal(position))) return static_cast<int>(i);
  }
  return -1;
}

void StackEditor::OnDragged(size_t index, const QPoint& position) {
  const int target = CardAt(position);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const bool takes =
        static_cast<int>(i) == target && CanMove(index, target - static_cast<int>(index));
    entries_[i].chip->setBackgroundRole(takes ? QPalette::Highlight : QPalette::NoRole);
    entries_[i].chip->setAutoFillBackground(takes);
  }
}

void StackEditor::OnDropped(size_t index, const QPoint& position) {
  const int target = CardAt(position);
  for (const Entry& entry : entries_) entry.chip->setAutoFillBackground(false);
  if (target >= 0) Move(index, target - static_cast<int>(index));
}

}  // namespace midscope
