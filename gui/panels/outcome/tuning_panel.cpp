// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/tuning_panel.h"

#include <QDir>
#include <QFileInfo>
#include <QObject>
#include <QPushButton>
#include <QRegularExpression>
#include <QStringList>
#include <QTabWidget>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/model_text.h"
#include "core/positions/position_sampler.h"
#include "data/published/tuning_recipe.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/command_row.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/lines_plot.h"
#include "gui/session/command_arguments.h"
#include "gui/session/session.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"
#include "probes/client/result_files.h"
#include "probes/tuning/tuning_options.h"

namespace midscope {

bool TuningLosses::AddLine(const QString& line) {
  static const QRegularExpression step(
      QStringLiteral("^step (\\d+)/\\d+: loss ([^,]+), rate ([^,]+),"));
  static const QRegularExpression held(QStringLiteral("^held-out loss (\\S+)$"));
  if (const auto match = step.match(line); match.hasMatch()) {
    steps << match.captured(1).toDouble();
    loss << match.captured(2).toDouble();
    rate << match.captured(3).toDouble();
    return true;
  }
  const auto match = held.match(line);
  if (match.hasMatch()) held_out << match.captured(1).toDouble();
  return match.hasMatch();
}

Record ReadTuningRecord(const ResultFiles& files, const QString& path) {
  const RunFile read = files.Read(path.toStdString());
  if (const Record* record = FindRecord(read.records, kTuningRecord)) return *record;
  throw Failure("'" + path.toStdString() + "'", "it has no losses of midscope tune",
                "Give a file tuning.h5, or its folder");
}

TuningLosses LossesOf(const Record& record, const QString& name) {
  TuningLosses losses{name,
                      AxisValues(record, "step"),
                      LastAxisRow(record, "loss", {}),
                      LastAxisRow(record, "rate", {}),
                      {}};
  for (QVector<double>* values : {&losses.loss, &losses.rate})
    values->resize(losses.steps.size(), std::nan(""));
  for (const char* when : {"held_out_loss_before", "held_out_loss_after"}) {
    const double loss = NumberAttribute(record, when, std::nan(""));
    if (!std::isnan(loss)) losses.held_out << loss;
  }
  return losses;
}

QString TuningName(const QString& path) {
  const QFileInfo file(path);
  return file.fileName() == QLatin1String(kTuningFile) ? QFileInfo(file.absolutePath()).fileName()
                                                       : file.completeBaseName();
}

void ShowLosses(const std::vector<TuningLosses>& runs, bool rate, LinesPlot& plot) {
  std::set<double> steps;
  for (const TuningLosses& run : runs) steps.insert(run.steps.begin(), run.steps.end());
  const std::string name = rate ? "rate" : "loss";
  Record record;
  record.name = kTuningRecord;
  record.axes = {{"run", static_cast<int64_t>(runs.size()), "", {}, {}},
                 {"step", static_cast<int64_t>(steps.size()), "", {}, {}}};
  record.axes[1].values.assign(steps.begin(), steps.end());
  std::vector<double> values;
  LinesPlot::View view;
  view.array = name;
  for (const TuningLosses& run : runs) {
    QStringList held;
    for (const double loss : run.held_out) held << QString::number(loss, 'f', 4);
    const QString text = QObject::tr("held out %1").arg(held.join(QStringLiteral(" → ")));
    const bool named = !rate && runs.size() > 1 && !held.isEmpty();
    record.axes[0].labels.push_back(
        (named ? QStringLiteral("%1, %2").arg(run.name, text) : run.name).toStdString());
    for (const double step : steps) {
      const qsizetype at = run.steps.indexOf(step);
      values.push_back(at < 0 ? std::nan("") : rate ? run.rate[at] : run.loss[at]);
    }
    // Horizontal lines of several runs would look alike.
    if (rate || runs.size() > 1) continue;
    for (qsizetype i = 0; i < held.size(); ++i) {
      view.marks.push_back(
          {run.held_out[i],
           (i == 0 ? QObject::tr("held out, before: %1") : QObject::tr("after: %1")).arg(held[i])});
    }
  }
  record.arrays = {{name,
                    {"run", "step"},
                    std::move(values),
                    rate ? "" : "nats",
                    rate ? "learning rate" : "loss of the step's samples"}};
  plot.Show(steps.empty() ? nullptr : &record, view);
}

namespace {

// The options of `midscope tune`, except the options that the panel sets itself.
std::vector<Parameter> TuningFormParameters() {
  std::vector<Parameter> options = TuneOptions();
  std::erase_if(options, [](const Parameter& option) {
    return option.name == "resume" || option.name == "json";
  });
  return options;
}

// Whether the option has an effect beside the others.
bool AppliesToRun(const std::string& name, const OptionSet& options) {
  const auto is = [&name](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool data = !options.TextList("data").empty();
  if (is({"factor", "interpolation", "with", "data", "loss"}) && Distils(options)) return false;
  if (is({"other-places"})) return Distils(options);
  if (is({"task"})) return !data;
  if (is({"loss"})) return !options.TextList("task").empty();
  if (is({"packing", "chat", "repeat"})) return data;
  if (is({"field"})) return data && !options.Flag("chat");
  if (is({"chat-template", "mask-user"})) return data && options.Flag("chat");
  if (is({"alpha", "projections"})) return options.Has("lora");
  for (const PositionSampler& sampler : PositionSamplers()) {
    const bool has = std::any_of(sampler.parameters.begin(), sampler.parameters.end(),
                                 [&name](const Parameter& each) { return each.name == name; });
    if (has) return options.Text("recipe") == sampler.name;
  }
  return true;
}

// The options that the time of a step depends on.
std::string TimedOptions(OptionSet options) {
  for (const char* name : {"steps", "rate", "out", "held-out", "warm-up", "checkpoint", "seed"})
    options.Reset(name);
  return options.ToJson();
}

}  // namespace

TuningPanel::TuningPanel(const PanelContext& context) : Panel(context) {
  auto* sides = new SideSplitter(this);
  form_ = new ParameterForm(TuningFormParameters(), this, "tuning_", file_dialog());
  form_->SetLabels({{"recipe", tr("position ids")},
                    {"tokens", tr("tokens of a sample")},
                    {"data", tr("text files")},
                    {"task", tr("or samples of a task")},
                    {"batch", tr("samples per step")},
                    {"rate", tr("learning rate")},
                    {"lora", tr("rank of the adapter")},
                    {"held-out", tr("held-out samples")},
                    {"out", tr("folder to write")}});
  form_->ShowFirst({"model", "recipe", "tokens", "factor", "interpolation", "task", "data", "batch",
                    "rate", "steps", "lora", "held-out", "out"});
  form_->SetApplies(AppliesToRun);
  for (const auto& [name, text] :
       std::initializer_list<std::pair<const char*, const char*>>{{"model", "embedded"},
                                                                  {"recipe", "cream"},
                                                                  {"tokens", "512"},
                                                                  {"task", "list:lines=20"},
                                                                  {"rate", "2e-4"},
                                                                  {"steps", "20"},
                                                                  {"lora", "8"},
                                                                  {"held-out", "4"},
                                                                  {"out", "tuned"}})
    form_->SetText(name, text);
  MakeScrollArea(form_, sides);
  auto* plots = new QTabWidget(sides);
  plots->setDocumentMode(true);
  loss_ = Named(new LinesPlot(plots, QStringLiteral("tuning_loss")), "tuning_loss");
  rate_ = new LinesPlot(plots, QStringLiteral("tuning_rate"));
  plots->addTab(loss_, tr("Loss"));
  plots->addTab(rate_, tr("Learning rate"));
  sides->setStretchFactor(1, 1);
  MakeButtons();
  LayOutPanel(this, sides)->addWidget(row_);
  connect(form_, &ParameterForm::Changed, this, &TuningPanel::ShowButtons);
  Draw();
}

void TuningPanel::MakeButtons() {
  row_ =
      new CommandRow(QStringLiteral("tuning"),
                     tr("Runs midscope tune beside the window; a run that the folder has goes on"),
                     tr("Stops; finished steps stay, Resume goes on"), files().link(), this);
  beside_ = row_->AddButton(tr("Look again: open it beside the base"), "tuning_beside",
                            tr("B becomes the model with the tuned weights, on the same prompt "
                               "as A"));
  QPushButton* open = row_->AddButton(tr("Losses of other runs…"), "tuning_open",
                                      tr("Files tuning.h5 of earlier runs, one line each"));
  connect(row_, &CommandRow::StartRequested, this, [this] { row_->Try([this] { Start(); }); });
  connect(row_, &CommandRow::Finished, this, &TuningPanel::OnFinished);
  disconnect(process(), &SweepProcess::Noted, row_, nullptr);
  connect(process(), &SweepProcess::Noted, this, &TuningPanel::OnLine);
  connect(beside_, &QPushButton::clicked, this,
          [this] { row_->Try([this] { Q_EMIT ModelOffered(TunedModel()); }); });
  connect(open, &QPushButton::clicked, this, [this] {
    const QStringList paths = ChooseEngineFiles(this, files().link(), tr("Losses of tuning runs"),
                                                tr("Results (*.h5);;All files (*)"));
    row_->Try([&] { OpenLosses(paths); });
  });
}

SweepProcess* TuningPanel::process() const { return row_->process(); }

std::vector<std::string> TuningPanel::Records() { return {kTuningRecord}; }

QString TuningPanel::Folder() const { return QString::fromStdString(form_->options().Text("out")); }

bool TuningPanel::Has(const char* file) const {
  return files().Exists(QDir(Folder()).filePath(QString::fromLatin1(file)).toStdString());
}

bool TuningPanel::Began() const { return Has(kTuningPlan); }

bool TuningPanel::Tuned() const {
  return IsTuned([this](const char* file) { return Has(file); });
}

QString TuningPanel::TunedModel() const {
  if (!Has("adapter_config.json")) return Folder();
  return QString::fromStdString(
      WithAdapterText(form_->options().Text("model"), Folder().toStdString()));
}

QStringList TuningPanel::Arguments() const {
  OptionSet options = form_->Checked();
  options.CheckRequired();
  QStringList arguments = {QStringLiteral("tune"), QString::fromStdString(options.Text("model"))};
  options.Reset("model");
  AddArguments(options, &arguments);
  if (Began()) arguments << QStringLiteral("--resume");
  return arguments;
}

void TuningPanel::Start() {
  const QStringList arguments = Arguments();
  runs_ = {{TuningName(QDir(Folder()).filePath(QString::fromLatin1(kTuningFile))), {}, {}, {}, {}}};
  const bool began = Began();
  folder_ = Folder();
  seconds_ = 0;
  timed_ = TimedOptions(form_->options());
  if (began) ErrorText([this] { OpenLosses({folder_}); });
  live_ = true;
  row_->Run(arguments);
  Draw();
}

void TuningPanel::OnLine(const QString& line) {
  if (live_ && runs_.front().AddLine(line)) {
    Draw();
  } else {
    row_->SetNote(line);
  }
}

void TuningPanel::OnFinished(const QString& failure, bool stopped) {
  if (stopped) {
    row_->SetNote(tr("Cancelled; finished steps are in %1. Resume goes on").arg(folder_));
  } else if (failure.isEmpty()) {
    row_->SetNote(tr("Done: %1").arg(QDir::toNativeSeparators(folder_)));
    row_->Try([this] { OpenLosses({folder_}); });
  }
  ShowButtons();
}

void TuningPanel::OpenLosses(const QStringList& paths) {
  std::vector<TuningLosses> runs;
  for (const QString& path : paths) {
    const QString file = path.endsWith(QLatin1String(".h5"))
                             ? path
                             : QDir(path).filePath(QString::fromLatin1(kTuningFile));
    const Record record = ReadTuningRecord(files(), file);
    runs.push_back(LossesOf(record, TuningName(file)));
    const QVector<double> seconds = LastAxisRow(record, "seconds", {});
    if (paths != QStringList{folder_} || seconds.isEmpty()) continue;
    seconds_ =
        std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  }
  if (runs.empty()) return;
  runs_ = std::move(runs);
  live_ = false;
  Draw();
}

void TuningPanel::Refresh(Changes changes) {
  if (!(changes & (Change::kModel | Change::kSampleFile))) return;
  const auto& request = session()->open_request();
  const std::string model = form_->options().Text("model");
  if (request && (model.empty() || model == model_)) {
    model_ = request->model;
    form_->SetText("model", model_);
  }
  const Record* record = session()->record(Side::kA, kTuningRecord);
  if (!record || process()->running()) return;
  runs_ = {LossesOf(*record, TuningName(session()->shown().path))};
  Draw();
}

void TuningPanel::ShowButtons() {
  const OptionSet& options = form_->options();
  const bool tuned = !process()->running() && Tuned();
  beside_->setEnabled(tuned);
  if (process()->running()) return;  // Cancel stays where it is
  QString text = !tuned && Began() ? tr("Resume") : tr("Tune");
  ErrorText([&] {
    const int64_t steps = options.Integer("steps");
    std::optional<double> seconds;
    if (seconds_ > 0 && timed_ == TimedOptions(options))
      seconds = seconds_ * static_cast<double>(steps);
    text = WithCost(
        text,
        QString::fromStdString(CountText(steps, "step")) +
            tr(" of %1").arg(QString::fromStdString(CountText(options.Integer("batch"), "sample"))),
        seconds);
  });
  row_->start()->setText(text);
}

void TuningPanel::Draw() {
  for (LinesPlot* plot : {loss_, rate_}) {
    plot->SetReason(tr("No losses yet. Press Tune, or open those of other runs"));
    ShowLosses(runs_, plot == rate_, *plot);
    QStringList names;
    for (const TuningLosses& run : runs_) names << run.name;
    plot->SetCaption(tr("midscope tune: %1").arg(names.join(QStringLiteral(", "))));
  }
  ShowButtons();
}

std::vector<Plot*> TuningPanel::plots() const {
  if (runs_.empty() || runs_.front().steps.isEmpty()) return {};
  return {loss_, rate_};
}

void TuningPanel::Render(FilePictures& pictures) {
  const QStringList paths = QStringList{pictures.request().file} + pictures.request().reference;
  std::vector<TuningLosses> runs;
  for (const Record& record : pictures.records()) {
    if (record.name == kTuningRecord)
      runs.push_back(LossesOf(record, TuningName(paths.value(std::ssize(runs)))));
  }
  if (runs.empty()) return;
  for (const bool rate : {false, true}) {
    LinesPlot plot;
    ShowLosses(runs, rate, plot);
    pictures.Write(plot, rate ? QStringLiteral("tuning_rate") : QStringLiteral("tuning_loss"));
  }
}

}  // namespace midscope
