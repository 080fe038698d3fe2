// SPDX-License-Identifier: GPL-3.0-or-later
// Both settings as text, the controls and terms of B, and buttons that copy or swap them.
#pragma once

#include <QWidget>

#include "gui/base/view_types.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/term_fields.h"

namespace midscope {

class FoldBox;
class KnobsPanel;
class StackEditor;
class TextLine;

class SettingsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit SettingsPanel(QWidget* parent = nullptr);

  // Shows the settings without emitting Changed.
  void Show(const SettingPair& pair);
  void SetModel(int64_t layers, int64_t hidden);
  // The passages and the head that terms can be given.
  void OfferPassages(const QStringList& names);
  void OfferHead(midscope::HeadId head);
  // The selected tokens, as terms write them ("50:60"); an empty range: none.
  void OfferRange(qint64 begin, qint64 end);
  StackEditor* stack() const { return stack_; }
  KnobsPanel* knobs() const { return knobs_; }
  TextLine* text(bool b) const { return b ? text_b_ : text_a_; }

 Q_SIGNALS:
  void Changed(const midscope::SettingPair& pair, bool dragging);

 private:
  void RefreshTitle();
  void OfferSpans();

  SettingPair shown_;
  TextLine* text_a_;
  TextLine* text_b_;
  KnobsPanel* knobs_;
  StackEditor* stack_;
  FoldBox* terms_;
  TermOffers offers_;
  QStringList passages_;
  QString range_;  // the selected tokens; "": none
};

}  // namespace midscope
