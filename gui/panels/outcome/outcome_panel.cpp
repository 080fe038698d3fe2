// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/outcome_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/json_fields.h"
#include "core/base/record_names.h"
#include "data/published/published_record.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/panels/outcome/outcome_lines.h"
#include "gui/panels/outcome/reference_row.h"
#include "gui/panels/settings/history_panel.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_marks.h"
#include "gui/session/two_models.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"
#include "probes/measure/statistics/outcome_statistics.h"

namespace midscope {
OutcomePanel::OutcomePanel(const PanelContext& context) : Panel(context) {
  plot_ = new OutcomePlot(this);
  measure_ = Named(
      new QComboBox(this), "measure",
      tr("<p>Negative log-likelihood of the answer in nats, summed over its tokens, or whether the "
         "greedy continuation equals the answer. B − A is the difference in nats, sample by "
         "sample, with a 95 % interval (Student's t)</p>"));
  // The mark of direction keeps the minus in front.
  measure_->addItems({QChar(0x200e) + tr("−log p(answer)"), tr("accuracy")});
  sample_ = Named(
      new QCheckBox(tr("sample"), this), "outcome_sample",
      tr("The sample on the screen (dashed, hollow dots): updates while a slider is dragged"));
  sample_->setChecked(true);
  means_ = Named(new QCheckBox(tr("means"), this), "outcome_means",
                 tr("Means over samples with 95 % intervals (full dots): updated when the "
                    "slider is released. Without the tick none are run, and those that run stop"));
  means_->setChecked(true);
  samples_ =
      Named(new QSpinBox(this), "samples", tr("How many samples the means are over; 0: none"));
  samples_->setRange(0, 10000);
  samples_->setValue(static_cast<int>(session()->samples()));
  samples_->setKeyboardTracking(false);
  start_ = Named(new QPushButton(this), "means_start");
  start_->hide();
  note_ = Named(new QLabel(this), "means_note");
  chips_ = new SettingChips(session(), tried(), this);
  reference_ = new ReferenceRow(session(), this);
  QHBoxLayout* head = MakeControlRow({note_, start_, measure_});
  FlowLayout* row = MakeControlFlow({chips_, sample_, means_, samples_, reference_});
  LayOut(plot_, head, row);
  // Published tables contain accuracies, so choosing one selects that measure.
  connect(reference_, &ReferenceRow::Chosen, this,
          [this] { measure_->setCurrentIndex(static_cast<int>(Measure::kAccuracy)); });
  connect(measure_, &QComboBox::currentIndexChanged, this, &OutcomePanel::Draw);
  connect(selection(), &Selection::CompareChanged, this, &OutcomePanel::Draw);
  connect(sample_, &QCheckBox::toggled, this, &OutcomePanel::Draw);
  connect(means_, &QCheckBox::toggled, this, [this](bool wanted) {
    session()->SetMeansWanted(wanted);
    Draw();
  });
  connect(start_, &QPushButton::clicked, session(), &Session::StartMeans);
  connect(samples_, &QSpinBox::valueChanged, this,
          [this](int samples) { session()->SetSamples(samples); });
  connect(plot_, &OutcomePlot::PlaceChosen, this, &OutcomePanel::PlaceChosen);
  connect(tried(), &TriedSettings::Changed, this, &OutcomePanel::Draw);
}

std::vector<std::string> OutcomePanel::Records() { return {kOutcomeRecord, "outcome_means"}; }

std::vector<Plot*> OutcomePanel::plots() const { return {plot_}; }

nlohmann::json OutcomePanel::State() const { return session()->samples(); }

void OutcomePanel::CheckState(const JsonFields& session) {
  session.Whole(StateKey(), Session::kUsualSamples, 0);
}

void OutcomePanel::Restore(const nlohmann::json& state) {
  session()->SetSamples(state.is_null() ? Session::kUsualSamples : state.get<int64_t>());
}

void OutcomePanel::Refresh(Changes changes) {
  reference_->Refresh(changes);
  if (changes & (Change::kSettings | Change::kModel)) chips_->Refresh();
  if (changes & Change::kPrompts) ShowPlace();
  if (changes & (Change::kReference | Change::kMeans | Change::kWhatIfRecords)) Draw();
}

void OutcomePanel::ShowPlace() {
  const Record* prompt = session()->prompt();
  plot_->SetCurrentPlace(prompt ? IntegerAttribute(*prompt, "place", 0) : 0);
}

// Shows the button that starts expensive means, with their estimated cost.
void OutcomePanel::ShowOffer() {
  const auto offer = session()->means_offer();
  start_->setVisible(offer.has_value());
  if (!offer) return;
  const bool known = !std::isnan(offer->seconds);
  start_->setText(
      known ? tr("Means over %1 samples (%2)").arg(offer->samples).arg(DurationText(offer->seconds))
            : tr("Means over %1 samples").arg(offer->samples));
  const QString cost =
      known ? tr(": about %1, as the runs of this prompt took").arg(DurationText(offer->seconds))
            : QString();
  start_->setToolTip(tr("Runs what is missing of the means of A and B%1. Means that take less than "
                        "%2 s start by themselves")
                         .arg(cost)
                         .arg(Session::kMostAutomaticSeconds));
}

void OutcomePanel::Draw() {
  ShowOffer();
  if (!samples_->hasFocus()) {
    const QSignalBlocker quiet(samples_);
    samples_->setValue(static_cast<int>(session()->samples()));
  }
  const Compare compare = selection()->compare();
  const bool difference = compare == Compare::kDifference && session()->differs();
  measure_->setEnabled(!difference);
  const auto measure =
      difference ? Measure::kDifference : static_cast<Measure>(measure_->currentIndex());
  const OutcomeChoice choice{measure, sample_->isChecked(), means_->isChecked(), compare};
  std::vector<OutcomePlot::Line> lines = OutcomeLines(*session(), choice);
  const std::vector<OutcomePlot::Line> kept = KeptLines(*session(), *tried(), choice);
  lines.insert(lines.end(), kept.begin(), kept.end());
  QString partial;
  for (const Side side : {Side::kA, Side::kB}) {
    const auto means = session()->MeansOf(side, measure);
    if (!means || means->complete || means->beside) continue;
    partial = tr("partial %1/%2").arg(means->series.samples).arg(session()->samples());
  }
  QStringList notes = {partial};
  const Record* reference = session()->record(Side::kA, kPublishedRecord);
  if (reference) {
    // Reference lines get the colours after the colours of A, B and the file's settings.
    const std::vector<OutcomePlot::Line> beside =
        ReferenceLines(*reference, measure, lines, std::max<size_t>(lines.size(), 2));
    lines.insert(lines.end(), beside.begin(), beside.end());
    if (beside.empty() && measure == Measure::kNll) notes << tr("the reference is an accuracy");
  }
  const auto [of_models, in_full] = NoteOfModels(measure);
  notes << of_models;
  if (session()->means_stopped() && !start_->isHidden())
    notes << tr("stopped: the setting changed");
  notes.removeAll(QString());
  plot_->SetReason(session()->shows_file() ? tr("The file has no such outcome by place")
                                           : QString());
  plot_->SetPlaceNames(PlaceNames(session()->prompts(), session()->file_records()));
  plot_->Show(lines, measure);
  plot_->SetCaption(OutcomeCaption(*session()));
  note_->setText(notes.join(QStringLiteral("; ")));
  note_->setToolTip(in_full);
}

// Returns what is missing, or is to be known, because A and B are different models: in a few words
// and, for a tooltip, in full.
std::pair<QString, QString> OutcomePanel::NoteOfModels(Measure measure) const {
  if (!session()->second()) return {};
  const QString why = WhyNotComparable(*session(), Compared::kAnswers);
  if (!why.isEmpty()) return {tr("B: %1").arg(why), why};
  if (measure == Measure::kDifference) {
    const QString unpaired = WhyNotComparable(*session(), Compared::kSampleMeans);
    return {unpaired.isEmpty() ? QString() : tr("this sample only"), unpaired};
  }
  const QString tokens = WhyNotComparable(*session(), Compared::kNextTokens);
  if (tokens.isEmpty()) return {};
  QString note =
      measure == Measure::kNll ? tr("tokens differ: whole answers") : tr("tokens differ");
  QString full = tr("%1: numbers of the whole answer are compared").arg(tokens);
  if (session()->second()->task().empty() && !session()->task().empty()) {
    note += tr("; no means of B");
    full += tr("; no means of B, because its tokens make other samples of the task");
  }
  return {note, full};
}

namespace {

// Returns the method of the intervals that the file states for the measure; "" if it has none.
QString IntervalMethod(const FilePictures& pictures, Measure measure) {
  const Record* means = FindRecord(pictures.records(), kOutcomeMeans);
  if (!means || measure == Measure::kDifference) return {};
  return TextAttribute(*means,
                       measure == Measure::kNll ? "answer_nll_interval" : "accuracy_interval");
}

std::vector<OutcomePlot::Line> SettingLines(const std::vector<Record>& records, Measure measure) {
  std::vector<OutcomePlot::Line> lines;
  for (const OutcomeSeries& series : BestSeriesOf(records, measure))
    lines.push_back({series, series.setting, OutcomePlot::SettingColor(lines.size()), true});
  return lines;
}

}  // namespace

void OutcomePanel::Render(FilePictures& pictures) {
  const std::pair<Measure, const char*> measures[] = {{Measure::kNll, "outcome_nll"},
                                                      {Measure::kAccuracy, "outcome_accuracy"},
                                                      {Measure::kDifference, "outcome_difference"}};
  for (const auto& [measure, stem] : measures) {
    std::vector<OutcomePlot::Line> lines = measure == Measure::kDifference
                                               ? DifferenceLines(pictures.records())
                                               : SettingLines(pictures.records(), measure);
    if (lines.empty()) continue;
    if (const Record* reference = pictures.reference()) {
      const std::vector<OutcomePlot::Line> beside =
          ReferenceLines(*reference, measure, lines, std::max<size_t>(lines.size(), 2));
      lines.insert(lines.end(), beside.begin(), beside.end());
    }
    OutcomePlot plot;
    plot.SetPlaceNames(PlaceNames({}, pictures.records()));
    plot.Show(lines, measure);
    const int64_t samples = lines.front().series.samples;
    if (samples > 0) plot.SetTitle(tr("%1, means over %2 samples").arg(plot.title()).arg(samples));
    // The lines of a difference do not name the settings.
    const RecordSides sides =
        measure == Measure::kDifference
            ? RecordSides{FindRecord(pictures.records(), kOutcomeRecord),
                          FindRecord(pictures.records(), std::string(kOutcomeRecord) + "_b")}
            : RecordSides();
    pictures.Write(plot, QString::fromLatin1(stem), sides, IntervalMethod(pictures, measure));
  }
}

}  // namespace midscope
