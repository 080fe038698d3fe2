// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/window_actions.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QUndoStack>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/terms/presets.h"
#include "gui/actions/action_registry.h"
#include "gui/actions/command_palette.h"
#include "gui/file_menu.h"
#include "gui/help/help_window.h"
#include "gui/layout/dock_area.h"
#include "gui/main_window.h"
#include "gui/panels/outcome/answer_strip.h"
#include "gui/panels/panel_list.h"
#include "gui/panels/prompt/adapter_bar.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/settings/history_panel.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/preferences.h"
#include "gui/ratio_editor.h"
#include "gui/session/command_arguments.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "gui/widgets/error_bar.h"

namespace midscope {
namespace {

constexpr double kMostAdapterScale = 100;

}  // namespace

WindowActions::WindowActions(MainWindow* window)
    : QObject(window), window_(window), actions_(window->actions_list()) {
  AddExport();
  AddEdit();
  AddRun();
  AddPrompt();
  AddSettings();
  AddSelection();
  AddTokens();
  AddMap();
  AddView();
  AddPanels();
  AddHelp();
  MakeMenus();
  connect(actions_, &ActionRegistry::ArgumentRequested, this, [this](const QString& id) {
    window_->palette_of_actions()->Open(id + QLatin1Char(' '));
  });
  connect(actions_, &ActionRegistry::Failed, window_->errors(),
          [this](const QString& why) { window_->errors()->Add(why); });
  connect(window_->docks(), &DockArea::HelpRequested, this, [this](const QString& id) {
    for (const QDockWidget* dock : window_->docks()->docks()) {
      if (dock->objectName() != id) continue;
      if (!help_) help_ = new HelpWindow(window_);
      help_->ShowText(dock->windowTitle(), dock->titleBarWidget()->toolTip());
    }
  });
}

void WindowActions::AddExport() {
  const QString file = QStringLiteral("file");
  const auto write = [this, &file](const char* id, const QString& title, const QString& help,
                                   const QKeySequence& key, bool overwrite) {
    Parameter path = TextParameter("path", "a folder, or a .png, .svg or .pdf file");
    // The menu has the first one, which overwrites files after a question.
    actions_->Add(id, overwrite ? QString() : file, title, help,
                  {.shortcut = key, .argument = overwrite ? Required(path) : path},
                  [this, overwrite](const QString& into) {
                    into.isEmpty() ? window_->files()->ChooseExport() : ExportInto(into, overwrite);
                  });
  };
  write("export", tr("&Export plots…"),
        tr("Writes all plots into a folder as PNG, SVG, PDF and their numbers; into a .png, .svg "
           "or .pdf file: the plot that was shown last. Asks before it overwrites a file"),
        QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E), false);
  write("export-over", tr("Export plots and overwrite…"),
        tr("The same, and overwrites files that are there already"), {}, true);
  QAction* scale = actions_->Add(
      "adapter-scale", file, tr("Scale of B's adap&ter…"),
      tr("Factor of the adapter of B's model; 0: without it"),
      {.argument =
           Required(NumberParameter("scale", "a factor", -kMostAdapterScale, kMostAdapterScale))},
      [this](const QString& factor) { window_->adapter()->SetScale(factor.toDouble()); });
  scale->setEnabled(false);
  connect(window_->adapter(), &AdapterBar::Offered, scale, &QAction::setEnabled);
  const auto code = [this, &file](const char* id, const QString& title, const QString& help,
                                  QString (*make)(const Session&, const TriedSettings&)) {
    actions_->Add(id, file, title, help, [this, make](const QString&) {
      QApplication::clipboard()->setText(make(*window_->session(), *window_->tried()));
    });
  };
  code(
      "copy-session-commands", tr("Copy session as &commands"),
      tr("midscope probe of the prompt under A to F, and midscope sweep over samples, for a shell"),
      &SessionCommands);
  code("copy-session-python", tr("Copy session as P&ython"),
       tr("A script that runs these commands and reads their arrays with h5py"), &SessionPython);
  actions_->Add("reopen-last", file, tr("Reopen the &last work"),
                tr("Restores the requests of the last closed or crashed window"),
                [this](const QString&) {
                  const SessionKeeper* keeper = window_->keeper();
                  if (!keeper || keeper->previous().isEmpty())
                    throw UsageError("last work", "none is kept");
                  window_->files()->OpenSession(keeper->previous());
                });
  actions_->Add("quit", file, tr("&Quit"), tr("Closes the window"),
                {.shortcut = QKeySequence::Quit}, [this](const QString&) { window_->close(); });
}

