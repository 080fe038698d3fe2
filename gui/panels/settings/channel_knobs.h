// SPDX-License-Identifier: GPL-3.0-or-later
// Controls for one scaled channel. Other channels, which only the text line can add, are preserved.
#pragma once

#include <QWidget>
#include <vector>

#include "core/intervention/intervention.h"

class QComboBox;
class QLabel;
class QSpinBox;

namespace midscope {

class FactorSlider;

// The largest absolute factor of the slider, and of a line that is dragged in a plot.
inline constexpr double kFactorReach = 2;

class ChannelKnobs : public QWidget {
  Q_OBJECT

 public:
  explicit ChannelKnobs(QWidget* parent = nullptr);

  // The first element is the one that the controls show.
  std::vector<ChannelScaling> value() const;
  // If the list is empty, the controls keep their values.
  void SetValue(const std::vector<ChannelScaling>& value);
  // While the setting scales no channel, sets the controls to defaults for the model: the layers of
  // MiddleLayers (probes/measure/channels/channel_validation.h) and a channel that the model has.
  void SetModel(int64_t layers, int64_t hidden);
  FactorSlider* factor() const { return factor_; }

 Q_SIGNALS:
  void Changed(bool dragging);

 private:
  void OnLayers();
  void ShowLayers();
  bool Fits() const;

  QSpinBox* channel_;
  FactorSlider* factor_;
  QSpinBox* first_layer_;
  QSpinBox* last_layer_;
  QComboBox* rows_;
  QSpinBox* last_rows_;
  QLabel* others_text_;
  LayerSet layers_;
  int64_t model_layers_ = 0;  // 0: no model
  int64_t model_hidden_ = 0;
  bool in_use_ = false;        // the setting scales a channel
  bool untouched_ = true;      // the user has not edited the controls
  bool change_value_ = false;  // can be set only in the text line
  std::vector<ChannelScaling> others_;
};

}  // namespace midscope
