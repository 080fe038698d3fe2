// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/knob_help.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSpinBox>

#include "kernels/check.h"

namespace midscope {
namespace {

const Term& TermOf(const char* name) {
  for (const Term& term : InterventionTerms()) {
    if (term.name == name) return term;
  }
  MIDSCOPE_BUG(std::string("no intervention term '") + name + "'");
}

}  // namespace

const TermArgument& ArgumentOf(const char* term, const char* argument) {
  for (const TermArgument& known : TermOf(term).arguments) {
    if (known.name == argument) return known;
  }
  MIDSCOPE_BUG(std::string("no argument '") + argument + "' of '" + term + "'");
}

QString TermHelp(const char* term) {
  const Term& described = TermOf(term);
  QString text = QString::fromStdString(described.summary);
  if (!described.source.empty())
    text += QLatin1Char('\n') + QString::fromStdString(described.source);
  // A rich-text tooltip wraps; a plain one runs across the whole screen.
  return QStringLiteral("<p>") + text.toHtmlEscaped().replace('\n', QStringLiteral("<br>")) +
         QStringLiteral("</p>");
}

QString ArgumentHelp(const TermArgument& argument) {
  return QStringLiteral("<p>") + QString::fromStdString(argument.help).toHtmlEscaped() +
         QStringLiteral("</p>");
}

void Describe(QWidget* widget, const char* term, const char* argument) {
  widget->setToolTip(ArgumentHelp(ArgumentOf(term, argument)));
}

void Describe(QDoubleSpinBox* box, const char* term, const char* argument) {
  const TermArgument& described = ArgumentOf(term, argument);
  Describe(static_cast<QWidget*>(box), term, argument);
  if (described.minimum < described.maximum) box->setRange(described.minimum, described.maximum);
  if (!described.default_text.empty()) box->setValue(std::stod(described.default_text));
}

void Describe(QSpinBox* box, const char* term, const char* argument) {
  const TermArgument& described = ArgumentOf(term, argument);
  Describe(static_cast<QWidget*>(box), term, argument);
  if (described.minimum < described.maximum) {
    box->setRange(static_cast<int>(described.minimum), static_cast<int>(described.maximum));
  }
  if (!described.default_text.empty()) box->setValue(std::stoi(described.default_text));
}

void Describe(QComboBox* box, const char* term, const char* argument) {
  const TermArgument& described = ArgumentOf(term, argument);
  Describe(static_cast<QWidget*>(box), term, argument);
  for (const std::string& choice : described.choices) box->addItem(QString::fromStdString(choice));
}

}  // namespace midscope
