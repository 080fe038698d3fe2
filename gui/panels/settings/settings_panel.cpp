// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/settings/settings_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/model/model_config.h"
#include "core/terms/intervention_text.h"
#include "core/terms/presets.h"
#include "gui/base/display_text.h"
#include "gui/panels/settings/stack_editor.h"
#include "gui/plots/plot_style.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/term_cards.h"
#include "gui/widgets/text_line.h"
#include "probes/measure/channels/channel_options.h"

namespace midscope {
namespace {

constexpr int64_t kUsualChannel = 100;  // or the last channel if the model has fewer

// A channel that a search found to carry position (probes/CHANNELS.md), and a setting that flips
// it.
struct KnownChannel {
  const char* model;  // ModelConfig::name
  int64_t channel;
  const char* setting;
};

const std::vector<KnownChannel>& KnownChannels() {
  static const std::vector<KnownChannel> list = {
      {"Smollm2 135M 8k Lc100K Mix1 Ep2", 100, "channel(100, factor=-1, layers=8-25)"}};
  return list;
}

}  // namespace

SettingsPanel::SettingsPanel(QWidget* parent) : QWidget(parent) {
  text_a_ = new TextLine(QStringLiteral("A"), SideColor(Side::kA).name(), this);
  text_b_ = new TextLine(QStringLiteral("B"), SideColor(Side::kB).name(), this);
  stack_ = new StackEditor(this);
  tries_ = new QVBoxLayout;
  tries_->setSpacing(0);
  options_ = MakeOptions();
  options_->hide();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 2, 4, 2);
  column->setSpacing(8);
  column->addWidget(stack_);
  column->addLayout(tries_);
  tour_ = Named(new QPushButton(tr("New here? A tour in six steps ▸"), this), "offer_tour",
                tr("Notes beside the controls; Help > Tour shows them again"));
  tour_->hide();
  connect(tour_, &QPushButton::clicked, this, &SettingsPanel::TourRequested);
  column->addWidget(tour_);
  without_model_ = Named(new QLabel(tr("A file is shown, whose settings are fixed. Open a model to "
                                       "change something."),
                                    this),
                         "settings_without_model");
  without_model_->setWordWrap(true);
  without_model_->hide();
  column->addWidget(without_model_);
  column->addWidget(text_b_);
  column->addWidget(options_);
  for (const Side side : {Side::kA, Side::kB}) {
    connect(text(side == Side::kB), &TextLine::Edited, this, [this, side](const Intervention& now) {
      SettingPair next = shown_;
      next.setting(side) = now;
      Q_EMIT Changed(next, false);
    });
  }
  connect(stack_, &StackEditor::Changed, this, &SettingsPanel::OnCards);
  connect(stack_, &StackEditor::CopyRequested, this, &SettingsPanel::CopyCard);
  RefreshTargets();
}

QWidget* SettingsPanel::MakeOptions() {
  auto* options = new QWidget(this);
  auto* pin = Named(new QPushButton(tr("Pin B as A"), options), "pin",
                    tr("Make B the reference that the next change is compared with"));
  auto* swap = Named(new QPushButton(tr("Swap"), options), "swap", tr("Exchange A and B"));
  auto* clear =
      Named(new QPushButton(tr("Reset A and B"), options), "clear", tr("Set A and B to none"));
  auto* buttons = new QHBoxLayout;
  for (QPushButton* button : {pin, swap, clear}) buttons->addWidget(button);
  auto* column = WithoutMargins(new QVBoxLayout(options));
  column->addWidget(text_a_);
  column->addLayout(buttons);
  column->addWidget(MakeSides());
  connect(pin, &QPushButton::clicked, this, [this] { Q_EMIT Changed(Pinned(shown_), false); });
  connect(swap, &QPushButton::clicked, this, [this] { Q_EMIT Changed(Swapped(shown_), false); });
  connect(clear, &QPushButton::clicked, this, [this] { Q_EMIT Changed({}, false); });
  return options;
}

