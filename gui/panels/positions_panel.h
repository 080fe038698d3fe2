// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the position ids that samplers draw (CREAM, PoSE, RandPos) and the distances that these
// cover, and the periods of rotary positions; neither needs a model, and both can be added to
// setting B. For a model with learned positions, shows these beside the sinusoidal encoding.
#pragma once

#include <string>
#include <vector>

#include "gui/base/newest_reply.h"
#include "gui/panels/panel.h"
#include "gui/plots/lines_plot.h"
#include "gui/session/positions_maker.h"

class QComboBox;
class QLabel;
class QVBoxLayout;

namespace midscope {

class ParameterForm;

class PositionsPanel : public Panel {
  Q_OBJECT

 public:
  explicit PositionsPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static std::string StateKey() { return "positions"; }
  static void CheckState(const JsonFields& session);
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  void DrawWaiting() override;
  std::vector<Plot*> plots() const override;
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& state) override;

  LinesPlot* plot() const { return plot_; }
  // The shown sampler as a term: "positions(sampler=cream, factor=8, seed=1, strategy=coin, ...)".
  std::string PositionsTerm() const;
  // The shown record, from the file if it contains one; nullptr if there is none.
  const Record* FindRecord(const std::string& name) const;

 Q_SIGNALS:
  // Emitted when the requested records have arrived and are drawn.
  void Made();

 private:
  void MakeForms(QVBoxLayout* column);
  QWidget* MakeButtons();
  void ShowSampler();
  void FollowModel();
  PositionsQuestion Question() const;
  void Ask();
  void OnReplied(const PositionsReply& reply);
  void FollowLearned();
  void OfferSchemes();
  void OfferPictures();
  void Draw() override;

  LinesPlot* plot_;
  QComboBox* picture_;
  QComboBox* sampler_;
  ParameterForm* size_;             // tokens, factor, seed, samples
  ParameterForm* sampler_options_;  // options of the sampler; rebuilt when the sampler changes
  ParameterForm* rope_;
  QVBoxLayout* sampler_column_;
  QComboBox* scheme_;
  QLabel* error_;
  bool waits_ = true;  // to draw until the panel is shown
  bool used_ = false;  // was shown or restored, so that sessions store its state
  std::vector<Record> records_;
  std::string learned_of_;  // the model with embeddings of positions; "": none
  PositionsMaker maker_;
  // Last member: destroyed first, which waits for its thread.
  NewestReply<PositionsQuestion, PositionsReply> thread_;
};

}  // namespace midscope
