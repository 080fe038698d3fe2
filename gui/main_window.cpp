// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/main_window.h"

#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMimeData>
#include <QScreen>
#include <QScrollArea>
#include <QSettings>
#include <QStatusBar>
#include <QTabBar>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/compute/placement.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "gui/actions/action_registry.h"
#include "gui/actions/command_palette.h"
#include "gui/base/record_access.h"
#include "gui/file_menu.h"
#include "gui/layout/dock_area.h"
#include "gui/panels/command_row.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/outcome/answer_strip.h"
#include "gui/panels/outcome/sweep_panel.h"
#include "gui/panels/panel_list.h"
#include "gui/panels/plot_menu.h"
#include "gui/panels/prompt/adapter_bar.h"
#include "gui/panels/prompt/document_bar.h"
#include "gui/panels/prompt/prompt_history.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/settings/history_panel.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/plots/plot.h"
#include "gui/preferences.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "gui/top_bar.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"
#include "gui/window_actions.h"
#include "probes/client/client_engine.h"

namespace midscope {
namespace {

constexpr int kWidestControls = 460;
constexpr int kMessageMilliseconds = 8000;
// Keys in the settings file that is passed to Remember.
constexpr QLatin1String kGeometryKey("geometry");
constexpr QLatin1String kModeKey("mode");
constexpr QLatin1String kTourKey("tour_seen");
constexpr QLatin1String kLayoutKey("layout");
constexpr QLatin1String kRecentActionsKey("recent_actions");

}  // namespace

MainWindow::MainWindow(const std::shared_ptr<EngineLink>& link, QWidget* parent)
    : MainWindow(MakeClientEngine(link), link, parent) {}

MainWindow::MainWindow(std::shared_ptr<Engine> engine, QWidget* parent)
    : MainWindow(std::move(engine), std::make_shared<EngineLink>(LocalEngine()), parent) {}

MainWindow::MainWindow(std::shared_ptr<Engine> engine, const std::shared_ptr<EngineLink>& link,
                       QWidget* parent)
    : QMainWindow(parent) {
  setWindowTitle(tr("Midscope"));
  setAcceptDrops(true);
  session_ = new Session(std::move(engine), link, this);
  history_ = new SettingHistory(this);
  selection_ = new Selection(this);
  tried_ = new TriedSettings(session_);
  actions_ = new ActionRegistry(this);
  model_ = new ModelPanel(link);
  prompt_panel_ = new PromptPanel;
  settings_ = new SettingsPanel;
  for (const PanelEntry& entry : PanelList())
    panels_.push_back(entry.make({session_, selection_, tried_}));
  answers_ = new AnswerStrip(session_);
  sweep_ = new SweepPanel({session_, selection_, tried_});
  samples_ = new SampleBar(session_);
  documents_ = new DocumentBar(session_);
  adapter_ = new AdapterBar(session_, history_);
  errors_ = new ErrorBar;
  progress_ = new ProgressRow;
  what_if_text_ = Named(new QLabel, "what_if_text",
                        tr("How long the last what-if took, and what had to be recomputed"));
  docks_ = new DockArea;
  top_bar_ = new TopBar(prompt_panel_, selection_);
  MakeDocks();
  Arrange();
  files_ = new FileMenu({session_, history_, tried_, model_, prompt_panel_, errors_, docks_,
                         actions_, selection_, panels_},
                        this);
  choices_ = new ChoiceHistory(session_, selection_, history_->stack(), this);
  prompts_ = new PromptHistory(session_, prompt_panel_, history_->stack(), this);
  palette_ = new CommandPalette(actions_, this);
  new WindowActions(this);
  session_->marks()->UseUndo(history_->stack());
  history_->ShowSettingsAs([this](const QString& text) { return session_->marks()->Name(text); });
  WireSession();
  WirePanels();
  settings_->Show(history_->current());
}

MainWindow::~MainWindow() {
  // Children are destroyed in creation order, so no signal of the session may reach a panel from
  // here on.
  session_->disconnect();
}

void MainWindow::MakeDocks() {
  const auto control = [this](const char* id, const QString& title, const QString& help,
                              QWidget* panel) {
    auto* top = new QWidget;
    top->setBackgroundRole(QPalette::Base);
    auto* column = new QVBoxLayout(top);
    column->setContentsMargins(2, 2, 2, 2);
    // The prompt's own text uses the whole height.
    const bool whole = panel == prompt_panel_;
    column->addWidget(panel, whole ? 1 : 0);
    if (!whole) column->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setBackgroundRole(QPalette::Base);
    scroll->setWidget(top);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setMinimumWidth(top->minimumSizeHint().width() +
                            scroll->verticalScrollBar()->sizeHint().width());
    // In a larger window, the extra space goes to the plots.
    if (panel == settings_) scroll->setMaximumWidth(kWidestControls);
    docks_->Add(QString::fromLatin1(id), title, help, scroll, nullptr,
                panel == settings_ ? settings_->options() : nullptr);
  };
  control("settings", tr("Change"),
          tr("What is changed: a form for each term of setting B, presets, and B as text. "
             "Everything else in the window compares A with B."),
          settings_);
  control("prompt", tr("Prompt"),
          tr("The prompt: a task's sample with the gold passage at several places, or your own "
             "text."),
          prompt_panel_);
  control("model", tr("Model"), tr("Which model runs, in which number format, on which device."),
          model_);
  auto* menu = new PlotMenu(session_, this);
  connect(menu, &PlotMenu::Told, this,
          [this](const QString& text) { statusBar()->showMessage(text, kMessageMilliseconds); });
  connect(menu, &PlotMenu::Failed, errors_, [this](const QString& why) { errors_->Add(why); });
  for (size_t i = 0; i < panels_.size(); ++i) {
    const PanelEntry& entry = PanelList()[i];
    menu->Watch(docks_->Add(entry.id, entry.title, entry.help, panels_[i], panels_[i]->head(),
                            panels_[i]->options()),
                entry.records);
  }
  docks_->Add(QStringLiteral("sweep"), tr("Sweep"),
              tr("The outcome of A, B and further settings over many samples and places, with "
                 "paired differences, 95 % intervals and permutation tests, as the command "
                 "midscope sweep makes it."),
              sweep_);
  auto* history = new HistoryPanel(session_, tried_);
  docks_->Add(QStringLiteral("history"), tr("History"),
              tr("Every setting that was tried on these prompts, with its outcome. Double click: "
                 "back to it, without a run. Kept ones (C to F) are drawn with the outcome."),
              history);
  connect(history, &HistoryPanel::SettingOffered, this, [this](Side side, const QString& setting) {
    errors_->Try([&] { SetSetting(side, setting); }, QStringLiteral("setting"));
  });
}

// One row of a fixed height for the modes and for messages, so that nothing moves when one comes.
QWidget* MainWindow::MakeModes() {
  auto* row = new QWidget;
  modes_ = Named(new QTabBar(row), "modes");
  modes_->setDrawBase(false);
  modes_->setExpanding(false);
  modes_->setFocusPolicy(Qt::TabFocus);
  for (const LayoutEntry& entry : LayoutList())
    modes_->setTabToolTip(modes_->addTab(entry.title), entry.help);
  auto* line = WithoutMargins(new QHBoxLayout(row));
  line->addWidget(modes_);
  line->addWidget(errors_, 1);
  line->addStretch(0);
  constexpr int kLines = 2;
  constexpr int kMargins = 12;
  row->setFixedHeight(kLines * fontMetrics().lineSpacing() + kMargins);
  return row;
}

void MainWindow::ShowOwnText() {
  docks_->SwitchTo(*FindLayout(kOwnTextMode));
  prompt_panel_->ShowOwnText();
}

void MainWindow::Arrange() {
  auto* centre = new QWidget;
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(4, 0, 4, 0);
  column->setSpacing(3);
  column->addWidget(top_bar_);
  column->addWidget(MakeModes());
  column->addWidget(documents_);
  column->addWidget(adapter_);
  column->addWidget(samples_);
  column->addWidget(answers_);
  column->addWidget(docks_, 1);
  setCentralWidget(centre);
  statusBar()->addWidget(what_if_text_);
  statusBar()->addPermanentWidget(progress_);
  own_size_ = QSize(1540, 960).boundedTo(screen()->availableSize());
  resize(own_size_);
  docks_->Arrange(LayoutList().front());
}

void MainWindow::Remember(const QString& file) {
  files_->Remember(file);
  const QSettings& stored = *files_->settings();
  restoreGeometry(stored.value(kGeometryKey).toByteArray());
  if (const LayoutEntry* mode = FindLayout(stored.value(kModeKey).toString()))
    docks_->Arrange(*mode);
  docks_->Restore(stored.value(kLayoutKey).toByteArray());
  RestorePreferences(*this, stored);
  settings_->OfferTour(!stored.value(kTourKey).toBool());
  palette_->SetRecent(stored.value(kRecentActionsKey).toStringList());
  keeper_ = new SessionKeeper(session_, history_, files_, QFileInfo(file).path());
}

// The size of the window frame is known only after the window is shown; the window including it
// must fit on the screen.
void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  // In one direction, a panel may need more than the size that the window chose.
  const QSize own = std::exchange(own_size_, QSize());
  if (width() == own.width() || height() == own.height())
    QMetaObject::invokeMethod(this, "FitScreen", Qt::QueuedConnection);
}

