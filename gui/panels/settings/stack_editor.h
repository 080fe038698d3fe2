// SPDX-License-Identifier: GPL-3.0-or-later
// Edits all terms of a setting as cards below each other, each with the form of its term. A setting
// without terms shows a suggested term, which takes effect when it is edited or switched on. Menus
// add terms and presets. Edits are emitted as the setting's text, which the receiver checks,
// with the terms that are switched off.
#pragma once

#include <QString>
#include <QTimer>
#include <QWidget>
#include <optional>
#include <utility>
#include <vector>

#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/terms/presets.h"
#include "gui/widgets/term_cards.h"
#include "gui/widgets/term_fields.h"

class QAction;
class QHBoxLayout;
class QLabel;
class QMenu;
class QToolButton;
class QVBoxLayout;

namespace midscope {

class TermChip;

// Checks whether a setting can run on a model, before it is run.

// Why the setting does not fit the model (its layers, heads, channels, positions), or "" if it
// does. Passages are not checked, because they belong to a prompt.
QString WhyNotOn(const Intervention& setting, const ModelConfig& config);

// Whether the preset was published for this model; decided by the model's name.
bool IsPublishedFor(const Preset& preset, const ModelConfig& config);

class StackEditor : public QWidget {
  Q_OBJECT

 public:
  explicit StackEditor(QWidget* parent = nullptr);

  // Sets the cards without emitting Changed. Cards that do not form a valid setting yet are kept if
  // the setting in force has not changed.
  void SetSetting(const Intervention& intervention, const std::vector<OffTerm>& off);
  // cards() returns all cards except a suggestion, terms() the terms that are switched on.
  std::vector<TermCard> cards() const;
  std::vector<TermText> terms() const { return TermsInForce(cards()); }
  void SetOffers(const TermOffers& offers);
  // Sets the term that a setting without terms shows; nullopt: none.
  void Suggest(std::optional<TermText> term);
  bool suggests() const { return suggests_; }
  // Sets the ranges of fields, marks cards that do not fit the model, and selects the presets that
  // do.
  void SetModel(const ModelConfig& config);
  // A destination for copies of a card: an id that CopyRequested passes ("A", "C"), and its text in
  // the menu.
  struct CopyTarget {
    QString id;
    QString title;
    QString tip;
  };
  void SetCopyTargets(std::vector<CopyTarget> targets) { targets_ = std::move(targets); }
  // `name`: of a term in TermTypes(). A position scheme replaces the present one.
  void Add(const std::string& name);
  void Remove(size_t card);
  // Adds a copy next to the card: in force, or switched off if the setting cannot contain the term
  // twice.
  void Duplicate(size_t card);
  // Switching a position scheme on switches the present one off.
  void SwitchCard(size_t card, bool on);
  // Whether the card can move: only cards of one kind have an order, and between kinds the printed
  // setting has a fixed order.
  bool CanMove(size_t card, int by) const;
  void Move(size_t card, int by);
  // Shows or hides the form of a card. Up to kMostOpen cards are open at first.
  void OpenCard(size_t card, bool open);
  TermChip* chip(size_t card) const { return entries_.at(card).chip; }

 Q_SIGNALS:
  // `text`: the whole setting, which may be invalid. `off`: the terms that are switched off.
  // `dragging`: a slider is still pressed; releasing it emits Changed once more.
  void Changed(const QString& text, const std::vector<midscope::OffTerm>& off, bool dragging);
  void CopyRequested(const QString& term, const QString& target);

 private:
  struct Entry {
    TermChip* chip = nullptr;
    TermFields* form = nullptr;
    bool on = true;
  };
  void FillMenu(QMenu* menu);
  void MakePresets(QMenu* menu);
  void RefreshPresets();
  void FillCardMenu(size_t card);
  void Rebuild(const std::vector<TermCard>& cards);
  Entry MakeEntry(size_t index, const TermCard& card);
  void WireChip(size_t index, TermChip* chip);
  // Shows the values in the existing forms. Returns false if other forms are needed.
  bool ShowValues(const std::vector<TermCard>& cards);
  void RefreshChips();
  void CheckFit();
  // All cards, including a suggestion.
  std::vector<TermCard> ShownCards() const;
  void OnArgumentEdited(size_t index, size_t argument, bool dragging);
  void OnDragged(size_t index, const QPoint& position);
  void OnDropped(size_t index, const QPoint& position);
  // Index of the card at the position; -1: none.
  int CardAt(const QPoint& position) const;
  void EmitChanged(const std::vector<TermCard>& cards, bool dragging = false);

  std::vector<Entry> entries_;
  TermOffers offers_;
  std::optional<ModelConfig> model_;
  std::vector<CopyTarget> targets_;
  Intervention shown_;
  std::vector<OffTerm> shown_off_;
  bool draft_ = false;  // the cards differ from the setting in force
  std::optional<TermText> suggestion_;
  bool suggests_ = false;  // the only card is the suggestion
  // Delays the check of cards against the model until they have been unchanged for a moment, so
  // that it does not run at each step of a drag.
  QTimer fit_timer_;
  QVBoxLayout* column_;  // the cards, each above its form
  QHBoxLayout* row_;
  QToolButton* add_;
  QToolButton* presets_;
  QLabel* together_;                      // the number of changes in force if there are several
  std::vector<QAction*> preset_actions_;  // one per entry of InterventionPresets()
};

}  // namespace midscope
