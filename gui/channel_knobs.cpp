// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/channel_knobs.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <algorithm>

#include "gui/factor_slider.h"
#include "gui/knob_help.h"

namespace midscope {
namespace {

constexpr double kSliderReach = 2;

}  // namespace

ChannelKnobs::ChannelKnobs(QWidget* parent) : QWidget(parent) {
  channel_ = new QSpinBox(this);
  factor_ = new FactorSlider(-kSliderReach, kSliderReach, this);
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
  channel_->setValue(100);
  Describe(factor_->box(), "channel", "factor");
  factor_->slider()->setToolTip(factor_->box()->toolTip());
  Describe(rows_, "channel", "rows");
  for (QSpinBox* box : {first_layer_, last_layer_}) {
    Describe(static_cast<QWidget*>(box), "channel", "layers");
    box->setMaximum(1023);
  }
  first_layer_->setValue(8);
  last_layer_->setValue(25);
  layers_ = {false, {{8, 25}}};
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
  connect(channel_, &QSpinBox::valueChanged, this, [this] { Q_EMIT Changed(false); });
  connect(factor_, &FactorSlider::Changed, this,
          [this](double, bool moving) { Q_EMIT Changed(moving); });
  connect(first_layer_, &QSpinBox::valueChanged, this, &ChannelKnobs::OnLayers);
  connect(last_layer_, &QSpinBox::valueChanged, this, &ChannelKnobs::OnLayers);
  connect(rows_, &QComboBox::currentIndexChanged, this, [this](int index) {
    last_rows_->setEnabled(static_cast<ChannelRows>(index) == ChannelRows::kLastN);
    Q_EMIT Changed(false);
  });
  connect(last_rows_, &QSpinBox::valueChanged, this, [this] { Q_EMIT Changed(false); });
}

void ChannelKnobs::OnLayers() {
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
  // The choices stand in the order of the enumeration.
  own.rows = static_cast<ChannelRows>(rows_->currentIndex());
  if (own.rows == ChannelRows::kLastN) own.last_rows = last_rows_->value();
  own.change_value = change_value_;
  std::vector<ChannelScaling> all = {own};
  all.insert(all.end(), others_.begin(), others_.end());
  return all;
}

void ChannelKnobs::SetValue(const std::vector<ChannelScaling>& value) {
  others_.clear();
  if (!value.empty()) {
    const ChannelScaling& own = value.front();
    const QSignalBlocker quiet[] = {QSignalBlocker(channel_), QSignalBlocker(first_layer_),
                                    QSignalBlocker(last_layer_), QSignalBlocker(rows_),
                                    QSignalBlocker(last_rows_)};
    channel_->setValue(static_cast<int>(own.channel));
    factor_->SetValue(own.factor);
    layers_ = own.layers;
    const bool ranged = !layers_.all && !layers_.ranges.empty();
    first_layer_->setValue(ranged ? static_cast<int>(layers_.ranges.front().first) : 0);
    last_layer_->setValue(ranged ? static_cast<int>(layers_.ranges.back().last)
                                 : last_layer_->maximum());
    rows_->setCurrentIndex(static_cast<int>(own.rows));
    last_rows_->setEnabled(own.rows == ChannelRows::kLastN);
    last_rows_->setValue(static_cast<int>(own.last_rows));
    change_value_ = own.change_value;
    others_.assign(value.begin() + 1, value.end());
  }
  others_text_->setVisible(!others_.empty());
  others_text_->setText(tr("and %n more in the text line", "", static_cast<int>(others_.size())));
}

void ChannelKnobs::SetModel(int64_t layers, int64_t hidden) {
  const QSignalBlocker quiet[] = {QSignalBlocker(channel_), QSignalBlocker(first_layer_),
                                  QSignalBlocker(last_layer_)};
  channel_->setMaximum(static_cast<int>(std::max<int64_t>(hidden - 1, 0)));
  for (QSpinBox* box : {first_layer_, last_layer_}) {
    box->setMaximum(static_cast<int>(std::max<int64_t>(layers - 1, 0)));
  }
}

}  // namespace midscope