void MainWindow::FitScreen() {
  const QRect room = screen()->availableGeometry();
  const QSize frame = frameGeometry().size() - size();
  if (frameGeometry().width() > room.width() || frameGeometry().height() > room.height())
    resize(size().boundedTo(room.size() - frame));
  if (!room.contains(frameGeometry())) move(room.topLeft());
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (QSettings* stored = files_->settings()) {
    stored->setValue(kGeometryKey, saveGeometry());
    stored->setValue(kTourKey, !settings_->offers_tour());
    stored->setValue(kModeKey, docks_->layout_id());
    stored->setValue(kLayoutKey, docks_->State());
    StorePreferences(*this, *stored);
    stored->setValue(kRecentActionsKey, palette_->recent());
    keeper_->Write();
  }
  QMainWindow::closeEvent(event);
}

void MainWindow::SetSetting(Side side, const QString& setting) {
  SettingPair next = history_->current();
  next.setting(side) = ParseIntervention(setting.toStdString());
  history_->Change(next, false);
}

void MainWindow::PutOnB(const QString& term) {
  errors_->Try(
      [this, &term] {
        SettingPair next = history_->current();
        next.b = WithTerm(next.b, term.toStdString());
        history_->Change(next, false);
      },
      QStringLiteral("setting"));
}

