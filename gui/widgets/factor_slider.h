// SPDX-License-Identifier: GPL-3.0-or-later
// A slider, and a box for exact values, also outside the slider's range.
#pragma once

#include <QWidget>

class QDoubleSpinBox;
class QSlider;

namespace midscope {

class FactorSlider : public QWidget {
  Q_OBJECT

 public:
  // The slider's range is `minimum` to `maximum` in hundredths; the box has a wider range.
  FactorSlider(double minimum, double maximum, QWidget* parent = nullptr);

  double value() const;
  // Sets the value without emitting Changed.
  void SetValue(double value);
  QDoubleSpinBox* box() const { return box_; }
  QSlider* slider() const { return slider_; }

 Q_SIGNALS:
  // `dragging`: the slider is still pressed. Its release emits the last value with `dragging`
  // false.
  void Changed(double value, bool dragging);

 private:
  QSlider* slider_;
  QDoubleSpinBox* box_;
};

}  // namespace midscope
