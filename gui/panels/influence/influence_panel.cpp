// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/influence/influence_panel.h"

#include <QComboBox>
#include <QDir>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTabWidget>
#include <utility>

#include "core/base/options.h"
#include "core/base/parameter.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/terms/intervention_text.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/command_row.h"
#include "gui/panels/influence/influence_pictures.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/record_plot.h"
#include "gui/plots/tokens/token_view.h"
#include "gui/session/command_arguments.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"
#include "probes/measure/influence/influence_names.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {
namespace {

// The options of the command that do not select model, sample or setting.
std::vector<Parameter> InfluenceFormParameters() {
  std::vector<Parameter> parameters = {
      PlacesOption("", "default: the shown one"),
      WholeNumberParameter("samples", "of the task, from the shown one on", 1, 100000, 1)};
  for (const Parameter& option : GradientOptions()) parameters.push_back(option);
  Parameter out = TextParameter("out", "the HDF5 file to write");
  out.default_value = "influence.h5";
  parameters.push_back(out);
  parameters.push_back(FlagParameter("overwrite", "replace the file where it exists"));
  return parameters;
}

}  // namespace

InfluencePanel::InfluencePanel(const PanelContext& context) : Panel(context) {
  MakeTabs();
  MakeRow();
  LayOutPanel(this, tabs_)->addWidget(row_);
  connect(form_, &ParameterForm::Changed, this, &InfluencePanel::ShowCost);
  Show({});
  ShowCost();
}

void InfluencePanel::MakeTabs() {
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  form_ = new ParameterForm(InfluenceFormParameters(), tabs_, "influence_");
  form_->SetLabels({{"places", tr("places of the answer")},
                    {"cotangents", tr("random vectors for the output")},
                    {"cotangent-seed", tr("random seed")},
                    {"parts", tr("parts of the prompt")},
                    {"out", tr("results file")},
                    {"overwrite", tr("replace it")}});
  // Only a task has several samples; only a task and own text with passages have places.
  form_->SetApplies([this](const std::string& name, const OptionSet&) {
    const auto& request = this->session()->shown_prompt_request();
    const bool own = request && request->task.empty();
    return !own || (name != "samples" && (name != "places" || NeedsTextFile(*request)));
  });
  form_->SetText("cotangents", "4");
  tokens_ = new TokenView(tabs_);
  tokens_->ShowSigned(tr("norm"));
  map_ = new RecordPlot(tabs_, QStringLiteral("influence_by_layer_and_token"));
  along_ = new LinesPlot(tabs_, QStringLiteral("influence_along_prompt"));
  gold_ = new LinesPlot(tabs_, QStringLiteral("influence_on_gold"));
  tabs_->addTab(MakeScrollArea(form_, tabs_), tr("Options"));
  tabs_->addTab(tokens_, tr("Text"));
  tabs_->addTab(map_, tr("Layers"));
  tabs_->addTab(along_, tr("Along the prompt"));
  tabs_->addTab(gold_, tr("Gold by place"));
}

void InfluencePanel::MakeRow() {
  row_ = new CommandRow(
      QStringLiteral("influence"),
      tr("<p>Runs midscope influence beside the window: the gradient of the answer's log "
         "likelihood for the shown prompt under A</p>"),
      tr("Stops the run; nothing of it is kept"), files().link(), this);
  gradient_ = Named(
      new QComboBox(row_), "influence_gradient",
      tr("<p>The gradient of the answer's log likelihood, or that of all logits after the last "
         "token, from random vectors</p>"));
  gradient_->addItem(tr("answer's gradient"), QString::fromLatin1(kAnswerGradient));
  gradient_->addItem(tr("output's gradient"), QString::fromLatin1(kOutputGradient));
  row_->Add(gradient_);
  gold_value_ = Named(new QComboBox(row_), "influence_gold",
                      tr("The norm on the gold by its place, with or without dividing it by that "
                         "on the distractors"));
  gold_value_->addItems({tr("gold / distractors"), tr("gold")});
  row_->Add(gold_value_);
  open_ = row_->AddButton(tr("Open results"), "influence_open",
                          tr("Shows the file of the run in the window"));
  open_->setEnabled(false);
  connect(row_, &CommandRow::StartRequested, this, [this] { row_->Try([this] { Start(); }); });
  connect(row_, &CommandRow::Finished, this, &InfluencePanel::OnFinished);
  connect(open_, &QPushButton::clicked, this, [this] { Q_EMIT ResultsOffered(written_); });
  for (QComboBox* box : {gradient_, gold_value_})
    connect(box, &QComboBox::currentIndexChanged, this, &InfluencePanel::Draw);
}

