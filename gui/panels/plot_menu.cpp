// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/plot_menu.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "gui/base/display_text.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_picture.h"
#include "gui/session/command_arguments.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

PictureDialog::PictureDialog(Plot* plot, int millimetres, QWidget* parent)
    : QDialog(parent), plot_(plot), millimetres_(millimetres) {
  setWindowTitle(tr("Export picture"));
  const PlotPicture picture(*plot, millimetres);
  auto* preview = Named(new QLabel(this), "picture_preview");
  preview->setPixmap(QPixmap::fromImage(picture.Image(logicalDpiX())));
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(preview);
  scroll->setAlignment(Qt::AlignCenter);
  auto* size =
      new QLabel(tr("%1 × %2 mm, shown at this size; text of 8 points; PNG with %3 dots per "
                    "inch, SVG and PDF with text as text")
                     .arg(millimetres)
                     .arg(qRound(picture.millimetres().height()))
                     .arg(kDotsPerInch),
                 this);
  size->setWordWrap(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  QPushButton* save = buttons->addButton(tr("Save…"), QDialogButtonBox::AcceptRole);
  auto* box = new QVBoxLayout(this);
  box->addWidget(scroll, 1);
  box->addWidget(size);
  box->addWidget(buttons);
  const QSize frame(2 * scroll->frameWidth() + 2, 2 * scroll->frameWidth() + 2);
  scroll->setMinimumSize((preview->sizeHint() + frame).boundedTo({700, 500}));
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(save, &QPushButton::clicked, this, &PictureDialog::AskAndSave);
}

void PictureDialog::AskAndSave() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Export picture"),
                                                    plot_->file_stem() + QStringLiteral(".svg"),
                                                    tr("Pictures (*.svg *.pdf *.png)"));
  if (path.isEmpty()) return;
  const QString why = ErrorText([&] { Save(path); });
  if (!why.isEmpty()) Q_EMIT Failed(why);
}

void PictureDialog::Save(const QString& path) {
  const QFileInfo file(path);
  WritePlotFiles(*plot_, file.path(), file.completeBaseName(), {file.suffix().toLower()},
                 millimetres_);
  Q_EMIT Written(tr("%1 written, its numbers beside it").arg(path));
  accept();
}

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
