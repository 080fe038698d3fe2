// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/attention/lens_bar.h"

#include <QDir>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "gui/base/display_text.h"
#include "gui/panels/command_row.h"
#include "gui/session/command_arguments.h"
#include "gui/session/session.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"
#include "gui/widgets/probe_form.h"
#include "probes/tuning/tuning_options.h"

namespace midscope {
namespace {

constexpr char kLensFile[] = "lens-file";

std::vector<Parameter> LensFormParameters() {
  std::vector<Parameter> parameters = LensPromptOptions();
  Parameter out = TextParameter("out", "the file to write; a fit that it has goes on");
  out.default_value = "lens.safetensors";
  parameters.push_back(out);
  return parameters;
}

// Whether the option has an effect beside the others.
bool AppliesToFit(const std::string& name, const OptionSet& options) {
  const bool data = !options.TextList("data").empty();
  if (name == "task" || name == "seed") return !data;
  return name != "field" || data;
}

}  // namespace

LensBar::LensBar(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
  const std::shared_ptr<EngineLink>& link = session->files_of_engine().link();
  file_ = Named(new QLineEdit(this), "lens_file",
                tr("<p>Enter reads the lens of this file with every full run; without a file, "
                   "no Jacobian lens is read</p>"));
  file_->setPlaceholderText(tr("a file of midscope lens, or a published .pt"));
  auto* browse = new QToolButton(this);
  browse->setText(tr("…"));
  browse->setToolTip(tr("Choose a file"));
  fit_ = Named(new QToolButton(this), "lens_fit",
               tr("Shows the options of midscope lens, which makes such a file"));
  fit_->setText(tr("Fit one"));
  fit_->setCheckable(true);
  row_ = new CommandRow(
      QStringLiteral("lens_fit"),
      tr("<p>Runs midscope lens beside the window, for the open model: one forward pass per "
         "prompt, "
         "and as many backward passes as the model is wide. A fit that the file has goes on</p>"),
      tr("Stops; the file is the lens of the finished prompts"), link, this);
  row_->hide();
  MakeForm();
  QHBoxLayout* line = MakeControlRow();
  auto* label = new QLabel(tr("lens file"), this);
  label->setBuddy(file_);
  line->addWidget(label);
  line->addWidget(file_, 1);
  line->addWidget(browse);
  line->addWidget(fit_);
  auto* column = WithoutMargins(new QVBoxLayout(this));
  column->setSpacing(0);
  column->addLayout(line);
  column->addWidget(row_);
  connect(file_, &QLineEdit::returnPressed, this, [this] { Use(file_->text()); });
  connect(browse, &QToolButton::clicked, this, [this, link] {
    const QString path = ChooseEngineFile(this, link, tr("Lens"), QString(),
                                          tr("Lenses (*.safetensors *.pt);;All files (*)"));
    if (!path.isEmpty()) Use(path);
  });
  connect(fit_, &QToolButton::toggled, this,
          [this](bool shown) { row_->setVisible(shown || row_->process()->running()); });
  connect(fit_, &QToolButton::toggled, this, &LensBar::Fitting);
  connect(row_, &CommandRow::StartRequested, this, [this] { row_->Try([this] { Start(); }); });
  connect(row_, &CommandRow::Finished, this, &LensBar::OnFinished);
  connect(row_->process(), &SweepProcess::Progressed, this,
          [this](const Progress& progress) { passes_ = progress.done; });
  ShowCost();
}

void LensBar::MakeForm() {
  form_ = new ParameterForm(LensFormParameters(), this, "lens_fit_");
  form_->SetLabels({{"data", tr("text files")},
                    {"task", tr("or samples of a task")},
                    {"samples", tr("prompts")},
                    {"tokens", tr("tokens of a prompt")},
                    {"out", tr("file to write")}});
  form_->SetApplies(AppliesToFit);
  form_->SetText("task", "list:lines=20");
  form_->SetText("samples", "10");
  connect(form_, &ParameterForm::Changed, this, &LensBar::ShowCost);
}

void LensBar::Refresh(Changes changes) {
  if (changes & Change::kModel) FollowModel();
  if (!(changes & Change::kProbes)) return;
  const auto options = nlohmann::json::parse(session_->probe_options(), nullptr, false);
  const auto file = options.find(kLensFile);
  const bool named = file != options.end() && file->is_string();
  file_->setText(named ? QString::fromStdString(file->get<std::string>()) : QString());
}

// A lens of another model cannot be read.
void LensBar::FollowModel() {
  ShowCost();
  const auto& model = session_->live().model;
  if (!model) return;
  const std::string before = std::exchange(model_, model->path);
  if (!before.empty() && before != model_ && !file_->text().isEmpty()) Use(QString());
}

void LensBar::HideForm() { fit_->setChecked(false); }

void LensBar::Use(const QString& file) {
  const QString why = ErrorText([&] {
    const std::string& before = session_->probe_options();
    nlohmann::json options =
        nlohmann::json::parse(file.isEmpty() ? WithoutProbe(before, kJacobianLensRecord)
                                             : WithProbe(before, kJacobianLensRecord));
    options.erase(kLensFile);
    if (!file.isEmpty()) options[kLensFile] = file.toStdString();
    session_->SetProbeOptions(options.dump());
  });
  if (!why.isEmpty()) Q_EMIT session_->Failed(why);
}

QStringList LensBar::Arguments() const {
  OptionSet options = form_->Checked();
  CheckLensSource(options);
  const auto& model = session_->live().model;
  if (!model) throw UsageError("lens", "no model is open", "Open one");
  QStringList arguments = {QStringLiteral("lens"), QString::fromStdString(model->path)};
  if (model->dtype == "bfloat16") AddArgument("dtype", model->dtype, &arguments);
  const std::string out = options.Text("out");
  options.Reset("out");
  AddArguments(options, &arguments);
  AddArgument("out", out, &arguments);
  return arguments << QStringLiteral("--resume");
}

void LensBar::Start() {
  const QStringList arguments = Arguments();
  written_ = QString::fromStdString(form_->options().Text("out"));
  passes_ = 0;
  per_prompt_ = session_->live().model->config.hidden;
  row_->Run(arguments);
}

void LensBar::OnFinished(const QString& failure, bool stopped) {
  if (!failure.isEmpty()) return;
  if (stopped && passes_ < per_prompt_) return;
  row_->SetNote(stopped ? tr("Cancelled; %1 is the lens of the finished prompts. Fit goes on")
                              .arg(QDir::toNativeSeparators(written_))
                        : tr("Done: %1").arg(QDir::toNativeSeparators(written_)));
  if (!stopped) {
    fit_->setChecked(false);
    row_->hide();
  }
  Use(written_);
}

void LensBar::ShowCost() {
  QString text = tr("Fit");
  ErrorText([&] {
    const int64_t prompts = form_->options().Integer("samples");
    QString work = QString::fromStdString(CountText(prompts, "prompt"));
    if (const auto& model = session_->live().model)
      work += tr(", %L1 backward passes").arg(prompts * model->config.hidden);
    text = WithCost(text, work, std::nullopt);
  });
  row_->start()->setText(text);
}

}  // namespace midscope
