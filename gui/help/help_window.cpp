// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/help/help_window.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QObject>
#include <QPushButton>
#include <QStringList>
#include <QSysInfo>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "core/terms/terms.h"
#include "gui/actions/action_registry.h"
#include "gui/layout/dock_area.h"
#include "gui/panels/panel_list.h"
#include "gui/plots/plot.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

HelpWindow::HelpWindow(QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("help_window"));
  text_ = new QTextBrowser(this);
  text_->setOpenExternalLinks(true);
  text_->setAccessibleName(tr("Help"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  QPushButton* copy = buttons->addButton(tr("Copy text"), QDialogButtonBox::ActionRole);
  connect(copy, &QPushButton::clicked, this,
          [this] { QApplication::clipboard()->setText(text_->toPlainText()); });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::hide);
  auto* column = new QVBoxLayout(this);
  column->addWidget(text_, 1);
  column->addWidget(buttons);
  resize(640, 620);
}

void HelpWindow::ShowPage(const HelpPage& page, const HelpContext& context) {
  QString title = page.title;
  title.remove(QLatin1Char('&'));
  setWindowTitle(title);
  text_->setHtml(QStringLiteral("<h2>%1</h2>").arg(title.toHtmlEscaped()) + page.html(context));
  show();
  raise();
}

void HelpWindow::ShowText(const QString& title, const QString& text) {
  setWindowTitle(title);
  text_->setHtml(
      QStringLiteral("<h2>%1</h2><p>%2</p>").arg(title.toHtmlEscaped(), text.toHtmlEscaped()));
  show();
  raise();
}

namespace {

QString Escaped(const QString& text) { return text.toHtmlEscaped(); }
QString Escaped(const std::string& text) { return Escaped(QString::fromStdString(text)); }

QString Heading(const QString& text) { return QStringLiteral("<h3>%1</h3>").arg(Escaped(text)); }

QString TableRow(const QStringList& cells) {
  QString row = QStringLiteral("<tr>");
  for (const QString& cell : cells)
    row += QStringLiteral("<td style='padding-right:14px'>%1</td>").arg(cell);
  return row + QStringLiteral("</tr>");
}

QString Shortcuts(const HelpContext& context) {
  QString keys = QStringLiteral("<table>");
  QString all = QStringLiteral("<table>");
  for (const ActionRegistry::Item& item : context.actions->items()) {
    QString title = item.entry.title;
    title.remove(QLatin1Char('&'));
    const QString shortcut = item.action->shortcut().toString(QKeySequence::NativeText);
    if (!shortcut.isEmpty()) {
      keys += TableRow({QStringLiteral("<b>%1</b>").arg(Escaped(shortcut)), Escaped(title),
                        Escaped(item.entry.help)});
    }
    QString line = item.entry.id;
    if (item.entry.argument)
      line += QLatin1Char(' ') + QString::fromStdString(ValueSymbol(item.entry.argument->kind));
    all +=
        TableRow({QStringLiteral("<code>%1</code>").arg(Escaped(line)), Escaped(item.entry.help)});
  }
  keys += TableRow({QObject::tr("<b>Arrow keys</b>"), QObject::tr("On the map of heads"),
                    QObject::tr("Left and right: the next head; up: the next layer")});
  keys += TableRow({QObject::tr("<b>Ctrl+click, space</b>"), QObject::tr("On the map of heads"),
                    QObject::tr("Pins the head: it stays on the screen beside the chosen one")});
  keys += TableRow({QObject::tr("<b>Esc</b>"), QObject::tr("On map, text and plots over tokens"),
                    QObject::tr("Releases the locked token and the selected tokens")});
  return Heading(QObject::tr("Mouse on plots")) +
         QStringLiteral("<p>%1</p>").arg(Escaped(Plot::MouseHelp())) +
         Heading(QObject::tr("Keys")) + keys + QStringLiteral("</table>") +
         Heading(QObject::tr("All actions by id")) +
         QObject::tr(
             "<p>For Ctrl+K, and for scripts: <code>midscope-gui --do \"head L12H3; channel "
             "100; export out.svg\"</code>.</p>") +
         all + QStringLiteral("</table>");
}

QString Methods(const HelpContext& /*context*/) {
  QString html = Heading(QObject::tr("What the panels show"));
  for (const PanelEntry& panel : PanelList())
    html += QStringLiteral("<p><b>%1.</b> %2</p>").arg(Escaped(panel.title), Escaped(panel.help));
  html += Heading(QObject::tr("What settings change"));
  for (const TermType& term : TermTypes()) {
    html += QStringLiteral("<p><b>%1.</b> %2").arg(Escaped(term.name), Escaped(term.summary));
    if (!term.source.empty()) html += QStringLiteral("<br><i>%1</i>").arg(Escaped(term.source));
    if (!term.examples.empty())
      html += QStringLiteral("<br><code>%1</code>").arg(Escaped(term.examples.front()));
    html += QStringLiteral("</p>");
  }
  return html;
}

QString Cite(const HelpContext& /*context*/) {
  return QObject::tr(
             "<p>Cite Midscope with its version and the papers of the methods that you used "
             "(<i>Methods</i> names them).</p>") +
         QStringLiteral(
             "<pre>@software{midscope,\n  title   = {Midscope: position bias in language "
             "models},\n  version = {%1},\n  year    = {2026}\n}</pre>")
             .arg(QStringLiteral(MIDSCOPE_VERSION));
}

QString VersionLines(const HelpContext& context) {
  QStringList lines = {
      QStringLiteral("midscope-gui " MIDSCOPE_VERSION),
      QStringLiteral("Qt %1 (compiled with %2)")
          .arg(QString::fromLatin1(qVersion()), QStringLiteral(QT_VERSION_STR)),
      QStringLiteral("QCustomPlot " QCUSTOMPLOT_VERSION_STR),
      QSysInfo::prettyProductName() + QStringLiteral(", ") + QSysInfo::currentCpuArchitecture()};
  if (!context.model.isEmpty()) lines << context.model;
  return lines.join(QLatin1Char('\n'));
}

QString Versions(const HelpContext& context) {
  return QStringLiteral("<pre>%1</pre>").arg(Escaped(VersionLines(context))) +
         QObject::tr(
             "<p>The window is GPL-3.0-or-later (QCustomPlot is), the rest MIT. The "
             "embedded model, SmolLM2-135M-Instruct, is Apache-2.0.</p>");
}

QString ReportBug(const HelpContext& context) {
  return QObject::tr(
             "<p>Tell what you did, what you expected and what happened, with the "
             "message beside the modes if there is one. Add a session file (<i>File &gt; Save "
             "session</i>): "
             "it repeats the same requests on the same model. The lines below belong to the "
             "report.</p>") +
         QStringLiteral("<pre>%1</pre>").arg(Escaped(VersionLines(context)));
}

}  // namespace

