// SPDX-License-Identifier: GPL-3.0-or-later
// The quick controls of setting B, combined into one intervention.
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
  // Sets the controls without emitting Changed.
  void SetIntervention(const Intervention& intervention);
  void SetModel(int64_t layers, int64_t hidden);

 Q_SIGNALS:
  void Changed(const midscope::Intervention& intervention, bool dragging);

 private:
  void ShowScheme();
  QWidget* MakeRows(QWidget* parent);
  void ShowRows(const RowChoice& rows);
  void EmitChanged(bool dragging);

  QComboBox* scheme_;
  QWidget* ratio_row_;
  QDoubleSpinBox* ratio_;
  MsPoeKnobs* ms_poe_;
  QWidget* rows_row_;
  QComboBox* rows_;  // rows to which the scheme applies
  QGroupBox* channel_box_;
  ChannelKnobs* channel_;
  Intervention others_;  // terms of the setting that have no control here
};

}  // namespace midscope
