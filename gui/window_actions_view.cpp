// SPDX-License-Identifier: GPL-3.0-or-later
// Actions for the view and the layout, for help, and the menus.
#include <QAction>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>

#include "core/base/parameter.h"
#include "gui/actions/action_registry.h"
#include "gui/actions/command_palette.h"
#include "gui/base/appearance.h"
#include "gui/file_menu.h"
#include "gui/help/help_window.h"
#include "gui/layout/dock_area.h"
#include "gui/main_window.h"
#include "gui/panels/outcome/answer_strip.h"
#include "gui/panels/outcome/tuning_panel.h"
#include "gui/panels/panel_list.h"
#include "gui/panels/prompt/document_bar.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/plots/plot.h"
#include "gui/session/session.h"
#include "gui/window_actions.h"
#include "kernels/check.h"

namespace midscope {

namespace {

// Parses a size such as "1600x1000".
QSize ReadSize(const QString& text) {
  const QStringList sides = text.split(QLatin1Char('x'));
  const QSize size(sides.value(0).toInt(), sides.value(1).toInt());
  constexpr int kLargestSide = 16384;
  if (sides.size() != 2 || size.isEmpty() || size.width() > kLargestSide ||
      size.height() > kLargestSide) {
    throw UsageError("size '" + text.toStdString() + "'", "it is not a width and a height",
                     "Give points, such as 1600x1000");
  }
  return size;
}

}  // namespace

void WindowActions::AddView() {
  const QString layout = QStringLiteral("view");
  int number = 1;
  for (const LayoutEntry& entry : LayoutList()) {
    actions_->Add(
        QStringLiteral("layout-") + entry.id, layout, entry.title, entry.help,
        {.shortcut = QKeySequence(Qt::CTRL | Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + number++))},
        [this, &entry](const QString&) {
          // A second choice of the mode that is shown puts its panels back in place.
          const bool shown = window_->docks()->layout_id() == entry.id;
          shown ? window_->docks()->Arrange(entry) : window_->docks()->SwitchTo(entry);
          if (entry.id == kOwnTextMode) window_->ShowOwnText();
        });
  }
  actions_->Add("whole-panel", layout, tr("&Maximise panel"),
                tr("Lets the panel that has the focus fill the window, and goes back"),
                {.shortcut = QKeySequence(Qt::Key_F11)}, [this](const QString&) {
                  DockArea* docks = window_->docks();
                  docks->ToggleWhole(docks->DockOf(window_->focusWidget()));
                });
  for (const bool backwards : {false, true}) {
    actions_->Add(
        backwards ? QStringLiteral("previous-panel") : QStringLiteral("next-panel"), layout,
        backwards ? tr("P&revious panel") : tr("&Next panel"),
        tr("Gives the keyboard focus to another panel"),
        {.shortcut = backwards ? QKeySequence(Qt::SHIFT | Qt::Key_F6) : QKeySequence(Qt::Key_F6)},
        [this, backwards](const QString&) { window_->docks()->FocusNext(backwards); });
  }
  std::vector<std::string> appearances;
  for (const Appearance each : {Appearance::kDesktop, Appearance::kLight, Appearance::kDark})
    appearances.push_back(AppearanceName(each).toStdString());
  actions_->Add(
      "appearance", QStringLiteral("view"), tr("&Appearance…"),
      tr("Light, dark, or as the desktop is"),
      {.argument = Required(ChoiceParameter("appearance", "how the window looks", appearances))},
      [](const QString& name) { SetAppearance(AppearanceOf(name)); });
  actions_->Add("full-screen", QStringLiteral("view"), tr("&Full screen"),
                tr("The whole screen, and back"), {.shortcut = QKeySequence(Qt::Key_F10)},
                [this](const QString&) {
                  window_->setWindowState(window_->windowState() ^ Qt::WindowFullScreen);
                });
  actions_->Add("size", QString(), tr("Size of the window…"),
                tr("Width and height in points, such as 1600x1000"),
                {.argument = Required(TextParameter("size", "such as 1600x1000"))},
                [this](const QString& text) { window_->resize(ReadSize(text)); });
  actions_->Add("screenshot", QString(), tr("Picture of the window…"),
                tr("Writes the window as it is as a PNG"),
                {.argument = Required(TextParameter("file", "path of a .png file"))},
                [this](const QString& path) {
                  window_->session()->FlushChanges();
                  for (Plot* plot : window_->plots()) plot->replot();
                  if (!window_->grab().save(path))
                    throw Failure("picture '" + path.toStdString() + "'", "it could not be written",
                                  "Give a .png file in an existing folder that you may write to");
                });
}

