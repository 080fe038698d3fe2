// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/head_map/head_map_panel.h"

#include <QAction>
#include <QBoxLayout>
#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QLabel>
#include <QResizeEvent>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "core/base/json_fields.h"
#include "core/base/record_names.h"
#include "gui/base/display_text.h"
#include "gui/panels/head_map/head_list.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/probe_form.h"
#include "gui/widgets/selection.h"

namespace midscope {
namespace {

constexpr int kNarrowestMap = 150;
constexpr int kLowestMap = 150;

nlohmann::json ColoursJson(const HeadMapPanel::ColourRanges& ranges) {
  nlohmann::json colours = nlohmann::json::object();
  for (const auto& [id, range] : ranges) colours[id] = {range.first, range.second};
  return colours;
}

// Returns nullopt if the JSON is not a list of ranges.
std::optional<HeadMapPanel::ColourRanges> ReadColours(const nlohmann::json& colours) {
  if (!colours.is_object()) return std::nullopt;
  HeadMapPanel::ColourRanges ranges;
  for (const auto& [id, range] : colours.items()) {
    const bool numbers = range.is_array() && range.size() == 2 && range[0].is_number() &&
                         range[1].is_number() && range[0].get<double>() < range[1].get<double>();
    if (!numbers) return std::nullopt;
    ranges[id] = {range[0].get<double>(), range[1].get<double>()};
  }
  return ranges;
}

std::vector<HeadId> ReadHeads(const nlohmann::json& list) {
  std::vector<HeadId> heads;
  for (const nlohmann::json& head : list) {
    heads.push_back(ReadHeadId(QString::fromStdString(head.get<std::string>())));
  }
  return heads;
}

}  // namespace

HeadMapPanel::HeadMapPanel(const PanelContext& context) : Panel(context) {
  MakeMaps();
  quantity_ = Named(new QComboBox(this), "map_quantity");
  quantity_->setAccessibleName(tr("What the map of heads shows"));
  quantity_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  quantity_->setMinimumContentsLength(16);
  note_ = Named(new QLabel(this), "map_note",
                tr("<p>Click a cell, or use the arrow keys (up: next layer), to choose a head; "
                   "Ctrl+click, or "
                   "the space bar, pins it; the pointer previews a head in the other panels</p>"));
  list_shown_ =
      Named(new QToolButton(this), "map_list_shown", tr("The heads as a list that can be sorted"));
  list_shown_->setText(tr("List of heads"));
  list_shown_->setCheckable(true);
  connect(list_shown_, &QToolButton::toggled, list_, &QWidget::setVisible);
  connect(list_shown_, &QToolButton::toggled, this, &HeadMapPanel::Draw);
  over_samples_ = Named(
      new QCheckBox(tr("Mean over samples"), this), "map_over_samples",
      tr("<p>Measures every head over samples of the task at all places: attention on the gold, "
         "position-awareness score, share in the answer's logit. Number of samples: as in "
         "<i>Outcome by place</i></p>"));
  connect(over_samples_, &QCheckBox::clicked, this, &HeadMapPanel::MeasureSamples);
  MakePainter();
  QHBoxLayout* head = MakeControlRow({quantity_, edits_});
  FlowLayout* row = MakeControlFlow({over_samples_, list_shown_, grouped_});
  auto* sides = new QSplitter(Qt::Horizontal, this);
  auto* left = new QWidget(sides);
  left->setLayout(maps_);
  left->installEventFilter(this);
  sides->addWidget(left);
  sides->addWidget(list_);
  sides->setStretchFactor(0, 1);
  auto* view = new QWidget(this);
  auto* column = WithoutMargins(new QVBoxLayout(view));
  column->setSpacing(0);
  column->addWidget(sides, 1);
  // One line that is always there, so that the maps keep their size.
  note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  note_->setFixedHeight(note_->fontMetrics().lineSpacing());
  column->addWidget(note_);
  LayOut(view, head, row);
  connect(quantity_, &QComboBox::currentIndexChanged, this, [this] {
    wanted_ = entry().id;
    if (wanted_ == kEffectiveGoldId && !session()->record(Side::kA, kEffectiveAttention)) {
      session()->SetProbeOptions(WithProbe(session()->probe_options(), kEffectiveAttention));
    }
    Draw();
  });
  connect(selection(), &Selection::CompareChanged, this, &HeadMapPanel::Draw);
  connect(selection(), &Selection::RangeChanged, this, [this] {
    if (entry().attention) Draw();
  });
  MakeActions();
  Offer();
  Draw();
}

void HeadMapPanel::MakeMaps() {
  plot_ = new HeadMapPlot(this);
  plot_b_ = new HeadMapPlot(this, QStringLiteral("head_map_b"));
  plot_difference_ = new HeadMapPlot(this, QStringLiteral("head_map_difference"));
  maps_ = new QBoxLayout(QBoxLayout::LeftToRight);
  maps_->setContentsMargins(0, 0, 0, 0);
  maps_->setSpacing(0);
  list_ = new HeadList(selection(), this);
  list_->hide();
  for (HeadMapPlot* plot : {plot_, plot_b_, plot_difference_}) {
    maps_->addWidget(plot, 1);
    plot->setMinimumSize(kNarrowestMap, 100);
    connect(plot, &HeadMapPlot::HeadChosen, selection(), &Selection::Choose);
    connect(plot, &HeadMapPlot::PinRequested, selection(), &Selection::TogglePin);
    connect(plot, &HeadMapPlot::HeadHovered, selection(), &Selection::PreviewHead);
    connect(plot, &HeadMapPlot::ColoursChosen, this, [this, plot](std::optional<QCPRange> range) {
      const bool difference = plot == plot_difference_ || drawn_mode() == Compare::kDifference;
      std::optional<std::pair<double, double>> chosen;
      if (range) chosen = {range->lower, range->upper};
      SetColours(chosen, difference);
    });
    connect(plot, &Plot::ReleaseRequested, selection(), &Selection::Release);
    connect(selection(), &Selection::HeadChanged, plot, &HeadMapPlot::SelectHead);
    connect(selection(), &Selection::PinsChanged, plot,
            [this, plot] { plot->SetPinned(selection()->pinned()); });
  }
  plot_b_->hide();
  plot_difference_->hide();
}

std::vector<std::string> HeadMapPanel::Records() { return {kPositionAwarenessRecord}; }

std::vector<Plot*> HeadMapPanel::plots() const {
  std::vector<Plot*> shown = {plot_};
  for (HeadMapPlot* plot : {plot_b_, plot_difference_}) {
    if (!plot->isHidden()) shown.push_back(plot);
  }
  return shown;
}

void HeadMapPanel::MakeActions() {
  // Shortcuts of a single letter work only while the map has the focus; elsewhere, letters are text
  // input.
  const auto add = [this](const char* id, const QString& title, const QString& help,
                          const QKeySequence& key) {
    auto* action = Named(new QAction(title, this), id, help);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(action);
    return action;
  };
  const std::pair<Compare, QKeySequence> modes[] = {{Compare::kA, Qt::Key_A},
                                                    {Compare::kB, Qt::Key_B},
                                                    {Compare::kDifference, Qt::Key_D},
                                                    {Compare::kSplit, Qt::Key_S}};
  const QString names[] = {tr("Show &A"), tr("Show &B"), tr("Show the &difference B − A"),
                           tr("&Show A and B")};
  const char* const ids[] = {"compare-a", "compare-b", "compare-difference", "compare-split"};
  for (size_t i = 0; i < std::size(modes); ++i) {
    QAction* action =
        add(ids[i], names[i], tr("What every panel shows: A, B, their difference, or both"),
            modes[i].second);
    const Compare mode = modes[i].first;
    connect(action, &QAction::triggered, this, [this, mode] { SetMode(mode); });
  }
  QAction* flicker = add(
      "compare-flicker", tr("Blin&k A and B"),
      tr("Shows A and B by turns in every panel, so that the eye finds what differs"), Qt::Key_T);
  flicker->setCheckable(true);
  connect(flicker, &QAction::triggered, selection(), &Selection::SetFlicker);
  connect(selection(), &Selection::FlickerChanged, flicker, &QAction::setChecked);
  QAction* means = add("heads-over-samples", tr("Mean of heads over samp&les"),
                       tr("Measures every head over samples of the task, or stops it"), {});
  connect(means, &QAction::triggered, over_samples_, &QCheckBox::click);
  square_ = add("square-cells", tr("S&quare cells of the map"),
                tr("Cells of the map of heads are as high as wide"), {});
  square_->setCheckable(true);
  connect(square_, &QAction::toggled, this, [this](bool square) {
    for (HeadMapPlot* plot : {plot_, plot_b_, plot_difference_}) plot->SetSquare(square);
  });
}

nlohmann::json HeadMapPanel::State() const {
  nlohmann::json state = {{"quantity", wanted_},
                          {"list", list_shown_->isChecked()},
                          {"compare", static_cast<int>(selection()->lasting_compare())},
                          {"square", square_->isChecked()},
                          {"colours", ColoursJson(colours_)},
                          {"pinned", nlohmann::json::array()}};
  for (const PinnedHead& pin : selection()->pinned()) {
    state["pinned"].push_back(HeadText(pin.head).toStdString());
  }
  return state;
}

void HeadMapPanel::CheckState(const JsonFields& session) {
  if (!session.Find(StateKey())) return;
  const JsonFields state = session.Inside(StateKey());
  state.FindText("quantity");
  state.Flag("list", false);
  state.Flag("square", false);
  if (const nlohmann::json* colours = state.Find("colours")) {
    if (!ReadColours(*colours)) state.Fail("has 'colours' that are not ranges");
  }
  if (state.Whole("compare", 0, 0) > static_cast<int64_t>(Compare::kSplit)) {
    state.Fail("has a 'compare' beyond 3");
  }
  if (!state.Find("pinned")) return;
  for (const nlohmann::json& head : state.Array("pinned")) {
    if (!head.is_string()) state.Fail("has a pinned head that is not a string");
  }
  try {
    ReadHeads(state.Array("pinned"));
  } catch (const Error& error) {
    throw UsageError(session.thing(), error.what());
  }
}

// Entries that are missing in the file get the values of a new window.
void HeadMapPanel::Restore(const nlohmann::json& saved) {
  const nlohmann::json state = saved.is_null() ? nlohmann::json::object() : saved;
  ChooseQuantity(state.value("quantity", std::string(kScoreId)));
  list_shown_->setChecked(state.value("list", false));
  square_->setChecked(state.value("square", false));
  colours_ = ReadColours(state.value("colours", nlohmann::json::object())).value_or(ColourRanges());
  selection()->SetCompare(
      static_cast<Compare>(state.value("compare", static_cast<int>(Compare::kSplit))));
  selection()->SetPinned(ReadHeads(state.value("pinned", nlohmann::json::array())));
}

void HeadMapPanel::SetMode(Compare mode) { selection()->SetCompare(mode); }

Compare HeadMapPanel::drawn_mode() const {
  Compare wanted = selection()->compare();
  if (wanted == Compare::kDifference && session()->differs() && !WhyNoDifference().isEmpty())
    wanted = Compare::kSplit;
  const bool split = wanted == Compare::kSplit;
  return session()->differs() && (!split || room_ > 1) ? wanted : Compare::kA;
}

void HeadMapPanel::Refresh(Changes changes) {
  bool draw = false;
  if (changes & (Change::kModel | Change::kPrompts | Change::kMeans)) {
    over_samples_->setEnabled(session()->ready());
    over_samples_->setChecked(session()->sample_probes_wanted());
  }
  if (changes & (Change::kModel | Change::kSampleFile | Change::kScan | Change::kPrompts |
                 Change::kMapRecords | Change::kCaptureRecords)) {
    draw = Offer();
  }
  const Entry& shown = entry();
  if (shown.scan) draw = draw || (changes & Change::kScan);
  // Attention arrives with every what-if, the score with the map records; other quantities may be
  // in any record.
  const Changes of_shown = shown.attention        ? Changes(Change::kWhatIfRecords)
                           : shown.id == kScoreId ? Changes(Change::kMapRecords)
                                                  : kRecordChanges;
  if (draw || changes & (Change::kModel | Change::kPrompts | Change::kSettings) ||
      changes & of_shown) {
    Draw();
  }
}

// Shows A, B and, if there is room, the difference in a row, or below each other if the panel is
// higher than wide.
void HeadMapPanel::ShowBeside(bool shown) {
  plot_b_->setVisible(shown);
  plot_difference_->setVisible(shown && room_ > 2 && WhyNoDifference().isEmpty());
  plot_->ShowScale(!shown);
  // The first map shows the axis name; the quantity is in the title.
  for (HeadMapPlot* plot : {plot_, plot_b_, plot_difference_}) plot->ShowScaleLabel(!shown);
  const bool row = maps_->direction() == QBoxLayout::LeftToRight;
  for (HeadMapPlot* plot : {plot_b_, plot_difference_}) {
    plot->yAxis->setLabel(row ? QString() : plot_->yAxis->label());
  }
  // Maps with a colour scale get more width.
  maps_->setStretch(0, row ? 3 : 1);
  maps_->setStretch(1, row ? 4 : 1);
  maps_->setStretch(2, row ? 4 : 1);
}

// Uses the size of the maps, not of the panel, because the list and the controls also change it.
bool HeadMapPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == maps_->parentWidget() && event->type() == QEvent::Resize) {
    const QSize size = static_cast<QResizeEvent*>(event)->size();
    const bool row = size.width() >= 2 * kNarrowestMap;
    maps_->setDirection(row ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    const int room = row ? size.width() / kNarrowestMap : size.height() / kLowestMap;
    if (std::exchange(room_, room) != room) Draw();
  }
  return Panel::eventFilter(watched, event);
}

void HeadMapPanel::RefreshNote(const Entry& entry, Compare drawn) {
  QString note;
  if (!session()->differs() && selection()->compare() != Compare::kSplit &&
      selection()->compare() != Compare::kA) {
    note = tr("B is the same as A: A is shown");
  } else if (session()->differs() && drawn == Compare::kA) {
    note = selection()->compare() == Compare::kSplit ? tr("no room for A | B: A is shown")
                                                     : tr("A is shown, B differs");
  }
  const QString why = session()->differs() ? WhyNoDifference() : QString();
  if (!why.isEmpty() && drawn != Compare::kA && drawn != Compare::kB)
    note = tr("no B − A: %1").arg(why);
  const QString of_samples = SamplesNote(entry);
  if (!of_samples.isEmpty())
    note = of_samples + (note.isEmpty() ? note : QStringLiteral("; ") + note);
  const bool selection_needed = entry.attention && entry.id == "selection";
  if (selection_needed && selection()->range().empty()) {
    note = tr("select tokens: Shift+drag in a plot, or drag in the text");
  }
  if (ShowsRatios() && drawn != Compare::kDifference && why.isEmpty()) note = PaintingNote();
  note_->setText(note);
}

}  // namespace midscope
