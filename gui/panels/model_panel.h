// SPDX-License-Identifier: GPL-3.0-or-later
// Selects a model and its options, which are the options of the command line
// (probes/model/model_options.h).
#pragma once

#include <QStringList>
#include <QWidget>
#include <memory>

#include "gui/widgets/input_boxes.h"
#include "probes/client/engine_link.h"
#include "probes/engine/engine.h"

class QLabel;
class QLayout;
class QLineEdit;
class QPushButton;

namespace midscope {

class FoldBox;
class ParameterForm;

class ModelPanel : public QWidget {
  Q_OBJECT

 public:
  // Models are chosen among the files of the link's machine.
  explicit ModelPanel(std::shared_ptr<EngineLink> link, QWidget* parent = nullptr);

  // Throws Error (usage) if an option cannot be read.
  OpenRequest request() const;
  // Lists the devices of the engine's machine as choices. `facts` returns their names and free
  // memory, in the same order; it is called only when the list is opened, because querying a GPU
  // uses some of its memory.
  void OfferDevices(const QStringList& devices, TextBox::Notes facts);
  void SetRequest(const OpenRequest& request);
  QString model() const;
  void SetModel(const QString& model);
  // The form with dtype, products, weights, threads, sliding-window and device.
  ParameterForm* options() const { return options_; }
  // Describes the open model; if `summary` is null, shows `instead`. `label`: the model's displayed
  // name.
  void Show(const ModelSummary* summary, const QString& label, const QString& instead);
  // Describes the second model; `there`: whether there is a second model.
  void ShowSecond(const ModelSummary* summary, const QString& label, bool there);
  // Returns the request for the second model named by `text`, with the options of the form;
  // " dtype=NAME" after the name sets another dtype. Throws Error (usage) as request() does.
  OpenRequest SecondRequest(const QString& text) const;
  // The text from which SecondRequest makes the request.
  static QString SecondText(const OpenRequest& request);

 Q_SIGNALS:
  void OpenRequested();
  void SecondRequested(const QString& text);
  void SecondCloseRequested();
  // Emitted when the folder of an adapter for B is to be chosen.
  void AdapterRequested();

 private:
  void ChooseFile();
  void ChooseFolder();
  void RefreshTitle();
  QLayout* MakeSecond(QWidget* box);

  const std::shared_ptr<EngineLink> link_;
  QLineEdit* model_;
  FoldBox* fold_;
  ParameterForm* options_;
  QLabel* text_;
  QLineEdit* second_;
  QPushButton* close_second_;
  QLabel* second_text_;
};

// ModelOptions() without the model itself.
std::vector<Parameter> OptionsBesideModel();

}  // namespace midscope
