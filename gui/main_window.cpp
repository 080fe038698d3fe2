// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/main_window.h"

#include <QDragEnterEvent>
#include <QLabel>
#include <QMenuBar>
#include <QMimeData>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QStatusBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <optional>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/file_menu.h"
#include "gui/files/session_file.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/panel_list.h"
#include "gui/panels/prompt_panel.h"
#include "gui/panels/sample_bar.h"
#include "gui/panels/settings_panel.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/ratio_editor.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/progress_row.h"
#include "gui/widgets/selection.h"
#include "gui/widgets/term_list.h"

namespace midscope {
namespace {

constexpr int kSideWidth = 370;
constexpr QSize kExportSize(760, 460);

}  // namespace

MainWindow::MainWindow(std::unique_ptr<Engine> engine, QWidget* parent) : QMainWindow(parent) {
  setWindowTitle(tr("Midscope"));
  setAcceptDrops(true);
  session_ = new Session(std::move(engine), this);
  history_ = new SettingHistory(this);
  selection_ = new Selection(this);
  model_ = new ModelPanel;
  prompt_panel_ = new PromptPanel;
  settings_ = new SettingsPanel;
  for (const PanelEntry& entry : PanelList()) panels_.push_back(entry.make({session_, selection_}));
  samples_ = new SampleBar(session_);
  errors_ = new ErrorBar;
  progress_ = new ProgressRow;
  what_if_text_ = new QLabel;
  what_if_text_->setObjectName(QStringLiteral("what_if_text"));
  what_if_text_->setToolTip(tr("How long the last what-if took, and what had to be recomputed"));
  Arrange();
  MakeMenus();
  WireSession();
  WirePanels();
  settings_->Show(history_->current());
}

MainWindow::~MainWindow() {
  // Children are destroyed in creation order: from here on no signal of the session may reach a
  // panel.
  session_->disconnect();
}

QWidget* MainWindow::MakeSide() {
  auto* side = new QWidget;
  auto* side_column = new QVBoxLayout(side);
  side_column->addWidget(model_);
  side_column->addWidget(prompt_panel_);
  side_column->addWidget(settings_);
  side_column->addStretch(1);
  auto* scroll = new QScrollArea;
  scroll->setWidget(side);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setMinimumWidth(side->minimumSizeHint().width() +
                          scroll->verticalScrollBar()->sizeHint().width());
  return scroll;
}

QWidget* MainWindow::MakePictures() {
  const auto area = [this](PanelArea wanted) -> QWidget* {
    std::vector<size_t> inside;
    for (size_t i = 0; i < panels_.size(); ++i) {
      if (PanelList()[i].area == wanted) inside.push_back(i);
    }
    if (inside.size() == 1) return panels_[inside.front()];
    auto* tabs = new QTabWidget;
    tabs->setDocumentMode(true);
    for (const size_t i : inside) tabs->addTab(panels_[i], PanelList()[i].title);
    return tabs;
  };
  const auto split = [](Qt::Orientation orientation, QWidget* first, QWidget* second,
                        const QList<int>& sizes) {
    auto* splitter = new QSplitter(orientation);
    splitter->addWidget(first);
    splitter->addWidget(second);
    splitter->setSizes(sizes);
    return splitter;
  };
  QSplitter* top =
      split(Qt::Horizontal, area(PanelArea::kTopLeft), area(PanelArea::kTopRight), {400, 600});
  QSplitter* bottom = split(Qt::Horizontal, area(PanelArea::kBottomLeft),
                            area(PanelArea::kBottomRight), {500, 500});
  return split(Qt::Vertical, top, bottom, {520, 440});
}

void MainWindow::Arrange() {
  auto* all = new QSplitter(Qt::Horizontal);
  all->addWidget(MakeSide());
  all->addWidget(MakePictures());
  all->setStretchFactor(0, 0);
  all->setStretchFactor(1, 1);
  all->setSizes({kSideWidth, 1180});
  auto* centre = new QWidget;
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(4, 4, 4, 0);
  column->addWidget(errors_);
  column->addWidget(samples_);
  column->addWidget(all, 1);
  setCentralWidget(centre);
  statusBar()->addWidget(progress_);
  statusBar()->addPermanentWidget(what_if_text_);
  auto* help = new QLabel(Plot::MouseHelp());
  help->setEnabled(false);
  // Text that does not fit is elided, so that it does not set the window's minimum width.
  help->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  statusBar()->addPermanentWidget(help, 1);
  resize(QSize(1540, 960).boundedTo(screen()->availableSize()));
}

void MainWindow::MakeMenus() {
  files_ = new FileMenu({session_, history_, model_, prompt_panel_, errors_, panels_},
                        menuBar()->addMenu(tr("&File")), this);
  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  QAction* undo = history_->stack()->createUndoAction(this, tr("&Undo"));
  undo->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Z));
  QAction* redo = history_->stack()->createRedoAction(this, tr("&Redo"));
  redo->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z));
  edit->addActions({undo, redo});
  edit->addAction(tr("Position &ratios…"), this, [this] {
    auto* editor = new RatioEditor({session_, history_, errors_}, this);
    editor->setAttribute(Qt::WA_DeleteOnClose);
    editor->show();
  });
  QMenu* run = menuBar()->addMenu(tr("&Run"));
  run->addAction(tr("&Run"), QKeySequence(Qt::Key_F5), this, &MainWindow::Run);
  run->addAction(tr("&Cancel"), QKeySequence(Qt::CTRL | Qt::Key_Period), session_,
                 &Session::Cancel);
  QMenu* view = menuBar()->addMenu(tr("&View"));
  for (const Panel* panel : panels_) {
    view->addActions(panel->actions());
    if (!panel->actions().isEmpty()) view->addSeparator();
  }
  view->addActions(samples_->actions_of_menu());
  view->addSeparator();
  QAction* full = view->addAction(tr("&Full screen"), QKeySequence(Qt::Key_F10), this,
                                  [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
  full->setToolTip(tr("F10"));
}

void MainWindow::WireSession() {
  connect(session_, &Session::Changed, this, &MainWindow::Refresh);
  connect(session_, &Session::BusyChanged, progress_, &ProgressRow::SetBusy);
  connect(session_, &Session::Progressed, progress_, &ProgressRow::SetProgress);
  connect(session_, &Session::Failed, errors_, &ErrorBar::Add);
  connect(session_, &Session::WhatIfTimed, this, &MainWindow::ShowWhatIf);
  connect(progress_, &ProgressRow::CancelAsked, session_, &Session::Cancel);
}

// All panels are refreshed before any of them is painted: their plots queue their replots.
void MainWindow::Refresh(Changes changes) {
  for (Plot* plot : findChildren<Plot*>()) plot->SetDragging(session_->dragging());
  if (changes & Change::kModel) ShowModel();
  if (changes & Change::kPrompts) {
    prompt_panel_->ShowPlaces(session_->prompts(), session_->place());
    const Record* prompt = session_->prompt();
    settings_->OfferPassages(prompt ? Texts(*prompt, kSpanName) : QStringList());
    RefreshWaiting();
  }
  if (changes & Change::kSettings) RefreshSettings();
  for (Panel* panel : panels_) panel->Refresh(changes);
}

void MainWindow::RefreshSettings() {
  const SettingPair shown{session_->setting(Side::kA), session_->setting(Side::kB)};
  // A file sets the settings; undo begins with them.
  if (shown != history_->current()) history_->Reset(shown);
  settings_->Show(shown);
}

void MainWindow::WirePanels() {
  connect(files_, &FileMenu::OpenAsked, this, &MainWindow::Open);
  connect(files_, &FileMenu::ExportAsked, this, &MainWindow::ExportTo);
  connect(files_, &FileMenu::StatusChanged, this,
          [this](const QString& text) { statusBar()->showMessage(text); });
  connect(model_, &ModelPanel::OpenAsked, this, &MainWindow::Open);
  connect(prompt_panel_, &PromptPanel::RunAsked, this, &MainWindow::Run);
  connect(prompt_panel_, &PromptPanel::Edited, this, &MainWindow::RefreshWaiting);
  connect(prompt_panel_, &PromptPanel::PlaceChosen, this, [this](int index) {
    if (index >= 0) session_->SetPlace(static_cast<size_t>(index));
  });
  for (const Panel* panel : panels_) {
    connect(panel, &Panel::PlaceChosen, this, &MainWindow::ChoosePlace);
    connect(panel, &Panel::TermOffered, this, &MainWindow::PutOnB);
    connect(panel, &Panel::ScalingOffered, this, &MainWindow::PutOnKnob);
  }
  connect(selection_, &Selection::HeadChanged, settings_, &SettingsPanel::OfferHead);
  connect(selection_, &Selection::RangeChanged, settings_, &SettingsPanel::OfferRange);
  connect(settings_, &SettingsPanel::Changed, history_, &SettingHistory::Change);
  connect(history_, &SettingHistory::Applied, this, [this](const SettingPair& pair, bool dragging) {
    session_->SetSettings(pair.a, pair.b, dragging);
    settings_->Show(pair);
  });
}

void MainWindow::PutOnB(const QString& term) {
  errors_->Try([this, &term] {
    SettingPair next = history_->current();
    next.b = WithTerm(next.b, term.toStdString());
    history_->Change(next, false);
  });
}

// The knob shows the first channel of B; the others are kept.
void MainWindow::PutOnKnob(const ChannelScaling& scaling) {
  SettingPair next = history_->current();
  if (next.b.channels.empty()) next.b.channels.emplace_back();
  next.b.channels.front() = scaling;
  history_->Change(next, false);
}

void MainWindow::ChoosePlace(qint64 place) {
  for (size_t i = 0; i < session_->prompts().size(); ++i) {
    if (IntegerAttribute(session_->prompts()[i], "place", 0) == place) session_->SetPlace(i);
  }
  samples_->ChoosePlace(place);
}

void MainWindow::Run() {
  errors_->Try([this] {
    if (session_->model()) {
      session_->SetPrompt(prompt_panel_->prompt_request());
    } else {
      session_->Open(model_->request(), prompt_panel_->prompt_request());
    }
  });
}

// The numbers on the screen are of the prompt request that was run, not of the panel's.
void MainWindow::RefreshWaiting() {
  const std::optional<PromptRequest>& shown = session_->shown_prompt_request();
  bool waiting = false;
  try {
    waiting =
        shown && PromptRequestText(prompt_panel_->prompt_request()) != PromptRequestText(*shown);
  } catch (const Error&) {
    waiting = true;  // a request that can't be run differs from the shown one
  }
  prompt_panel_->SetWaiting(waiting);
}

void MainWindow::ShowModel() {
  const auto& model = session_->model();
  model_->Show(model ? &*model : nullptr,
               session_->file_records().empty() ? QString() : tr("results of a file"));
  setWindowTitle(tr("Midscope"));
  if (!model) return;
  const ModelConfig& config = model->config;
  settings_->SetModel(config.layers, config.hidden);
  setWindowTitle(tr("%1 — Midscope").arg(QString::fromStdString(config.name)));
}

void MainWindow::ShowWhatIf(const WhatIfCost& cost) {
  QString what = tr("layers from %1").arg(cost.first_layer);
  if (cost.seen_before) {
    what = tr("seen before");
  } else if (cost.last_rows_only) {
    what = tr("last rows only");
  } else if (cost.first_row > 0) {
    what += tr(", rows from %1").arg(cost.first_row);
  }
  QString text = tr("what-if %1 ms (%2)").arg(cost.seconds * 1000, 0, 'f', 1).arg(what);
  if (cost.first_kept_layer > 0) {
    const auto& model = session_->model();
    text += model && cost.first_kept_layer == model->config.layers
                ? tr("; nothing kept: memory limit")
                : tr("; kept from layer %1 on: memory limit").arg(cost.first_kept_layer);
  }
  what_if_text_->setText(text);
}

void MainWindow::OpenModel(const QString& model) {
  model_->SetModel(model);
  Open();
}

void MainWindow::Open() {
  files_->StopOpening();
  std::optional<PromptRequest> prompt_request;
  errors_->Try([this, &prompt_request] { prompt_request = prompt_panel_->prompt_request(); });
  errors_->Try([this, &prompt_request] { session_->Open(model_->request(), prompt_request); });
}

void MainWindow::OpenPath(const QString& path) { files_->OpenPath(path); }

void MainWindow::ShowPanel(Panel* panel) {
  for (QTabWidget* tabs : findChildren<QTabWidget*>()) {
    if (tabs->indexOf(panel) >= 0) tabs->setCurrentWidget(panel);
  }
}

std::vector<Plot*> MainWindow::plots() const {
  std::vector<Plot*> all;
  for (Panel* panel : panels_) {
    panel->DrawWaiting();
    for (Plot* plot : panel->plots()) all.push_back(plot);
  }
  return all;
}

void MainWindow::ExportTo(const QString& folder) {
  session_->FlushChanges();
  errors_->Try([this, &folder] {
    QStringList written;
    for (Plot* plot : plots()) {
      written += WritePlotFiles(*plot, folder, plot->file_stem(), PlotFormats(), kExportSize);
    }
    statusBar()->showMessage(tr("%1 pictures written to %2").arg(written.size()).arg(folder), 8000);
  });
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (!urls.isEmpty() && urls.front().isLocalFile()) OpenPath(urls.front().toLocalFile());
}

}  // namespace midscope