QWidget* SettingsPanel::MakeSides() {
  auto* sides = new QWidget(this);
  auto* row = WithoutMargins(new QHBoxLayout(sides));
  row->setSpacing(1);
  row->addWidget(new QLabel(tr("Terms of"), sides));
  const auto button = [this, sides, row](Side side, const QString& name) {
    auto* made = Named(
        new QToolButton(sides), QStringLiteral("cards_of_") + name.toLower(),
        tr("<p>The terms of %1 as cards: switch off, reorder, duplicate, open as a form. A term "
           "that is off stays here and is not run</p>")
            .arg(name));
    made->setText(name);
    made->setCheckable(true);
    made->setAutoExclusive(true);
    made->setChecked(side == side_);
    made->setFocusPolicy(Qt::StrongFocus);
    made->setAccessibleName(tr("Show the terms of %1 as cards").arg(name));
    row->addWidget(made);
    connect(made, &QToolButton::clicked, this, [this, side] { ShowCardsOf(side); });
    return made;
  };
  side_a_ = button(Side::kA, QStringLiteral("A"));
  side_b_ = button(Side::kB, QStringLiteral("B"));
  row->addStretch(1);
  return sides;
}

void SettingsPanel::ShowCardsOf(Side side) {
  side_ = side;
  (side == Side::kA ? side_a_ : side_b_)->setChecked(true);
  Suggest();
  stack_->SetSetting(shown_.setting(side), shown_.off(side));
  RefreshTargets();
}

// The text line checks the setting of the cards; it keeps an invalid one and shows the error's
// column.
void SettingsPanel::OnCards(const QString& text, const std::vector<OffTerm>& off, bool dragging) {
  const std::optional<Intervention> setting = this->text(side_ == Side::kB)->Take(text);
  if (!setting) return;
  SettingPair next = shown_;
  next.setting(side_) = *setting;
  next.off(side_) = off;
  // Emits the end of a drag even if it changes no value.
  const bool was_dragging = std::exchange(dragging_, dragging);
  if (next != shown_ || was_dragging != dragging) Q_EMIT Changed(next, dragging);
}

void SettingsPanel::CopyCard(const QString& term, const QString& target) {
  const bool side = target == QLatin1String("A") || target == QLatin1String("B");
  try {
    if (side) {
      SettingPair next = shown_;
      Intervention& into = next.setting(target == QLatin1String("A") ? Side::kA : Side::kB);
      into = WithOneMore(into, term.toStdString());
      Q_EMIT Changed(next, false);
    } else if (tried_) {
      const int kept = target.at(0).unicode() - u'C';
      const std::string before = tried_->TextOf(kept);
      const Intervention into = ParseIntervention(before.empty() ? "none" : before);
      const std::string after = PrintIntervention(WithOneMore(into, term.toStdString()));
      history_->stack()->push(new ValueStep<std::string>(
          tr("%1: %2").arg(TriedSettings::Letter(kept), QString::fromStdString(after)), before,
          after, [tried = tried_, kept](const std::string& text) { tried->KeepAs(kept, text); }));
    }
  } catch (const Error& error) {
    Q_EMIT Failed(QString::fromUtf8(error.what()));
  }
}

void SettingsPanel::UseTried(TriedSettings* tried, SettingHistory* history) {
  tried_ = tried;
  history_ = history;
  connect(tried, &TriedSettings::Changed, this, &SettingsPanel::RefreshTargets);
  RefreshTargets();
}

void SettingsPanel::RefreshTargets() {
  const Side other = side_ == Side::kA ? Side::kB : Side::kA;
  const QString name = other == Side::kA ? QStringLiteral("A") : QStringLiteral("B");
  std::vector<StackEditor::CopyTarget> targets = {
      {name, name, tr("Adds the term to %1 as well").arg(name)}};
  for (int kept = 0; tried_ && kept < TriedSettings::kMostKept; ++kept) {
    const QString letter = TriedSettings::Letter(kept);
    const QString text = QString::fromStdString(tried_->TextOf(kept));
    targets.push_back({letter, text.isEmpty() ? tr("%1 (empty)").arg(letter) : letter,
                       text.isEmpty()
                           ? tr("Keeps a setting of this term as %1; History shows it").arg(letter)
                           : tr("Adds the term to %1: %2").arg(letter, text)});
  }
  stack_->SetCopyTargets(std::move(targets));
}

