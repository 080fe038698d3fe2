// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/model_panel.h"

#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "core/compute/device_facts.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/fold_box.h"
#include "gui/widgets/parameter_form.h"
#include "probes/model/model_options.h"

namespace midscope {
namespace {

// Makes the checks of the command line; whether there are such devices, the engine checks.
void CheckOptions(const OptionSet& options) { ReadDecoderOptions(options); }

// Text such as "NVIDIA H100, ... GB free"; if there are several devices, each with its name.
QString DeviceNotes(const std::vector<DeviceFacts>& devices) {
  QStringList texts;
  for (const DeviceFacts& facts : devices) {
    const QString text = QString::fromStdString(DeviceFactsText(facts));
    const QString device = QString::fromStdString(DeviceText(facts.device));
    texts << (devices.size() == 1 ? text : QStringLiteral("%1: %2").arg(device, text));
  }
  return texts.join(QStringLiteral("; "));
}

QString Description(const ModelSummary& summary, const QString& label) {
  const ModelConfig& config = summary.config;
  QString text =
      QObject::tr("%1: %2 layers, %3 heads (%4 KV), %5 channels, context %6, %7 run in %8")
          .arg(label)
          .arg(config.layers)
          .arg(config.heads)
          .arg(config.key_value_heads)
          .arg(config.hidden)
          .arg(config.trained_context)
          .arg(QString::fromStdString(config.quantisation), QString::fromStdString(summary.dtype));
  if (summary.products != "float") {
    text += QObject::tr(", products %1").arg(QString::fromStdString(summary.products));
  }
  if (!summary.weights.empty()) {
    text += QObject::tr(", weights %1").arg(QString::fromStdString(summary.weights));
  }
  if (!summary.device.empty()) {
    text += QObject::tr(", on %1").arg(QString::fromStdString(summary.device));
    const QString facts = DeviceNotes(summary.devices);
    if (!facts.isEmpty()) text += QObject::tr(" (%1)").arg(facts);
  }
  if (!summary.sliding_window) text += QObject::tr(", sliding window off");
  if (config.beyond_context) text += QObject::tr(", prompts beyond the context run");
  return text;
}

}  // namespace

std::vector<Parameter> OptionsBesideModel() {
  std::vector<Parameter> options = ModelOptions();
  std::erase_if(options, [](const Parameter& option) {
    return option.name == "model" || option.name == "adapter";  // both are the field's text
  });
  options.push_back(BeyondContextOption());
  return options;
}

ModelPanel::ModelPanel(std::shared_ptr<EngineLink> link, QWidget* parent)
    : QWidget(parent), link_(std::move(link)) {
  auto* box = new QGroupBox(tr("Model"), this);
  model_ = Named(new QLineEdit(QStringLiteral("embedded"), box), "model",
                 QStringLiteral("<p>") +
                     QString::fromStdString(ModelOptions().front().help).toHtmlEscaped() +
                     QStringLiteral("</p>"));
  auto* choose = new QToolButton(box);
  choose->setText(tr("File…"));
  choose->setToolTip(tr("Choose a .gguf file (Ctrl+O), or a Hugging Face folder"));
  choose->setPopupMode(QToolButton::MenuButtonPopup);
  auto* menu = new QMenu(choose);
  menu->addAction(tr("File…"), this, &ModelPanel::ChooseFile);
  menu->addAction(tr("Folder…"), this, &ModelPanel::ChooseFolder);
  choose->setMenu(menu);
  auto* open = Named(new QPushButton(tr("Open"), box), "open", tr("Load the model"));
  options_ = Named(new ParameterForm(OptionsBesideModel(), box), "model_options");
  options_->SetCheck(CheckOptions);
  fold_ = Named(new FoldBox(QString(), options_, box), "model_options_fold");
  text_ = Named(new QLabel(box), "model_text");
  text_->setWordWrap(true);
  auto* row = new QHBoxLayout;
  row->addWidget(model_, 1);
  row->addWidget(choose);
  row->addWidget(open);
  auto* column = new QVBoxLayout(box);
  column->addLayout(row);
  column->addWidget(fold_);
  column->addWidget(text_);
  column->addLayout(MakeSecond(box));
  auto* outer = WithoutMargins(new QVBoxLayout(this));
  outer->addWidget(box);
  connect(choose, &QToolButton::clicked, this, &ModelPanel::ChooseFile);
  connect(open, &QPushButton::clicked, this, &ModelPanel::OpenRequested);
  connect(model_, &QLineEdit::returnPressed, this, &ModelPanel::OpenRequested);
  connect(options_, &ParameterForm::Changed, this, &ModelPanel::RefreshTitle);
  OfferDevices({QStringLiteral("cpu"), QStringLiteral("cpu:portable")}, nullptr);
  RefreshTitle();
  Show(nullptr, QString(), QString());
  ShowSecond(nullptr, QString(), false);
}

QLayout* ModelPanel::MakeSecond(QWidget* box) {
  second_ = Named(
      new QLineEdit(box), "second_model",
      tr("<p>A second model, as above, in a process of its own: B is then this model under setting "
         "B, on the same text. It gets the options above; <i>embedded dtype=bfloat16</i> gives it "
         "another number format</p>"));
  second_->setPlaceholderText(tr("Model of B: the same as A"));
  second_->setAccessibleName(tr("Model of B"));
  auto* open = Named(new QPushButton(tr("Open as B"), box), "open_second");
  auto* adapter = Named(new QPushButton(tr("Adapter…"), box), "open_adapter",
                        tr("Choose a LoRA adapter: B is A's model with it"));
  close_second_ = Named(new QPushButton(tr("Close"), box), "close_second",
                        tr("Close the second model: B is a setting of A's model again"));
  second_text_ = Named(new QLabel(box), "second_model_text");
  second_text_->setWordWrap(true);
  const auto request = [this] {
    if (!second_->text().trimmed().isEmpty()) Q_EMIT SecondRequested(second_->text().trimmed());
  };
  connect(open, &QPushButton::clicked, this, request);
  connect(second_, &QLineEdit::returnPressed, this, request);
  connect(adapter, &QPushButton::clicked, this, &ModelPanel::AdapterRequested);
  connect(close_second_, &QPushButton::clicked, this, &ModelPanel::SecondCloseRequested);
  auto* row = new QHBoxLayout;
  row->addWidget(second_, 1);
  row->addWidget(open);
  row->addWidget(adapter);
  row->addWidget(close_second_);
  auto* column = new QVBoxLayout;
  column->addLayout(row);
  column->addWidget(second_text_);
  return column;
}

void ModelPanel::ShowSecond(const ModelSummary* summary, const QString& label, bool there) {
  close_second_->setEnabled(there);
  second_text_->setVisible(there);
  second_text_->setText(summary ? tr("B: %1").arg(Description(*summary, label))
                                : tr("B: the model is being opened"));
}

OpenRequest ModelPanel::SecondRequest(const QString& text) const {
  static const QRegularExpression with_dtype(QStringLiteral("^(.*\\S)\\s+dtype=(\\S+)$"));
  OptionSet options = options_->Checked();
  const QRegularExpressionMatch match = with_dtype.match(text.trimmed());
  if (match.hasMatch()) options.SetText("dtype", match.captured(2).toStdString());
  const QString model = match.hasMatch() ? match.captured(1) : text.trimmed();
  return MakeOpenRequest(model.toStdString(), options);
}

QString ModelPanel::SecondText(const OpenRequest& request) {
  const QString model = QString::fromStdString(request.model);
  return request.dtype == "auto"
             ? model
             : QStringLiteral("%1 dtype=%2").arg(model, QString::fromStdString(request.dtype));
}

void ModelPanel::OfferDevices(const QStringList& devices, TextBox::Notes facts) {
  options_->Offer("device", devices, std::move(facts));
}

void ModelPanel::RefreshTitle() {
  const QString changed = ChangedOptionsText(options_->options());
  fold_->SetTitle(changed.isEmpty() ? tr("Options: default") : tr("Options: %1").arg(changed));
  fold_->SetChanged(!changed.isEmpty());
}

void ModelPanel::ChooseFile() {
  const QString path = ChooseEngineFile(this, link_, tr("Open a model"), QString(),
                                        tr("Models (*.gguf);;All files (*)"));
  if (path.isEmpty()) return;
  model_->setText(path);
  Q_EMIT OpenRequested();
}

void ModelPanel::ChooseFolder() {
  const QString path = ChooseEngineFolder(this, link_, tr("Open a Hugging Face folder"));
  if (path.isEmpty()) return;
  model_->setText(path);
  Q_EMIT OpenRequested();
}

QString ModelPanel::model() const { return model_->text().trimmed(); }

void ModelPanel::SetModel(const QString& model) { model_->setText(model); }

OpenRequest ModelPanel::request() const {
  return MakeOpenRequest(model().toStdString(), options_->Checked());
}

void ModelPanel::SetRequest(const OpenRequest& request) {
  SetModel(QString::fromStdString(request.model));
  OptionSet options = options_->options();
  SetOpenRequest(request, options);
  options_->SetOptions(options);
}

void ModelPanel::Show(const ModelSummary* summary, const QString& label, const QString& instead) {
  text_->setToolTip(summary ? tr("<p>Its file calls itself “%1” (general.name)</p>")
                                  .arg(QString::fromStdString(summary->config.name).toHtmlEscaped())
                            : QString());
  text_->setText(summary             ? Description(*summary, label)
                 : instead.isEmpty() ? tr("no model is open")
                                     : instead);
}

}  // namespace midscope