std::vector<std::string> InfluencePanel::Records() {
  return {kInfluenceRecord, kInfluenceByPlaceRecord};
}

QString InfluencePanel::OutFile() const {
  return QString::fromStdString(form_->options().Text("out"));
}

SweepProcess* InfluencePanel::process() const { return row_->process(); }

std::optional<InputFile> InfluencePanel::OwnText() const {
  const auto& request = session()->shown_prompt_request();
  if (!request || !NeedsTextFile(*request)) return std::nullopt;
  return TextInput(*request, OutFile());
}

QStringList InfluencePanel::Arguments() const {
  OptionSet options = form_->Checked();
  QStringList arguments = InfluenceArguments(*session(), OwnText().value_or(InputFile()).path);
  if (const qsizetype place = arguments.indexOf("--place"); options.IsSet("places") && place >= 0)
    arguments.remove(place, 2);
  options.Reset("out");
  AddArguments(options, &arguments);
  AddArgument("out", OutFile().toStdString(), &arguments);
  // A file of the panel itself is replaced without asking.
  if (OutFile() == written_ && !options.Flag("overwrite"))
    arguments << QStringLiteral("--overwrite");
  return arguments;
}

void InfluencePanel::Start() {
  const QStringList arguments = Arguments();
  written_ = OutFile();
  open_->setEnabled(false);
  row_->Run(arguments, OwnText());
}

void InfluencePanel::OnFinished(const QString& failure, bool stopped) {
  if (!failure.isEmpty() || stopped) {
    written_.clear();
    return;
  }
  row_->Try([this] {
    Show(files().ReadWritten(written_.toStdString()).records);
    row_->SetNote(tr("Done: %1").arg(QDir::toNativeSeparators(written_)));
    open_->setEnabled(true);
    if (tabs_->currentIndex() == 0) ShowFirstPlot();
  });
}

void InfluencePanel::Refresh(Changes changes) {
  if (changes & Change::kPrompts) {
    form_->ShowFields();
    ShowCost();
  }
  if (changes & (Change::kModel | Change::kPrompts | Change::kSettings)) MarkOlder();
  if (!session()->shows_file() ||
      !(changes & (Change::kModel | Change::kSampleFile | Change::kSample)))
    return;
  std::vector<Record> records;
  for (const char* name : {kInfluenceByPlaceRecord, kInfluenceRecord}) {
    if (const Record* record = session()->record(Side::kA, name)) records.push_back(*record);
  }
  if (records.empty()) return;
  if (const Record* prompt = session()->prompt()) records.push_back(*prompt);
  Show(std::move(records));
  if (tabs_->currentIndex() == 0) tabs_->setCurrentWidget(map_);
}

void InfluencePanel::ShowFirstPlot() {
  const auto shows = [this](const QWidget* tab) {
    return tabs_->isTabVisible(tabs_->indexOf(tab));
  };
  tabs_->setCurrentWidget(shows(gold_)     ? static_cast<QWidget*>(gold_)
                          : shows(tokens_) ? tokens_
                                           : static_cast<QWidget*>(along_));
}

