// SPDX-License-Identifier: GPL-3.0-or-later
// What is changed: the terms of B as cards, presets, settings to try, and B as text. More options:
// A as text, the terms of A, and buttons that copy or swap the settings.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "gui/base/view_types.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/term_fields.h"

class QLabel;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace midscope {

class SettingMarks;
class StackEditor;
class TextLine;
class TriedSettings;
struct ModelConfig;

class SettingsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit SettingsPanel(QWidget* parent = nullptr);

  // Shows the settings without emitting Changed.
  void Show(const SettingPair& pair);
  // Shows the names of A and B beside their letters.
  void ShowNames(const SettingMarks& marks);
  void SetModel(const ModelConfig& config);
  // Lets cards be copied to the kept settings C to F, as a step of `history`. The panel does not
  // use either after they are destroyed.
  void UseTried(TriedSettings* tried, SettingHistory* history);
  // Selects the setting whose terms are shown as cards; initially B.
  void ShowCardsOf(Side side);
  // Shows the settings, or in their place a note that a model is missing.
  void OfferChanges(bool offered);
  // Whether a button offers the tour of the window.
  void OfferTour(bool offered);
  bool offers_tour() const;
  // Sets the names of passages, and the head, that are suggested for terms.
  void OfferPassages(const QStringList& names);
  void OfferHead(midscope::HeadId head);
  // Sets the selected tokens as a suggestion for terms, in the form "50:60"; an empty range: none.
  void OfferRange(qint64 begin, qint64 end);
  StackEditor* stack() const { return stack_; }
  // A as text, the terms of A, and buttons that copy or swap the settings; hidden at first.
  QWidget* options() const { return options_; }
  TextLine* text(bool b) const { return b ? text_b_ : text_a_; }

 Q_SIGNALS:
  void Changed(const midscope::SettingPair& pair, bool dragging);
  // Emitted when the user has requested the search for channels that carry position.
  void SearchRequested();
  void TourRequested();
  // Emitted when a card cannot be copied.
  void Failed(const QString& why);

 private:
  QWidget* MakeSides();
  QWidget* MakeOptions();
  void OfferTries(const ModelConfig& config);
  void Suggest();
  void OnCards(const QString& text, const std::vector<OffTerm>& off, bool dragging);
  void CopyCard(const QString& term, const QString& target);
  void RefreshTargets();
  void OfferSpans();

  SettingPair shown_;
  std::optional<TermText> suggestion_;  // for B without terms; nullopt: no model is open
  TextLine* text_a_;
  TextLine* text_b_;
  StackEditor* stack_;
  Side side_ = Side::kB;
  bool dragging_ = false;  // a slider of a card is being dragged
  QVBoxLayout* tries_;
  QPushButton* tour_;
  QLabel* without_model_;
  QWidget* options_;
  QToolButton* side_a_;
  QToolButton* side_b_;
  TriedSettings* tried_ = nullptr;
  SettingHistory* history_ = nullptr;
  TermOffers offers_;
  QStringList passages_;
  QString range_;  // the selected tokens; "": none
};

}  // namespace midscope
