// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QWidget>

class QDoubleSpinBox;
class QSlider;

namespace midscope {

// A slider with a box for exact values, which may be outside the slider's range.

class FactorSlider : public QWidget {
  Q_OBJECT

 public:
  // The slider's range is `minimum` to `maximum` in steps of 0.01; the box has a wider range.
  FactorSlider(double minimum, double maximum, QWidget* parent = nullptr);

  double value() const;
  // Sets the value without emitting Changed.
  void SetValue(double value);
  QDoubleSpinBox* box() const { return box_; }
  QSlider* slider() const { return slider_; }

 Q_SIGNALS:
  // `dragging`: the slider is still pressed. Releasing it emits the last value with `dragging`
  // false.
  void Changed(double value, bool dragging);

 private:
  QSlider* slider_;
  QDoubleSpinBox* box_;
};

// A slider with two handles, for the first and the last value of a range. The handles may pass each
// other, because a range may be decreasing.

class RangeSlider : public QWidget {
  Q_OBJECT

 public:
  // The values are from `minimum` to `maximum` in steps of 0.01.
  RangeSlider(double minimum, double maximum, QWidget* parent = nullptr);

  double first() const { return values_[0]; }
  double last() const { return values_[1]; }
  // Sets the values, clamped to the range, without emitting Changed.
  void SetValues(double first, double last);
  // Position in the widget of the handle for the first value (0) or the last (1).
  QPoint HandleAt(int handle) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 Q_SIGNALS:
  // `dragging`: a handle is still pressed. Releasing it emits the last values with `dragging`
  // false.
  void Changed(double first, double last, bool dragging);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  // Left and Right move the handle that was used last; Up and Down select the other handle.
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void Move(double value, bool dragging);
  double ValueAt(double x) const;
  double Clamped(double value) const;

  double minimum_;
  double maximum_;
  std::array<double, 2> values_;
  size_t handle_ = 1;  // the handle used last
  bool held_ = false;
};

}  // namespace midscope