void SettingsPanel::Show(const SettingPair& pair) {
  shown_ = pair;
  text_a_->SetIntervention(pair.a);
  text_b_->SetIntervention(pair.b);
  stack_->SetSetting(pair.setting(side_), pair.off(side_));
}

void SettingsPanel::ShowNames(const SettingMarks& marks) {
  for (const Side side : {Side::kA, Side::kB}) {
    const QString setting = QString::fromStdString(PrintIntervention(shown_.setting(side)));
    text(side == Side::kB)->SetName(marks.Name(setting));
  }
}

void SettingsPanel::OfferPassages(const QStringList& names) {
  passages_ = names;
  OfferSpans();
}

void SettingsPanel::OfferRange(qint64 begin, qint64 end) {
  range_ = end > begin ? QStringLiteral("%1:%2").arg(begin).arg(end) : QString();
  OfferSpans();
}

void SettingsPanel::OfferSpans() {
  offers_["span"] = passages_;
  if (!range_.isEmpty()) offers_["span"].prepend(range_);
  stack_->SetOffers(offers_);
}

void SettingsPanel::OfferHead(HeadId head) {
  offers_["head"] = {HeadText(head)};
  stack_->SetOffers(offers_);
}

void SettingsPanel::SetModel(const ModelConfig& config) {
  const int64_t channel = std::min(kUsualChannel, config.hidden - 1);
  suggestion_ = ReadTerm("channel(" + std::to_string(channel) +
                         ", factor=1, layers=" + MiddleLayers(config.layers).Text() + ")");
  stack_->SetModel(config);
  Suggest();
  OfferTries(config);
}

void SettingsPanel::OfferChanges(bool offered) {
  stack_->setVisible(offered);
  text_b_->setVisible(offered);
  without_model_->setVisible(!offered);
}

void SettingsPanel::OfferTour(bool offered) { tour_->setVisible(offered); }

bool SettingsPanel::offers_tour() const { return !tour_->isHidden(); }

void SettingsPanel::Suggest() { stack_->Suggest(side_ == Side::kB ? suggestion_ : std::nullopt); }

// One click each: what the model's papers changed, as far as it fits this model.
void SettingsPanel::OfferTries(const ModelConfig& config) {
  while (QLayoutItem* item = tries_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  const auto offer = [this](const QString& title, const QString& tip) {
    auto* link = Named(new QPushButton(title + QStringLiteral(" ▸"), this),
                       QStringLiteral("try_%1").arg(tries_->count()), tip);
    link->setFlat(true);
    link->setStyleSheet(QStringLiteral("QPushButton { text-align: left; padding: 3px; }"));
    tries_->addWidget(link);
    return link;
  };
  const auto set = [&](const QString& title, const std::string& setting) {
    const Intervention b = ParseIntervention(setting);
    if (!WhyNotOn(b, config).isEmpty()) return;
    connect(offer(tr("Try: %1").arg(title), QString::fromStdString(setting)), &QPushButton::clicked,
            this, [this, b] {
              SettingPair next = shown_;
              next.b = b;
              Q_EMIT Changed(next, false);
            });
  };
  bool known = false;
  for (const KnownChannel& each : KnownChannels()) {
    if (config.name != each.model) continue;
    set(tr("flip channel %1").arg(each.channel), each.setting);
    known = true;
  }
  for (const Preset& preset : InterventionPresets()) {
    if (known || !preset.name.starts_with("channel-") || !IsPublishedFor(preset, config)) continue;
    set(tr("the published channel of this model"), preset.text);
    known = true;
  }
  if (!known) {
    connect(offer(tr("Find the channels that carry position"),
                  tr("Opens the search for channels of this model")),
            &QPushButton::clicked, this, &SettingsPanel::SearchRequested);
  }
  set(tr("Ms-PoE, ratios 1.2 to 1.8"), "ms-poe(min=1.2, max=1.8)");
  set(tr("position interpolation, ratio 1.5"), "pi(1.5)");
}

}  // namespace midscope
