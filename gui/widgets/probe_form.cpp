// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/probe_form.h"

#include <QCheckBox>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_fields.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"

namespace midscope {
namespace {

// Probes that are named run in addition to those that run by default.
constexpr char kByDefault[] = "default";

bool Names(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

std::string WithProbe(const std::string& json, const std::string& name) {
  nlohmann::json options = ParseJson(json, "probe options");
  const std::string names =
      JsonFields(options, "probe options", "").FindText("probes").value_or(kByDefault);
  if (!Names(names, name)) options["probes"] = names + "," + name;
  return options.dump();
}

std::string WithoutProbe(const std::string& json, const std::string& name) {
  nlohmann::json options = ParseJson(json, "probe options");
  const std::string names =
      JsonFields(options, "probe options", "").FindText("probes").value_or(kByDefault);
  QStringList kept = QString::fromStdString(names).split(QLatin1Char(','));
  kept.removeAll(QString::fromStdString(name));
  options["probes"] = kept.isEmpty() ? kByDefault : kept.join(QLatin1Char(',')).toStdString();
  return options.dump();
}

QString ProbeHelp(const ProbeOffer& probe) {
  QString text = QString::fromStdString(probe.summary).toHtmlEscaped();
  const std::pair<QString, std::string> parts[] = {
      {QObject::tr("Source: "), probe.source},
      {QObject::tr("The public code: "), probe.departures},
      {QObject::tr("Limits: "), probe.limits}};
  for (const auto& [title, part] : parts) {
    if (part.empty()) continue;
    text += QStringLiteral("<br>") + title + QString::fromStdString(part).toHtmlEscaped();
  }
  return QStringLiteral("<p>") + text + QStringLiteral("</p>");
}

ProbeForm::ProbeForm(QWidget* parent, ChooseFile choose)
    : QScrollArea(parent), choose_(std::move(choose)) {
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  SetProbes({});
}

void ProbeForm::SetProbes(const std::vector<ProbeOffer>& probes) {
  entries_.clear();
  page_ = new QWidget;
  column_ = new QVBoxLayout(page_);
  column_->setContentsMargins(8, 4, 8, 4);
  if (probes.empty()) {
    auto* none = new QLabel(tr("Open a model: its probes are listed here"), page_);
    none->setWordWrap(true);
    column_->addWidget(none);
  }
  for (const ProbeOffer& probe : probes) AddProbe(probe);
  auto* run = Named(new QPushButton(tr("Run these probes"), page_), "run_probes",
                    tr("Run the shown settings with these probes and options"));
  run->setVisible(!probes.empty());
  connect(run, &QPushButton::clicked, this, &ProbeForm::RunRequested);
  column_->addWidget(run);
  column_->addStretch(1);
  setWidget(page_);  // deletes the previous page
  ShowWanted();
}

void ProbeForm::AddProbe(const ProbeOffer& probe) {
  Entry entry;
  entry.probe = probe;
  const QString name = QString::fromStdString(probe.name);
  if (probe.on_request) {
    entry.named =
        Named(new QCheckBox(name, page_), QStringLiteral("probe_") + name, ProbeHelp(probe));
    column_->addWidget(entry.named);
  } else {
    auto* title = new QLabel(name, page_);
    title->setToolTip(ProbeHelp(probe));
    column_->addWidget(title);
  }
  if (!probe.options.empty()) {
    entry.options = new ParameterForm(probe.options, page_, "option_", choose_);
    entry.options->setContentsMargins(18, 0, 0, 4);
    column_->addWidget(entry.options);
    if (entry.named) {
      entry.options->setEnabled(false);
      connect(entry.named, &QCheckBox::toggled, entry.options, &QWidget::setEnabled);
    }
  }
  entries_.push_back(std::move(entry));
}

std::string ProbeForm::Json() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  std::string names;
  for (const Entry& entry : entries_) {
    if (entry.named && entry.named->isChecked()) names += "," + entry.probe.name;
  }
  if (!names.empty()) json["probes"] = kByDefault + names;
  for (const Entry& entry : entries_) {
    if (!entry.options) continue;
    const OptionSet options = entry.options->Checked();
    const auto values = nlohmann::ordered_json::parse(options.ToJson());
    for (const auto& [name, value] : values.items()) {
      if (options.IsSet(name)) json[name] = value;
    }
  }
  return json.dump();
}

void ProbeForm::SetJson(const std::string& json) {
  wanted_ = json;
  ShowWanted();
}

void ProbeForm::ShowWanted() {
  const nlohmann::json wanted = ParseJson(wanted_, "probe options");
  const JsonFields fields(wanted, "probe options", "");
  const std::string names = fields.FindText("probes").value_or("");
  for (const Entry& entry : entries_) {
    if (entry.named) entry.named->setChecked(Names(names, entry.probe.name));
    if (!entry.options) continue;
    OptionSet options(entry.probe.options);
    nlohmann::json own = nlohmann::json::object();
    for (const Parameter& option : entry.probe.options) {
      if (wanted.contains(option.name)) own[option.name] = wanted[option.name];
    }
    options.FromJson(own.dump());
    entry.options->SetOptions(options);
  }
}

}  // namespace midscope
