// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/record_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/json_fields.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/panels/panel_list.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/record_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/probe_form.h"

namespace midscope {
namespace {

// The options that made the record, such as "lens-top 3, window 512"; "" if there are none.
QString MadeWith(const Record& record) {
  const QString json = TextAttribute(record, "options");
  const QJsonObject options = QJsonDocument::fromJson(json.toUtf8()).object();
  QStringList texts;
  for (auto option = options.begin(); option != options.end(); ++option) {
    texts << option.key() + QLatin1Char(' ') + option->toVariant().toString();
  }
  return texts.join(QStringLiteral(", "));
}

// `leading`: the index on each axis except the last two.
void DrawArray(const Record& record, const Array& array, const std::vector<int64_t>& leading,
               const QString& stem, FilePictures& pictures) {
  RecordPlot plot;
  plot.Show(&record, array.name, leading, RecordForm::kHeatMap);
  plot.SetTitle(pictures.Titled(plot.title(), &record));
  pictures.Write(plot, stem);
}

// The choice of FilePictures; if the file does not decide or the record lacks that head, the head
// with the largest value.
HeadChoice ChosenIn(const Record& record, const Array& array, const FilePictures& pictures) {
  HeadChoice choice = pictures.chosen_head();
  if (!choice.reason.isEmpty() && HasHead(record, choice.head)) return choice;
  HeadTable largest{{}, AxisSize(record, "layer"), AxisSize(record, "head")};
  for (int64_t at = 0; at < largest.layers * largest.heads; ++at) {
    double most = std::numeric_limits<double>::quiet_NaN();
    for (const double value :
         LastAxisRow(record, array.name, {at / largest.heads, at % largest.heads}))
      most = std::fmax(most, value);
    largest.values.push_back(most);
  }
  choice = ChooseHead(largest, QObject::tr("largest value"));
  choice.head.layer = std::llround(AxisValues(record, "layer").value(choice.head.layer));
  return choice;
}

// In a whole file, records of a few layers are left out if these lack the requested heads.
bool CanDrawHeads(const Record& record, const Array& array, const FilePictures& pictures) {
  if (array.axes.size() != 3 || array.axes[0] != "layer" || array.axes[1] != "head") return false;
  return !pictures.is_whole_file() ||
         std::ranges::all_of(pictures.request().heads,
                             [&record](const HeadId& head) { return HasHead(record, head); });
}

// Writes the labels of an axis that has some, if there is space.
void NameTicks(const QStringList& labels, const Axis& axis, LinesPlot& plot) {
  constexpr int kMostLabels = 40;
  if (axis.labels.empty() || labels.size() > kMostLabels) return;
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  for (qsizetype i = 0; i < labels.size(); ++i) ticker->addTick(static_cast<double>(i), labels[i]);
  plot.xAxis->setTicker(ticker);
  plot.xAxis->setTickLabelRotation(45);
}

// Draws an array [layer, head, along]: a line per head.
void DrawHeads(const Record& record, const Array& array, const QString& stem,
               FilePictures& pictures) {
  const HeadChoice choice = ChosenIn(record, array, pictures);
  const std::vector<HeadId> heads = pictures.HeadsIn(record, choice);
  Record lines;
  Array rows{array.name, {"head", array.axes.back()}, {}, array.unit, ""};
  Axis names{"head", std::ssize(heads), "", {}, {}};
  std::vector<double> values;
  QStringList titles;
  for (const HeadId& head : heads) {
    const int64_t layer = AxisIndexOf(record, "layer", static_cast<double>(head.layer));
    for (const double value : LastAxisRow(record, array.name, {layer, head.head}))
      values.push_back(value);
    names.labels.push_back(HeadText(head).toStdString());
    titles << pictures.HeadTitle(head, choice);
  }
  rows.data = std::move(values);
  lines.axes = {std::move(names), *record.FindAxis(array.axes.back())};
  lines.arrays = {rows};
  LinesPlot plot;
  plot.Show(&lines, {.array = array.name});
  NameTicks(AxisLabels(record, array.axes.back()), *record.FindAxis(array.axes.back()), plot);
  const Array words{array.name, {}, {}, array.unit, ""};
  plot.SetTitle(pictures.Titled(QStringLiteral("%1 — %2").arg(ArrayTitle(record.name, words),
                                                              titles.join(QStringLiteral(", "))),
                                &record));
  pictures.Write(plot, stem + QLatin1Char('_') +
                           (heads.size() == 1 ? HeadText(heads.front()) : QStringLiteral("heads")));
}

}  // namespace

RecordPanel::RecordPanel(const PanelContext& context) : Panel(context) {
  plot_ = new RecordPlot(this);
  table_ = new RecordTable(this);
  table_view_ = new QTableView(this);
  table_view_->setModel(table_);
  table_view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_view_->horizontalHeader()->setStretchLastSection(true);
  pages_ = new QStackedWidget(this);
  pages_->addWidget(plot_);
  pages_->addWidget(table_view_);
  choice_ = Named(new QComboBox(this), "record_choice");
  // Takes the width from the available space, because record names are long and the window may be
  // narrow.
  choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice_->setMinimumContentsLength(14);
  side_ = Named(new QComboBox(this), "record_side", tr("Setting whose record is shown"));
  side_->addItems({tr("A"), tr("B")});
  form_ = Named(new QComboBox(this), "record_form");
  form_->addItems({tr("heat map"), tr("lines")});
  place_row_ = new QHBoxLayout;
  note_ = Named(new QLabel(this), "record_note");
  note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* row = MakeControlRow();
  row->addWidget(choice_, 2);
  row->addWidget(side_);
  row->addLayout(place_row_);
  row->addWidget(form_);
  row->addWidget(note_, 1);
  MakeProbes();
  row->addWidget(probes_shown_);
  auto* sides = new SideSplitter(this);
  sides->addWidget(pages_);
  sides->addWidget(probes_);
  sides->setSizes({500, 260});
  LayOutPanel(this, sides)->addLayout(row);
  for (QComboBox* box : {choice_, side_, form_}) {
    connect(box, &QComboBox::currentIndexChanged, this, &RecordPanel::Draw);
  }
  OfferRecords();
}

std::vector<Plot*> RecordPanel::plots() const {
  if (!shows_picture()) return {};
  return {plot_};
}

nlohmann::json RecordPanel::State() const {
  return nlohmann::json::parse(session()->probe_options());
}

void RecordPanel::CheckState(const JsonFields& session) {
  if (session.Find(StateKey())) session.Inside(StateKey());  // checks that it is an object
}

void RecordPanel::Restore(const nlohmann::json& state) {
  session()->SetProbeOptions(state.is_null() ? "{}" : state.dump());
}

void RecordPanel::Refresh(Changes changes) {
  if (changes & (Change::kModel | Change::kProbes)) OfferProbes();
  if (changes & (Change::kSettings | Change::kReference | Change::kCaptureRecords)) OfferRecords();
}

void RecordPanel::MakeProbes() {
  probes_ = Named(new ProbeForm(this, file_dialog()), "probes");
  probes_->hide();
  probes_shown_ = Named(new QToolButton(this), "probes_shown",
                        tr("Choose further probes, and the options of all"));
  probes_shown_->setText(tr("Probes"));
  probes_shown_->setCheckable(true);
  connect(probes_shown_, &QToolButton::toggled, probes_, &QWidget::setVisible);
  connect(probes_, &ProbeForm::RunRequested, this,
          [this] { Try([this] { session()->SetProbeOptions(probes_->Json()); }); });
}

void RecordPanel::OfferProbes() {
  Try([this] {
    probes_->SetJson(session()->probe_options());
    const auto& model = session()->model();
    probes_->SetProbes(model ? model->probes : std::vector<ProbeOffer>());
  });
}

QStringList RecordPanel::choices() const {
  QStringList texts;
  for (const Choice& choice : choices_) texts << choice.text;
  return texts;
}

QStringList RecordPanel::titles() const {
  QStringList texts;
  for (int i = 0; i < choice_->count(); ++i) texts << choice_->itemText(i);
  return texts;
}

void RecordPanel::Choose(const QString& choice) {
  const qsizetype index = choices().indexOf(choice);
  if (index >= 0) choice_->setCurrentIndex(static_cast<int>(index));
  DrawWaiting();
}

void RecordPanel::AddChoices(const Record& record, std::vector<Choice>& choices) {
  for (const Array& array : record.arrays) {
    Choice choice{record.name, "", "", QString::fromStdString(record.name),
                  RecordTitle(record.name)};
    if (array.axes.size() < 2) {
      if (!array.axes.empty()) {
        choice.axis = array.axes.front();
        choice.text += tr(": by %1").arg(QString::fromStdString(choice.axis));
        choice.title += tr(": table by %1").arg(ArrayWords(choice.axis));
      }
    } else if (IsPicture(record, array)) {
      QStringList axes;
      for (const std::string& axis : array.axes) axes << QString::fromStdString(axis);
      choice.array = array.name;
      choice.title = ArrayTitle(record.name, array);
      choice.text += QStringLiteral(": %1 [%2]")
                         .arg(QString::fromStdString(array.name), axes.join(QStringLiteral(", ")));
    } else {
      continue;
    }
    const bool known = std::find(choices.begin(), choices.end(), choice) != choices.end();
    if (!known) choices.push_back(choice);
  }
}

void RecordPanel::OfferRecords() {
  std::vector<Choice> found;
  for (const Side side : {Side::kA, Side::kB}) {
    for (const std::string& name : session()->record_names(side)) {
      const Record* record = session()->record(side, name);
      if (record && !HasOwnPanel(name)) AddChoices(*record, found);
    }
  }
  if (found != choices_) {
    choices_ = found;
    const QSignalBlocker quiet(choice_);
    const QString before = choice_->currentData().toString();
    choice_->clear();
    for (const Choice& choice : choices_) {
      choice_->addItem(choice.title, choice.text);
      choice_->setItemData(choice_->count() - 1, choice.text, Qt::ToolTipRole);
    }
    choice_->setCurrentIndex(std::max<int>(choice_->findData(before), choices_.empty() ? -1 : 0));
  }
  side_->setVisible(session()->differs());
  DrawWhenShown();
}

Side RecordPanel::ShownSide() const {
  return session()->differs() && side_->currentIndex() == 1 ? Side::kB : Side::kA;
}

RecordPanel::Chosen RecordPanel::chosen() const {
  const auto index = static_cast<size_t>(std::max(choice_->currentIndex(), 0));
  Chosen found;
  if (index < choices_.size()) found.choice = choices_[index];
  found.record = session()->record(ShownSide(), found.choice.record);
  found.array = found.record ? found.record->FindArray(found.choice.array) : nullptr;
  return found;
}

void RecordPanel::Draw() {
  const auto [choice, record, array] = chosen();
  form_->setVisible(array != nullptr);
  if (array) {
    MakePlaceBoxes(*record, *array);
    ShowPicture(*record, *array);
  } else {
    for (QWidget* widget : place_widgets_) widget->hide();
    plot_->Show(nullptr, "", {}, RecordForm::kHeatMap);
    plot_->SetOlderNote(QString());
    table_->Show(choice.array.empty() ? record : nullptr, choice.axis);
  }
  pages_->setCurrentIndex(table_->columnCount() > 0 && !array ? 1 : 0);
  RefreshNote(record);
}

void RecordPanel::MakePlaceBoxes(const Record& record, const Array& array) {
  const std::vector<std::string> axes(array.axes.begin(), array.axes.end() - 2);
  if (axes != place_axes_) {
    for (QWidget* widget : place_widgets_) widget->deleteLater();
    place_widgets_.clear();
    place_boxes_.clear();
    place_axes_ = axes;
    for (const std::string& axis : axes) {
      auto* label = new QLabel(QString::fromStdString(axis), this);
      auto* box = Named(new QSpinBox(this), QStringLiteral("place_") + QString::fromStdString(axis),
                        tr("Index along this axis, from 0"));
      connect(box, &QSpinBox::valueChanged, this, &RecordPanel::Draw);
      place_row_->addWidget(label);
      place_row_->addWidget(box);
      place_boxes_.push_back(box);
      place_widgets_.insert(place_widgets_.end(), {label, box});
    }
  }
  for (size_t i = 0; i < place_boxes_.size(); ++i) {
    const QSignalBlocker quiet(place_boxes_[i]);
    place_boxes_[i]->setRange(0, static_cast<int>(AxisSize(record, axes[i]) - 1));
  }
  for (QWidget* widget : place_widgets_) widget->show();
}

void RecordPanel::ShowPicture(const Record& record, const Array& array) {
  std::vector<int64_t> places;
  places.reserve(place_boxes_.size());
  for (const QSpinBox* box : place_boxes_) places.push_back(box->value());
  plot_->Show(&record, array.name, places, static_cast<RecordForm>(form_->currentIndex()));
  const RecordName name = NameOf(*session(), ShownSide(), &record);
  plot_->SetTitle(QStringLiteral("%1 — %2").arg(plot_->title(), name.text));
  plot_->SetOlderNote(name.older ? name.text : QString());
  plot_->SetCaption(CaptionWith(*session(), {name}));
  const QString description = QString::fromStdString(array.description);
  choice_->setToolTip(choice_->currentData().toString() + QLatin1Char('\n') + description);
}

void RecordPanel::RefreshNote(const Record* record) {
  QString note;
  if (record) {
    QStringList parts;
    const QString options = MadeWith(*record);
    if (!options.isEmpty()) parts << tr("with %1").arg(options);
    const RecordName name = NameOf(*session(), ShownSide(), record);
    if (name.older) parts << name.text;
    note = parts.join(QStringLiteral("; "));
  }
  note_->setText(note);
  note_->setToolTip(note);
}

void RecordPanel::Render(FilePictures& pictures) {
  for (const Record& record : pictures.records()) {
    const bool is_b = TextAttribute(record, "side") == QLatin1String("B");
    const bool suffixed = is_b && record.name.ends_with("_b");
    const std::string name = suffixed ? record.name.substr(0, record.name.size() - 2) : record.name;
    if (HasOwnPanel(name)) continue;
    for (const Array& array : record.arrays) {
      // Omits ids, offsets, counts and wall times, which are no results.
      if (!IsPicture(record, array) || !IsMeasured(array) || array.unit == kSeconds) continue;
      const QString stem = QString::fromStdString(record.name + "_" + array.name);
      if (array.axes.size() == 2) DrawArray(record, array, {}, stem, pictures);
      if (CanDrawHeads(record, array, pictures)) DrawHeads(record, array, stem, pictures);
      // Draws one picture per setting.
      if (array.axes.size() != 3 || array.axes.front() != "setting") continue;
      for (int64_t i = 0; i < AxisSize(record, "setting"); ++i) {
        DrawArray(record, array, {i}, QStringLiteral("%1_%2").arg(stem).arg(i + 1), pictures);
      }
    }
  }
}

}  // namespace midscope
