// SPDX-License-Identifier: GPL-3.0-or-later
// Controls for the scheme Ms-PoE.
#pragma once

#include <QWidget>
#include <utility>

#include "core/intervention/intervention.h"

class QComboBox;
class QDoubleSpinBox;
class QSpinBox;

namespace midscope {

class RangeSlider;

class MsPoeKnobs : public QWidget {
  Q_OBJECT

 public:
  explicit MsPoeKnobs(QWidget* parent = nullptr);

  MsPoe value() const;
  void SetValue(const MsPoe& value);
  void SetLayers(int64_t layers);

 Q_SIGNALS:
  // `dragging`: a handle of the range is still pressed.
  void Changed(bool dragging);

 private:
  void OnFirstLayer();
  void OnRange(double first, double last, bool dragging);
  // Sets the handles to the boxes' values.
  void ShowRange();

  RangeSlider* range_;
  std::pair<double, double> range_before_;  // of the handles
  QDoubleSpinBox* min_;
  QDoubleSpinBox* max_;
  QComboBox* mode_;
  QComboBox* order_;
  QSpinBox* first_layer_;
  // The value last set; it may have layers and fields that the boxes cannot show.
  MsPoe shown_;
};

}  // namespace midscope
