// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: what its parts tell each other.
#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QMessageBox>
#include <QObject>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QStatusBar>
#include <QTabBar>
#include <QUndoStack>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "gui/actions/action_registry.h"
#include "gui/actions/command_palette.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/file_menu.h"
#include "gui/files/session_file.h"
#include "gui/layout/dock_area.h"
#include "gui/main_window.h"
#include "gui/panels/command_row.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/outcome/sweep_panel.h"
#include "gui/panels/outcome/tuning_panel.h"
#include "gui/panels/panel.h"
#include "gui/panels/prompt/adapter_bar.h"
#include "gui/panels/prompt/document_bar.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_picture.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "gui/session/two_models.h"
#include "gui/top_bar.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/selection.h"

namespace midscope {
namespace {

// Event filter: passes the undo and redo keys to the window's undo stack, because the text fields
// of a widget would otherwise handle them by their separate undo.
class UndoKeys : public QObject {
 public:
  UndoKeys(QWidget* root, QUndoStack* stack) : QObject(root), root_(root), stack_(stack) {
    QApplication::instance()->installEventFilter(this);
  }
  bool eventFilter(QObject* watched, QEvent* event) override {
    const bool pressed = event->type() == QEvent::KeyPress;
    if (!pressed && event->type() != QEvent::ShortcutOverride) return false;
    const auto* widget = qobject_cast<const QWidget*>(watched);
    const auto* key = static_cast<const QKeyEvent*>(event);
    const bool undo = key->matches(QKeySequence::Undo);
    if (!widget || (!undo && !key->matches(QKeySequence::Redo))) return false;
    if (root_ != widget && !root_->isAncestorOf(widget)) return false;
    event->accept();  // not a shortcut of the window: it would come twice
    if (pressed) undo ? stack_->undo() : stack_->redo();
    return true;
  }