void WindowActions::AddEdit() {
  QUndoStack* stack = window_->history()->stack();
  QAction* undo = stack->createUndoAction(window_, tr("&Undo"));
  undo->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Z));
  QAction* redo = stack->createRedoAction(window_, tr("&Redo"));
  redo->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z));
  const QString edit = QStringLiteral("edit");
  actions_->Adopt(QStringLiteral("undo"), edit, undo,
                  tr("Takes the last step back: settings, prompt, marks, pins, place, channel"));
  actions_->Adopt(QStringLiteral("redo"), edit, redo, tr("Makes it again"));
  actions_->Add("edit-prompt", edit, tr("Own &text"),
                tr("Your own text: find, pieces, question, tokens"),
                {.shortcut = QKeySequence(Qt::CTRL | Qt::Key_E)},
                [this](const QString&) { window_->ShowOwnText(); });
  actions_->Add("preferences", edit, tr("Pre&ferences…"),
                tr("Appearance, dtype, means, the last work, folders"),
                {.shortcut = QKeySequence(Qt::CTRL | Qt::Key_Comma)}, [this](const QString&) {
                  auto* dialog = new PreferencesDialog(window_);
                  dialog->setAttribute(Qt::WA_DeleteOnClose);
                  dialog->show();
                });
  actions_->Add("edit-ratios", edit, tr("Position &ratios…"),
                tr("A table of a position ratio for every head"), [this](const QString&) {
                  auto* editor = new RatioEditor(
                      {window_->session(), window_->history(), window_->errors()}, window_);
                  editor->setAttribute(Qt::WA_DeleteOnClose);
                  editor->show();
                });
}

void WindowActions::AddRun() {
  const QString run = QStringLiteral("run");
  actions_->Add("run", run, tr("&Run"), tr("Runs the prompt that the panel Prompt describes"),
                {.shortcut = QKeySequence(Qt::Key_F5)}, [this](const QString&) { window_->Run(); });
  actions_->Add("generate", run, tr("&Generate text"),
                tr("Generates text after the prompt under A and B; again: stops"),
                {.shortcut = QKeySequence(Qt::CTRL | Qt::Key_G)},
                [this](const QString&) { window_->answers()->GenerateOrStop(); });
  actions_->Add("cancel", run, tr("&Cancel"), tr("Stops what is running; what is done stays"),
                {.shortcut = QKeySequence(Qt::CTRL | Qt::Key_Period)},
                [this](const QString&) { window_->session()->Cancel(); });
  actions_->Add("start-means", run, tr("Start the &means"),
                tr("Runs means over samples that wait because they take long"),
                [this](const QString&) { window_->session()->StartMeans(); });
  actions_->Add(
      "samples", run, tr("&Samples of the means…"),
      tr("How many samples the means of the outcome are over; 0: no means"),
      {.argument = Required(WholeNumberParameter("samples", "a number", 0, 1000000))},
      [this](const QString& samples) { window_->session()->SetSamples(samples.toLongLong()); });
}

