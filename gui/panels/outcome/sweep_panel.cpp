// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/sweep_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileInfo>
#include <QFontDatabase>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "core/terms/intervention_text.h"
#include "gui/base/display_text.h"
#include "gui/session/command_arguments.h"
#include "gui/session/session.h"
#include "gui/session/sweep_process.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"
#include "gui/widgets/progress_row.h"
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
  auto* split = new QSplitter(Qt::Vertical, this);
  split->setChildrenCollapsible(false);
  form_ = new ParameterForm(SweepFormParameters(), split, "sweep_");
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
  table_ = new QPlainTextEdit(split);
  table_->setObjectName(QStringLiteral("sweep_table"));
  table_->setAccessibleName(tr("Results of the sweep"));
  table_->setReadOnly(true);
  table_->setLineWrapMode(QPlainTextEdit::NoWrap);
  table_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  table_->setPlaceholderText(
      tr("Cost tells how long it will take. Run writes a file, and the table of what is done so "
         "far is here; at the end with intervals and p values."));
  split->addWidget(form_);
  split->addWidget(table_);
  split->setStretchFactor(1, 1);
  sweep_ = new SweepProcess(session()->files_of_engine().link(), this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2, 2, 2, 2);
  column->addWidget(split, 1);
  column->addWidget(MakeButtons());
  connect(form_, &ParameterForm::Changed, this, &SweepPanel::ShowCost);
  connect(sweep_, &SweepProcess::Progressed, this, &SweepPanel::OnProgress);
  connect(sweep_, &SweepProcess::TableChanged, table_, &QPlainTextEdit::setPlainText);
  connect(sweep_, &SweepProcess::Finished, this, &SweepPanel::OnFinished);
  release_.setInterval(kMillisecondsHeld);
  connect(&release_, &QTimer::timeout, this, &SweepPanel::OnRelease);
  ShowButtons();
  ShowCost();
}

QWidget* SweepPanel::MakeButtons() {
  auto* buttons = new QWidget(this);
  const auto button = [buttons](const QString& text, const char* name, const QString& tooltip) {
    return MakeButton(text, QString::fromLatin1(name), tooltip, buttons);
  };
  cost_ = button(tr("Cost"), "sweep_cost", tr("Runs one prompt and tells how long all will take"));
  start_ = button(tr("Run"), "sweep_start",
                  tr("Runs the sweep beside the window; it waits while a slider is dragged"));
  stop_ = button(tr("Stop"), "sweep_stop", tr("Stops; finished samples stay, Run goes on"));
  open_ = button(tr("Open results"), "sweep_open", tr("Shows the sweep's file in the window"));
  QPushButton* copy = button(tr("Copy command"), "sweep_copy",
                             tr("The command that does the same in a terminal or on a cluster"));
  progress_ = new QProgressBar(buttons);
  progress_->setObjectName(QStringLiteral("sweep_progress"));
  progress_->setMinimumWidth(80);
  note_ = new QLabel(buttons);
  note_->setObjectName(QStringLiteral("sweep_note"));
  note_->setWordWrap(true);
  FlowLayout* row = MakeControlFlow();
  for (QWidget* each :
       std::initializer_list<QWidget*>{cost_, start_, stop_, open_, copy, progress_})
    row->addWidget(each);
  auto* column = new QVBoxLayout(buttons);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(row);
  column->addWidget(note_);
  connect(cost_, &QPushButton::clicked, this, &SweepPanel::AskCost);
  connect(start_, &QPushButton::clicked, this, &SweepPanel::Start);
  connect(stop_, &QPushButton::clicked, sweep_, &SweepProcess::Stop);
  connect(open_, &QPushButton::clicked, this, [this] { Q_EMIT ResultsOffered(OutFile()); });
  connect(copy, &QPushButton::clicked, this, [this] {
    const QString why = ErrorText([this] {
      QApplication::clipboard()->setText(CommandText(Arguments()));
      WriteOwnText();
      note_->setText(tr("Copied: %1").arg(QApplication::clipboard()->text()));
    });
    if (!why.isEmpty()) note_->setText(why);
  });
  return buttons;
}

