// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/knob_help.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSpinBox>

#include "core/terms/terms.h"
#include "gui/widgets/parameter_field.h"
#include "kernels/check.h"

namespace midscope {
namespace {

const TermType& TypeNamed(const char* name) {
  if (const TermType* term = FindTermType(name)) return *term;
  MIDSCOPE_BUG(std::string("no intervention term '") + name + "'");
}

}  // namespace

const Parameter& ArgumentOf(const char* term, const char* argument) {
  for (const Parameter& known : TypeNamed(term).arguments) {
    if (known.name == argument) return known;
  }
  MIDSCOPE_BUG(std::string("no argument '") + argument + "' of '" + term + "'");
}

QString TermHelp(const char* term) {
  const TermType& described = TypeNamed(term);
  QString text = QString::fromStdString(described.summary);
  if (!described.source.empty())
    text += QLatin1Char('\n') + QString::fromStdString(described.source);
  // As rich text, because plain tooltips do not wrap.
  return QStringLiteral("<p>") + text.toHtmlEscaped().replace('\n', QStringLiteral("<br>")) +
         QStringLiteral("</p>");
}

void Describe(QWidget* widget, const char* term, const char* argument) {
  widget->setToolTip(ParameterTooltip(ArgumentOf(term, argument)));
}

void Describe(QDoubleSpinBox* box, const char* term, const char* argument) {
  const Parameter& described = ArgumentOf(term, argument);
  Describe(static_cast<QWidget*>(box), term, argument);
  box->setRange(described.minimum, described.maximum);
  if (const auto* value = std::get_if<double>(&described.default_value)) box->setValue(*value);
}

void Describe(QSpinBox* box, const char* term, const char* argument) {
  const Parameter& described = ArgumentOf(term, argument);
  Describe(static_cast<QWidget*>(box), term, argument);
  box->setRange(static_cast<int>(described.minimum), static_cast<int>(described.maximum));
  if (const auto* value = std::get_if<int64_t>(&described.default_value))
    box->setValue(static_cast<int>(*value));
}

void Describe(QComboBox* box, const char* term, const char* argument) {
  const Parameter& described = ArgumentOf(term, argument);
  Describe(static_cast<QWidget*>(box), term, argument);
  for (const std::string& choice : described.choices) box->addItem(QString::fromStdString(choice));
}

}  // namespace midscope