 private:
  const QWidget* root_;
  QUndoStack* stack_;
};

}  // namespace

void MainWindow::WireSession() {
  connect(session_, &Session::Changed, this, &MainWindow::Refresh);
  connect(session_, &Session::BusyChanged, progress_, &ProgressRow::SetBusy);
  connect(session_, &Session::Progressed, progress_, &ProgressRow::SetProgress);
  connect(session_, &Session::Failed, errors_, &ErrorBar::Add);
  connect(session_, &Session::Failed, this, &MainWindow::OfferTask);
  connect(session_, &Session::Succeeded, errors_, &ErrorBar::Succeed);
  connect(session_, &Session::DeviceFailed, this,
          [this](const QString& why, const OpenRequest& request) {
            errors_->OfferAction(why, tr("Open on the CPU"),
                                 [this, request] { OpenOnCpu(request); });
          });
  connect(session_, &Session::EngineEnded, this, [this](const QString& why) {
    errors_->OfferAction(why, tr("Restart"), [this] { session_->Restart(); });
  });
  connect(session_, &Session::WhatIfTimed, this, &MainWindow::ShowWhatIf);
  connect(progress_, &ProgressRow::CancelRequested, session_, &Session::Cancel);
}

// All panels are refreshed before any of them is painted: their plots queue their replots.
void MainWindow::Refresh(Changes changes) {
  if (std::exchange(plots_dragging_, session_->dragging()) != session_->dragging()) {
    for (Plot* plot : findChildren<Plot*>()) plot->SetDragging(session_->dragging());
  }
  if (changes & Change::kModel) ShowModel();
  if (changes & (Change::kModel | Change::kDocuments)) {
    const bool file_alone = session_->shows_file() && !session_->live().model;
    top_bar_->OfferPrompt(!file_alone);
    settings_->OfferChanges(!file_alone);
  }
  if (changes & Change::kPrompts) {
    prompt_panel_->ShowPlaces(session_->prompts(), session_->place());
    top_bar_->ShowPlaces();
    const Record* prompt = session_->prompt();
    settings_->OfferPassages(prompt ? Texts(*prompt, kSpanName) : QStringList());
    RefreshWaiting();
  }
  if (changes & Change::kSettings) RefreshSettings();
  for (Panel* panel : panels_) panel->Refresh(changes);
  sweep_->Refresh(changes);
}

void MainWindow::RefreshSettings() {
  // Shows the model's settings even while a file is open: the document bar shows the file's.
  const SettingPair asked{session_->live().a.setting, session_->live().b.setting};
  const SettingPair& now = history_->current();
  // A file that is open without a model sets them; undo begins with them.
  if (asked.a != now.a || asked.b != now.b) history_->Reset(asked);
  settings_->Show(history_->current());
  settings_->ShowNames(*session_->marks());
}

void MainWindow::WirePanels() {
  connect(files_, &FileMenu::OpenRequested, this, &MainWindow::Open);
  connect(files_, &FileMenu::ExportRequested, this, &MainWindow::AskExportTo);
  connect(files_, &FileMenu::StatusChanged, this,
          [this](const QString& text) { statusBar()->showMessage(text); });
  connect(model_, &ModelPanel::OpenRequested, this, &MainWindow::Open);
  connect(model_, &ModelPanel::SecondRequested, files_, &FileMenu::OpenSecond);
  connect(model_, &ModelPanel::SecondCloseRequested, session_, &Session::CloseSecond);
  connect(model_, &ModelPanel::AdapterRequested, this,
          [this] { actions_->Do(QStringLiteral("adapter")); });
  connect(adapter_, &AdapterBar::Failed, errors_,
          [this](const QString& why) { errors_->Add(why); });
  connect(prompt_panel_, &PromptPanel::RunRequested, this, &MainWindow::Run);
  connect(prompt_panel_, &PromptPanel::Edited, top_bar_, &TopBar::ShowPrompt);
  WireTopBar();
  connect(prompt_panel_, &PromptPanel::PreviewRequested, session_, &Session::Preview);
  connect(session_, &Session::Previewed, prompt_panel_, [this](const PromptPreview& preview) {
    const auto& model = session_->model();
    prompt_panel_->own_text()->ShowPreview(preview, model ? model->config.trained_context : 0);
  });
  connect(prompt_panel_, &PromptPanel::Edited, this, &MainWindow::RefreshWaiting);
  connect(prompt_panel_, &PromptPanel::PlaceChosen, this, [this](int index) {
    if (index >= 0) choices_->ChoosePlace(static_cast<size_t>(index));
  });
  for (const Panel* panel : panels_) {
    connect(panel, &Panel::PlaceChosen, this, &MainWindow::ChoosePlace);
    connect(panel, &Panel::ChannelChosen, choices_, &ChoiceHistory::AddChannel);
    connect(panel, &Panel::TermOffered, this, &MainWindow::PutOnB);
    connect(panel, &Panel::SettingOffered, this, [this](const QString& setting) {
      errors_->Try([&] { SetSetting(Side::kB, setting); }, QStringLiteral("setting"));
    });
    connect(panel, &Panel::ScalingOffered, this, &MainWindow::PutOnKnob);
    connect(panel, &Panel::RatiosOffered, this, &MainWindow::PutRatios);
    connect(panel, &Panel::PanelRequested, docks_, &DockArea::Show);
    connect(panel, &Panel::ResultsOffered, files_, &FileMenu::OpenResults);
    connect(panel, &Panel::Failed, errors_, [this](const QString& why) { errors_->Add(why); });
  }
  connect(sweep_, &Panel::ResultsOffered, files_, &FileMenu::OpenResults);
  connect(panel<TuningPanel>(), &TuningPanel::ModelOffered, files_, &FileMenu::OpenSecond);
  WireUndo();
  connect(selection_, &Selection::HeadChanged, settings_, &SettingsPanel::OfferHead);
  connect(selection_, &Selection::RangeChanged, settings_, &SettingsPanel::OfferRange);
  settings_->UseTried(tried_, history_);
  connect(settings_, &SettingsPanel::Failed, errors_,
          [this](const QString& why) { errors_->Add(why); });
  connect(settings_, &SettingsPanel::Changed, history_, &SettingHistory::Change);
  connect(settings_, &SettingsPanel::TourRequested, this,
          [this] { actions_->Do(QStringLiteral("tour")); });
  connect(settings_, &SettingsPanel::SearchRequested, docks_,
          [this] { docks_->Show(QStringLiteral("channels")); });
  connect(history_, &SettingHistory::Applied, this, [this](const SettingPair& pair, bool dragging) {
    session_->SetSettings(pair.a, pair.b, dragging);
    // The setting's effect is shown in the model's view.
    if (session_->live().model) session_->ShowDocument(Session::kModelDocument);
    settings_->Show(pair);
    settings_->ShowNames(*session_->marks());
  });
  connect(documents_, &DocumentBar::SettingsOffered, this,
          [this](const SettingPair& pair) { history_->Change(pair, false); });
}

void MainWindow::WireTopBar() {
  connect(top_bar_, &TopBar::FormRequested, docks_, &DockArea::Popup);
  connect(top_bar_, &TopBar::OwnTextRequested, this, &MainWindow::ShowOwnText);
  connect(top_bar_, &TopBar::RunRequested, this, &MainWindow::Run);
  connect(top_bar_, &TopBar::SearchRequested, this, [this] { palette_->Open(); });
  connect(modes_, &QTabBar::currentChanged, this,
          [this](int mode) { docks_->SwitchTo(LayoutList()[static_cast<size_t>(mode)]); });
  connect(modes_, &QTabBar::tabBarClicked, this, [this](int mode) {
    if (LayoutList()[static_cast<size_t>(mode)].id == kOwnTextMode) prompt_panel_->ShowOwnText();
  });
  connect(docks_, &DockArea::LayoutChanged, this, [this](const QString& id) {
    if (id != kOwnTextMode) prompt_panel_->LeaveOwnText();
    const QSignalBlocker quiet(modes_);
    for (size_t i = 0; i < LayoutList().size(); ++i) {
      if (LayoutList()[i].id == id) modes_->setCurrentIndex(static_cast<int>(i));
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
  const auto& model = session_->live().model;
  const QString label = session_->live().ModelLabel();
  model_->Show(model ? &*model : nullptr, label, QString());
  const auto with_dtype = [](const SessionView& view) {
    return view.model
               ? tr("%1 · %2").arg(view.ModelLabel(), QString::fromStdString(view.provenance.dtype))
               : QString();
  };
  const SessionView* second = session_->live().second;
  const auto& of_b = second ? second->model : model;
  model_->ShowSecond(second ? (of_b ? &*of_b : nullptr) : nullptr,
                     second ? second->ModelLabel() : QString(), second != nullptr);
  const QString first = with_dtype(session_->live());
  const QString a = SideModel(*session_, Side::kA);
  const QString b = SideModel(*session_, Side::kB);
  top_bar_->ShowModel(second && !first.isEmpty() ? tr("%1 | %2").arg(a, b) : first);
  top_bar_->ShowSides(a, b);
  // The form is that of setting B.
  if (of_b) settings_->SetModel(of_b->config);
  if (model) OfferDevices();
  const QString shown =
      session_->shows_file() ? QFileInfo(session_->shown().path).fileName() : label;
  setWindowTitle(shown.isEmpty() ? tr("Midscope") : tr("%1 — Midscope").arg(shown));
}

// Lists the devices of the engine's machine, once its process runs.
void MainWindow::OfferDevices() {
  const std::shared_ptr<EngineLink> link = session_->files_of_engine().link();
  if (link->process() == 0) return;
  // Throws no error: without an answer the list stays as it is.
  const auto texts = [link](bool facts) {
    QStringList list;
    ErrorText([&] {
      const Message answer = link->Call("devices", {{"facts", facts}});
      for (const Message& one : answer.at("devices"))
        list << QString::fromStdString(one.value(facts ? "facts" : "device", ""));
    });
    return list;
  };
  const QStringList devices = texts(false);
  if (!devices.isEmpty()) model_->OfferDevices(devices, [texts] { return texts(true); });
}

// Offers the task that an error names as one that the model can do.
void MainWindow::OfferTask(const QString& why) {
  static const QRegularExpression named(QStringLiteral("such as ([a-z]+:[a-z]+=\\d+)$"));
  const QString task = named.match(why).captured(1);
  if (task.isEmpty()) return;
  errors_->OfferAction(why, tr("Run %1").arg(task), [this, task] {
    prompt_panel_->ChooseTask(task);
    Run();
  });
}

void MainWindow::ShowWhatIf(const WhatIfCost& cost) {
  QString what =
      cost.first_layer == 0 ? tr("all layers") : tr("layers from %1").arg(cost.first_layer);
  if (cost.seen_before) {
    what = tr("seen before");
  } else if (cost.last_rows_only) {
    what = tr("last rows only");
  } else if (cost.first_row > 0) {
    what += tr(", rows from %1").arg(cost.first_row);
  }
  const QString time = cost.seconds < 1 ? tr("%1 ms").arg(cost.seconds * 1000, 0, 'f', 1)
                                        : DurationText(cost.seconds);
  QString text = tr("last change: %1, %2").arg(time, what);
  if (cost.first_kept_layer > 0) {
    const auto& model = session_->model();
    text += model && cost.first_kept_layer == model->config.layers
                ? tr("; nothing kept: memory limit")
                : tr("; kept from layer %1 on: memory limit").arg(cost.first_kept_layer);
  }
  what_if_text_->setText(text);
}

// The window has one undo stack, whichever field has the focus. Text fields of settings keep a
// separate undo, because typed text takes effect only on Enter.
void MainWindow::WireUndo() {
  const PromptEditor* editor = prompt_panel_->editor();
  QUndoStack* stack = history_->stack();
  new UndoKeys(prompt_panel_, stack);
  connect(editor, &PromptEditor::UndoRequested, stack, &QUndoStack::undo);
  connect(editor, &PromptEditor::RedoRequested, stack, &QUndoStack::redo);
}

// MainWindow: export of pictures, which never overwrites files without confirmation.

namespace {

constexpr int kShownMilliseconds = 8000;
constexpr qsizetype kMostNamed = 5;

// Names of the files that already exist in the folder.
QStringList Present(const QString& folder, const QString& stem, QStringList endings) {
  QStringList present;
  endings << QStringLiteral("csv");
  for (const QString& ending : endings) {
    const QString name = stem + QLatin1Char('.') + ending;
    if (QFileInfo::exists(QDir(folder).filePath(name))) present << name;
  }
  return present;
}

QString Named(const QStringList& files) {
  QString names = files.mid(0, kMostNamed).join(QStringLiteral(", "));
  if (files.size() > kMostNamed)
    names += QObject::tr(" and %1 more").arg(files.size() - kMostNamed);
  return names;
}

void RefuseIfPresent(const QString& folder, const QStringList& files) {
  if (files.isEmpty()) return;
  throw UsageError("export into '" + folder.toStdString() + "'",
                   "it has " + Named(files).toStdString() + " already",
                   "Give another name, or overwrite them with the action export-over");
}

QStringList PresentOf(const std::vector<Plot*>& plots, const QString& folder) {
  QStringList present;
  for (const Plot* plot : plots) present += Present(folder, plot->file_stem(), PlotFormats());
  return present;
}

}  // namespace

void MainWindow::ExportTo(const QString& folder, bool overwrite) {
  session_->FlushChanges();
  errors_->Try(
      [this, &folder, overwrite] {
        const std::vector<Plot*> all = plots();
        if (!overwrite) RefuseIfPresent(folder, PresentOf(all, folder));
        QStringList written;
        for (Plot* plot : all)
          written += WritePlotFiles(*plot, folder, plot->file_stem(), PlotFormats(), kTwoColumns);
        statusBar()->showMessage(tr("%1 files written to %2").arg(written.size()).arg(folder),
                                 kShownMilliseconds);
      },
      QStringLiteral("export"));
}

void MainWindow::AskExportTo(const QString& folder) {
  session_->FlushChanges();
  const QStringList present = PresentOf(plots(), folder);
  if (!present.isEmpty()) {
    const auto answer = QMessageBox::question(
        this, tr("Export plots"), tr("%1 has %2 already. Overwrite?").arg(folder, Named(present)));
    if (answer != QMessageBox::Yes) return;
  }
  ExportTo(folder, true);
}

void MainWindow::ExportPlot(Plot& plot, const QString& path, bool overwrite) {
  const QFileInfo file(path);
  const QString format = file.suffix().toLower();
  if (!PlotFormats().contains(format)) {
    throw UsageError("'" + path.toStdString() + "'", "no picture has that ending",
                     "Use ." + PlotFormats().join(QStringLiteral(", .")).toStdString());
  }
  session_->FlushChanges();
  if (!overwrite)
    RefuseIfPresent(file.path(), Present(file.path(), file.completeBaseName(), {format}));
  WritePlotFiles(plot, file.path(), file.completeBaseName(), {format}, kTwoColumns);
  statusBar()->showMessage(tr("%1 written, its numbers beside it").arg(path), kShownMilliseconds);
}

}  // namespace midscope