QString SweepPanel::table() const { return table_->toPlainText(); }

QString SweepPanel::OutFile() const { return QString::fromStdString(form_->options().Text("out")); }

QString SweepPanel::TextFile() const {
  const QFileInfo out(OutFile());
  return QDir(out.path()).filePath(out.completeBaseName() + QStringLiteral(".text.jsonl"));
}

// Own text is passed to the command in a file beside the results.
void SweepPanel::WriteOwnText() const {
  const auto& request = session()->shown_prompt_request();
  if (request && request->task.empty()) WriteTextFile(*request, TextFile());
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
  choice.text_file = TextFile();
  QStringList arguments = SweepArguments(*session(), choice);
  for (const char* flag : {"control", "attention"}) {
    if (options.Flag(flag)) arguments << QLatin1String("--") + QLatin1String(flag);
  }
  AddArgument("out", options.Text("out"), &arguments);
  if (QFileInfo::exists(QString::fromStdString(options.Text("out"))))
    arguments << QStringLiteral("--resume");
  return arguments;
}

void SweepPanel::AskCost() {
  const QString why = ErrorText([this] {
    is_dry_run_ = true;
    note_->setText(tr("One prompt is run to measure it …"));
    QStringList arguments = Arguments();
    WriteOwnText();
    arguments.removeAll(QStringLiteral("--resume"));
    sweep_->Start(arguments << QStringLiteral("--dry-run") << QStringLiteral("--json"), false);
  });
  if (!why.isEmpty()) note_->setText(why);
  ShowButtons();
}

void SweepPanel::Start() {
  const QString why = ErrorText([this] {
    const QStringList arguments = Arguments();
    WriteOwnText();
    is_dry_run_ = false;
    note_->setText(CommandText(arguments));
    table_->clear();
    sweep_->Start(arguments);
  });
  if (!why.isEmpty()) note_->setText(why);
  ShowButtons();
}

void SweepPanel::OnProgress(const Progress& progress) {
  progress_->setRange(0, static_cast<int>(progress.total));
  progress_->setValue(static_cast<int>(progress.done));
  progress_->setFormat(QString::fromStdString(progress.stage) + QStringLiteral(" %v/%m"));
}

void SweepPanel::OnFinished(const QString& failure, bool stopped) {
  if (!failure.isEmpty()) {
    note_->setText(failure);
  } else if (is_dry_run_) {
    note_->setText(stopped ? QString() : CostText(sweep_->output()));
  } else if (stopped) {
    note_->setText(tr("Stopped; finished samples are in %1. Run goes on").arg(OutFile()));
  } else {
    table_->setPlainText(sweep_->output());
    note_->setText(tr("Done: %1").arg(QDir::toNativeSeparators(OutFile())));
  }
  progress_->reset();
  ShowButtons();
}

void SweepPanel::ShowButtons() {
  const bool running = sweep_->running();
  cost_->setEnabled(!running);
  start_->setEnabled(!running);
  stop_->setEnabled(running);
  open_->setEnabled(!running && QFileInfo::exists(OutFile()));
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
  start_->setText(text);
}

// Suspends the sweep during a drag, so that it does not slow the slider.
void SweepPanel::Refresh(Changes changes) {
  if (changes & (Change::kModel | Change::kPrompts | Change::kMeans | Change::kSettings)) {
    if (changes & Change::kPrompts) form_->ShowFields();
    ShowCost();
  }
  sweep_->SetHeld(session()->dragging());
  if (sweep_->held()) release_.start();
}

// Polls, because a drag that ends at its start emits no change.
void SweepPanel::OnRelease() {
  sweep_->SetHeld(session()->dragging());
  if (!sweep_->held()) release_.stop();
}

}  // namespace midscope
