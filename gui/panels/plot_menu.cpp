// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/plot_menu.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QMenu>

#include "gui/base/display_text.h"
#include "gui/panels/picture_dialog.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_picture.h"
#include "gui/session/command_arguments.h"
#include "gui/session/session.h"

namespace midscope {
namespace {

constexpr char kRecordsProperty[] = "midscope_records";

Plot* PlotAt(QWidget* inside, const QPoint& position) {
  for (QWidget* at = inside->childAt(position); at && at != inside; at = at->parentWidget()) {
    if (auto* plot = qobject_cast<Plot*>(at)) return plot;
    // If the widget is not a plot, returns the plot that draws its picture.
    if (auto* plot = qobject_cast<Plot*>(at->property(kPictureProperty).value<QObject*>()))
      return plot;
  }
  return nullptr;
}

}  // namespace

PlotMenu::PlotMenu(Session* session, QObject* parent) : QObject(parent), session_(session) {}

void PlotMenu::Watch(QDockWidget* dock, const std::vector<std::string>& records) {
  QStringList names;
  for (const std::string& record : records) names << QString::fromStdString(record);
  dock->setProperty(kRecordsProperty, names);
  dock->installEventFilter(this);
}

bool PlotMenu::eventFilter(QObject* watched, QEvent* event) {
  auto* dock = qobject_cast<QDockWidget*>(watched);
  if (!dock || event->type() != QEvent::ContextMenu) return QObject::eventFilter(watched, event);
  auto* asked = static_cast<QContextMenuEvent*>(event);
  Plot* plot = PlotAt(dock, dock->mapFromGlobal(asked->globalPos()));
  if (!plot) return QObject::eventFilter(watched, event);
  std::vector<std::string> records;
  for (const QString& name : dock->property(kRecordsProperty).toStringList())
    records.push_back(name.toStdString());
  QMenu* menu = Make(plot, records);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->popup(asked->globalPos());
  return true;
}

QMenu* PlotMenu::Make(Plot* plot, const std::vector<std::string>& records) {
  auto* menu = new QMenu(plot);
  const auto add = [&](const char* name, const QString& text, const std::function<void()>& work) {
    QAction* action = menu->addAction(text);
    action->setObjectName(QString::fromLatin1(name));
    connect(action, &QAction::triggered, this, [this, work] {
      const QString why = ErrorText(work);
      if (!why.isEmpty()) Q_EMIT Failed(why);
    });
  };
  add("copy_picture", tr("Copy &picture"), [this, plot] { CopyPicture(plot); });
  add("copy_data", tr("Copy &data (CSV)"), [this, plot] {
    QApplication::clipboard()->setText(PlotCsv(*plot));
    Q_EMIT Told(tr("The plot's numbers are on the clipboard"));
  });
  add("copy_command", tr("Copy &command"), [this] { CopyCommand(); });
  add("copy_python", tr("Copy P&ython (h5py)"), [this, records] {
    QApplication::clipboard()->setText(PythonText(*session_, records, QStringLiteral("a.h5")));
    Q_EMIT Told(tr("Python that reads these arrays is on the clipboard"));
  });
  menu->addSeparator();
  add("export_narrow", tr("Export, one column (%1 mm)…").arg(kOneColumn),
      [this, plot] { Export(plot, kOneColumn); });
  add("export_wide", tr("Export, two columns (%1 mm)…").arg(kTwoColumns),
      [this, plot] { Export(plot, kTwoColumns); });
  menu->addSeparator();
  add("show_all", tr("&Show everything"), [plot] {
    plot->ResetView();
    plot->QueueReplot();
  });
  return menu;
}

void PlotMenu::CopyPicture(Plot* plot) {
  QApplication::clipboard()->setImage(PlotPicture(*plot, kTwoColumns).Image());
  Q_EMIT Told(tr("The picture is on the clipboard"));
}

// Copies the command for A and, if B differs, the one for B.
void PlotMenu::CopyCommand() {
  const auto& request = session_->shown_prompt_request();
  QString text = request && NeedsTextFile(*request) ? TextFileCommand(*request) : QString();
  text += CommandText(ProbeArguments(*session_, Side::kA)) + QLatin1Char('\n');
  if (session_->differs())
    text += CommandText(ProbeArguments(*session_, Side::kB)) + QLatin1Char('\n');
  QApplication::clipboard()->setText(text);
  Q_EMIT Told(tr("Copied: %1").arg(text.section(QLatin1Char('\n'), 0, 0)));
}

void PlotMenu::Export(Plot* plot, int millimetres) {
  auto* dialog = new PictureDialog(plot, millimetres, plot);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &PictureDialog::Written, this, &PlotMenu::Told);
  connect(dialog, &PictureDialog::Failed, this, &PlotMenu::Failed);
  dialog->open();
}

}  // namespace midscope
