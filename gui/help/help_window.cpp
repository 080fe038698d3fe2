// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/help/help_window.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QObject>
#include <QPushButton>
#include <QStringList>
#include <QSysInfo>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "gui/actions/action_registry.h"
#include "gui/panels/panel_list.h"
#include "gui/plots/plot.h"

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

}  // namespace midscope