void InfluencePanel::Show(std::vector<Record> records) {
  records_ = std::move(records);
  for (Record& record : records_) {
    if (record.name == kInfluenceRecord) record = FirstPrompt(record);
  }
  const Record* by_place = FindRecord(records_, kInfluenceByPlaceRecord);
  const auto has = [&](const char* gradient) {
    return by_place && by_place->FindArray(std::string(gradient) + "_by_share");
  };
  const bool answer = has(kAnswerGradient);
  const bool output = has(kOutputGradient);
  {
    const QSignalBlocker quiet(gradient_);
    if (answer != output) gradient_->setCurrentIndex(output ? 1 : 0);
  }
  gradient_->setVisible(answer && output);
  const bool places = by_place && AxisSize(*by_place, "place") > 1;
  tabs_->setTabVisible(tabs_->indexOf(gold_), places);
  gold_value_->setVisible(places);
  // A file of several prompts does not have their texts.
  tabs_->setTabVisible(tabs_->indexOf(tokens_), !by_place || FindRecord(records_, kPromptRecord));
  DrawWhenShown();
}

std::string InfluencePanel::Gradient() const {
  return gradient_->currentData().toString().toStdString();
}

void InfluencePanel::Draw() {
  const Record* by_token = FindRecord(records_, kInfluenceRecord);
  const Record* prompt = FindRecord(records_, kPromptRecord);
  const std::string gradient = Gradient();
  std::vector<Record> runs;
  if (const Record* run = FindRecord(records_, kInfluenceByPlaceRecord)) runs.push_back(*run);
  for (Plot* plot : std::initializer_list<Plot*>{map_, along_, gold_})
    plot->SetReason(tr("No gradients yet. Press Measure, or open a file of midscope influence"));
  ShowLayers(by_token, gradient, prompt, *map_);
  ShowAlongPrompt(runs, gradient, *along_);
  ShowGold(runs, gradient, gold_value_->currentIndex() == 0, *gold_);
  const QString setting = runs.empty() ? QString() : TextAttribute(runs.front(), "intervention");
  for (Plot* plot : std::initializer_list<Plot*>{map_, along_, gold_})
    plot->SetCaption(runs.empty() ? QString()
                                  : TextAttribute(runs.front(), kInfluenceModel) +
                                        QStringLiteral("; ") + setting);
  tokens_->SetPrompt(prompt);
  tokens_->SetSource(setting);
  tokens_->SetRow(by_token && prompt ? LastAxisRow(*by_token, gradient, {0}) : QVector<double>());
  MarkOlder();
}

void InfluencePanel::MarkOlder() {
  const Record* shown = FindRecord(records_, kPromptRecord);
  const Record* run = FindRecord(records_, kInfluenceByPlaceRecord);
  const Record* prompt = session()->prompt();
  QString note;
  if (run && prompt && !session()->shows_file()) {
    const QString setting = TextAttribute(*run, "intervention");
    if (shown && Texts(*shown, "token_text") != Texts(*prompt, "token_text")) {
      note = tr("another prompt");
    } else if (setting.toStdString() != PrintIntervention(session()->setting(Side::kA))) {
      note = tr("A, older setting: %1").arg(setting);
    }
  }
  for (Plot* plot : std::initializer_list<Plot*>{map_, along_, gold_}) plot->SetOlderNote(note);
}

void InfluencePanel::ShowCost() {
  QString text = tr("Measure");
  ErrorText([&] {
    const OptionSet options = form_->Checked();
    const int64_t prompts =
        options.Integer("samples") *
        (options.IsSet("places") ? CountPlaces(*session(), options.Text("places")) : 1);
    const int64_t gradients = prompts * (1 + options.Integer("cotangents"));
    text = WithCost(text,
                    QString::fromStdString(CountText(prompts, "prompt") + ", " +
                                           CountText(gradients, "gradient")),
                    std::nullopt);
  });
  row_->start()->setText(text);
}

std::vector<Plot*> InfluencePanel::plots() const {
  const Record* by_token = FindRecord(records_, kInfluenceRecord);
  if (!by_token || !by_token->FindArray(Gradient())) return {};
  std::vector<Plot*> plots = {map_, along_};
  if (!gold_value_->isHidden()) plots.push_back(gold_);
  return plots;
}

void InfluencePanel::Render(FilePictures& pictures) { RenderInfluence(pictures); }

}  // namespace midscope
