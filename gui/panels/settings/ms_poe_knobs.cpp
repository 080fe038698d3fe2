// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/settings/ms_poe_knobs.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>

#include "gui/widgets/knob_help.h"
#include "gui/widgets/sliders.h"

namespace midscope {
namespace {

// Range of the slider; the boxes accept all valid ratios.
constexpr double kLeastRatio = 0.5;
constexpr double kMostRatio = 3;

}  // namespace

MsPoeKnobs::MsPoeKnobs(QWidget* parent) : QWidget(parent) {
  range_ = new RangeSlider(kLeastRatio, kMostRatio, this);
  min_ = new QDoubleSpinBox(this);
  max_ = new QDoubleSpinBox(this);
  mode_ = new QComboBox(this);
  order_ = new QComboBox(this);
  first_layer_ = new QSpinBox(this);
  range_->setObjectName(QStringLiteral("ms_poe_range"));
  range_->setToolTip(
      tr("<p>The least ratio (hollow) and the largest (full). Where they pass each other, the ramp "
         "falls</p>"));
  min_->setObjectName(QStringLiteral("ms_poe_min"));
  max_->setObjectName(QStringLiteral("ms_poe_max"));
  mode_->setObjectName(QStringLiteral("ms_poe_mode"));
  order_->setObjectName(QStringLiteral("ms_poe_order"));
  first_layer_->setObjectName(QStringLiteral("ms_poe_first_layer"));
  for (QDoubleSpinBox* box : {min_, max_}) {
    box->setDecimals(2);
    box->setSingleStep(0.1);
    box->setKeyboardTracking(false);
  }
  first_layer_->setKeyboardTracking(false);
  Describe(min_, "ms-poe", "min");
  Describe(max_, "ms-poe", "max");
  Describe(mode_, "ms-poe", "mode");
  Describe(order_, "ms-poe", "order");
  Describe(first_layer_, "ms-poe", "first_layer");
  auto* form = new QFormLayout(this);
  form->setContentsMargins(0, 0, 0, 0);
  auto* ratios = new QHBoxLayout;
  ratios->addWidget(min_);
  ratios->addWidget(max_);
  form->addRow(tr("ratios"), range_);
  form->addRow(tr("min, max"), ratios);
  form->addRow(tr("mode"), mode_);
  form->addRow(tr("order"), order_);
  form->addRow(tr("first layer"), first_layer_);
  for (QDoubleSpinBox* box : {min_, max_}) {
    connect(box, &QDoubleSpinBox::valueChanged, this, [this] {
      ShowRange();
      Q_EMIT Changed(false);
    });
  }
  for (QComboBox* box : {mode_, order_}) {
    connect(box, &QComboBox::currentIndexChanged, this, [this] { Q_EMIT Changed(false); });
  }
  connect(range_, &RangeSlider::Changed, this, &MsPoeKnobs::OnRange);
  connect(first_layer_, &QSpinBox::valueChanged, this, &MsPoeKnobs::OnFirstLayer);
}

void MsPoeKnobs::OnRange(double first, double last, bool dragging) {
  {
    const QSignalBlocker quiet[] = {QSignalBlocker(min_), QSignalBlocker(max_)};
    // A value outside the slider's range is kept until its handle is moved.
    if (first != range_before_.first) min_->setValue(first);
    if (last != range_before_.second) max_->setValue(last);
  }
  range_before_ = {first, last};
  Q_EMIT Changed(dragging);
}

void MsPoeKnobs::ShowRange() {
  range_->SetValues(min_->value(), max_->value());
  range_before_ = {range_->first(), range_->last()};
}

void MsPoeKnobs::OnFirstLayer() {
  shown_.layers = {false, {{first_layer_->value(), kEveryLayerAfter}}};
  Q_EMIT Changed(false);
}

MsPoe MsPoeKnobs::value() const {
  MsPoe value = shown_;
  value.min = min_->value();
  value.max = max_->value();
  value.mode = static_cast<MsPoeMode>(mode_->currentIndex());
  value.order = static_cast<MsPoeOrder>(order_->currentIndex());
  return value;
}

void MsPoeKnobs::SetValue(const MsPoe& value) {
  const QSignalBlocker quiet[] = {QSignalBlocker(min_), QSignalBlocker(max_), QSignalBlocker(mode_),
                                  QSignalBlocker(order_), QSignalBlocker(first_layer_)};
  min_->setValue(value.min);
  max_->setValue(value.max);
  ShowRange();
  mode_->setCurrentIndex(static_cast<int>(value.mode));
  order_->setCurrentIndex(static_cast<int>(value.order));
  shown_ = value;
  const LayerSet& layers = value.layers;
  const bool first_known = !layers.all && !layers.ranges.empty();
  first_layer_->setValue(first_known ? static_cast<int>(layers.ranges.front().first) : 0);
}

void MsPoeKnobs::SetLayers(int64_t layers) {
  const QSignalBlocker quiet(first_layer_);
  first_layer_->setMaximum(static_cast<int>(std::max<int64_t>(layers - 1, 0)));
}

}  // namespace midscope
