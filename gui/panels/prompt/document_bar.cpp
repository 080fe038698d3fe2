// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/prompt/document_bar.h"

#include <QAction>
#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTabBar>
#include <QToolButton>
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

namespace {

// The settings of the records and of their `setting` axes, without duplicates.
QStringList SettingsOfFile(const SessionView& view) {
  QStringList settings = {QString::fromStdString(view.a.text)};
  if (view.differs()) settings << QString::fromStdString(view.b.text);
  for (const Record& record : view.file_records) settings += AxisLabels(record, "setting");
  settings.removeDuplicates();
  return settings;
}

// Returns nullopt if the setting has a term of another version.
std::optional<Intervention> Read(const QString& setting) {
  try {
    return ParseIntervention(setting.toStdString());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

DocumentBar::DocumentBar(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
  tabs_ = Named(new QTabBar(this), "documents");
  tabs_->setAccessibleName(tr("Model and open files"));
  tabs_->setExpanding(false);
  tabs_->setElideMode(Qt::ElideMiddle);
  tabs_->setTabsClosable(true);
  tabs_->setDrawBase(false);
  settings_ = Named(new ElidedLabel(this, Qt::ElideMiddle), "document_settings");
  use_ = Named(new QToolButton(this), "use_document_settings",
               tr("Puts settings of this file on the model, and shows the model"));
  use_->setText(tr("Use on the model"));
  use_->setPopupMode(QToolButton::InstantPopup);
  menu_ = new QMenu(use_);
  use_->setMenu(menu_);
  auto* row = WithoutMargins(new QHBoxLayout(this));
  row->addWidget(tabs_);
  row->addWidget(settings_, 1);
  row->addWidget(use_);
  connect(tabs_, &QTabBar::currentChanged, session_,
          [this](int tab) { session_->ShowDocument(tab - 1); });
  connect(tabs_, &QTabBar::tabCloseRequested, session_,
          [this](int tab) { session_->CloseDocument(tab - 1); });
  connect(menu_, &QMenu::aboutToShow, this, &DocumentBar::FillSettings);
  connect(session_, &Session::Changed, this, [this](Changes changes) {
    if (changes & (Change::kDocuments | Change::kModel | Change::kSettings)) Refresh();
  });
  Refresh();
}

void DocumentBar::Refresh() {
  const QStringList paths = session_->documents();
  setVisible(!paths.isEmpty());
  if (paths.isEmpty()) return;  // this function is called at each step of a slider
  const QSignalBlocker quiet(tabs_);
  while (tabs_->count() > paths.size() + 1) tabs_->removeTab(tabs_->count() - 1);
  while (tabs_->count() < paths.size() + 1) tabs_->addTab(QString());
  const auto& model = session_->live().model;
  tabs_->setTabText(0, model ? session_->live().ModelLabel() : tr("no model"));
  tabs_->setTabToolTip(0, tr("The open model; it goes on while a file is shown"));
  for (const QTabBar::ButtonPosition side : {QTabBar::LeftSide, QTabBar::RightSide})
    tabs_->setTabButton(0, side, nullptr);
  for (int i = 0; i < paths.size(); ++i) {
    const QString name = QFileInfo(paths[i]).fileName();
    tabs_->setTabText(i + 1, name.isEmpty() ? tr("results") : name);
    tabs_->setTabToolTip(i + 1, paths[i]);
  }
  tabs_->setCurrentIndex(session_->shown_document() + 1);
  const SessionView& shown = session_->shown();
  settings_->setVisible(shown.is_file);
  use_->setVisible(shown.is_file);
  if (!shown.is_file) return;
  QStringList settings = SettingsOfFile(shown);
  settings_->setToolTip(settings.join(QLatin1Char('\n')));
  // Further settings of a sweep have no letter: its curves name them.
  settings[0].prepend(tr("A: "));
  if (shown.differs()) settings[1].prepend(tr("B: "));
  settings_->SetText(settings.join(QStringLiteral("   ")));
}

void DocumentBar::FillSettings() {
  menu_->clear();
  const SessionView& shown = session_->shown();
  const auto add = [this](const QString& title, const SettingPair& pair) {
    menu_->addAction(title, this, [this, pair] { Q_EMIT SettingsOffered(pair); });
  };
  if (shown.differs()) add(tr("A and B as in the file"), {shown.a.setting, shown.b.setting});
  const Intervention& kept = session_->live().a.setting;
  for (const QString& setting : SettingsOfFile(shown)) {
    if (const auto read = Read(setting)) add(tr("B: %1").arg(setting), {kept, *read});
  }
}

namespace {

// The entries of a combo box for an axis.
QStringList Items(const Axis& axis) {
  Record record;
  record.axes = {axis};
  return AxisLabels(record, axis.name);
}

std::pair<QWidget*, QComboBox*> LabelledBox(const QString& label, const QString& name,
                                            QWidget* parent) {
  auto* row = new QWidget(parent);
  auto* box = Named(new QComboBox(row), name);
  auto* layout = WithoutMargins(new QHBoxLayout(row));
  layout->addWidget(new QLabel(label, row));
  layout->addWidget(box);
  return {row, box};
}

}  // namespace

SampleBar::SampleBar(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
  sample_ = Named(new QSpinBox(this), "file_sample",
                  tr("Which sample of the file is on the screen, counted from 1 (Alt+→, Alt+←)"));
  of_ = new QLabel(this);
  std::tie(place_row_, place_) = LabelledBox(tr("at place"), QStringLiteral("file_place"), this);
  place_->setToolTip(tr("Place of the gold piece whose pictures are shown"));
  std::tie(setting_row_, setting_) = LabelledBox(tr("under"), QStringLiteral("file_setting"), this);
  setting_->setToolTip(tr("Setting whose pictures are shown"));
  note_ = Named(new QLabel(this), "file_sample_note");
  note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  next_ = Named(new QAction(tr("&Next sample"), this), "next-sample");
  next_->setShortcut(QKeySequence(Qt::ALT | Qt::Key_Right));
  previous_ = Named(new QAction(tr("&Previous sample"), this), "previous-sample");
  previous_->setShortcut(QKeySequence(Qt::ALT | Qt::Key_Left));
  auto* row = MakeControlRow();
  setLayout(row);
  row->addWidget(new QLabel(tr("sample"), this));
  row->addWidget(sample_);
  row->addWidget(of_);
  row->addWidget(place_row_);
  row->addWidget(setting_row_);
  row->addWidget(note_, 1);
  next_->setToolTip(tr("The task's next sample, which is run; of a file: its next one"));
  previous_->setToolTip(tr("The sample before, in the same way"));
  connect(next_, &QAction::triggered, this, [this] { Step(1); });
  connect(previous_, &QAction::triggered, this, [this] { Step(-1); });
  connect(sample_, &QSpinBox::valueChanged, this, &SampleBar::Choose);
  connect(place_, &QComboBox::currentIndexChanged, this, &SampleBar::Choose);
  connect(setting_, &QComboBox::currentIndexChanged, this, &SampleBar::Choose);
  connect(session_, &Session::Changed, this, [this](Changes changes) {
    if (changes & Change::kSampleFile) ShowFile();
    if (changes & Change::kSample) ShowSample();
  });
  ShowFile();
}

QList<QAction*> SampleBar::actions_of_menu() const { return {next_, previous_}; }

void SampleBar::ShowFile() {
  const RemoteSampleView* view = session_->sample_view();
  setVisible(view != nullptr);
  if (!view) return;
  const QSignalBlocker quiet[] = {QSignalBlocker(sample_), QSignalBlocker(place_),
                                  QSignalBlocker(setting_)};
  const SampleChoice& chosen = session_->sample_choice();
  sample_->setRange(1, static_cast<int>(view->samples().size));
  sample_->setValue(static_cast<int>(chosen.sample + 1));
  of_->setText(tr("of %1").arg(view->samples().size));
  const auto fill = [](QComboBox* box, QWidget* labelled, const Axis& axis, int64_t index) {
    box->clear();
    box->addItems(Items(axis));
    box->setCurrentIndex(static_cast<int>(index));
    labelled->setVisible(axis.size > 0);
  };
  fill(place_, place_row_, view->places(), chosen.place);
  fill(setting_, setting_row_, view->settings(), chosen.setting);
  note_->clear();
}

void SampleBar::Step(int step) {
  if (session_->sample_view()) {
    sample_->stepBy(step);
  } else {
    Q_EMIT StepRequested(step);
  }
}

void SampleBar::ChoosePlace(qint64 place) {
  const RemoteSampleView* view = session_->sample_view();
  if (!view) return;
  const std::vector<double>& values = view->places().values;
  const auto found = std::find(values.begin(), values.end(), static_cast<double>(place));
  if (found != values.end()) place_->setCurrentIndex(static_cast<int>(found - values.begin()));
}

void SampleBar::Choose() {
  session_->ChooseSample({sample_->value() - 1, std::max(setting_->currentIndex(), 0),
                          std::max(place_->currentIndex(), 0)});
}

void SampleBar::ShowSample() {
  const RemoteSampleView* view = session_->sample_view();
  if (!view) return;
  const auto row = static_cast<size_t>(session_->sample_choice().sample);
  QStringList parts;
  if (row < view->samples().values.size()) {
    parts << tr("number %1").arg(view->samples().values[row], 0, 'f', 0);
  }
  const Record* prompt = session_->prompt();
  if (prompt) {
    parts << tr("%1 tokens").arg(IntegerAttribute(*prompt, "prompt_tokens", 0));
  }
  // Describes what cannot be chosen, because a sweep stores the attention of only one setting and
  // place.
  const Record* attention = session_->record(Side::kA, kLastQueryAttention);
  if (attention && prompt && view->places().size == 0) {
    parts << tr("attention: gold at place %1, under %2")
                 .arg(IntegerAttribute(*prompt, "place", 0))
                 .arg(TextAttribute(*attention, "intervention"));
  } else if (!attention && FindRecord(session_->file_records(), "sweep")) {
    parts << tr("the file holds no attention (midscope sweep --attention keeps it)");
  }
  note_->setText(parts.join(QStringLiteral(" · ")));
  note_->setToolTip(tr("Read in %1 ms").arg(session_->sample_milliseconds(), 0, 'f', 1));
}

}  // namespace midscope
