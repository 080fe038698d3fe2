// SPDX-License-Identifier: GPL-3.0-or-later
// Controls of Ms-PoE.
#pragma once

#include <QWidget>

#include "core/intervention/intervention.h"

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
  // as it was set: it may have layers and fields that the boxes can't show
  MsPoe shown_;
};

}  // namespace midscope
