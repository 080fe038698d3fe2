// SPDX-License-Identifier: GPL-3.0-or-later
// The hidden channel's plot, with controls for channel, layer and the number of first positions to
// drop.
#pragma once

#include <optional>

#include "gui/panels/panel.h"
#include "gui/plots/channel_plot.h"

class QCheckBox;
class QComboBox;
class QSpinBox;

namespace midscope {

class ElidedLabel;

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
  ChannelPlot* plot_of_b() const { return plot_b_; }

 private:
  void WireSelection();
  void ShowModel();
  void FillLayers(int64_t layers);
  void FollowFile();
  // If the check box is set, selects the channel that B scales.
  void FollowKnob();
  void RefreshLink(int64_t before);
  void ShowChannel();
  // The factor of the shown channel in B; nullopt: it cannot be changed here.
  std::optional<double> Factor() const;
  void OfferFactor(double factor, bool dragging);
  std::optional<int64_t> knob_channel() const;
  void Draw() override;
  // Draws A and B each in a plot of its own.
  void DrawModels();
  void ShowTokens();
  void WirePlot(ChannelPlot* plot, Side side);
  ChannelPlot::View view() const;  // from the values of the controls

  ChannelPlot* plot_;
  ChannelPlot* plot_b_;  // of a second model; else hidden
  ChannelPlot::View shown_;
  QSpinBox* channel_;
  QCheckBox* follow_;
  bool following_ = false;                // the channel box is being set to B's channel
  std::optional<int64_t> unlinked_from_;  // B's channel, which the box showed before
  QComboBox* layer_;
  QSpinBox* dropped_;
  QSpinBox* smoothing_;
  ElidedLabel* length_;  // how long a prompt must be; "": it is
};

}  // namespace midscope
