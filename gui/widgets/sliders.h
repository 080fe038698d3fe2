// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QWidget>

class QDoubleSpinBox;
class QSlider;

namespace midscope {

// A slider, and a box for exact values, also outside the slider's range.

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

// A slider with two handles: one is the first value of a range, the other the last. They may pass
// each other, for a range may fall.

class RangeSlider : public QWidget {
  Q_OBJECT

 public:
  // Values go from `minimum` to `maximum` in steps of a hundredth.
  RangeSlider(double minimum, double maximum, QWidget* parent = nullptr);

  double first() const { return values_[0]; }
  double last() const { return values_[1]; }
  // Sets the values, as far as they are in the range, without emitting Changed.
  void SetValues(double first, double last);
  // Where the handle of the first value (0) or of the last (1) is, in the widget.
  QPoint HandleAt(int handle) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 Q_SIGNALS:
  // `dragging`: a handle is still held. Its release emits the last values with `dragging` false.
  void Changed(double first, double last, bool dragging);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  // Left and right move the handle that was used last; up and down change to the other one.
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void Move(double value, bool dragging);
  double ValueAt(double x) const;
  double Clamped(double value) const;

  double minimum_;
  double maximum_;
  std::array<double, 2> values_;
  size_t handle_ = 1;  // used last
  bool held_ = false;
};

}  // namespace midscope
