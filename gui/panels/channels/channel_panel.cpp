// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/channels/channel_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/channel_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"
#include "probes/measure/channels/channel_options.h"

namespace midscope {
namespace {

// Number of positions in the moving mean: more than a line of a task's list has, so that the trend
// is visible.
constexpr int kUsualSmoothing = 15;

// In shorter prompts, the words hide a channel's trend along the positions.
constexpr qsizetype kFewTokens = 2000;

// The layers in which the setting scales a channel.
LayerSet ScaledLayers(const QString& setting) {
  try {
    const Intervention intervention = ParseIntervention(setting.toStdString());
    if (const auto* scaling = intervention.Find<ChannelScaling>()) return scaling->layers;
  } catch (const Error&) {
    // The text has a term of a later version; the plot is drawn without highlighted layers.
  }
  return {false, {}};
}

// The setting that made the record; none if it cannot be parsed (a later version).
Intervention SettingOfRecord(const Record& record) {
  try {
    return ParseIntervention(SettingOf(record).toStdString());
  } catch (const Error&) {
    return {};
  }
}

// The scaling of the channel; nullptr if the setting does not scale it.
const ChannelScaling* ScalingOf(const Intervention& setting, int64_t channel) {
  for (const Term& term : setting.terms) {
    const auto* scaling = term.As<ChannelScaling>();
    if (scaling && scaling->channel == channel) return scaling;
  }
  return nullptr;
}

// The factor of the channel, such as " × 0.5"; "" if the setting does not scale it.
QString FactorText(const Intervention& setting, int64_t channel) {
  const ChannelScaling* scaling = ScalingOf(setting, channel);
  return scaling ? QStringLiteral(" × %1").arg(scaling->factor, 0, 'g', 3) : QString();
}

// The largest absolute factor of a line that is dragged.
constexpr double kFactorReach = 2;

}  // namespace

ChannelPanel::ChannelPanel(const PanelContext& context) : Panel(context) {
  auto* plots = new QWidget(this);
  auto* beside = WithoutMargins(new QHBoxLayout(plots));
  beside->setSpacing(0);
  plot_ = new ChannelPlot(plots);
  plot_b_ = Named(new ChannelPlot(plots), "channel_plot_b");
  plot_b_->SetFileStem(QStringLiteral("hidden_channel_b"));
  for (ChannelPlot* plot : {plot_, plot_b_}) beside->addWidget(plot, 1);
  plot_b_->hide();
  channel_ = Named(new QSpinBox(this), "shown_channel",
                   tr("Channel of the residual stream that is drawn; a new one needs a run"));
  channel_->setRange(0, 1 << 20);
  channel_->setValue(static_cast<int>(session()->channel()));
  channel_->setKeyboardTracking(false);
  follow_ = Named(new QCheckBox(tr("follow B"), this), "follow_knob",
                  tr("Show the channel that B scales"));
  follow_->setChecked(true);
  layer_ = Named(
      new QComboBox(this), "shown_layer",
      tr("<p>All layers as thin lines, with the means of A and B over the layers that B scales; or "
         "one "
         "layer, A and B over each other</p>"));
  dropped_ = new QSpinBox(this);
  dropped_->setRange(0, 1 << 20);
  dropped_->setValue(30);
  dropped_->setToolTip(tr("First positions left out: values of the first tokens are outliers"));
  smoothing_ = Named(new QSpinBox(this), "smoothing",
                     tr("<p>Positions of a moving mean, which shows the trend below the text's "
                        "own variation; 1: the values without averaging</p>"));
  smoothing_->setRange(1, 999);
  smoothing_->setSingleStep(2);
  smoothing_->setValue(kUsualSmoothing);
  auto* find = Named(new QPushButton(tr("Find channels…"), this), "find_channels",
                     tr("Search for the channels that carry position"));
  connect(find, &QPushButton::clicked, this,
          [this] { Q_EMIT PanelRequested(QStringLiteral("channels")); });
  length_ = Named(new ElidedLabel(this), "channel_length");
  length_->hide();
  QHBoxLayout* head = MakeControlRow({find});
  FlowLayout* row = MakeControlFlow();
  row->AddLabelled(tr("channel"), channel_);
  row->addWidget(follow_);
  row->AddLabelled(tr("layers"), layer_);
  row->AddLabelled(tr("drop first"), dropped_);
  row->AddLabelled(tr("smooth"), smoothing_);
  auto* view = new QWidget(this);
  auto* column = WithoutMargins(new QVBoxLayout(view));
  column->setSpacing(0);
  column->addWidget(plots, 1);
  column->addWidget(length_);
  LayOut(view, head, row);
  connect(channel_, &QSpinBox::valueChanged, this, [this](int channel) {
    const int64_t before = session()->channel();
    RefreshLink(before);
    session()->SetChannel(channel);
    Draw();
    if (!following_) Q_EMIT ChannelChosen(before, channel);
  });
  connect(follow_, &QCheckBox::toggled, this, [this] {
    unlinked_from_.reset();
    FollowKnob();
  });
  connect(layer_, &QComboBox::currentIndexChanged, this, &ChannelPanel::Draw);
  connect(dropped_, &QSpinBox::valueChanged, this, &ChannelPanel::Draw);
  connect(smoothing_, &QSpinBox::valueChanged, this, &ChannelPanel::Draw);
  WireSelection();
  ShowModel();
  Draw();
}

void ChannelPanel::WireSelection() {
  connect(selection(), &Selection::CompareChanged, this, &ChannelPanel::Draw);
  WirePlot(plot_, Side::kA);
  WirePlot(plot_b_, Side::kB);
  LinkTokenAxis(plot_);
}

// The selection is in tokens of A; a second model may have others.
void ChannelPanel::WirePlot(ChannelPlot* plot, Side side) {
  const auto from_a = [this, side](int64_t token) {
    return TokenFor(*session(), Side::kA, token, side);
  };
  const auto to_a = [this, side](int64_t token) {
    return TokenFor(*session(), side, token, Side::kA);
  };
  connect(selection(), &Selection::TokenChanged, plot,
          [plot, from_a](int64_t token) { plot->SetMarkedToken(from_a(token)); });
  connect(selection(), &Selection::RangeChanged, plot, [this, plot, side] {
    plot->SetRange(TokensFor(*session(), Side::kA, selection()->range(), side));
  });
  connect(plot, &ChannelPlot::TokenHovered, this,
          [this, to_a](int64_t token) { selection()->HoverToken(to_a(token)); });
  connect(plot, &ChannelPlot::TokenClicked, this,
          [this, to_a](int64_t token) { selection()->LockToken(to_a(token)); });
  connect(plot, &ChannelPlot::RangeBrushed, this, [this, side](int64_t begin, int64_t end) {
    const TokenSpan range = TokensFor(*session(), side, {"", begin, end}, Side::kA);
    selection()->SetRange(range.begin, range.end);
  });
  connect(plot, &ChannelPlot::FactorDragged, this, &ChannelPanel::OfferFactor);
}

std::vector<std::string> ChannelPanel::Records() { return {kHiddenChannelsRecord}; }

std::vector<Plot*> ChannelPanel::plots() const {
  std::vector<Plot*> shown;
  for (ChannelPlot* plot : {plot_, plot_b_}) {
    if (!plot->isHidden()) shown.push_back(plot);
  }
  return shown;
}

nlohmann::json ChannelPanel::State() const { return session()->channel(); }

void ChannelPanel::CheckState(const JsonFields& session) {
  session.Whole(StateKey(), Session::kFirstChannel, 0);
}

void ChannelPanel::Restore(const nlohmann::json& state) {
  session()->SetChannel(state.is_null() ? Session::kFirstChannel : state.get<int64_t>());
}

void ChannelPanel::Refresh(Changes changes) {
  if (changes & Change::kModel) ShowModel();
  if (changes & Change::kPrompts) ShowTokens();
  if (changes & Change::kChannel) ShowChannel();
  if (changes & Change::kSettings) FollowKnob();
  const bool other_view = (changes & Change::kSettings) && view() != shown_;
  if (other_view || (changes & (Change::kModel | Change::kMapRecords))) Draw();
}

void ChannelPanel::ShowTokens() {
  for (const Side side : {Side::kA, Side::kB}) {
    const Record* prompt = session()->prompt(side);
    if (prompt) (side == Side::kA ? plot_ : plot_b_)->SetTokens(Texts(*prompt, "token_text"));
  }
  const Record* prompt = session()->prompt();
  if (!prompt) return;
  const int64_t tokens = AxisSize(*prompt, "token");
  length_->SetText(
      tr("%1 tokens: too few for a trend (about %2 needed)").arg(tokens).arg(kFewTokens));
  length_->setVisible(tokens < kFewTokens);
}

void ChannelPanel::ShowModel() {
  if (session()->model()) {
    const QSignalBlocker quiet(channel_);
    channel_->setMaximum(
        static_cast<int>(std::max<int64_t>(session()->model()->config.hidden - 1, 0)));
    channel_->setValue(static_cast<int>(session()->channel()));
  }
  FillLayers(session()->model() ? session()->model()->config.layers : 0);
}

void ChannelPanel::FillLayers(int64_t layers) {
  const QSignalBlocker quiet(layer_);
  const int before = layer_->currentIndex();
  layer_->clear();
  layer_->addItem(tr("all"), -1);
  for (int64_t layer = 0; layer < layers; ++layer) {
    layer_->addItem(QString::number(layer), static_cast<qlonglong>(layer));
  }
  layer_->setCurrentIndex(std::clamp(before, 0, layer_->count() - 1));
}

ChannelPlot::View ChannelPanel::view() const {
  ChannelPlot::View chosen;
  chosen.channel = channel_->value();
  chosen.layer = layer_->currentData().toLongLong();
  chosen.dropped = dropped_->value();
  chosen.smoothing = smoothing_->value();
  const auto* scaling = session()->setting(Side::kB).Find<ChannelScaling>();
  if (scaling && session()->differs()) {
    chosen.highlighted = scaling->layers;
  } else if (const auto& model = session()->model(Side::kB)) {
    // The default layers of the channel control.
    chosen.highlighted = MiddleLayers(model->config.layers);
  }
  chosen.compare = selection()->compare();
  chosen.factor_now = Factor();
  // The factors of the records on the screen, which lag one step behind while a slider is dragged.
  for (const Side side : {Side::kA, Side::kB}) {
    const Record* record = session()->record(side, kHiddenChannelsRecord);
    (side == Side::kA ? chosen.factor_a : chosen.factor_b) =
        record ? FactorText(SettingOfRecord(*record), chosen.channel) : QString();
  }
  return chosen;
}

std::optional<double> ChannelPanel::Factor() const {
  if (!session()->model() || session()->shows_file()) return std::nullopt;
  const ChannelScaling* scaling = ScalingOf(session()->setting(Side::kB), channel_->value());
  return scaling ? scaling->factor : 1;
}

// If B does not scale the channel, the scaling uses the layers of B's first scaled channel, else
// the middle layers.
void ChannelPanel::OfferFactor(double factor, bool dragging) {
  ChannelScaling scaling;
  const auto& model = session()->model(Side::kB);
  if (!model) return;
  scaling.layers = MiddleLayers(model->config.layers);
  const Intervention& b = session()->setting(Side::kB);
  if (const auto* first = b.Find<ChannelScaling>()) scaling = *first;
  if (const ChannelScaling* own = ScalingOf(b, channel_->value())) scaling = *own;
  scaling.channel = channel_->value();
  scaling.factor = std::clamp(factor, -kFactorReach, kFactorReach);
  Q_EMIT ScalingOffered(scaling, dragging);
}

std::optional<int64_t> ChannelPanel::knob_channel() const {
  const auto* scaling = session()->setting(Side::kB).Find<ChannelScaling>();
  if (!scaling || session()->shows_file()) return std::nullopt;
  return scaling->channel;
}

void ChannelPanel::FollowKnob() {
  const std::optional<int64_t> channel = knob_channel();
  // If the model lacks the channel, B reports an error and nothing is drawn.
  if (!channel || !follow_->isChecked() || *channel > channel_->maximum()) return;
  following_ = true;
  channel_->setValue(static_cast<int>(*channel));
  following_ = false;
}

// Choosing a channel other than B's ends the link; returning to B's channel restores it.
void ChannelPanel::RefreshLink(int64_t before) {
  if (follow_->isChecked() && knob_channel() != channel_->value()) {
    follow_->setChecked(false);
    unlinked_from_ = before;
  } else if (!follow_->isChecked() && unlinked_from_ == channel_->value()) {
    follow_->setChecked(true);
  }
}

// Shows a channel that was chosen by an action or by undo.
void ChannelPanel::ShowChannel() {
  const auto channel = static_cast<int>(session()->channel());
  const int64_t before = channel_->value();
  if (channel == before) return;
  const QSignalBlocker quiet(channel_);
  channel_->setValue(channel);
  RefreshLink(before);
  Draw();
}

// Offers only the file's layers and channels; the values of a sample are read later.
void ChannelPanel::FollowFile() {
  const Record* hidden = session()->record(Side::kA, kHiddenChannelsRecord);
  if (session()->model() || !hidden) return;
  const QVector<double> channels = AxisValues(*hidden, "channel");
  if (!channels.isEmpty() && !channels.contains(channel_->value())) {
    const QSignalBlocker quiet(channel_);
    channel_->setValue(static_cast<int>(channels.front()));
  }
  if (layer_->count() - 1 != AxisSize(*hidden, "layer")) FillLayers(AxisSize(*hidden, "layer"));
}

void ChannelPanel::Draw() {
  FollowFile();
  shown_ = view();
  const bool file = session()->shows_file();
  plot_->SetReason(file ? tr("The file does not have channel %1").arg(shown_.channel) : QString());
  plot_->show();
  plot_b_->hide();
  if (session()->second()) return DrawModels();
  const Record* a = session()->record(Side::kA, kHiddenChannelsRecord);
  const Record* b = session()->record(Side::kB, kHiddenChannelsRecord);
  plot_->Show(a, b, shown_);
  const RecordName name_a = NameOf(*session(), Side::kA, a);
  const RecordName name_b = NameOf(*session(), Side::kB, b);
  QStringList older;
  std::vector<RecordName> drawn;
  for (const auto& [record, name] : {std::pair(a, &name_a), std::pair(b, &name_b)}) {
    if (!record || plot_->graphCount() == 0) continue;
    drawn.push_back(*name);
    if (name->older) older << name->text;
  }
  plot_->SetOlderNote(older.join(QStringLiteral("; ")));
  plot_->SetCaption(CaptionWith(*session(), drawn));
}

// Channels of two models have nothing in common but their number, so there is no difference.
void ChannelPanel::DrawModels() {
  const Compare mode = selection()->compare();
  plot_->setVisible(mode != Compare::kB);
  plot_b_->setVisible(mode != Compare::kA);
  for (const Side side : {Side::kA, Side::kB}) {
    ChannelPlot* plot = side == Side::kA ? plot_ : plot_b_;
    const Record* record = session()->record(side, kHiddenChannelsRecord);
    ChannelPlot::View view = shown_;
    view.compare = side == Side::kA ? Compare::kA : Compare::kB;
    const auto& model = session()->model(side);
    if (side == Side::kA && model) {
      const auto* scaling = session()->setting(side).Find<ChannelScaling>();
      view.highlighted = scaling ? scaling->layers : MiddleLayers(model->config.layers);
      view.factor_now.reset();
    }
    const QString why = WhyNotComparable(*session(), Compared::kChannel);
    plot->SetReason(side == Side::kB ? why : QString());
    side == Side::kA ? plot->Show(record, nullptr, view) : plot->Show(nullptr, record, view);
    const RecordName name = NameOf(*session(), side, record);
    // The plot keeps its title while its curves do not change.
    const QString title = plot->title();
    const qsizetype own = std::max<qsizetype>(title.indexOf(tr("Hidden channel")), 0);
    plot->SetTitle(QStringLiteral("%1 — %2").arg(name.text, title.mid(own)));
    plot->SetOlderNote(record && name.older ? name.text : QString());
    plot->SetCaption(CaptionWith(*session(), {name}));
  }
}

void ChannelPanel::Render(FilePictures& pictures) {
  const RecordSides hidden = pictures.Find(kHiddenChannel, {"layer", "channel", "position"});
  const Record* first = hidden.a ? hidden.a : hidden.b;
  if (!first || AxisSize(*first, "channel") == 0) return;
  ChannelPlot plot;
  ChannelPlot::View view;
  view.channel = pictures.request().channel.value_or(
      static_cast<int64_t>(AxisValues(*first, "channel").front()));
  if (AxisSize(*first, "position") <= 2 * view.dropped) view.dropped = 1;
  view.highlighted = ScaledLayers(pictures.SettingText(hidden.b ? hidden.b : hidden.a));
  view.smoothing = kUsualSmoothing;
  plot.Show(hidden.a, hidden.b, view);
  pictures.Write(plot, QStringLiteral("hidden_channel_%1").arg(view.channel), hidden);
}

}  // namespace midscope
