// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/channels/channel_search_panel.h"

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_fields.h"
#include "core/base/record.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/channels/channel_table.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/lines_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"
#include "probes/measure/channels/channel_options.h"
#include "probes/measure/channels/channel_validation.h"
#include "probes/measure/channels/prompt_channels.h"

namespace midscope {
namespace {

constexpr qint64 kSmoothestLayer = -2;
constexpr qint64 kAllLayers = -1;
constexpr int kWide = 10000;    // larger than any width, to be shared by the splitter
constexpr double kRemoved = 0;  // factor used for a channel that was not tried

// The layer of the curve that belongs to a choice.
int64_t LayerOf(const RankedChannel& channel, qint64 choice) {
  return choice == kSmoothestLayer ? channel.smoothest_layer : choice;
}

void ShowCurves(const Record& search, const RankedChannel& channel, int64_t layer,
                LinesPlot& plot) {
  const std::optional<Record> curves = ChannelCurves(search, channel.channel, layer);
  LinesPlot::View view;
  view.array = "hidden_mean";
  if (layer >= 0) view.fit = 1;
  plot.Show(curves ? &*curves : nullptr, view);
  if (!curves) return;
  plot.yAxis->setLabel(QObject::tr("mean of the channel"));
  plot.xAxis->setLabel(QObject::tr("position (tokens)"));
  plot.SetTitle(ChannelCurvesTitle(search, channel, layer));
}

}  // namespace

ChannelSearchPanel::ChannelSearchPanel(const PanelContext& context) : Panel(context) {
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  form_ = new ParameterForm(ChannelOptions(), tabs_, "channels_");
  form_->SetCheck(CheckChannelOptions);
  form_->SetLabels({{"seed", tr("random seed")},
                    {"variant", tr("definitions")},
                    {"preset", tr("sizes")},
                    {"prompts", tr("prompts of random text")},
                    {"tokens", tr("tokens in each")},
                    {"top", tr("candidates")},
                    {"ranking", tr("ranking rule")},
                    {"threshold", tr("least layers with a trend")},
                    {"trend-skip", tr("trend from position")},
                    {"smoothness-skip", tr("smoothness from position")},
                    {"smoothing", tr("smoothing window")},
                    {"validate", tr("then try them on")},
                    {"factors", tr("factors tried")},
                    {"layers", tr("in layers")},
                    {"places", tr("places of the answer")},
                    {"loss", tr("loss of an example")},
                    {"example-places", tr("places per example")},
                    {"control", tr("also channels by chance")}});
  form_->ShowFirst({"prompts", "tokens", "validate"});
  form_->SetApplies([](const std::string& name, const OptionSet& options) {
    return ValidationKind(options) != "none" || !IsOfTrials(name);
  });
  results_ = MakeResults();
  tabs_->addTab(MakeScrollArea(form_, tabs_), tr("Options"));
  tabs_->addTab(results_, tr("Ranking"));
  search_ = Named(new QPushButton(tr("Find position channels"), this), "channels_start",
                  tr("<p>Averages hidden states over prompts of random text and ranks the channels "
                     "that rise or "
                     "fall with position; then tries the first ones on examples. Cancel in the "
                     "status bar stops "
                     "it; what is done stays</p>"));
  rank_prompt_ = Named(
      new QPushButton(tr("Monotone channels of this prompt"), this), "channels_of_prompt",
      tr("<p>Ranks the channels of the shown prompt under A by the same rule, in one run; effects "
         "of the text are part of these numbers, too</p>"));
  put_on_knob_ = Named(new QPushButton(tr("Scale in B"), this), "channels_to_knob",
                       tr("<p>Scales the chosen channel in setting B: by the factor with the least "
                          "loss where it was "
                          "tried, else by that of B, 0 where B scales none</p>"));
  record_ = Named(new QComboBox(this), "channels_record");
  record_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  layer_ =
      Named(new QComboBox(this), "channels_layer", tr("After which layer the channel is drawn"));
  layer_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  FlowLayout* row = MakeControlFlow({search_, rank_prompt_, record_, layer_, put_on_knob_});
  LayOutPanel(this, tabs_)->addLayout(row);
  connect(search_, &QPushButton::clicked, this, &ChannelSearchPanel::Search);
  connect(form_, &ParameterForm::Changed, this, &ChannelSearchPanel::ShowCost);
  connect(rank_prompt_, &QPushButton::clicked, this, &ChannelSearchPanel::RankPrompt);
  connect(put_on_knob_, &QPushButton::clicked, this, &ChannelSearchPanel::PutOnKnob);
  connect(record_, &QComboBox::currentIndexChanged, this, [this] { FillTable(ShownRecord()); });
  connect(layer_, &QComboBox::currentIndexChanged, this, &ChannelSearchPanel::DrawCurves);
  FillTable(nullptr);
  ShowCost();
}

QWidget* ChannelSearchPanel::MakeResults() {
  auto* results = new QWidget(tabs_);
  auto* box = new QVBoxLayout(results);
  box->setContentsMargins(0, 3, 0, 0);
  box->setSpacing(3);
  note_ = Named(new QLabel(results), "channels_note");
  note_->setWordWrap(true);
  note_->setContentsMargins(8, 0, 8, 0);
  auto* splitter = new QSplitter(Qt::Vertical, results);  // a narrow panel has room for all columns
  box->addWidget(note_);
  box->addWidget(splitter, 1);
  table_ = new ChannelTable(splitter);
  connect(table_, &ChannelTable::ChosenChanged, this, [this] {
    OfferLayers();
    DrawCurves();
  });
  plot_ = Named(new LinesPlot(splitter, QStringLiteral("channel_search")), "channels_plot");
  splitter->addWidget(table_);
  splitter->addWidget(plot_);
  splitter->setChildrenCollapsible(false);
  splitter->setSizes({kWide, kWide});
  return results;
}

std::vector<std::string> ChannelSearchPanel::Records() {
  return {kChannelSearchRecord, kChannelValidationRecord, kPromptChannelsRecord};
}

nlohmann::json ChannelSearchPanel::State() const {
  nlohmann::json stated = nlohmann::json::parse(StatedJson(form_->options()));
  return stated.empty() ? nlohmann::json() : stated;
}

void ChannelSearchPanel::CheckState(const JsonFields& session) {
  if (session.Find(StateKey())) session.Inside(StateKey());  // checks that it is an object
}

// Ignores options of a later version that cannot be read.
void ChannelSearchPanel::Restore(const nlohmann::json& state) {
  OptionSet options(form_->options().descriptions());
  if (state.is_object()) ErrorText([&] { options.FromJson(state.dump()); });
  form_->SetOptions(options);
}

const Record* ChannelSearchPanel::ShownRecord() const {
  const std::string name = record_->currentData().toString().toStdString();
  return name.empty() ? nullptr : session()->record(Side::kA, name);
}

void ChannelSearchPanel::Search() {
  if (Try([this] { session()->SearchChannels({StatedJson(form_->Checked())}); }))
    ShowNext(kChannelSearchRecord);
}

void ChannelSearchPanel::RankPrompt() {
  if (Try([this] { session()->RankPromptChannels(StatedJson(form_->Checked())); }))
    ShowNext(kPromptChannelsRecord);
}

// Shows the record of this name as soon as it arrives.
void ChannelSearchPanel::ShowNext(const char* name) {
  wanted_ = QString::fromLatin1(name);
  tabs_->setCurrentWidget(results_);
}

ChannelScaling ChannelSearchPanel::ScalingOf(const RankedChannel& channel) const {
  if (channel.trial) return channel.trial->scaling;
  const auto* present = session()->setting(Side::kB).Find<ChannelScaling>();
  ChannelScaling scaling;
  if (!present) {
    scaling.factor = kRemoved;
    scaling.layers = MiddleLayers(session()->model()->config.layers);
  } else {
    scaling = *present;
  }
  scaling.channel = channel.channel;
  return scaling;
}

void ChannelSearchPanel::PutOnKnob() {
  const RankedChannel* channel = table_->chosen();
  if (channel && session()->ready()) Q_EMIT ScalingOffered(ScalingOf(*channel), false);
}

void ChannelSearchPanel::Refresh(Changes changes) {
  if (changes & (Change::kModel | Change::kPrompts | Change::kMeans)) ShowCost();
  if (!(changes & (Change::kModel | Change::kPrompts | Change::kSampleFile | Change::kSettings |
                   Change::kChannels)))
    return;
  ShowState();
  if (changes & (Change::kModel | Change::kPrompts | Change::kSampleFile | Change::kChannels)) {
    DrawWhenShown();
  } else if (!waits()) {
    ShowOlder();  // a setting changes neither the ranking nor its curves
  }
}

void ChannelSearchPanel::Draw() {
  OfferRecords();
  FillTable(ShownRecord());
}

void ChannelSearchPanel::OfferRecords() {
  const QSignalBlocker blocker(record_);
  const QString shown = record_->currentData().toString();
  record_->clear();
  for (const auto& [name, text] : {std::pair(kChannelSearchRecord, tr("of the search")),
                                   std::pair(kPromptChannelsRecord, tr("of this prompt"))}) {
    if (session()->record(Side::kA, name)) record_->addItem(text, QString::fromLatin1(name));
  }
  record_->setVisible(record_->count() > 1);
  int next = record_->findData(shown);
  if (const int wanted = wanted_.isEmpty() ? -1 : record_->findData(wanted_); wanted >= 0) {
    next = wanted;
    wanted_.clear();
    const QSignalBlocker quiet(table_);
    table_->clearSelection();  // so that the first row is chosen
  }
  record_->setCurrentIndex(std::max(next, record_->count() > 0 ? 0 : -1));
}

void ChannelSearchPanel::FillTable(const Record* record) {
  const bool searched = record && record->name == kChannelSearchRecord;
  const Record* validation =
      searched ? session()->record(Side::kA, kChannelValidationRecord) : nullptr;
  table_->Show(record ? RankedChannels(*record, validation) : QVector<RankedChannel>(),
               validation != nullptr);
  ShowState();
  OfferLayers();
  DrawCurves();
}

void ChannelSearchPanel::OfferLayers() {
  const QSignalBlocker blocker(layer_);
  const QVariant before = layer_->currentData();
  layer_->clear();
  const Record* record = ShownRecord();
  const RankedChannel* channel = table_->chosen();
  layer_->setVisible(record && channel && channel->has_curves);
  if (!record || !channel) return;
  layer_->addItem(tr("smoothest layer"), kSmoothestLayer);
  layer_->addItem(tr("all layers"), kAllLayers);
  for (const double layer : AxisValues(*record, "layer"))
    layer_->addItem(tr("layer %1").arg(layer), static_cast<qint64>(layer));
  layer_->setCurrentIndex(std::max(0, layer_->findData(before)));
}

void ChannelSearchPanel::DrawCurves() {
  const Record* record = ShownRecord();
  const RankedChannel* channel = table_->chosen();
  put_on_knob_->setEnabled(channel && session()->ready());
  if (!record) {
    plot_->SetReason(session()->shows_file() ? tr("The file has no search for channels")
                     : session()->searches()
                         ? tr("The first ranking appears here after one prompt")
                         : tr("No search yet. Choose options, then find position channels"));
  } else if (!channel) {
    plot_->SetReason(IsPreliminary(*record)
                         ? tr("No channel is over the threshold so far")
                         : tr("No channel is over the threshold: set a lower one"));
  } else {
    plot_->SetReason(tr("Curves are of the first %1 channels: set top higher")
                         .arg(AxisSize(*record, "candidate")));
  }
  if (!record || !channel || !channel->has_curves) {
    plot_->Show(nullptr, {});
    return;
  }
  ShowCurves(*record, *channel, LayerOf(*channel, layer_->currentData().toLongLong()), *plot_);
  ShowOlder();
}

// Hatches the curves of a prompt that was ranked under another setting A.
void ChannelSearchPanel::ShowOlder() {
  const Record* record = ShownRecord();
  if (!record) return;
  const bool of_prompt = record->name == kPromptChannelsRecord;
  const RecordName name = NameOf(*session(), Side::kA, record);
  plot_->SetOlderNote(of_prompt && name.older ? name.text : QString());
  plot_->SetCaption(of_prompt ? CaptionWith(*session(), {name})
                              : PromptRequestCaption(session()->provenance(), nullptr) +
                                    QStringLiteral("; ") + ChannelsSummary(*record));
}

QString ChannelSearchPanel::SearchText(const Record& record) const {
  QString text = ChannelsSummary(record);
  if (record.name != kChannelSearchRecord) return text;
  const Record* validation = session()->record(Side::kA, kChannelValidationRecord);
  if (!validation) return text;
  if (const int64_t planned = IntegerAttribute(*validation, kPlannedExamples, 0))
    return text + tr(". Preliminary losses: %1 of %2 examples")
                      .arg(IntegerAttribute(*validation, "examples", 0))
                      .arg(planned);
  return text + (IntegerAttribute(*validation, "chosen", -1) < 0
                     ? tr(". No candidate beats none")
                     : tr(". Least loss: %1").arg(TextAttribute(*validation, "setting")));
}

// The time is that of the search, without the trials after it, by the tokens of the shown prompt.
void ChannelSearchPanel::ShowCost() {
  const OptionSet& options = form_->options();
  const int64_t prompts =
      options.IsSet("prompts") ? options.Integer("prompts") : ReadPreset(options).prompts;
  std::optional<double> seconds = session()->prompt_seconds();
  if (seconds && session()->prompt()) {
    const int64_t tokens = std::max<int64_t>(AxisSize(*session()->prompt(), "token"), 1);
    *seconds *=
        static_cast<double>(prompts * options.Integer("tokens")) / static_cast<double>(tokens);
  }
  const QString text =
      WithCost(tr("Find position channels"), tr("%1 prompts").arg(prompts), seconds);
  search_->setText(ValidationKind(options) == "none" ? text : tr("%1, then trials").arg(text));
}

void ChannelSearchPanel::ShowState() {
  search_->setEnabled(session()->ready());
  rank_prompt_->setEnabled(session()->ready());
  const Record* record = ShownRecord();
  QString text = record ? SearchText(*record) : QString();
  const bool ranked = record && record->name == kChannelSearchRecord;
  if (session()->searches()) {
    text += text.isEmpty() ? QString() : QStringLiteral(". ");
    text += !ranked                  ? tr("Searching")
            : IsPreliminary(*record) ? tr("Rows change until all prompts are read")
                                     : tr("Trials go on; the ranking stays if you cancel");
  }
  note_->setText(text);
  note_->setVisible(!text.isEmpty());
}

std::vector<Plot*> ChannelSearchPanel::plots() const {
  const RankedChannel* channel = table_->chosen();
  if (!channel || !channel->has_curves) return {};
  return {plot_};
}

void ChannelSearchPanel::Render(FilePictures& pictures) {
  for (const Record& record : pictures.records()) {
    if (record.name != kChannelSearchRecord && record.name != kPromptChannelsRecord) continue;
    const Record* validation = FindRecord(pictures.records(), kChannelValidationRecord);
    const QVector<RankedChannel> ranked = RankedChannels(record, validation);
    if (ranked.isEmpty()) continue;
    const int64_t wanted = pictures.request().channel.value_or(ranked.front().channel);
    for (const RankedChannel& channel : ranked) {
      if (channel.channel != wanted || !channel.has_curves) continue;
      LinesPlot plot;
      ShowCurves(record, channel, channel.smoothest_layer, plot);
      pictures.Write(plot,
                     QStringLiteral("%1_%2").arg(QString::fromStdString(record.name)).arg(wanted),
                     {&record, nullptr});
    }
  }
}

}  // namespace midscope