const std::vector<HelpPage>& HelpPages() {
  static const std::vector<HelpPage> list = {
      {"shortcuts", QObject::tr("&Keys, mouse and actions"),
       QObject::tr("Every shortcut, and every action by its id"), &Shortcuts},
      {"methods", QObject::tr("&Methods"),
       QObject::tr("What is measured and changed, by which formula, from which paper"), &Methods},
      {"cite", QObject::tr("&Cite"), QObject::tr("How to cite Midscope"), &Cite},
      {"versions", QObject::tr("&Versions"),
       QObject::tr("Of the program, its libraries and the open model"), &Versions},
      {"report", QObject::tr("&Report a bug"), QObject::tr("What a report needs"), &ReportBug},
  };
  return list;
}

namespace {

constexpr int kNoteWidth = 330;
constexpr int kGap = 8;

}  // namespace

Tour::Tour(std::vector<TourStep> steps, QWidget* window)
    : QObject(window), steps_(std::move(steps)), window_(window) {
  frame_ = Named(new QFrame(window), "tour_frame");
  frame_->setStyleSheet(
      QStringLiteral("#tour_frame { border: 3px solid #e08a1e; border-radius: 4px; }"));
  frame_->setAttribute(Qt::WA_TransparentForMouseEvents);
  note_ = Named(new QFrame(window), "tour_note");
  note_->setFrameShape(QFrame::StyledPanel);
  note_->setBackgroundRole(QPalette::ToolTipBase);
  note_->setForegroundRole(QPalette::ToolTipText);
  note_->setAutoFillBackground(true);
  note_->setFixedWidth(kNoteWidth);
  text_ = Named(new QLabel(note_), "tour_text");
  text_->setWordWrap(true);
  text_->setForegroundRole(QPalette::ToolTipText);
  auto* end = Named(new QPushButton(tr("End the tour"), note_), "tour_end");
  back_ = Named(new QPushButton(tr("Back"), note_), "tour_back");
  next_ = Named(new QPushButton(note_), "tour_next");
  next_->setDefault(true);
  auto* row = new QHBoxLayout;
  row->addWidget(end);
  row->addStretch(1);
  row->addWidget(back_);
  row->addWidget(next_);
  auto* column = new QVBoxLayout(note_);
  column->addWidget(text_);
  column->addLayout(row);
  connect(end, &QPushButton::clicked, this, &Tour::End);
  connect(back_, &QPushButton::clicked, this, [this] { Show(step_ - 1); });
  connect(next_, &QPushButton::clicked, this, [this] { Show(step_ + 1); });
  window->installEventFilter(this);
  End();
}

