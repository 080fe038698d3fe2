// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/scan_panel.h"

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTabWidget>
#include <algorithm>
#include <utility>

#include "core/base/parameter.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/intervention/passage.h"
#include "core/plan/plan_changes.h"
#include "core/terms/intervention_text.h"
#include "gui/base/display_text.h"
#include "gui/base/prompt_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/record_plot.h"
#include "gui/session/command_arguments.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"
#include "gui/widgets/term_cards.h"
#include "probes/measure/scan/scan_kind.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/scan_effects.h"
#include "probes/sweep/sweep_cost.h"

namespace midscope {
namespace {

constexpr qsizetype kMostBars = 24;

std::vector<Parameter> FormParameters() {
  std::vector<Parameter> parameters = ScanParameters();
  parameters.push_back(PlacesOption("", "default: those of the prompt"));
  parameters.push_back(
      WholeNumberParameter("samples", "of the task, from sample 0 on", 1, 100000, 5));
  return parameters;
}

ScanRequest RequestOf(const OptionSet& options) {
  ScanRequest request;
  request.over = options.Text("over");
  request.term = options.Text("with");
  request.range = ReadScanRange(options);
  request.places = options.Text("places");
  request.samples = options.Integer("samples");
  return request;
}

// Whether the field applies to a scan of that kind.
bool AppliesToKind(const std::string& name, const OptionSet& options) {
  const auto has = [&name](const ScanKind& kind) {
    return std::find(kind.options.begin(), kind.options.end(), name) != kind.options.end();
  };
  return std::none_of(ScanKinds().begin(), ScanKinds().end(), has) ||
         has(FindScanKind(options.Text("over")));
}

Prompt WithPassagesOf(const Record& shown) {
  Prompt prompt;
  prompt.ids.resize(static_cast<size_t>(AxisSize(shown, "token")));
  const PromptText text = ReadPromptText(&shown);
  std::vector<TokenSpan> spans = text.pieces;
  spans.push_back(text.gold);
  for (const TokenSpan& span : spans) {
    if (!span.name.empty()) prompt.spans.push_back({span.name, 0, 0, span.begin, span.end});
  }
  return prompt;
}

// The time of an item's run relative to that of the whole shown prompt, by the rows that it
// changes, as in the estimate of the command line: the mean over some of the items.
double ShareOfRun(const Scan& scan, const Record& shown, const ModelConfig& config) {
  constexpr size_t kItemsLookedAt = 16;
  const Prompt prompt = WithPassagesOf(shown);
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  const int64_t behind = std::max<int64_t>(AxisSize(shown, "answer_token"), 1);
  const auto plans_of = [&](const std::string& setting) {
    return CompilePlans(ResolvePassages(ParseIntervention(setting), prompt), config, tokens,
                        tokens + behind - 1);
  };
  const std::vector<std::string> settings = ScanSettings(scan);
  const std::vector<AttentionPlan> before = plans_of(settings.front());
  const size_t step = scan.items.size() / kItemsLookedAt + 1;
  double sum = 0;
  double count = 0;
  for (size_t i = 1; i < settings.size(); i += step) {
    const std::vector<int64_t> changed = FirstChangedRows(before, plans_of(settings[i]));
    sum += TokensOfRun(ShareOfRows(changed, tokens), tokens, behind);
    ++count;
  }
  return sum / count / static_cast<double>(tokens);
}

// The default terms of all kinds of scan, and patches of heads' outputs.
QStringList OfferedTerms() {
  QStringList terms;
  for (const ScanKind& kind : ScanKinds()) terms << QString::fromStdString(kind.term);
  return terms << QStringLiteral("patch(from=place:1, what=z, span=last, heads={head})");
}

// The heads by their position-awareness score, largest first: a cheap guess at which heads matter,
// so that a scan of a large model shows these early.
std::vector<std::string> HeadsByScore(const Record* scores) {
  std::vector<std::pair<double, std::string>> heads;
  if (!scores || !HasArray(*scores, kPositionAwarenessScore, {"layer", "head"})) return {};
  for (int64_t layer = 0; layer < AxisSize(*scores, "layer"); ++layer) {
    for (int64_t head = 0; head < AxisSize(*scores, "head"); ++head) {
      heads.emplace_back(ValueAt(*scores, kPositionAwarenessScore, {layer, head}),
                         HeadText({layer, head}).toStdString());
    }
  }
  std::stable_sort(heads.begin(), heads.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> ids;
  ids.reserve(heads.size());
  for (auto& [score, id] : heads) ids.push_back(std::move(id));
  return ids;
}

// Two axes of items and the place.
bool HasGrid(const Record& record) { return record.axes.size() == 3; }

void ShowLargest(const Record& record, const ScanView& view, BarPlot& plot) {
  plot.Show(LargestItems(record, view, kMostBars), ScanValueName(view));
  plot.SetTitle(ScanTitle(record, view));
}

// Shows an empty map for items of one axis.
void ShowMap(const Record& record, const ScanView& view, RecordPlot& plot) {
  const Record grid = GridOfView(record, view);
  plot.Show(HasGrid(record) ? &grid : nullptr, grid.arrays.front().name, {}, RecordForm::kHeatMap);
  plot.SetTitle(ScanTitle(record, view));
}

}  // namespace

ScanPanel::ScanPanel(const PanelContext& context) : Panel(context) {
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  form_ = new ParameterForm(FormParameters(), tabs_, "scan_");
  form_->SetLabels({{"over", tr("go over")},
                    {"with", tr("change of each")},
                    {"layers", tr("in layers")},
                    {"channels", tr("channels")},
                    {"pairs", tr("rotary pairs")},
                    {"span", tr("passages")},
                    {"places", tr("places of the answer")}});
  form_->ShowFirst({"over", "places", "samples"});
  form_->SetApplies(AppliesToKind);
  form_->SetCheck([](const OptionSet& options) { RequestOf(options); });
  form_->Offer("with", OfferedTerms());
  bars_ = new BarPlot(tabs_, QStringLiteral("scan_largest"));
  map_ = new RecordPlot(tabs_, QStringLiteral("scan_map"));
  tabs_->addTab(MakeScrollArea(form_, tabs_), tr("Options"));
  tabs_->addTab(bars_, tr("Largest"));
  tabs_->addTab(map_, tr("Map"));
  start_ = Named(
      new QPushButton(tr("Scan"), this), "scan_start",
      tr("<p>Runs the change of every item on samples of the task, on top of setting A and against "
         "it. Cancel in the status bar stops it; what is done stays</p>"));
  click_ =
      Named(new QComboBox(this), "scan_click",
            tr("<p>A click on an item makes B what the item was run under, or adds it to B</p>"));
  click_->addItems({tr("click: B is A and the item"), tr("click: add the item to B")});
  view_ = Named(new QComboBox(this), "scan_view", tr("Quantity of the scan that is shown"));
  view_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  view_->hide();
  note_ = Named(new QLabel(this), "scan_note");
  FlowLayout* row = MakeControlFlow({start_, view_, click_, note_});
  LayOutPanel(this, tabs_)->addLayout(row);
  connect(start_, &QPushButton::clicked, this, &ScanPanel::Start);
  connect(form_, &ParameterForm::Changed, this, &ScanPanel::ShowCost);
  connect(view_, &QComboBox::currentIndexChanged, this, [this] {
    new_view_.clear();
    Draw();
  });
  connect(bars_, &BarPlot::BarChosen, this,
          [this](qsizetype bar) { Offer(bars_->bars().value(bar).name); });
  connect(map_, &RecordPlot::CellChosen, this, [this](int64_t line, int64_t along) {
    if (const Record* record = ShownRecord()) Offer(ScanItemName(*record, {line, along}));
  });
  ShowState(ShownRecord());
  Draw();
}

std::vector<std::string> ScanPanel::Records() { return {kScanRecord}; }

const Record* ScanPanel::ShownRecord() const { return session()->record(Side::kA, kScanRecord); }

void ScanPanel::Start() {
  const bool started = Try([this] {
    ScanRequest request = RequestOf(form_->Checked());
    request.base = session()->setting(Side::kA);
    // Reports errors that depend on the model before anything is stopped.
    MakeScan(FindScanKind(request.over), request.term, request.range, session()->model()->config);
    if (request.over == "heads")
      request.first = HeadsByScore(session()->record(Side::kA, kPositionAwarenessRecord));
    session()->Scan(request);
  });
  if (!started) return;
  tabs_->setCurrentWidget(
      form_->options().Text("over") == "layer_spans" ? static_cast<QWidget*>(map_) : bars_);
}

void ScanPanel::Refresh(Changes changes) {
  if (changes & (Change::kModel | Change::kPrompts | Change::kSettings | Change::kMeans)) {
    cost_waits_ = true;
    if (DrawsAtOnce()) {
      ShowCost();
    } else {
      DrawWhenShown();
    }
  }
  if (!(changes & (Change::kModel | Change::kPrompts | Change::kSampleFile | Change::kScan)))
    return;
  ShowState(ShownRecord());  // updates the button even if the panel is hidden
  DrawWhenShown();
}

void ScanPanel::OfferViews(const Record* record) {
  std::vector<ScanView> views = ScanViews(record);
  if (views == views_) return;
  QStringList before;
  for (const ScanView& view : views_) before << view.name;
  views_ = std::move(views);
  const QSignalBlocker blocker(view_);
  // Views of shares arrive with the last sample and are inserted before the others; the shown view
  // stays.
  const QString shown = view_->currentText();
  view_->clear();
  for (const ScanView& view : views_) view_->addItem(view.name);
  const int kept = shown.isEmpty() ? -1 : view_->findText(shown);
  new_view_ = kept > 0 && before.value(0) != views_.front().name ? views_.front().name : QString();
  view_->setCurrentIndex(views_.empty() ? -1 : std::max(kept, 0));
  view_->setVisible(!views_.empty());
}

// The scan runs every prompt once, then a part of it for each item.
void ScanPanel::ShowCost() {
  cost_waits_ = false;
  QString text = tr("Scan");
  ErrorText([&] {
    if (!session()->ready() || !session()->prompt()) return;
    const ScanRequest request = RequestOf(form_->options());
    const ModelConfig& config = session()->model()->config;
    Scan scan = MakeScan(FindScanKind(request.over), request.term, request.range, config);
    scan.base = PrintIntervention(session()->setting(Side::kA));
    const int64_t prompts = request.samples * CountPlaces(*session(), request.places);
    const int64_t runs = prompts * static_cast<int64_t>(scan.items.size());
    const QString work = tr("%L1 runs").arg(runs);
    text = WithCost(text, work, std::nullopt);
    if (const std::optional<double> seconds = session()->prompt_seconds()) {
      const double share = ShareOfRun(scan, *session()->prompt(), config);
      text =
          WithCost(tr("Scan"), work,
                   *seconds * (static_cast<double>(prompts) + share * static_cast<double>(runs)));
    }
  });
  start_->setText(text);
}

void ScanPanel::ShowState(const Record* record) {
  start_->setEnabled(session()->ready());
  click_->setVisible(record && session()->ready());
  if (!record) {
    note_->setText(session()->scans() ? tr("starts") : QString());
    return;
  }
  const int64_t samples = IntegerAttribute(*record, "samples", 0);
  QString text = QString::fromStdString(CountText(samples, "sample"));
  if (IntegerAttribute(*record, "complete", 1) == 0)
    text += session()->scans() ? tr(" so far") : tr(" so far, stopped; Scan continues");
  if (!new_view_.isEmpty()) text += tr(" · new view: %1").arg(new_view_);
  note_->setText(text);
}

void ScanPanel::Draw() {
  if (cost_waits_) ShowCost();
  const Record* record = ShownRecord();
  OfferViews(record);
  ShowState(record);
  const QString reason = session()->shows_file()
                             ? tr("The file has no scan")
                             : tr("No scan yet. Choose options, then press Scan");
  bars_->SetReason(reason);
  map_->SetReason(record && !HasGrid(*record) ? tr("One axis: see Largest") : reason);
  if (!record || views_.empty()) {
    bars_->Show({}, QString());
    map_->Show(nullptr, "", {}, RecordForm::kHeatMap);
    return;
  }
  const ScanView& view = views_[static_cast<size_t>(std::max(view_->currentIndex(), 0))];
  ShowLargest(*record, view, *bars_);
  ShowMap(*record, view, *map_);
  const QString caption =
      CaptionWith(*session(), {}) + QStringLiteral("; ") +
      QString::fromStdString(CountText(IntegerAttribute(*record, "samples", 0), "sample"));
  bars_->SetCaption(caption);
  map_->SetCaption(caption);
}

void ScanPanel::Offer(const QString& item) {
  const Record* record = ShownRecord();
  if (!record || !session()->ready()) return;
  ScanRange range;
  for (const QString& span : AxisLabels(*record, "span")) range.spans.push_back(span.toStdString());
  const Scan scan =
      MakeScan(FindScanKind(TextAttribute(*record, "over").toStdString()),
               TextAttribute(*record, "with").toStdString(), range, session()->model()->config);
  const bool adds = click_->currentIndex() == 1;
  Try([&] {
    const std::string base = TextAttribute(*record, "base").toStdString();
    const Intervention before =
        adds ? session()->setting(Side::kB) : ParseIntervention(base.empty() ? "none" : base);
    for (const ScanItem& one : scan.items) {
      if (one.id != item.toStdString()) continue;
      Q_EMIT SettingOffered(
          QString::fromStdString(PrintIntervention(WithOneMore(before, TermOf(scan, one)))));
    }
  });
}

std::vector<Plot*> ScanPanel::plots() const {
  const Record* record = ShownRecord();
  if (!record) return {};
  std::vector<Plot*> plots = {bars_};
  // Scans over heads are drawn in the head map.
  if (HasGrid(*record) && !IsHeadScan(record)) plots.push_back(map_);
  return plots;
}

void ScanPanel::Render(FilePictures& pictures) {
  for (const Record& record : pictures.records()) {
    // Scans over heads are drawn in the head map.
    if (record.name != kScanRecord || IsHeadScan(&record)) continue;
    for (const ScanView& view : ScanViews(&record)) {
      if (view.place >= 0) continue;
      const QString stem = QStringLiteral("scan_") + QString::fromStdString(view.array);
      BarPlot bars;
      ShowLargest(record, view, bars);
      pictures.Write(bars, stem + QStringLiteral("_largest"), {&record, nullptr});
      if (!HasGrid(record)) continue;
      RecordPlot map;
      ShowMap(record, view, map);
      pictures.Write(map, stem, {&record, nullptr});
    }
  }
}

}  // namespace midscope
