// SPDX-License-Identifier: GPL-3.0-or-later
// Selects a model and its options, which are those of the command line
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

  // Throws Error (usage) for an option that can't be read or a device that this machine lacks.
  OpenRequest request() const;
  void SetRequest(const OpenRequest& request);
  QString model() const;
  void SetModel(const QString& model);
  // dtype, products, weights, threads, sliding-window, device.
  ParameterForm* options() const { return options_; }
  // Describes the open model; null: none, and `instead` is shown.
  // `label`: the model's displayed name.
  void Show(const ModelSummary* summary, const QString& label, const QString& instead);

 Q_SIGNALS:
  void OpenRequested();

 private:
  void ChooseFile();
  void ChooseFolder();
  void RefreshTitle();
  // The devices of this machine can be chosen; the open list has their names and the memory they
  // have then: asking a GPU takes some of it.
  void OfferDevices();

  QLineEdit* model_;
  FoldBox* fold_;
  ParameterForm* options_;
  QLabel* text_;
};

// The options of ModelOptions() other than the model itself.
std::vector<Parameter> OptionsBesideModel();

}  // namespace midscope
