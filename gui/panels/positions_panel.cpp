// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/positions_panel.h"

#include <QComboBox>
#include <QGroupBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "gui/base/display_text.h"
#include "gui/base/head_quantities.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/session/session.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"

namespace midscope {
namespace {

constexpr char kSamplesRecord[] = "positions";
constexpr char kCoverageRecord[] = "position_coverage";
constexpr char kRopeRecord[] = "rope";
constexpr char kLearnedRecord[] = "learned_positions";
constexpr int64_t kMostContext = 1 << 20;  // a longer context would need gigabytes of memory

// A plot of the panel, which shows one array of a record.
struct Picture {
  QString name;
  std::string record;
  LinesPlot::View view;
};

const std::vector<Picture>& Pictures() {
  static const std::vector<Picture> pictures = {
      {QObject::tr("ids of samples"), kSamplesRecord, {"position_id", false}},
      {QObject::tr("covered distances"), kCoverageRecord, {"coverage", false}},
      {QObject::tr("density of distances"), kCoverageRecord, {"pairs_per_sample", false}},
      {QObject::tr("density of positions"), kCoverageRecord, {"shown", false}},
      {QObject::tr("RoPE: periods"), kRopeRecord, {"period", true}},
      {QObject::tr("RoPE: decay"), kRopeRecord, {"similarity", false}},
      {QObject::tr("learned: similarity"), kLearnedRecord, {"similarity", false}},
      {QObject::tr("learned: similarity less mean"), kLearnedRecord, {"centred_similarity", false}},
      {QObject::tr("learned: periods"), kLearnedRecord, {"period_in_order", true}},
      {QObject::tr("learned: spectrum"), kLearnedRecord, {"power", true}},
      {QObject::tr("learned: norms"), kLearnedRecord, {"norm", false}},
  };
  return pictures;
}

// Tokens from the middle of the gold passage to the last token; 0 if there is no gold.
double GoldDistance(const Record& prompt) {
  const TokenSpan gold = GoldTokens(prompt);
  if (gold.empty()) return 0;
  const auto tokens = static_cast<double>(AxisSize(prompt, "token"));
  return tokens - 1 - static_cast<double>(gold.begin + gold.end - 1) / 2;
}

// Marks for comparison with the periods: the context that the model was trained with, and the
// distance of the prompt's gold passage from the last token (`prompt` may be null).
LinesPlot::View ViewOf(const Picture& picture, const Record* record, const Record* prompt) {
  LinesPlot::View view = picture.view;
  const bool of_learned = picture.record == kLearnedRecord;
  if (record && (view.array == "period" || view.array == "period_in_order")) {
    const char* context = of_learned ? "positions" : "context";
    view.marks.push_back({static_cast<double>(IntegerAttribute(*record, context, 0)),
                          QObject::tr("trained context")});
    if (prompt) view.marks.push_back({GoldDistance(*prompt), QObject::tr("distance of the gold")});
  }
  return view;
}

QGroupBox* Group(const QString& title, QWidget* content) {
  auto* group = new QGroupBox(title);
  auto* column = new QVBoxLayout(group);
  column->setContentsMargins(6, 4, 6, 4);
  column->addWidget(content);
  return group;
}

}  // namespace

PositionsPanel::PositionsPanel(const PanelContext& context)
    : Panel(context),
      thread_(
          this,
          [this](const PositionsQuestion& question, const JobContext& job, const auto& deliver) {
            maker_.Make(question, job, deliver);
          },
          [this](const PositionsQuestion&, const PositionsReply& reply) { OnReplied(reply); }) {
  plot_ = new LinesPlot(this);
  picture_ = Named(new QComboBox(this), "positions_picture");
  for (const Picture& picture : Pictures()) picture_->addItem(picture.name);
  error_ = Named(new QLabel(this), "positions_error");
  auto* forms = new QWidget(this);
  auto* column = WithoutMargins(new QVBoxLayout(forms));
  MakeForms(column);
  auto* sides = new SideSplitter(this);
  sides->addWidget(plot_);
  sides->addWidget(MakeScrollArea(forms, this));
  sides->setSizes({500, 260});
  FlowLayout* row = MakeControlFlow();
  row->AddLabelled(tr("show"), picture_);
  row->addWidget(MakeButtons());
  row->addWidget(error_);
  LayOutPanel(this, sides)->addLayout(row);
  connect(picture_, &QComboBox::currentIndexChanged, this, &PositionsPanel::Draw);
  ShowError(error_, QString());
  FollowModel();
}

void PositionsPanel::MakeForms(QVBoxLayout* column) {
  sampler_ = Named(new QComboBox(this), "positions_sampler");
  for (const PositionSampler& sampler : PositionSamplers()) {
    sampler_->addItem(QString::fromStdString(sampler.name));
    sampler_->setItemData(sampler_->count() - 1,
                          QString::fromStdString(sampler.summary + "\n" + sampler.source),
                          Qt::ToolTipRole);
  }
  size_ = new ParameterForm(PositionSampleParameters(), this, "positions_");
  auto* content = new QWidget(this);
  sampler_column_ = WithoutMargins(new QVBoxLayout(content));
  sampler_column_->addWidget(sampler_);
  sampler_column_->addWidget(size_);
  sampler_options_ = nullptr;
  ShowSampler();
  rope_ = new ParameterForm(RopePictureParameters(), this, "rope_");
  column->addWidget(Group(tr("Sampler of position ids"), content));
  column->addWidget(Group(tr("Rotary positions"), rope_));
  column->addStretch(1);
  connect(sampler_, &QComboBox::currentIndexChanged, this, [this] {
    ShowSampler();
    Ask();
  });
  connect(size_, &ParameterForm::Changed, this, &PositionsPanel::Ask);
  connect(rope_, &ParameterForm::Changed, this, &PositionsPanel::Ask);
}

QWidget* PositionsPanel::MakeButtons() {
  auto* buttons = new QWidget(this);
  auto* row = MakeControlRow();
  buttons->setLayout(row);
  auto* positions = Named(
      new QToolButton(this), "positions_to_b",
      tr("<p>Setting B gets these position ids: those of a sample as long as the prompt</p>"));
  positions->setText(tr("Ids to B"));
  scheme_ = Named(new QComboBox(this), "rope_scheme");
  auto* scheme =
      Named(new QToolButton(this), "scheme_to_b", tr("Setting B gets the chosen position scheme"));
  scheme->setText(tr("Scheme to B"));
  row->addWidget(positions);
  row->addWidget(scheme_);
  row->addWidget(scheme);
  connect(positions, &QToolButton::clicked, this,
          [this] { Q_EMIT TermOffered(QString::fromStdString(PositionsTerm())); });
  connect(scheme, &QToolButton::clicked, this,
          [this] { Q_EMIT TermOffered(scheme_->currentText()); });
  return buttons;
}

void PositionsPanel::ShowSampler() {
  const auto* sampler = FindPositionSampler(sampler_->currentText().toStdString());
  delete sampler_options_;
  sampler_options_ = new ParameterForm(sampler->parameters, this, "sampler_");
  sampler_column_->addWidget(sampler_options_);
  connect(sampler_options_, &ParameterForm::Changed, this, &PositionsPanel::Ask);
}

std::vector<std::string> PositionsPanel::Records() {
  return {kSamplesRecord, kCoverageRecord, kRopeRecord, kLearnedRecord};
}

void PositionsPanel::FollowModel() {
  if (!session()->model()) return;
  const ModelConfig& config = session()->model()->config;
  if (config.rope_dimensions <= 0) return;
  OptionSet rope = rope_->options();
  rope.Set("dim", config.rope_dimensions);
  rope.Set("base", config.rope_base);
  rope.Set("context", config.trained_context);
  OptionSet size = size_->options();
  size.Set("tokens", std::min(config.trained_context, kMostSampleTokens));
  rope_->SetOptions(rope);
  size_->SetOptions(size);
}

PositionsQuestion PositionsPanel::Question() const {
  const OptionSet size = size_->Checked();
  const OptionSet rope = rope_->Checked();
  PositionsQuestion question;
  question.learned_of = learned_of_;
  question.learned = [engine = session()->worker().engine()](const JobContext& job) {
    return engine->MeasureLearnedPositions(job);
  };
  question.sampler = sampler_->currentText().toStdString();
  question.options = sampler_options_->Checked();
  question.request.context = size.Integer("tokens") * size.Integer("factor");
  if (question.request.context > kMostContext) {
    throw UsageError("factor",
                     "the context of tokens times factor, " +
                         std::to_string(question.request.context) + ", is over " +
                         std::to_string(kMostContext),
                     "Give less here; `midscope positions` has no such limit");
  }
  question.request.tokens =
      question.sampler == "full" ? question.request.context : size.Integer("tokens");
  question.request.seed = static_cast<uint64_t>(size.Integer("seed"));
  question.samples = size.Integer("samples");
  question.drawn = std::min<int64_t>(question.samples, 5);
  question.rope.dimensions = rope.Integer("dim");
  question.rope.base = rope.Number("base");
  question.rope.context = rope.Integer("context");
  question.rope.factor = static_cast<double>(size.Integer("factor"));
  question.rope.new_base = rope.Number("new-base");
  question.rope.least_ratio = rope.Number("least-ratio");
  question.rope.largest_ratio = rope.Number("largest-ratio");
  return question;
}

// Not called while the panel is hidden, because the coverage of long contexts takes a second of CPU
// time.
void PositionsPanel::Ask() {
  waits_ = true;
  if (isVisible()) DrawWaiting();
}

void PositionsPanel::DrawWaiting() {
  used_ = true;
  if (!waits_) return;
  waits_ = false;
  const QString why = ErrorText([this] { thread_.Ask(Question()); });
  if (!why.isEmpty()) ShowError(error_, why);
}

void PositionsPanel::OnReplied(const PositionsReply& reply) {
  ShowError(error_, reply.failure);
  if (!reply.failure.isEmpty()) return;
  records_ = reply.records;
  OfferSchemes();
  Draw();
  Q_EMIT Made();
}

void PositionsPanel::OfferSchemes() {
  const Record* rope = FindRecord(kRopeRecord);
  const QSignalBlocker quiet(scheme_);
  const int before = scheme_->currentIndex();
  scheme_->clear();
  QStringList terms = rope ? AxisLabels(*rope, "scheme") : QStringList();
  // Entries of Ms-PoE are named, for example, "ms-poe(...), least ratio"; keeps only the term.
  for (QString& term : terms) {
    const qsizetype end = term.indexOf(QStringLiteral("), "));
    if (end >= 0) term.truncate(end + 1);
  }
  terms.removeDuplicates();
  scheme_->addItems(terms);
  scheme_->setCurrentIndex(std::clamp(before, 0, std::max(scheme_->count() - 1, 0)));
}

const Record* PositionsPanel::FindRecord(const std::string& name) const {
  if (const Record* record = session()->record(Side::kA, name)) return record;
  for (const Record& record : records_) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

void PositionsPanel::Refresh(Changes changes) {
  if (changes & Change::kModel) {
    FollowModel();
    FollowLearned();
  }
  if (changes & (Change::kModel | Change::kPrompts)) Draw();
}

// Requests the learned positions of another model; their record is computed when the panel is
// visible.
void PositionsPanel::FollowLearned() {
  const std::optional<ModelSummary>& model = session()->model();
  const std::string learned_of = model && model->has_learned_positions ? model->path : "";
  if (learned_of == learned_of_) return;
  learned_of_ = learned_of;
  std::erase_if(records_, [](const Record& record) { return record.name == kLearnedRecord; });
  if (!learned_of_.empty()) Ask();
}

// Offers plots of learned positions only for models that have them.
void PositionsPanel::OfferPictures() {
  const bool has_learned = !learned_of_.empty() || FindRecord(kLearnedRecord) != nullptr;
  auto* items = qobject_cast<QStandardItemModel*>(picture_->model());
  for (int i = 0; i < picture_->count(); ++i) {
    const bool of_learned = Pictures()[static_cast<size_t>(i)].record == kLearnedRecord;
    items->item(i)->setEnabled(has_learned || !of_learned);
  }
}

void PositionsPanel::Draw() {
  OfferPictures();
  const Picture& picture = Pictures()[static_cast<size_t>(std::max(picture_->currentIndex(), 0))];
  const Record* record = FindRecord(picture.record);
  plot_->Show(record, ViewOf(picture, record, session()->prompt()));
}

std::string PositionsPanel::PositionsTerm() const {
  const OptionSet& size = size_->options();
  std::string term = "positions(sampler=" + sampler_->currentText().toStdString() +
                     ", factor=" + std::to_string(size.Integer("factor")) +
                     ", seed=" + std::to_string(size.Integer("seed"));
  const OptionSet& options = sampler_options_->options();
  for (const Parameter& parameter : options.descriptions()) {
    if (options.IsSet(parameter.name))
      term += ", " + parameter.name + "=" + ParameterText(options.Value(parameter.name));
  }
  return term + ")";
}

std::vector<Plot*> PositionsPanel::plots() const {
  if (plot_->lines() == 0) return {};
  return {plot_};
}

nlohmann::json PositionsPanel::State() const {
  if (!used_) return nullptr;
  return {{"picture", picture_->currentText().toStdString()},
          {"sampler", sampler_->currentText().toStdString()},
          {"size", nlohmann::json::parse(size_->options().ToJson())},
          {"options", nlohmann::json::parse(sampler_options_->options().ToJson())},
          {"rope", nlohmann::json::parse(rope_->options().ToJson())}};
}

void PositionsPanel::CheckState(const JsonFields& session) {
  if (session.Find(StateKey())) session.Inside(StateKey());  // checks that it is an object
}

// Options of a later version that cannot be read leave the form unchanged.
void PositionsPanel::Restore(const nlohmann::json& state) {
  if (!state.is_object()) return;
  used_ = true;
  const auto set = [&state](const char* key, ParameterForm* form) {
    if (!state.contains(key)) return;
    ErrorText([&] {
      OptionSet options(form->options().descriptions());
      options.FromJson(state.at(key).dump());
      form->SetOptions(options);
    });
  };
  sampler_->setCurrentText(QString::fromStdString(state.value("sampler", "cream")));
  set("size", size_);
  set("options", sampler_options_);
  set("rope", rope_);
  picture_->setCurrentText(QString::fromStdString(state.value("picture", "")));
}

void PositionsPanel::Render(FilePictures& pictures) {
  for (const Picture& picture : Pictures()) {
    for (const Record& record : pictures.records()) {
      if (record.name != picture.record) continue;
      LinesPlot plot;
      plot.Show(&record, ViewOf(picture, &record, nullptr));
      if (plot.lines() == 0) continue;
      pictures.Write(plot, QString::fromStdString(picture.record + "_" + picture.view.array));
    }
  }
}

}  // namespace midscope
