// SPDX-License-Identifier: GPL-3.0-or-later
// Which model is opened and how: the options are those of the command line
// (probes/model/model_options.h).
#pragma once

#include <QWidget>

#include "probes/engine/engine.h"

class QLabel;
class QLineEdit;

namespace midscope {

class FoldBox;
class OptionForm;

class ModelPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ModelPanel(QWidget* parent = nullptr);

  // Throws Error (usage) for an option that can't be read or that this machine lacks.
  OpenRequest request() const;
  QString model() const;
  void SetModel(const QString& model);
  // dtype, weights, threads, sliding-window, device.
  OptionForm* options() const { return options_; }
  // What is open, in words; null: no model is, and `instead` is what there is.
  void Show(const ModelSummary* summary, const QString& instead);

 Q_SIGNALS:
  void OpenAsked();

 private:
  void ChooseFile();
  void ChooseFolder();
  void RefreshTitle();

  QLineEdit* model_;
  FoldBox* fold_;
  OptionForm* options_;
  QLabel* text_;
};

// The options of ModelOptions() that stand beside the model.
std::vector<OptionDescription> OptionsBesideModel();

}  // namespace midscope
