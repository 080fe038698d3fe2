// SPDX-License-Identifier: GPL-3.0-or-later
// The two settings: A and B as text, B's knobs, and what moves one to the other.
#pragma once

#include <QWidget>

#include "gui/setting_history.h"

namespace midscope {

class KnobsPanel;
class TextLine;

class SettingsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit SettingsPanel(QWidget* parent = nullptr);

  // Says nothing to anybody.
  void Show(const SettingPair& pair);
  void SetModel(int64_t layers, int64_t hidden);
  KnobsPanel* knobs() const { return knobs_; }
  TextLine* text(bool b) const { return b ? text_b_ : text_a_; }

 Q_SIGNALS:
  void Changed(const midscope::SettingPair& pair, bool moving);

 private:
  SettingPair shown_;
  TextLine* text_a_;
  TextLine* text_b_;
  KnobsPanel* knobs_;
};

}  // namespace midscope
