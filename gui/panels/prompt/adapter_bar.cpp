// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt/adapter_bar.h"

#include <QCheckBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <cmath>

#include "core/base/error.h"
#include "core/model/model_text.h"
#include "data/published/tuning_recipe.h"
#include "gui/base/display_text.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/term_cards.h"

namespace midscope {
namespace {

constexpr int kSliderSteps = 10;  // per unit of the scale
constexpr int kMostScale = 2;
constexpr int kSliderWidth = 140;

// The second model by its parts; an empty name: there is none.
ModelText SecondModel(const Session& session) {
  ModelText text;
  const Session* second = session.second();
  if (second && second->open_request())
    ErrorText([&] { text = ParseModelText(second->open_request()->model); });
  return text;
}

}  // namespace

AdapterBar::AdapterBar(Session* session, SettingHistory* history, QWidget* parent)
    : QWidget(parent), session_(session), history_(history) {
  on_ = Named(new QCheckBox(this), "adapter_on",
              tr("<p>B with its adapter, or without: then B has the weights of A</p>"));
  scale_ = Named(new QSlider(Qt::Horizontal, this), "adapter_scale",
                 tr("Factor of the adapter, from 0 to 2; 1: as it was tuned"));
  scale_->setAccessibleName(tr("Scale of the adapter"));
  scale_->setRange(0, kMostScale * kSliderSteps);
  scale_->setPageStep(kSliderSteps / 2);
  scale_->setTracking(false);  // a new scale opens the model anew
  scale_->setFixedWidth(kSliderWidth);
  note_ = Named(new ElidedLabel(this), "adapter_note");
  use_ = Named(new QPushButton(this), "adapter_use_setting",
               tr("Gives A and B the setting that the weights were tuned with"));
  auto* row = WithoutMargins(new QHBoxLayout(this));
  row->addWidget(on_);
  row->addWidget(scale_);
  row->addWidget(note_, 1);
  row->addWidget(use_);
  const auto set = [this](double scale) {
    const QString why = ErrorText([&] { SetScale(scale); });
    if (!why.isEmpty()) Q_EMIT Failed(why);
  };
  connect(on_, &QCheckBox::toggled, this, [=, this](bool on) { set(on ? last_scale_ : 0); });
  connect(scale_, &QSlider::valueChanged, this,
          [=](int value) { set(static_cast<double>(value) / kSliderSteps); });
  connect(use_, &QPushButton::clicked, this, &AdapterBar::UseSetting);
  connect(session_, &Session::Changed, this, [this](Changes changes) {
    if (changes & Change::kModel || changes & Change::kSettings) Refresh();
  });
  Refresh();
}

void AdapterBar::SetScale(double scale) {
  ModelText text = SecondModel(*session_);
  if (text.adapter.empty()) {
    throw UsageError("adapter", "the model of B has none",
                     "Open one with File > Open an adapter for B");
  }
  text.scale = scale;
  OpenRequest request = *session_->second()->open_request();
  request.model = PrintModelText(text);
  session_->OpenSecond(request);
}

void AdapterBar::Refresh() {
  const ModelText text = SecondModel(*session_);
  const bool adapter = !text.adapter.empty();
  ReadRecipe();
  Q_EMIT Offered(adapter);
  setVisible(adapter || !recipe_.isEmpty());
  if (isHidden()) return;
  if (text.scale != 0) last_scale_ = text.scale;
  const QSignalBlocker quiet_switch(on_);
  const QSignalBlocker quiet_slider(scale_);
  on_->setVisible(adapter);
  scale_->setVisible(adapter);
  on_->setChecked(text.scale != 0);
  on_->setText(tr("Adapter %1 × %2")
                   .arg(QFileInfo(QString::fromStdString(text.adapter)).fileName())
                   .arg(text.scale));
  scale_->setValue(static_cast<int>(std::lround(text.scale * kSliderSteps)));
  note_->SetText(recipe_.isEmpty() ? QString() : tr("B was tuned with %1").arg(recipe_));
  use_->setVisible(!setting_.isEmpty());
  use_->setText(tr("Use %1 for A and B").arg(setting_));
  use_->setEnabled(
      !setting_.isEmpty() &&
      (WithTerm(history_->current().a, setting_.toStdString()) != history_->current().a ||
       WithTerm(history_->current().b, setting_.toStdString()) != history_->current().b));
}

void AdapterBar::ReadRecipe() {
  recipe_.clear();
  setting_.clear();
  const Session* second = session_->second();
  if (!second || !second->model() || second->model()->recipe.empty()) return;
  const TuningRecipe& recipe = second->model()->recipe;
  recipe_ = QString::fromStdString(TuningRecipeText(recipe));
  ErrorText([&] {
    const auto setting = recipe.find("setting");
    if (setting == recipe.end()) return;
    WithTerm({}, setting->second);  // throws Error if it is not one
    setting_ = QString::fromStdString(setting->second);
  });
}

void AdapterBar::UseSetting() {
  SettingPair next = history_->current();
  for (const Side side : {Side::kA, Side::kB})
    next.setting(side) = WithTerm(next.setting(side), setting_.toStdString());
  history_->Change(next, false);
}

}  // namespace midscope
