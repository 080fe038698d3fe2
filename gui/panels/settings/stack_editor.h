// SPDX-License-Identifier: GPL-3.0-or-later
// Edits all terms of a setting as cards that wrap into rows, each with the form of its description
// below them; menus add terms and presets. The edited cards are emitted as the setting's text,
// which its receiver checks, and the terms that are switched off.
#pragma once

#include <QTimer>
#include <QWidget>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/model_config.h"
#include "gui/widgets/term_cards.h"
#include "gui/widgets/term_fields.h"

class QAction;
class QHBoxLayout;
class QMenu;
class QToolButton;
class QVBoxLayout;

namespace midscope {

class FlowLayout;
class TermChip;

class StackEditor : public QWidget {
  Q_OBJECT

 public:
  explicit StackEditor(QWidget* parent = nullptr);

  // Sets the cards without emitting Changed. Terms that are not a valid setting yet are kept where
  // the setting in force is unchanged.
  void SetSetting(const Intervention& intervention, const std::vector<OffTerm>& off);
  // All cards, and the terms of those that are in force.
  std::vector<TermCard> cards() const;
  std::vector<TermText> terms() const { return TermsInForce(cards()); }
  void SetOffers(const TermOffers& offers);
  // Ranges of fields, marks of cards that the model cannot take, and presets that fit.
  void SetModel(const ModelConfig& config);
  // Where a card can be copied to: an id that CopyRequested names ("A", "C") and what the menu
  // shows.
  struct CopyTarget {
    QString id;
    QString title;
    QString tip;
  };
  void SetCopyTargets(std::vector<CopyTarget> targets) { targets_ = std::move(targets); }
  // Adds a widget at the left of the row of menus.
  void AddToRow(QWidget* widget);

  // `name` of TermTypes(). A position scheme replaces the present one.
  void Add(const std::string& name);
  void Remove(size_t card);
  // In force beside it, or switched off where the setting can't have it twice.
  void Duplicate(size_t card);
  // A position scheme that is switched on switches the present one off.
  void SwitchCard(size_t card, bool on);
  // Only cards of one kind have an order; between kinds it has no meaning and the printed form has
  // its own.
  bool CanMove(size_t card, int by) const;
  void Move(size_t card, int by);
  // Shows the card's form, alone; -1: none.
  void OpenCard(int card);
  TermChip* chip(size_t card) const { return entries_.at(card).chip; }

 Q_SIGNALS:
  // The whole setting as text, which may be invalid, and the terms that are off.
  // `dragging`: by a slider that is still pressed. Its release emits once more.
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
  // Shows values in the existing forms; returns false where other forms are needed.
  bool ShowValues(const std::vector<TermCard>& cards);
  void RefreshChips();
  void CheckFit();
  void OnArgumentEdited(size_t index, size_t argument, bool dragging);
  void OnDragged(size_t index, const QPoint& position);
  void OnDropped(size_t index, const QPoint& position);
  // The card at the position; -1: none.
  int CardAt(const QPoint& position) const;
  void EmitChanged(const std::vector<TermCard>& cards, bool dragging = false);

  std::vector<Entry> entries_;
  TermOffers offers_;
  std::optional<ModelConfig> model_;
  std::vector<CopyTarget> targets_;
  Intervention shown_;
  std::vector<OffTerm> shown_off_;
  bool draft_ = false;  // the cards differ from the setting in force
  int open_ = -1;       // the card whose form is shown; -1: none
  // Cards are checked against the model when they have not changed for a moment: not at each step
  // of a drag.
  QTimer fit_timer_;
  FlowLayout* flow_;
  QVBoxLayout* forms_;
  QHBoxLayout* row_;
  QToolButton* add_;
  QToolButton* presets_;
  std::vector<QAction*> preset_actions_;  // one per entry of InterventionPresets()
};

}  // namespace midscope
