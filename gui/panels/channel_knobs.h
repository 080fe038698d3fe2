// SPDX-License-Identifier: GPL-3.0-or-later
// The knobs of channel scaling: one channel; further ones, which only the text line can add, stay
// as they are.
#pragma once

#include <QWidget>
#include <vector>

#include "core/intervention/intervention.h"

class QComboBox;
class QLabel;
class QSpinBox;

namespace midscope {

class FactorSlider;

class ChannelKnobs : public QWidget {
  Q_OBJECT

 public:
  explicit ChannelKnobs(QWidget* parent = nullptr);

  // The first is the one that the knobs show.
  std::vector<ChannelScaling> value() const;
  // Of an empty list, the knobs keep their places.
  void SetValue(const std::vector<ChannelScaling>& value);
  // Where the knobs are not in use, they take what fits the model: the layers of MiddleLayers
  // (probes/channels/channel_validation.h), and a channel that it has.
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
  int64_t model_layers_ = 0;  // 0: no model is known
  int64_t model_hidden_ = 0;
  bool in_use_ = false;        // the setting has a channel
  bool untouched_ = true;      // nobody has set them yet
  bool change_value_ = false;  // said in the text line alone
  std::vector<ChannelScaling> others_;
};

}  // namespace midscope
