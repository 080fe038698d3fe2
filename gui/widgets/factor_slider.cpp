// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/factor_slider.h"

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSlider>
#include <cmath>

namespace midscope {
namespace {

constexpr double kSteps = 100;  // slider steps per unit

}  // namespace

FactorSlider::FactorSlider(double minimum, double maximum, QWidget* parent) : QWidget(parent) {
  slider_ = new QSlider(Qt::Horizontal, this);
  slider_->setRange(static_cast<int>(std::lround(minimum * kSteps)),
                    static_cast<int>(std::lround(maximum * kSteps)));
  slider_->setSingleStep(1);
  slider_->setPageStep(static_cast<int>(kSteps / 4));
  slider_->setTickInterval(static_cast<int>(kSteps));
  slider_->setTickPosition(QSlider::TicksBelow);
  box_ = new QDoubleSpinBox(this);
  box_->setDecimals(3);
  box_->setSingleStep(0.1);
  box_->setRange(minimum, maximum);
  box_->setKeyboardTracking(false);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(slider_, 1);
  row->addWidget(box_);
  connect(slider_, &QSlider::valueChanged, this, [this](int steps) {
    {
      const QSignalBlocker quiet(box_);
      box_->setValue(steps / kSteps);
    }
    Q_EMIT Changed(value(), slider_->isSliderDown());
  });
  connect(slider_, &QSlider::sliderReleased, this, [this] { Q_EMIT Changed(value(), false); });
  connect(box_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
    const QSignalBlocker quiet(slider_);
    slider_->setValue(static_cast<int>(std::lround(value * kSteps)));
    Q_EMIT Changed(value, false);
  });
}

double FactorSlider::value() const { return box_->value(); }

void FactorSlider::SetValue(double value) {
  // A slider that is being dragged is not set: its value is newer than the argument.
  if (slider_->isSliderDown()) return;
  const QSignalBlocker quiet_slider(slider_);
  const QSignalBlocker quiet_box(box_);
  box_->setValue(value);
  slider_->setValue(static_cast<int>(std::lround(value * kSteps)));
}

}  // namespace midscope
