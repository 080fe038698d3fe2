// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/sweep_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFontDatabase>
#include <QPlainTextEdit>
#include <QPushButton>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "core/terms/intervention_text.h"
#include "gui/base/display_text.h"
#include "gui/base/write_whole_file.h"
#include "gui/panels/command_row.h"
#include "gui/session/command_arguments.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {
namespace {

constexpr int64_t kUsualSweepSamples = 40;
constexpr int kMillisecondsHeld = 200;  // interval of checks whether the slider was released

// Parameters other than the prompt's task or own text, seed and format, and the model with its
// options.
std::vector<Parameter> SweepFormParameters() {
  Parameter out =
      TextParameter("out", "the HDF5 file to write; an interrupted sweep in it goes on");
  out.default_value = "sweep.h5";
  return {
      TextListParameter("with", "further settings beside A and B"),
      PlacesOption("", "default: those of the prompt"),
      WholeNumberParameter("samples", "each at every place under every setting; own text has one",
                           1, 1000000, kUsualSweepSamples),
      FlagParameter("control", "beside each setting the same with random channels or heads"),
      FlagParameter("attention", "keep the last query's attention of the first setting"),
      out};
}

// Text such as "about 2:10 min"; "" if the program (perhaps another version) wrote something else.
QString CostText(const QString& json_text) try {
  const auto json = nlohmann::json::parse(json_text.toStdString());
  const auto seconds =
      static_cast<int>(std::lround(json.at("schedules").at(0).value("seconds", 0.0)));
  const auto bytes = json.value("weight_bytes", int64_t{0}) + json.value("trace_bytes", int64_t{0});
  return QObject::tr("about %1:%2 min, %3 MB of memory beside the window's")
      .arg(seconds / 60)
      .arg(seconds % 60, 2, 10, QLatin1Char('0'))
      .arg(bytes >> 20);
} catch (const nlohmann::json::exception&) {
  return {};
}

}  // namespace

SweepPanel::SweepPanel(const PanelContext& context) : Panel(context) {
  constexpr double kRatio = 2.5;  // the table needs the width
  auto* split = new SideSplitter(this, kRatio);
  split->setChildrenCollapsible(false);
  form_ = new ParameterForm(SweepFormParameters(), this, "sweep_");
  MakeScrollArea(form_, split);
  form_->SetLabels({{"with", tr("settings beside A and B")},
                    {"places", tr("places of the answer")},
                    {"control", tr("also controls by chance")},
                    {"attention", tr("keep the attention of A")},
                    {"out", tr("results file")}});
  // Own text has one sample.
  form_->SetApplies([this](const std::string& name, const OptionSet&) {
    const auto& request = this->session()->shown_prompt_request();
    return name != "samples" || !request || !request->task.empty();
  });
  table_ = Named(new QPlainTextEdit(split), "sweep_table");
  table_->setAccessibleName(tr("Results of the sweep"));
  table_->setReadOnly(true);
  table_->setLineWrapMode(QPlainTextEdit::NoWrap);
  table_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  table_->setPlaceholderText(
      tr("Cost tells how long it will take. Run writes a file, and the table of what is done so "
         "far is here; at the end with intervals and p values."));
  split->setStretchFactor(1, 1);
  MakeButtons();
  LayOutPanel(this, split)->addWidget(row_);
  connect(form_, &ParameterForm::Changed, this, &SweepPanel::ShowCost);
  connect(sweep(), &SweepProcess::TableChanged, table_, &QPlainTextEdit::setPlainText);
  release_.setInterval(kMillisecondsHeld);
  connect(&release_, &QTimer::timeout, this, &SweepPanel::OnRelease);
  ShowButtons();
  ShowCost();
}

void SweepPanel::MakeButtons() {
  row_ = new CommandRow(QStringLiteral("sweep"),
                        tr("Runs the sweep beside the window; it waits while a slider is dragged"),
                        tr("Stops; finished samples stay, Run goes on"), files().link(), this);
  row_->cancel()->setText(tr("Stop"));
  cost_ = row_->AddButton(tr("Cost"), "sweep_cost",
                          tr("Runs one prompt and tells how long all will take"));
  open_ =
      row_->AddButton(tr("Open results"), "sweep_open", tr("Shows the sweep's file in the window"));
  QPushButton* copy =
      row_->AddButton(tr("Copy command"), "sweep_copy",
                      tr("The command that does the same in a terminal or on a cluster"));
  connect(cost_, &QPushButton::clicked, this, [this] { row_->Try([this] { Run(true); }); });
  connect(row_, &CommandRow::StartRequested, this, [this] { row_->Try([this] { Run(false); }); });
  connect(row_, &CommandRow::Finished, this, &SweepPanel::OnFinished);
  connect(open_, &QPushButton::clicked, this, [this] { Q_EMIT ResultsOffered(OutFile()); });
  connect(copy, &QPushButton::clicked, this, [this] {
    row_->Try([this] {
      QApplication::clipboard()->setText(CommandText(Arguments()));
      const std::optional<InputFile> text = OwnText();
      if (text && !files().link()->command().remote)
        WriteWholeFile("text", text->path, text->text.toStdString());
      row_->SetNote(tr("Copied: %1").arg(QApplication::clipboard()->text()));
    });
  });
}

