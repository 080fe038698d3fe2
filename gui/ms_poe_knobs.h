// SPDX-License-Identifier: GPL-3.0-or-later
// The knobs of Ms-PoE.
#pragma once

#include <QWidget>

#include "core/intervention.h"

class QComboBox;
class QDoubleSpinBox;
class QSpinBox;

namespace midscope {

class MsPoeKnobs : public QWidget {
  Q_OBJECT

 public:
  explicit MsPoeKnobs(QWidget* parent = nullptr);

  MsPoe value() const;
  void SetValue(const MsPoe& value);
  void SetLayers(int64_t layers);

 Q_SIGNALS:
  void Changed();

 private:
  void OnFirstLayer();

  QDoubleSpinBox* min_;
  QDoubleSpinBox* max_;
  QComboBox* mode_;
  QComboBox* order_;
  QSpinBox* first_layer_;
  // Layers as they were set: they may be more than one open range, which the box can't say.
  LayerSet layers_;
};

}  // namespace midscope
