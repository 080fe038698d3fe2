// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/panel.h"

#include <QPushButton>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/plots/plot.h"
#include "gui/session/session.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/probe_form.h"
#include "gui/widgets/selection.h"

namespace midscope {

Panel::Panel(const PanelContext& context) : context_(context) {}

const ResultFiles& Panel::files() const { return session()->files_of_engine(); }

ChooseFile Panel::file_dialog() const {
  return [link = files().link()](QWidget* parent) {
    return ChooseEngineFile(parent, link, tr("Choose a file"), {}, {});
  };
}

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
  connect(selection(), &Selection::WindowChanged, plot, [this, plot] { ShowWindow(plot); });
}

void Panel::ShowWindow(Plot* plot) const {
  const auto& window = selection()->window();
  window ? plot->ShowAlongX({window->lower, window->upper}) : plot->ShowAllAlongX();
}

void Panel::LayOut(QWidget* view, QLayout* head, FlowLayout* options) {
  QVBoxLayout* column = LayOutPanel(this, view);
  head_ = new QWidget(this);
  head->setContentsMargins(0, 0, 0, 0);
  head_->setLayout(head);
  column->insertWidget(0, head_);
  if (!options) return;
  options_ = new QWidget(this);
  options_->setLayout(options);
  options_->hide();
  column->addWidget(options_);
}

void Panel::DrawWhenShown() {
  waits_ = true;
  if (DrawsAtOnce()) DrawWaiting();
}

void Panel::DrawWaiting() {
  if (std::exchange(waits_, false)) Draw();
}

bool Panel::Try(const std::function<void()>& work) {
  const QString why = ErrorText(work);
  if (!why.isEmpty()) Q_EMIT Failed(why);
  return why.isEmpty();
}

QPushButton* Panel::MakeSwitch(const QString& name, const std::string& probe) {
  auto* button = Named(new QPushButton(tr("Switch on"), this), name,
                       tr("Runs the probe %1 with every full run, as Other records, Probes does")
                           .arg(QString::fromStdString(probe)));
  connect(button, &QPushButton::clicked, this, [this, probe] {
    session()->SetProbeOptions(WithProbe(session()->probe_options(), probe));
  });
  return button;
}

void Panel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  DrawWaiting();
}

}  // namespace midscope
