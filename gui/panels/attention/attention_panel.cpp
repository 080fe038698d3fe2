// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/attention/attention_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/base/record_names.h"
#include "gui/base/display_text.h"
#include "gui/base/head_quantities.h"
#include "gui/base/record_access.h"
#include "gui/panels/attention/attention_places.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/attention_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"

namespace midscope {
namespace {

// Whether the session shows a model's prompt with several places.
bool HasPlaces(const Session& session) {
  return session.prompts().size() > 1 && !session.shows_file();
}

// `token`: the query, unless it is the last one.
QString TitleOf(const QString& row, std::optional<int64_t> token = {}) {
  return token ? QObject::tr("Attention of token %1 — %2").arg(*token).arg(row)
               : QObject::tr("Attention of the last query — %1").arg(row);
}

}  // namespace

AttentionPanel::AttentionPanel(const PanelContext& context) : Panel(context) {
  auto* view = new QWidget(this);
  column_ = WithoutMargins(new QVBoxLayout(view));
  column_->setSpacing(0);
  plot_ = MakePlot(column_);
  plot_->setMinimumHeight(kAttentionHeight + 2 * fontMetrics().lineSpacing());  // labels of axes
  connect(plot_, &QCustomPlot::afterLayout, this, [this] {
    for (AttentionPlot* plot : stacked_) plot->SetLeft(plot_->axisRect()->left());
  });
  MakeStack();
  MakeControls();
  QHBoxLayout* head = MakeControlRow({sums_, walk_places_, pinned_form_});
  FlowLayout* row = MakeControlFlow();
  row->AddLabelled(tr("layer"), layer_box_);
  row->AddLabelled(tr("head"), head_box_);
  row->addWidget(row_of_);
  row->addWidget(logarithmic_);
  row->addWidget(linked_);
  LayOut(view, head, row);
  connect(selection(), &Selection::ShownHeadChanged, this, &AttentionPanel::ShowHead);
  connect(selection(), &Selection::PinsChanged, this, &AttentionPanel::ShowHead);
  connect(selection(), &Selection::CompareChanged, this, &AttentionPanel::Draw);
  connect(selection(), &Selection::TokenChanged, this, [this](qint64 token) {
    for (AttentionPlot* plot : all_plots()) plot->SetMarkedKey(token);
  });
  connect(selection(), &Selection::RangeChanged, this, [this] {
    for (AttentionPlot* plot : all_plots()) plot->SetRange(selection()->range());
    ShowSums();
  });
  Draw();
}

void AttentionPanel::MakeControls() {
  layer_box_ = new QSpinBox(this);
  head_box_ = new QSpinBox(this);
  layer_box_->setObjectName(QStringLiteral("attention_layer"));
  head_box_->setObjectName(QStringLiteral("attention_head"));
  layer_box_->setToolTip(tr("Layer, zero-based"));
  head_box_->setToolTip(tr("Query head, zero-based"));
  logarithmic_ = new QCheckBox(tr("logarithmic"), this);
  logarithmic_->setToolTip(
      tr("The first token often takes most of the attention: a logarithmic "
         "axis shows the rest"));
  linked_ = Named(new QCheckBox(tr("link tokens"), this), "link_tokens",
                  tr("Zooming along the tokens zooms the hidden channel, too, and back"));
  linked_->setChecked(selection()->linked());
  row_of_ = Named(new QComboBox(this), "attention_row",
                  tr("The row of one head, or the mean over heads"));
  row_of_->addItems({tr("this head"), tr("mean of its layer"), tr("mean of its KV group")});
  pinned_form_ = Named(new QComboBox(this), "pinned_form");
  pinned_form_->addItems(
      {tr("pinned heads: overlaid"), tr("pinned heads: stacked"), tr("pinned heads: by place")});
  SetBeside(Beside::kPinnedBelow);
  pinned_form_->setToolTip(
      tr("Pinned heads in the same plot, or each in its own; or the chosen head at every place"));
  walk_places_ = Named(new QPushButton(this), "attention_places",
                       tr("Runs the places that have not been on the screen under these settings"));
  walk_places_->hide();
  connect(walk_places_, &QPushButton::clicked, this, &AttentionPanel::WalkPlaces);
  pinned_form_->hide();
  sums_ =
      Named(new QLabel(this), "attention_sums", tr("Sums of attention over the selected tokens"));
  const auto choose = [this] { selection()->Choose({layer_box_->value(), head_box_->value()}); };
  connect(layer_box_, &QSpinBox::valueChanged, this, choose);
  connect(head_box_, &QSpinBox::valueChanged, this, choose);
  connect(logarithmic_, &QCheckBox::toggled, this, [this](bool on) {
    for (AttentionPlot* plot : all_plots()) plot->SetLogarithmic(on);
  });
  connect(linked_, &QCheckBox::toggled, selection(), &Selection::SetLinked);
  connect(row_of_, &QComboBox::currentIndexChanged, this, &AttentionPanel::ShowHead);
  connect(pinned_form_, &QComboBox::currentIndexChanged, this, &AttentionPanel::Draw);
}

AttentionPlot* AttentionPanel::MakePlot(QVBoxLayout* column) {
  auto* plot = new AttentionPlot(this);
  column->addWidget(plot, 1);
  connect(plot, &AttentionPlot::KeyHovered, selection(), &Selection::HoverToken);
  connect(plot, &AttentionPlot::KeyClicked, selection(), &Selection::LockToken);
  connect(plot, &AttentionPlot::RangeBrushed, selection(), &Selection::SetRange);
  LinkTokenAxis(plot);
  return plot;
}

std::vector<AttentionPlot*> AttentionPanel::all_plots() const {
  std::vector<AttentionPlot*> all = {plot_};
  all.insert(all.end(), stacked_.begin(), stacked_.end());
  return all;
}

std::vector<std::string> AttentionPanel::Records() {
  return {kPromptRecord, kLastQueryAttention, kCountedKeys};
}

std::vector<Plot*> AttentionPanel::plots() const {
  std::vector<Plot*> all;
  for (AttentionPlot* plot : all_plots()) all.push_back(plot);
  return all;
}

// Stores the selected head only if a head is drawn.
nlohmann::json AttentionPanel::State() const {
  if (!session()->record(Side::kA, kLastQueryAttention)) return nullptr;
  return HeadText(selection()->head()).toStdString();
}

void AttentionPanel::CheckState(const JsonFields& session) {
  const auto head = session.FindText(StateKey());
  if (!head) return;
  try {
    ReadHeadId(QString::fromStdString(*head));
  } catch (const Error& error) {
    throw UsageError(session.thing(), error.what());
  }
}

void AttentionPanel::Restore(const nlohmann::json& state) {
  if (state.is_null()) return;
  selection()->Prefer(ReadHeadId(QString::fromStdString(state.get<std::string>())));
}

void AttentionPanel::ShowHead() {
  Draw();
  for (AttentionPlot* plot : all_plots()) plot->FitView();
}

// Other places and samples of a prompt keep the head, so that they can be compared.
void AttentionPanel::ReconsiderHead() {
  const auto& request = session()->shown_prompt_request();
  if (!request) return;
  const PromptKey key(request->task, request->text, request->gold_begin, request->gold_end);
  if (key != std::exchange(head_is_of_, key)) selection()->Reconsider();
}

void AttentionPanel::Refresh(Changes changes) {
  if (changes & Change::kPrompts) {
    ReconsiderHead();
    const bool places = beside() == Beside::kPlacesBelow;
    plot_->SetPrompt(session()->prompt());
    for (AttentionPlot* plot : stacked_) {
      if (!places) plot->SetPrompt(session()->prompt());
    }
  }
  if (changes & (Change::kPrompts | Change::kWhatIfRecords)) Draw();
  ContinueWalk();
}

QVector<double> AttentionPanel::ShownRow(const Record* record, HeadId head) const {
  return OnTokensOfA(*session(), record, RowOf(record, head), true);
}

QVector<double> AttentionPanel::RowOf(const Record* record, HeadId head) const {
  if (!record || row_of_->currentIndex() == 0) return AttentionRow(record, head);
  int64_t first = 0;
  int64_t count = AxisSize(*record, "head");
  if (row_of_->currentIndex() == 2) {
    const auto& model = session()->model(IsOfSecond(*session(), *record) ? Side::kB : Side::kA);
    count = model ? std::max<int64_t>(model->config.heads_per_key_value_head(), 1) : 1;
    first = head.head / count * count;
  }
  return MeanAttentionRow(*record, head.layer, first, count);
}

QString AttentionPanel::RowName(HeadId head) const {
  const auto& model = session()->model();
  const int64_t in_group = model ? model->config.heads_per_key_value_head() : 1;
  const int64_t group = head.head / std::max<int64_t>(in_group, 1);
  switch (row_of_->currentIndex()) {
    case 1:
      return tr("mean of L%1").arg(head.layer);
    case 2:
      return tr("mean of L%1 KV%2").arg(head.layer).arg(group);
    default:
      return in_group > 1 ? QStringLiteral("%1 (KV%2)").arg(HeadText(head)).arg(group)
                          : HeadText(head);
  }
}

AttentionPanel::Beside AttentionPanel::beside() const {
  const auto chosen = static_cast<Beside>(std::max(pinned_form_->currentIndex(), 0));
  // Other places have the attention of the last query only.
  const bool places = HasPlaces(*session()) && !session()->query_row();
  return chosen == Beside::kPlacesBelow && !places ? Beside::kPinnedOver : chosen;
}

void AttentionPanel::SetBeside(Beside beside) {
  pinned_form_->setCurrentIndex(static_cast<int>(beside));
}

void AttentionPanel::Draw() {
  const Record* a = session()->attention(Side::kA);
  const Record* b = session()->attention(Side::kB);
  // A what-if replaces the attention of all heads only if it also replaces the map.
  if (!selection()->chosen() && a && !session()->query_row() &&
      (session()->settled(Side::kA) || session()->follows(Side::kA))) {
    const TokenSpan gold = session()->prompt() ? GoldTokens(*session()->prompt()) : TokenSpan{};
    selection()->Suggest(gold.empty() ? selection()->head() : MostAttentionOn(*a, gold));
  }
  head_ = selection()->shown_head();
  if (const Record* shape = a ? a : b) ShowBoxes(shape);
  DrawPlot(plot_, head_);
  if (beside() == Beside::kPlacesBelow) {
    DrawPlaces();
  } else {
    DrawPinned();
  }
  pinned_form_->setVisible(!selection()->pinned().empty() || HasPlaces(*session()));
  ShowSums();
}

void AttentionPanel::ShowBoxes(const Record* shape) {
  const QSignalBlocker quiet[] = {QSignalBlocker(layer_box_), QSignalBlocker(head_box_)};
  const int64_t layers = AxisSize(*shape, "layer");
  const int64_t heads = AxisSize(*shape, "head");
  head_ = NearestHead(head_, layers, heads);
  const HeadId chosen = NearestHead(selection()->head(), layers, heads);
  layer_box_->setMaximum(static_cast<int>(std::max<int64_t>(layers - 1, 0)));
  head_box_->setMaximum(static_cast<int>(std::max<int64_t>(heads - 1, 0)));
  layer_box_->setValue(static_cast<int>(chosen.layer));
  head_box_->setValue(static_cast<int>(chosen.head));
}

void AttentionPanel::DrawPlot(AttentionPlot* plot, HeadId head) {
  const Record* a = session()->attention(Side::kA);
  const Record* b = session()->attention(Side::kB);
  const bool file = session()->shows_file();
  plot->SetReason(file ? tr("The file has no attention of the last query") : QString());
  plot->SetCompare(selection()->compare());
  plot->SetRows(ShownRow(a, head), ShownRow(b, head));
  const bool has_counted = row_of_->currentIndex() == 0 && !session()->query_row();
  const auto counted = [&](Side side, const Record* record) {
    return has_counted ? CountedKeysRow(session()->record(side, kCountedKeys), record, head)
                       : CountedRow();
  };
  const QString why = WhyNotComparable(*session(), Compared::kTokens);
  plot->SetCounted(counted(Side::kA, a), why.isEmpty() ? counted(Side::kB, b) : CountedRow());
  const RecordName name_a = NameOf(*session(), Side::kA, a);
  const RecordName name_b = NameOf(*session(), Side::kB, b);
  plot->SetNames(name_a.text,
                 why.isEmpty() ? name_b.text : tr("%1, by characters: %2").arg(name_b.text, why));
  plot->SetOlder(name_a.older, name_b.older);
  std::vector<RecordName> drawn;
  if (a) drawn.push_back(name_a);
  if (b) drawn.push_back(name_b);
  plot->SetCaption(CaptionWith(*session(), drawn));
  const PinnedHead* pin = selection()->PinOf(head);
  const bool several = !selection()->pinned().empty();
  plot->SetHeadColor(several && pin ? pin->color : QColor());
  const bool previewed = plot == plot_ && selection()->previews();
  const QString title = TitleOf(RowName(head), session()->query_row());
  plot->SetTitle(previewed ? tr("%1, under the pointer").arg(title) : title);
}

void AttentionPanel::DrawPinned() {
  const Record* a = session()->attention(Side::kA);
  const Record* b = session()->attention(Side::kB);
  walk_places_->hide();
  std::vector<HeadRow> over;
  std::vector<HeadId> below;
  for (const PinnedHead& pin : selection()->pinned()) {
    if (pin.head == head_) continue;
    if (beside() == Beside::kPinnedBelow) {
      below.push_back(pin.head);
    } else {
      over.push_back({RowName(pin.head), pin.color, ShownRow(a, pin.head), ShownRow(b, pin.head)});
    }
  }
  plot_->SetOthers(over);
  MakeStacked(below.size());
  for (size_t i = 0; i < below.size(); ++i) DrawPlot(stacked_[i], below[i]);
}

// Text such as "tokens 50:60: A 0.213, B 0.35, B − A 0.137".
void AttentionPanel::ShowSums() {
  const TokenSpan& range = selection()->range();
  if (range.empty()) {
    sums_->clear();
    return;
  }
  QString text = tr("tokens %1:%2").arg(range.begin).arg(range.end);
  const auto sum = [&](Side side) {
    const QVector<double>& row = plot_->row(side);
    return SumOver(std::span(row.constData(), static_cast<size_t>(row.size())), range);
  };
  const double a = sum(Side::kA);
  text += tr(": A %1").arg(a, 0, 'g', 3);
  if (!plot_->row(Side::kB).isEmpty()) {
    const double b = sum(Side::kB);
    text += tr(", B %1, B − A %2").arg(b, 0, 'g', 3).arg(b - a, 0, 'g', 3);
  }
  sums_->setText(text);
}

void AttentionPanel::Render(FilePictures& pictures) {
  const RecordSides sides = pictures.Find(kLastQueryAttention, {"layer", "head", "key"});
  if (!sides.a && !sides.b) return;
  const RecordSides counted = pictures.FindInFile(kCountedKeys, {"layer", "head", "key"});
  const HeadChoice choice = pictures.chosen_head();
  for (const HeadId& head : pictures.HeadsIn(sides.a ? *sides.a : *sides.b, choice)) {
    AttentionPlot plot;
    plot.SetPrompt(pictures.prompt());
    plot.SetNames(pictures.SettingText(sides.a), pictures.SettingText(sides.b));
    plot.SetRows(AttentionRow(sides.a, head), AttentionRow(sides.b, head));
    plot.SetCounted(CountedKeysRow(counted.a, sides.a, head),
                    CountedKeysRow(counted.b, sides.b, head));
    plot.SetTitle(TitleOf(pictures.HeadTitle(head, choice)));
    pictures.Write(plot, QStringLiteral("attention_") + HeadText(head), sides);
  }
}

}  // namespace midscope
