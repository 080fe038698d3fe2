// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/sliders.h"

#include <algorithm>
#include <cmath>

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalBlocker>
#include <QSlider>

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

namespace {

constexpr int kRadius = 6;  // of a handle, pixels
constexpr int kGroove = 4;  // height, pixels

}  // namespace

RangeSlider::RangeSlider(double minimum, double maximum, QWidget* parent)
    : QWidget(parent), minimum_(minimum), maximum_(maximum), values_{minimum, maximum} {
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize RangeSlider::sizeHint() const { return {80, 2 * kRadius + 4}; }

double RangeSlider::Clamped(double value) const {
  return std::clamp(std::round(value * kSteps) / kSteps, minimum_, maximum_);
}

void RangeSlider::SetValues(double first, double last) {
  // A handle that is held is not set: its value is newer than the argument.
  if (held_) return;
  values_ = {Clamped(first), Clamped(last)};
  update();
}

QPoint RangeSlider::HandleAt(int handle) const {
  const double share = (values_[static_cast<size_t>(handle)] - minimum_) / (maximum_ - minimum_);
  return {kRadius + 1 + static_cast<int>(std::lround(share * (width() - 2 * kRadius - 2))),
          height() / 2};
}

double RangeSlider::ValueAt(double x) const {
  const double share = (x - kRadius - 1) / std::max(1, width() - 2 * kRadius - 2);
  return minimum_ + share * (maximum_ - minimum_);
}

void RangeSlider::Move(double value, bool dragging) {
  const double now = Clamped(value);
  // The release of a handle emits Changed without `dragging`.
  if (now == values_[handle_] && dragging) return;
  values_[handle_] = now;
  update();
  Q_EMIT Changed(first(), last(), dragging);
}

void RangeSlider::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const double x = event->position().x();
  const auto distance = [&](int handle) { return std::abs(HandleAt(handle).x() - x); };
  // If both are at one place, the one on the side of the press.
  const bool same = HandleAt(0) == HandleAt(1);
  handle_ = same ? (x < HandleAt(0).x() ? 0 : 1) : (distance(0) < distance(1) ? 0 : 1);
  held_ = true;
  Move(ValueAt(x), true);
}

void RangeSlider::mouseMoveEvent(QMouseEvent* event) {
  if (held_) Move(ValueAt(event->position().x()), true);
}

void RangeSlider::mouseReleaseEvent(QMouseEvent* event) {
  if (!held_ || event->button() != Qt::LeftButton) return;
  held_ = false;
  Move(ValueAt(event->position().x()), false);
}

void RangeSlider::keyPressEvent(QKeyEvent* event) {
  const double step = (event->modifiers().testFlag(Qt::ShiftModifier) ? 10 : 1) / kSteps;
  switch (event->key()) {
    case Qt::Key_Left:
      return Move(values_[handle_] - step, false);
    case Qt::Key_Right:
      return Move(values_[handle_] + step, false);
    case Qt::Key_Up:
    case Qt::Key_Down:
      handle_ = 1 - handle_;
      return update();
    default:
      QWidget::keyPressEvent(event);
  }
}

void RangeSlider::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor accent =
      palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, QPalette::Highlight);
  const int middle = height() / 2;
  const QRectF groove(kRadius + 1, middle - kGroove / 2.0, width() - 2 * kRadius - 2, kGroove);
  painter.setPen(Qt::NoPen);
  painter.setBrush(palette().color(QPalette::Mid));
  painter.drawRoundedRect(groove, kGroove / 2.0, kGroove / 2.0);
  const int left = std::min(HandleAt(0).x(), HandleAt(1).x());
  const int right = std::max(HandleAt(0).x(), HandleAt(1).x());
  painter.setBrush(accent);
  painter.drawRect(QRectF(left, groove.top(), right - left, kGroove));
  // The first value's handle is hollow, the last one's full.
  for (const int handle : {0, 1}) {
    const bool used = hasFocus() && handle == static_cast<int>(handle_);
    painter.setPen(QPen(accent, used ? 3 : 2));
    painter.setBrush(handle == 0 ? palette().color(QPalette::Base) : accent);
    painter.drawEllipse(HandleAt(handle), kRadius, kRadius);
  }
}

}  // namespace midscope
