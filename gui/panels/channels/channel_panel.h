// SPDX-License-Identifier: GPL-3.0-or-later
// The hidden channel's plot with the choice of channel, layer and dropped positions.
#pragma once

#include <optional>

#include "gui/panels/panel.h"
#include "gui/plots/channel_plot.h"

class QCheckBox;
class QComboBox;
class QSpinBox;

namespace midscope {

class ChannelPanel : public Panel {
  Q_OBJECT

 public:
  explicit ChannelPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static std::string StateKey() { return "channel"; }
  static void CheckState(const JsonFields& session);
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& state) override;

  ChannelPlot* plot() const { return plot_; }

 private:
  void WireSelection();
  void ShowModel();
  void FillLayers(int64_t layers);
  void FollowFile();
  // Selects the channel that B scales, if the check box is set.
  void FollowKnob();
  void RefreshLink(int64_t before);
  void ShowChannel();
  // The factor of B for the shown channel; nullopt: it can't be changed here.
  std::optional<double> Factor() const;
  void OfferFactor(double factor, bool dragging);
  std::optional<int64_t> knob_channel() const;
  void Draw();
  ChannelPlot::View view() const;  // as set in the boxes

  ChannelPlot* plot_;
  ChannelPlot::View shown_;
  QSpinBox* channel_;
  QCheckBox* follow_;
  bool following_ = false;                // the box is being set to B's channel
  std::optional<int64_t> unlinked_from_;  // the channel before the box left B's
  QComboBox* layer_;
  QSpinBox* dropped_;
  QSpinBox* smoothing_;
};

}  // namespace midscope
