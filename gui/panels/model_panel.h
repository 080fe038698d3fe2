// SPDX-License-Identifier: GPL-3.0-or-later
// Selects a model and its options, which are the options of the command line
// (probes/model/model_options.h).
#pragma once

#include <QWidget>

#include "probes/engine/engine.h"

class QLabel;
class QLineEdit;

namespace midscope {

class FoldBox;
class ParameterForm;

class ModelPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ModelPanel(QWidget* parent = nullptr);

  // Throws Error (usage) if an option cannot be read or the machine lacks the device.
  OpenRequest request() const;
  void SetRequest(const OpenRequest& request);
  QString model() const;
  void SetModel(const QString& model);
  // The form with dtype, products, weights, threads, sliding-window and device.
  ParameterForm* options() const { return options_; }
  // Describes the open model; if `summary` is null, shows `instead`. `label`: the model's displayed
  // name.
  void Show(const ModelSummary* summary, const QString& label, const QString& instead);

 Q_SIGNALS:
  void OpenRequested();

 private:
  void ChooseFile();
  void ChooseFolder();
  void RefreshTitle();
  // Lists the devices of this machine as choices. Their names and free memory are read only when
  // the list is opened, because querying a GPU uses some of its memory.
  void OfferDevices();

  QLineEdit* model_;
  FoldBox* fold_;
  ParameterForm* options_;
  QLabel* text_;
};

// ModelOptions() without the model itself.
std::vector<Parameter> OptionsBesideModel();

}  // namespace midscope