void Tour::Show(int step) {
  if (step < 0 || step >= static_cast<int>(steps_.size())) return End();
  step_ = step;
  const TourStep& shown = steps_[static_cast<size_t>(step)];
  if (target_) target_->removeEventFilter(this);
  target_ = shown.show();
  if (target_) target_->installEventFilter(this);
  text_->setText(
      QStringLiteral("<p><b>%1</b></p><p>%2</p>")
          .arg(tr("%1 of %2: %3").arg(step + 1).arg(steps_.size()).arg(shown.title), shown.text));
  back_->setEnabled(step > 0);
  next_->setText(step + 1 < static_cast<int>(steps_.size()) ? tr("Next") : tr("Done"));
  frame_->show();
  note_->show();
  Place();
  next_->setFocus();
  // Layouts may still move the target in this turn of the event loop.
  QMetaObject::invokeMethod(this, &Tour::Place, Qt::QueuedConnection);
}

void Tour::End() {
  step_ = -1;
  if (target_) target_->removeEventFilter(this);
  target_ = nullptr;
  frame_->hide();
  note_->hide();
}

// Puts the note beside the target, inside the window.
void Tour::Place() {
  if (!target_) return;
  const QRect at(target_->mapTo(window_, QPoint(0, 0)), target_->size());
  frame_->setGeometry(at.adjusted(-kGap / 2, -kGap / 2, kGap / 2, kGap / 2));
  const int height = note_->layout()->heightForWidth(kNoteWidth);
  note_->resize(kNoteWidth, std::max(height, note_->sizeHint().height()));
  QPoint corner(at.right() + kGap, at.top());
  if (corner.x() + kNoteWidth > window_->width()) corner.setX(at.left() - kNoteWidth - kGap);
  if (corner.x() < 0) {
    corner = QPoint(at.left() + kGap, at.bottom() + kGap);
    if (corner.y() + note_->height() > window_->height()) corner.setY(at.top() + kGap);
  }
  corner.setX(std::clamp(corner.x(), 0, std::max(window_->width() - kNoteWidth, 0)));
  corner.setY(std::clamp(corner.y(), 0, std::max(window_->height() - note_->height(), 0)));
  note_->move(corner);
  frame_->raise();
  note_->raise();
}

bool Tour::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize || event->type() == QEvent::Move) Place();
  return QObject::eventFilter(watched, event);
}

Tour* MakeTour(QWidget* window, DockArea* docks, QWidget* answers) {
  const auto panel = [docks](const char* mode, const char* id) {
    return [docks, mode, id]() -> QWidget* {
      docks->SwitchTo(*FindLayout(QLatin1String(mode)));
      docks->Show(QLatin1String(id));
      return docks->Find(QLatin1String(id));
    };
  };
  const auto strip = [docks, answers]() -> QWidget* {
    docks->SwitchTo(*FindLayout(QStringLiteral("explore")));
    return answers;
  };
  return new Tour(
      {{QObject::tr("What is asked"),
        QObject::tr("A list of lines, and a question about one of them. The model's answer and the "
                    "probability of the right one stand here: under A, the model as it was "
                    "trained, and under B, the model with your change."),
        strip},
       {QObject::tr("The place matters"),
        QObject::tr("The same question with the answer's line at five places: lower is better. A "
                    "model without position bias has a flat line. Click a place to see its "
                    "prompt."),
        panel("explore", "outcome")},
       {QObject::tr("A head"),
        QObject::tr("One cell per attention head. Choose <i>attention on gold</i>: bright heads "
                    "look at the line with the answer. Click one; the text shows where it looks."),
        panel("explore", "head-map")},
       {QObject::tr("The slider"),
        QObject::tr("Move the factor: this hidden channel carries the position, and every panel "
                    "follows. <i>Try</i> has other changes, such as a position ratio per head."),
        panel("explore", "settings")},
       {QObject::tr("Over samples"),
        QObject::tr("One prompt is an anecdote. Here the same comparison runs over many samples, "
                    "with intervals and tests, and its results are saved."),
        panel("samples", "sweep")},
       {QObject::tr("Your own text"),
        QObject::tr("Paste a text, mark the passage with the answer, and let it move through the "
                    "text. <i>Ctrl+K</i> finds everything else."),
        panel("text", "prompt")}},
      window);
}

}  // namespace midscope
