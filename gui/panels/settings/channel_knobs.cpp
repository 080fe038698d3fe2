// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/settings/channel_knobs.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <algorithm>

#include "gui/widgets/knob_help.h"
#include "gui/widgets/row_pictures.h"
#include "gui/widgets/sliders.h"
#include "probes/measure/channels/channel_layers.h"

namespace midscope {
namespace {

constexpr int kFirstChannel = 100;  // or the last channel if the model has fewer
constexpr int kMostLayers = 1023;

}  // namespace

ChannelKnobs::ChannelKnobs(QWidget* parent) : QWidget(parent) {
  channel_ = new QSpinBox(this);
  factor_ = new FactorSlider(-kFactorReach, kFactorReach, this);
  first_layer_ = new QSpinBox(this);
  last_layer_ = new QSpinBox(this);
  rows_ = new QComboBox(this);
  last_rows_ = new QSpinBox(this);
  others_text_ = new QLabel(this);
  channel_->setObjectName(QStringLiteral("channel"));
  factor_->slider()->setObjectName(QStringLiteral("factor_slider"));
  factor_->box()->setObjectName(QStringLiteral("factor"));
  first_layer_->setObjectName(QStringLiteral("channel_first_layer"));
  last_layer_->setObjectName(QStringLiteral("channel_last_layer"));
  rows_->setObjectName(QStringLiteral("rows"));
  last_rows_->setObjectName(QStringLiteral("last_rows"));
  Describe(channel_, "channel", "channel");
  channel_->setValue(kFirstChannel);
  Describe(factor_->box(), "channel", "factor");
  factor_->slider()->setToolTip(factor_->box()->toolTip());
  Describe(rows_, "channel", "rows");
  ShowRowPictures(rows_);
  for (QSpinBox* box : {first_layer_, last_layer_}) {
    Describe(static_cast<QWidget*>(box), "channel", "layers");
    box->setMaximum(kMostLayers);
  }
  layers_ = LayerSet{};
  ShowLayers();
  last_rows_->setRange(1, 1 << 20);
  last_rows_->setToolTip(tr("How many of the last prompt rows"));
  last_rows_->setEnabled(false);
  factor_->SetValue(1);
  for (QSpinBox* box : {channel_, first_layer_, last_layer_, last_rows_}) {
    box->setKeyboardTracking(false);
  }
  auto* form = new QFormLayout(this);
  form->setContentsMargins(0, 0, 0, 0);
  form->addRow(tr("channel"), channel_);
  form->addRow(tr("factor"), factor_);
  auto* layers = new QHBoxLayout;
  layers->addWidget(first_layer_);
  layers->addWidget(new QLabel(tr("to"), this));
  layers->addWidget(last_layer_);
  layers->addStretch(1);
  form->addRow(tr("layers"), layers);
  auto* rows = new QHBoxLayout;
  rows->addWidget(rows_, 1);
  rows->addWidget(last_rows_);
  form->addRow(tr("rows"), rows);
  form->addRow(others_text_);
  others_text_->hide();
  connect(channel_, &QSpinBox::valueChanged, this, [this] {
    untouched_ = false;
    Q_EMIT Changed(false);
  });
  connect(factor_, &FactorSlider::Changed, this,
          [this](double, bool dragging) { Q_EMIT Changed(dragging); });
  connect(first_layer_, &QSpinBox::valueChanged, this, &ChannelKnobs::OnLayers);
  connect(last_layer_, &QSpinBox::valueChanged, this, &ChannelKnobs::OnLayers);
  connect(rows_, &QComboBox::currentIndexChanged, this, [this](int index) {
    last_rows_->setEnabled(static_cast<ChannelRows>(index) == ChannelRows::kLastN);
    Q_EMIT Changed(false);
  });
  connect(last_rows_, &QSpinBox::valueChanged, this, [this] { Q_EMIT Changed(false); });
}

void ChannelKnobs::ShowLayers() {
  const QSignalBlocker quiet[] = {QSignalBlocker(first_layer_), QSignalBlocker(last_layer_)};
  const bool ranged = !layers_.all && !layers_.ranges.empty();
  const int64_t end = model_layers_ > 0 ? model_layers_ - 1 : kMostLayers;
  int64_t first = ranged ? layers_.ranges.front().first : 0;
  int64_t last = ranged ? layers_.ranges.back().last : end;
  if (last == kEveryLayerAfter) last = end;
  // Layers beyond the model's are shown unchanged; the model reports them as an error.
  for (QSpinBox* box : {first_layer_, last_layer_}) {
    box->setMaximum(static_cast<int>(std::min<int64_t>(std::max(end, last), kMostLayers)));
  }
  first_layer_->setValue(static_cast<int>(std::min<int64_t>(first, kMostLayers)));
  last_layer_->setValue(static_cast<int>(std::min<int64_t>(last, kMostLayers)));
}

bool ChannelKnobs::Fits() const {
  if (model_layers_ == 0) return true;
  return channel_->value() < model_hidden_ && first_layer_->value() < model_layers_ &&
         last_layer_->value() < model_layers_;
}

void ChannelKnobs::OnLayers() {
  untouched_ = false;
  const int64_t first = first_layer_->value();
  const int64_t last = std::max<int64_t>(last_layer_->value(), first);
  layers_ = {false, {{first, last}}};
  Q_EMIT Changed(false);
}

std::vector<ChannelScaling> ChannelKnobs::value() const {
  ChannelScaling own;
  own.channel = channel_->value();
  own.factor = factor_->value();
  own.layers = layers_;
  // The choices are in the order of the enumeration.
  own.rows = {static_cast<ChannelRows>(rows_->currentIndex())};
  if (own.rows.rows == ChannelRows::kLastN) own.rows.last_rows = last_rows_->value();
  own.change_value = change_value_;
  std::vector<ChannelScaling> all = {own};
  all.insert(all.end(), others_.begin(), others_.end());
  return all;
}

void ChannelKnobs::SetValue(const std::vector<ChannelScaling>& value) {
  others_.clear();
  in_use_ = !value.empty();
  if (in_use_) {
    untouched_ = false;
    const ChannelScaling& own = value.front();
    const QSignalBlocker quiet[] = {QSignalBlocker(channel_), QSignalBlocker(first_layer_),
                                    QSignalBlocker(last_layer_), QSignalBlocker(rows_),
                                    QSignalBlocker(last_rows_)};
    if (model_hidden_ > 0) {
      channel_->setMaximum(static_cast<int>(std::max(own.channel, model_hidden_ - 1)));
    }
    channel_->setValue(static_cast<int>(own.channel));
    factor_->SetValue(own.factor);
    layers_ = own.layers;
    ShowLayers();
    rows_->setCurrentIndex(static_cast<int>(own.rows.rows));
    last_rows_->setEnabled(own.rows.rows == ChannelRows::kLastN);
    last_rows_->setValue(static_cast<int>(own.rows.last_rows));
    change_value_ = own.change_value;
    others_.assign(value.begin() + 1, value.end());
  }
  others_text_->setVisible(!others_.empty());
  others_text_->setText(tr("and %n more in the text line", "", static_cast<int>(others_.size())));
}

void ChannelKnobs::SetModel(int64_t layers, int64_t hidden) {
  model_layers_ = layers;
  model_hidden_ = hidden;
  const QSignalBlocker quiet(channel_);
  ShowLayers();
  if (!in_use_ && (untouched_ || !Fits())) {
    layers_ = MiddleLayers(layers);
    ShowLayers();
    channel_->setMaximum(static_cast<int>(std::max<int64_t>(hidden - 1, 0)));
    if (untouched_) channel_->setValue(kFirstChannel);
  }
  // A channel that the model lacks is shown unchanged while the setting contains it.
  const int64_t least = in_use_ ? channel_->value() : 0;
  channel_->setMaximum(static_cast<int>(std::max({hidden - 1, least, int64_t{0}})));
}

}  // namespace midscope
