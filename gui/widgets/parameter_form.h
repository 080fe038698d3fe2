// SPDX-License-Identifier: GPL-3.0-or-later
// A form made from descriptions of parameters, with a field for each (parameter_field.h). Values
// that the command line would refuse are refused with the same message, shown below the fields.
#pragma once

#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "gui/widgets/parameter_field.h"

class QFormLayout;
class QLabel;

namespace midscope {

class ParameterForm : public QWidget {
  Q_OBJECT

 public:
  // Inputs are named `prefix` + the parameter's name.
  explicit ParameterForm(std::vector<Parameter> descriptions, QWidget* parent = nullptr,
                         const std::string& prefix = "option_");

  // The last valid values; empty fields have their defaults.
  const OptionSet& options() const { return options_; }
  // Throws Error (usage) for a field that can't be read or values that the check refuses.
  OptionSet Checked() const;
  // Sets all fields; emits Changed once if a value differs.
  void SetOptions(const OptionSet& options);
  // Sets one field from the command line's text. Throws Error (usage).
  void SetText(const std::string& name, const std::string& text);
  // Texts that can be chosen instead of typed, with notes (TextBox::Offer), for an option of kText.
  void Offer(const std::string& name, const QStringList& texts, TextBox::Notes notes = nullptr);
  // Whether a value that was set stays set where it becomes that of the default. Default: it does
  // not, so that a later default applies to it.
  void SetKeepsStated(bool keeps);
  // A check of all values together; throws Error (usage), whose message the form shows.
  void SetCheck(std::function<void(const OptionSet&)> check);
  // The message below the fields; "" for none.
  QString error() const;

 Q_SIGNALS:
  void Changed();

 private:
  struct Row {
    ParameterField field;
    QLabel* error = nullptr;
  };
  void AddRow(const Parameter& parameter, const std::string& prefix, QFormLayout* layout);
  void Read();
  void ShowAll();
  // Throws Error (usage). An empty field keeps its default.
  void ReadField(const Parameter& option, OptionSet& options) const;

  OptionSet options_;
  std::map<std::string, Row> rows_;
  std::function<void(const OptionSet&)> check_;
  QLabel* check_error_;
  bool keeps_stated_ = false;
  bool quiet_ = false;
};

// "dtype float32, device cuda:0": the options that are not at their defaults; "" for none.
QString ChangedOptionsText(const OptionSet& options);

}  // namespace midscope
