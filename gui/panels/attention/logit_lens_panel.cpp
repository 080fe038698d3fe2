// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/attention/logit_lens_panel.h"

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_fields.h"
#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/panels/attention/lens_bar.h"
#include "gui/panels/file_pictures.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/parameter_form.h"

namespace midscope {
namespace {

constexpr char kWords[] = "lens_token_text";
constexpr char kAnswerRank[] = "answer_rank";
enum Shown { kShowA, kShowB, kShowBoth };

bool IsLens(const Record* record) { return record && HasArray(*record, kWords, {"layer", "rank"}); }

// Returns "112", "1.0k", "17k": at most four characters.
QString BriefRank(qlonglong rank) {
  constexpr qlonglong kThousand = 1000;
  constexpr double kOneDecimal = 9.95;  // in thousands; from here on "10k"
  if (rank < kThousand) return QString::number(rank);
  const double thousands = static_cast<double>(rank) / kThousand;
  return QString::number(thousands, 'f', thousands < kOneDecimal ? 1 : 0) + QLatin1Char('k');
}

// The cell in the column of the answer's first token.
TokenGridPlot::Cell AnswerCell(const Record& record, int64_t layer) {
  const double rank = ValueAt(record, kAnswerRank, {layer});
  if (std::isnan(rank)) return {};
  const double probability = std::exp(ValueAt(record, "answer_log_probability", {layer}));
  const auto from_one = static_cast<qlonglong>(rank) + 1;
  return {QObject::tr("rank %1").arg(from_one), probability, rank == 0,
          QObject::tr("the answer's first token among all tokens"), BriefRank(from_one)};
}

// Makes a grid with the columns of each lens; the letter of a lens begins the names of its columns.
TokenGridPlot::Grid GridOf(const std::vector<std::pair<QString, const Record*>>& lenses) {
  TokenGridPlot::Grid grid;
  if (lenses.empty()) return grid;
  for (const auto& [letter, record] : lenses) {
    for (int64_t rank = 0; rank < AxisSize(*record, "rank"); ++rank)
      grid.columns << letter + QString::number(rank + 1);
    if (record->FindArray(kAnswerRank)) grid.columns << letter + QObject::tr("answer");
  }
  for (int64_t layer = 0; layer < AxisSize(*lenses.front().second, "layer"); ++layer) {
    for (const auto& [letter, record] : lenses) {
      const int64_t ranks = AxisSize(*record, "rank");
      const QStringList words = Texts(*record, kWords);
      const double answer_rank = ValueAt(*record, kAnswerRank, {layer});
      for (int64_t rank = 0; rank < ranks; ++rank) {
        grid.cells.append({words.value(layer * ranks + rank),
                           ValueAt(*record, "lens_probability", {layer, rank}),
                           answer_rank == static_cast<double>(rank),
                           {}});
      }
      if (record->FindArray(kAnswerRank)) grid.cells.append(AnswerCell(*record, layer));
    }
  }
  return grid;
}

// Text such as "the answer is the likeliest from layer 24 on"; "" if there is no answer.
QString AnswerNote(const Record& record) {
  if (!record.FindArray(kAnswerRank)) return {};
  const int64_t layers = AxisSize(record, "layer");
  int64_t from = layers;
  while (from > 0 && ValueAt(record, kAnswerRank, {from - 1}) == 0) --from;
  if (from == layers) return QObject::tr("the answer is not the top token after the last layer");
  return QObject::tr("the answer is the top token from layer %1 on").arg(from);
}

}  // namespace

LogitLensPanel::LogitLensPanel(const PanelContext& context) : Panel(context) {
  plot_ = new TokenGridPlot(tr("layer"), QStringLiteral("logit_lens"), this);
  side_ = Named(new QComboBox(this), "lens_side", tr("Setting whose words are shown"));
  side_->addItems({tr("A"), tr("B"), tr("A | B")});
  side_->setAccessibleName(tr("Setting of the logit lens"));
  lens_ = Named(new QComboBox(this), "lens_kind",
                tr("How the stream after a layer is read: as if the layer were the last one, "
                   "or through the matrix of a lens file"));
  lens_->addItems({tr("Logit lens"), tr("Jacobian lens")});
  lens_->setAccessibleName(tr("Lens"));
  switch_on_ = MakeSwitch(QStringLiteral("lens_on"), kLogitLensRecord);
  note_ = Named(new QLabel(this), "lens_note");
  FlowLayout* row = MakeControlFlow({lens_, switch_on_, side_, note_});
  bar_ = new LensBar(session(), this);
  auto* pages = new QStackedWidget(this);
  pages->addWidget(plot_);
  pages->addWidget(MakeScrollArea(bar_->form(), pages));
  auto* controls = new QVBoxLayout;
  controls->setSpacing(0);
  controls->addLayout(row);
  controls->addWidget(bar_);
  LayOutPanel(this, pages)->addLayout(controls);
  connect(bar_, &LensBar::Fitting, pages, &QStackedWidget::setCurrentIndex);
  for (QComboBox* box : {lens_, side_})
    connect(box, &QComboBox::currentIndexChanged, this, &LogitLensPanel::Draw);
  Draw();
}

std::vector<std::string> LogitLensPanel::Records() {
  return {kLogitLensRecord, kJacobianLensRecord};
}

const Record* LogitLensPanel::LensOf(Side side) const {
  return session()->record(side,
                           lens_->currentIndex() == 0 ? kLogitLensRecord : kJacobianLensRecord);
}

bool LogitLensPanel::CanSwitchOn() const {
  return !session()->record(Side::kA, kLogitLensRecord) && OffersProbe(kLogitLensRecord);
}

void LogitLensPanel::Refresh(Changes changes) {
  bar_->Refresh(changes);
  if (!(changes &
        (Change::kModel | Change::kPrompts | Change::kSettings | Change::kCaptureRecords)))
    return;
  DrawWhenShown();
}

void LogitLensPanel::Draw() {
  side_->setVisible(session()->differs());
  const bool has_jacobian = session()->record(Side::kA, kJacobianLensRecord) != nullptr;
  const bool has_logit = session()->record(Side::kA, kLogitLensRecord) != nullptr;
  const bool may_fit = session()->model() && OffersProbe(kJacobianLensRecord);
  lens_->setVisible(may_fit || (has_jacobian && has_logit));
  // The only lens of a file is shown, and one that has just arrived.
  const bool arrived = !std::exchange(had_jacobian_, has_jacobian) && has_jacobian;
  if ((arrived && !has_logit) || (!may_fit && !(has_jacobian && has_logit))) {
    const QSignalBlocker blocker(lens_);
    lens_->setCurrentIndex(has_jacobian ? 1 : 0);
  }
  const bool jacobian = lens_->currentIndex() == 1;
  bar_->setVisible(may_fit && jacobian);
  if (bar_->isHidden()) bar_->HideForm();
  switch_on_->setVisible(CanSwitchOn() && !jacobian);
  const Record* any = LensOf(Side::kA);
  const bool several = any && !IsLens(any);
  const std::vector<Side> sides = ShownSides();
  std::vector<std::pair<QString, const Record*>> lenses;
  std::vector<RecordName> names;
  for (const Side side : sides) {
    const Record* record = LensOf(side);
    names.push_back(NameOf(*session(), side, record));
    const QString letter = side == Side::kA ? tr("A ") : tr("B ");
    lenses.emplace_back(sides.size() == 1 ? QString() : letter, record);
  }
  plot_->SetReason(several ? tr("The file has the logit lens of several prompts: Other records, "
                                "logit_lens_by_place has their means")
                   : session()->shows_file() ? tr("The file has no logit lens")
                   : jacobian                ? tr("Choose a lens file below, or fit one")
                   : CanSwitchOn()
                       ? tr("Not measured yet. Press Switch on; every full run then has it")
                       : tr("The words after each layer come with the next full run"));
  plot_->Show(GridOf(lenses));
  QStringList titles;
  QString older;
  for (const RecordName& name : names) {
    titles << name.text;
    if (name.older) older = name.text;
  }
  plot_->SetTitle(titles.isEmpty() ? lens_->currentText()
                                   : lens_->currentText() + QStringLiteral(" — ") +
                                         titles.join(QStringLiteral(" | ")));
  plot_->SetOlderNote(older);
  plot_->SetCaption(names.empty() ? QString() : CaptionWith(*session(), names));
  note_->setText(lenses.size() == 1 ? AnswerNote(*lenses.front().second) : QString());
}

std::vector<Side> LogitLensPanel::ShownSides() const {
  const int shown = session()->differs() ? side_->currentIndex() : static_cast<int>(kShowA);
  std::vector<Side> sides;
  for (const Side side : {Side::kA, Side::kB}) {
    const bool wanted = shown == kShowBoth || shown == (side == Side::kA ? kShowA : kShowB);
    if (wanted && IsLens(LensOf(side))) sides.push_back(side);
  }
  return sides;
}

std::vector<Plot*> LogitLensPanel::plots() const {
  // Works even before a hidden panel has drawn the grid.
  if (ShownSides().empty()) return {};
  return {plot_};
}

nlohmann::json LogitLensPanel::State() const {
  return side_->currentIndex() == kShowA ? nlohmann::json() : nlohmann::json(side_->currentIndex());
}

void LogitLensPanel::CheckState(const JsonFields& session) {
  if (session.Find(StateKey()) && session.Whole(StateKey(), 0, 0) > kShowBoth)
    session.Fail("has a logit_lens that is none of 0 (A), 1 (B), 2 (both)");
}

void LogitLensPanel::Restore(const nlohmann::json& state) {
  side_->setCurrentIndex(state.is_null() ? static_cast<int>(kShowA) : state.get<int>());
}

void LogitLensPanel::Render(FilePictures& pictures) {
  const RecordSides sides = pictures.Find(kWords, {"layer", "rank"});
  for (const Record* record : {sides.a, sides.b}) {
    if (!record) continue;
    TokenGridPlot plot(QObject::tr("layer"), QStringLiteral("logit_lens"));
    plot.Show(GridOf({{QString(), record}}));
    plot.SetTitle(pictures.Titled(record->name == kJacobianLensRecord ? QObject::tr("Jacobian lens")
                                                                      : QObject::tr("Logit lens"),
                                  record));
    pictures.Write(plot, QStringLiteral("logit_lens") +
                             (record == sides.b ? QStringLiteral("_b") : QString()));
  }
}

}  // namespace midscope
