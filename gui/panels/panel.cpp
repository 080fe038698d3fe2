// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/panel.h"

#include <QVBoxLayout>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "gui/plots/plot.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"

namespace midscope {

Panel::Panel(const PanelContext& context) : context_(context) {}

nlohmann::json Panel::State() const { return nullptr; }

bool Panel::OffersProbe(const std::string& name) const {
  const auto& model = session()->model();
  return model && std::any_of(model->probes.begin(), model->probes.end(),
                              [&name](const ProbeOffer& probe) { return probe.name == name; });
}

void Panel::LinkTokenAxis(Plot* plot) {
  connect(plot, &Plot::ReleaseRequested, selection(), &Selection::Release);
  connect(plot, &Plot::ViewedAll, selection(), [this] { selection()->ShowTokens(std::nullopt); });
  connect(plot, &Plot::ViewedAlongX, selection(), [this](double lower, double upper) {
    selection()->ShowTokens(TokenWindow{lower, upper});
  });
}

void Panel::LayOut(QWidget* view, QLayout* head, FlowLayout* options) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  head_ = new QWidget(this);
  head->setContentsMargins(0, 0, 0, 0);
  head_->setLayout(head);
  column->addWidget(head_);
  column->addWidget(view, 1);
  if (!options) return;
  options_ = new QWidget(this);
  options_->setLayout(options);
  options_->hide();
  column->addWidget(options_);
}

void Panel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  DrawWaiting();
}

}  // namespace midscope