void WindowActions::AddSettings() {
  const QString menu = QStringLiteral("edit");
  for (const Side side : {Side::kA, Side::kB}) {
    const QString name = side == Side::kA ? QStringLiteral("A") : QStringLiteral("B");
    actions_->Add(QStringLiteral("setting-") + name.toLower(), menu, tr("Setting &%1…").arg(name),
                  tr("Sets %1, such as ms-poe(min=1.2, max=1.8)").arg(name),
                  {.argument = Required(TextParameter("setting", "a setting, or none"))},
                  [this, side](const QString& text) { window_->SetSetting(side, text); });
  }
  actions_->Add(
      "add-term", menu, tr("Add a &term to B…"),
      tr("Adds a term to B, or replaces the one of its kind: pi(1.5)"),
      {.argument = Required(TextParameter("term", "a term, such as channel(100, factor=-1)"))},
      [this](const QString& term) { window_->PutOnB(term); });
  std::vector<std::string> presets;
  for (const Preset& preset : InterventionPresets()) presets.push_back(preset.name);
  actions_->Add("preset", menu, tr("&Preset…"), tr("Sets B to a published setting"),
                {.argument = Required(ChoiceParameter("preset", "a published setting", presets))},
                [this](const QString& name) {
                  for (const Preset& preset : InterventionPresets()) {
                    if (preset.name == name.toStdString())
                      window_->SetSetting(Side::kB, QString::fromStdString(preset.text));
                  }
                });
  AddMarks();
  const auto pair = [this, &menu](const char* id, const QString& title, const QString& help,
                                  SettingPair (*make)(const SettingPair&)) {
    actions_->Add(id, menu, title, help, [this, make](const QString&) {
      window_->history()->Change(make(window_->history()->current()), false);
    });
  };
  pair("pin-setting", tr("P&in B as A"), tr("Makes B what further changes are compared with"),
       Pinned);
  pair("swap-settings", tr("S&wap A and B"), tr("Exchanges the two settings"), Swapped);
  pair("clear-settings", tr("&Clear A and B"), tr("Sets both to none"),
       [](const SettingPair&) { return SettingPair{}; });
}

// Actions on the names of settings and on which of them the outcome draws.
void WindowActions::AddMarks() {
  const QString menu = QStringLiteral("edit");
  const auto letter_of = [](const QString& text) {
    const int letter = text.size() == 1 ? text.toUpper().at(0).unicode() - u'A' : -1;
    if (letter < 0 || letter >= SettingMarks::kLetters) {
      throw UsageError("setting '" + text.toStdString() + "'", "there is none such",
                       "Give a letter from A to F");
    }
    return letter;
  };
  actions_->Add(
      "name-setting", menu, tr("&Name of a setting…"),
      tr("What legends call A to F instead of their text: B paper; without a name: none"),
      {.argument = Required(TextParameter("name", "a letter from A to F and a name"))},
      [this, letter_of](const QString& text) {
        const QString letter = text.section(QLatin1Char(' '), 0, 0, QString::SectionSkipEmpty);
        const QString name = text.section(QLatin1Char(' '), 1, -1, QString::SectionSkipEmpty);
        const QString setting = window_->findChild<SettingChips*>()->SettingAt(letter_of(letter));
        if (setting.isEmpty())
          throw UsageError("setting '" + letter.toStdString() + "'", "there is none now");
        window_->session()->marks()->SetName(setting, name);
      });
  const auto draw = [this, &menu, letter_of](const char* id, const QString& title,
                                             const QString& help, bool alone) {
    std::vector<std::string> letters;
    letters.reserve(SettingMarks::kLetters);
    for (int i = 0; i < SettingMarks::kLetters; ++i)
      letters.push_back(SettingMarks::Letter(i).toStdString());
    actions_->Add(id, menu, title, help,
                  {.argument = Required(ChoiceParameter("letter", "a setting", letters))},
                  [this, letter_of, alone](const QString& text) {
                    SettingMarks* marks = window_->session()->marks();
                    const int letter = letter_of(text);
                    alone ? marks->Solo(letter) : marks->SetDrawn(letter, !marks->Draws(letter));
                  });
  };
  draw("draw-setting", tr("&Show or hide a setting…"),
       tr("Leaves A to F out of the outcome, or draws it again"), false);
  draw("solo-setting", tr("Show a setting a&lone, or all…"),
       tr("Draws one of A to F alone in the outcome; again: all"), true);
}

// If the path is a folder, exports all plots; if it is a picture file, exports the first plot of
// the panel shown last.
void WindowActions::ExportInto(const QString& path, bool overwrite) {
  const QString ending = path.section(QLatin1Char('.'), -1).toLower();
  if (!path.contains(QLatin1Char('.')) || !PlotFormats().contains(ending))
    return window_->ExportTo(path, overwrite);
  Panel* panel = last_panel_ ? last_panel_ : window_->FindPanel(QStringLiteral("attention"));
  panel->DrawWaiting();
  const std::vector<Plot*> plots = panel->plots();
  if (plots.empty()) throw Failure("'" + path.toStdString() + "'", "the panel shows no plot");
  window_->ExportPlot(*plots.front(), path, overwrite);
}

}  // namespace midscope