// The control shows B's first scaled channel; the others are preserved.
void MainWindow::PutOnKnob(const ChannelScaling& scaling, bool dragging) {
  SettingPair next = history_->current();
  std::vector<ChannelScaling> all = next.b.All<ChannelScaling>();
  if (all.empty()) all.emplace_back();
  const auto same = std::find_if(all.begin(), all.end(), [&](const ChannelScaling& each) {
    return each.channel == scaling.channel;
  });
  (same == all.end() ? all.front() : *same) = scaling;
  next.b.Remove<ChannelScaling>();
  for (const ChannelScaling& each : all) next.b.Add(TermOf(each));
  history_->Change(next, dragging);
}

void MainWindow::PutRatios(const HeadRatioTable& ratios, bool dragging) {
  SettingPair next = history_->current();
  next.b.Add(TermOf(ratios));
  history_->Change(next, dragging);
}

void MainWindow::ChoosePlace(qint64 place) {
  for (size_t i = 0; i < session_->prompts().size(); ++i) {
    if (IntegerAttribute(session_->prompts()[i], "place", 0) == place) choices_->ChoosePlace(i);
  }
  samples_->ChoosePlace(place);
}

void MainWindow::Run() {
  errors_->Try(
      [this] {
        if (session_->live().model) {
          prompts_->Run();
        } else {
          session_->Open(model_->request(), prompt_panel_->prompt_request());
        }
      },
      QStringLiteral("run"));
}

void MainWindow::OpenModel(const QString& model) {
  model_->SetModel(model);
  Open();
}

void MainWindow::Open() {
  files_->StopOpening();
  std::optional<PromptRequest> prompt_request;
  errors_->Try([this, &prompt_request] { prompt_request = prompt_panel_->prompt_request(); },
               QStringLiteral("run"));
  errors_->Try([this, &prompt_request] { session_->Open(model_->request(), prompt_request); },
               QStringLiteral("open"));
}

void MainWindow::OpenOnCpu(OpenRequest request) {
  files_->StopOpening();
  request.device = DeviceText(DeviceName());
  model_->SetRequest(request);
  session_->Open(request);
}

void MainWindow::OpenPath(const QString& path) { files_->OpenPath(path); }

void MainWindow::ShowPanel(Panel* panel) { docks_->ShowPanel(panel); }

Panel* MainWindow::FindPanel(const QString& id) const {
  for (size_t i = 0; i < panels_.size(); ++i) {
    if (PanelList()[i].id == id) return panels_[i];
  }
  return nullptr;
}

std::vector<Plot*> MainWindow::plots() const {
  std::vector<Plot*> all;
  for (Panel* panel : panels_) {
    panel->DrawWaiting();
    for (Plot* plot : panel->plots()) all.push_back(plot);
  }
  return all;
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList paths;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) {
      paths << url.toLocalFile();
    } else {
      errors_->Add(tr("'%1' is not a local file").arg(url.toDisplayString()));
    }
  }
  files_->OpenPaths(paths);
}

}  // namespace midscope
