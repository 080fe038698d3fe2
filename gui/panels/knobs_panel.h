// SPDX-License-Identifier: GPL-3.0-or-later
// The knobs of setting B, as one intervention.
#pragma once

#include <QWidget>

#include "core/intervention/intervention.h"

class QComboBox;
class QDoubleSpinBox;
class QGroupBox;
class QWidget;

namespace midscope {

class ChannelKnobs;
class MsPoeKnobs;

class KnobsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit KnobsPanel(QWidget* parent = nullptr);

  Intervention intervention() const;
  // Says nothing to anybody.
  void SetIntervention(const Intervention& intervention);
  void SetModel(int64_t layers, int64_t hidden);

 Q_SIGNALS:
  void Changed(const midscope::Intervention& intervention, bool dragging);

 private:
  void ShowScheme();
  void EmitChanged(bool dragging);

  QComboBox* scheme_;
  QWidget* ratio_row_;
  QDoubleSpinBox* ratio_;
  MsPoeKnobs* ms_poe_;
  QGroupBox* channel_box_;
  ChannelKnobs* channel_;
  Intervention others_;  // the setting's terms that have no knob
};

}  // namespace midscope