SweepProcess* SweepPanel::sweep() const { return row_->process(); }

QString SweepPanel::table() const { return table_->toPlainText(); }

QString SweepPanel::OutFile() const { return QString::fromStdString(form_->options().Text("out")); }

std::optional<InputFile> SweepPanel::OwnText() const {
  const auto& request = session()->shown_prompt_request();
  if (!request || !request->task.empty()) return std::nullopt;
  return TextInput(*request, OutFile());
}

QStringList SweepPanel::Arguments() const {
  const OptionSet options = form_->Checked();
  SweepChoice choice;
  choice.settings = {PrintIntervention(session()->setting(Side::kA))};
  // A second model would need a sweep of its own.
  if (!session()->second())
    choice.settings.push_back(PrintIntervention(session()->setting(Side::kB)));
  for (const std::string& text : options.TextList("with"))
    choice.settings.push_back(PrintIntervention(ParseIntervention(text)));
  if (options.IsSet("places")) choice.places = options.Text("places");
  choice.samples = options.Integer("samples");
  if (const std::optional<InputFile> text = OwnText()) choice.text_file = text->path;
  QStringList arguments = SweepArguments(*session(), choice);
  for (const char* flag : {"control", "attention"}) {
    if (options.Flag(flag)) arguments << QLatin1String("--") + QLatin1String(flag);
  }
  AddArgument("out", options.Text("out"), &arguments);
  if (files().Exists(options.Text("out"))) arguments << QStringLiteral("--resume");
  return arguments;
}

void SweepPanel::Run(bool dry) {
  QStringList arguments = Arguments();
  is_dry_run_ = dry;
  if (dry) {
    arguments.removeAll(QStringLiteral("--resume"));
    arguments << QStringLiteral("--dry-run") << QStringLiteral("--json");
  } else {
    table_->clear();
  }
  row_->Run(arguments, OwnText(), !dry, dry ? tr("One prompt is run to measure it …") : QString());
  ShowButtons();
}

void SweepPanel::OnFinished(const QString& failure, bool stopped) {
  ShowButtons();
  if (!failure.isEmpty()) return;
  if (is_dry_run_) {
    row_->SetNote(stopped ? QString() : CostText(sweep()->output()));
  } else if (stopped) {
    row_->SetNote(tr("Stopped; finished samples are in %1. Run goes on").arg(OutFile()));
  } else {
    table_->setPlainText(sweep()->output());
    row_->SetNote(tr("Done: %1").arg(QDir::toNativeSeparators(OutFile())));
  }
}

void SweepPanel::ShowButtons() {
  cost_->setEnabled(!sweep()->running());
  open_->setEnabled(!sweep()->running() && files().Exists(OutFile().toStdString()));
}

// The settings that differ, each at every place of every sample.
void SweepPanel::ShowCost() {
  QString text = tr("Run the sweep");
  ErrorText([&] {
    const OptionSet& options = form_->options();
    const auto& request = session()->shown_prompt_request();
    if (!request) return;
    const int64_t samples = request->task.empty() ? 1 : options.Integer("samples");
    const auto settings =
        static_cast<int64_t>(options.TextList("with").size()) + (session()->differs() ? 2 : 1);
    const std::string places = options.IsSet("places") ? options.Text("places") : "";
    const int64_t count = CountPlaces(*session(), places);
    std::optional<double> seconds = session()->prompt_seconds();
    if (seconds) *seconds *= static_cast<double>(samples * settings * count);
    text = WithCost(text, QString::fromStdString(CountText(settings * samples * count, "prompt")),
                    seconds);
  });
  row_->start()->setText(text);
}

// Suspends the sweep during a drag, so that it does not slow the slider.
void SweepPanel::Refresh(Changes changes) {
  if (changes & (Change::kModel | Change::kPrompts | Change::kMeans | Change::kSettings)) {
    if (changes & Change::kPrompts) form_->ShowFields();
    if (changes & Change::kModel) ShowButtons();
    ShowCost();
  }
  sweep()->SetHeld(session()->dragging());
  if (sweep()->held()) release_.start();
}

// Polls, because a drag that ends at its start emits no change.
void SweepPanel::OnRelease() {
  sweep()->SetHeld(session()->dragging());
  if (!sweep()->held()) release_.stop();
}

}  // namespace midscope