void WindowActions::AddPanels() {
  std::vector<std::string> ids;
  for (const QDockWidget* dock : window_->docks()->docks())
    ids.push_back(dock->objectName().toStdString());
  actions_->Add("panel", QStringLiteral("view"), tr("&Panel…"), tr("Brings a panel to the front"),
                {.argument = Required(ChoiceParameter("panel", "a panel", ids))},
                [this](const QString& id) {
                  window_->docks()->Show(id);
                  last_panel_ = window_->FindPanel(id);
                });
  actions_->Add("losses", QStringLiteral("view"), tr("&Losses of tuning runs…"),
                tr("Draws the losses of folders that midscope tune has written"),
                {.argument = Required(TextParameter("folders", "folders, separated by commas"))},
                [this](const QString& folders) {
                  auto* panel = window_->panel<TuningPanel>();
                  panel->OpenLosses(folders.split(QLatin1Char(','), Qt::SkipEmptyParts));
                  window_->ShowPanel(panel);
                  last_panel_ = panel;
                });
  for (size_t i = 0; i < window_->panels().size(); ++i) {
    for (QAction* action : window_->panels()[i]->actions()) {
      MIDSCOPE_CHECK(!action->objectName().isEmpty(), "an action of a panel has no id");
      actions_->Adopt(action->objectName(), QStringLiteral("view"), action, action->toolTip());
    }
  }
  for (QAction* action : window_->samples()->actions_of_menu())
    actions_->Adopt(action->objectName(), QStringLiteral("view"), action, action->toolTip());
}

void WindowActions::ShowHelp(const QString& page_id) {
  if (!help_) help_ = new HelpWindow(window_);
  HelpContext context{actions_, QString()};
  if (const auto& model = window_->session()->model()) {
    const Provenance& made = window_->session()->provenance();
    context.model = QString::fromStdString(model->config.name + ", " + made.architecture +
                                           ", XXH3 " + made.model_hash + "\n" + made.libraries);
  }
  for (const HelpPage& page : HelpPages()) {
    if (page.id == page_id) help_->ShowPage(page, context);
  }
}

void WindowActions::AddHelp() {
  for (const HelpPage& page : HelpPages()) {
    const QString id = page.id;
    actions_->Add(
        QStringLiteral("help-") + id, QStringLiteral("help"), page.title, page.help,
        {.shortcut = id == QLatin1String("shortcuts") ? QKeySequence(Qt::Key_F1) : QKeySequence()},
        [this, id](const QString&) { ShowHelp(id); });
  }
  actions_->Add("tour", QStringLiteral("help"), tr("&Tour in six steps"),
                tr("Notes beside the controls: the question, the places, a head, the "
                   "slider, samples, your own text"),
                [this](const QString&) {
                  if (!tour_) tour_ = MakeTour(window_, window_->docks(), window_->answers());
                  tour_->Show(0);
                  window_->settings()->OfferTour(false);
                });
  actions_->Add("palette", QStringLiteral("help"), tr("Find an &action…"),
                tr("Every action by a few letters of its name"),
                {.shortcut = QKeySequence(Qt::CTRL | Qt::Key_K)},
                [this](const QString&) { window_->palette_of_actions()->Open(); });
}

void WindowActions::MakeMenus() {
  QMenuBar* bar = window_->menuBar();
  const std::pair<const char*, QString> menus[] = {{"file", tr("&File")},
                                                   {"edit", tr("&Edit")},
                                                   {"run", tr("&Run")},
                                                   {"view", tr("&View")},
                                                   {"help", tr("&Help")}};
  for (const auto& [id, title] : menus) {
    QMenu* menu = bar->addMenu(title);
    menu->setObjectName(QStringLiteral("menu_") + QLatin1String(id));
    menu->setToolTipsVisible(true);
    actions_->FillMenu(QString::fromLatin1(id), menu);
    if (QLatin1String(id) == QLatin1String("file")) {
      QAction* before = actions_->Find(QStringLiteral("save-results"))->action;
      menu->insertMenu(before, window_->files()->recent_menu());
      menu->insertSeparator(before);
      menu->insertSeparator(actions_->Find(QStringLiteral("quit"))->action);
    }
    if (QLatin1String(id) != QLatin1String("view")) continue;
    menu->addSeparator();
    QMenu* panels = menu->addMenu(tr("&Panels"));
    for (const QDockWidget* dock : window_->docks()->docks())
      panels->addAction(dock->toggleViewAction());
  }
}

}  // namespace midscope
