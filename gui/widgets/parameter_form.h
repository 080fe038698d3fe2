// SPDX-License-Identifier: GPL-3.0-or-later
// A form with one field (parameter_field.h) per described parameter. It rejects the values that the
// command line rejects and shows the same message below the fields.
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
class QPushButton;

namespace midscope {

class ParameterForm : public QWidget {
  Q_OBJECT

 public:
  // The object name of an input is `prefix` + the parameter's name. `choose`: see MakeField.
  explicit ParameterForm(std::vector<Parameter> descriptions, QWidget* parent = nullptr,
                         const std::string& prefix = "option_", const ChooseFile& choose = {});

  // The last valid values; empty fields have their default.
  const OptionSet& options() const { return options_; }
  // Throws Error (usage) if a field cannot be read or the check rejects the values.
  OptionSet Checked() const;
  // Sets all fields. Emits Changed once if any value differs.
  void SetOptions(const OptionSet& options);
  // Sets one field from a command line text. Throws Error (usage).
  void SetText(const std::string& name, const std::string& text);
  // Sets texts that can be chosen instead of typed, with notes (TextBox::Offer), for an option of
  // type kText.
  void Offer(const std::string& name, const QStringList& texts, TextBox::Notes notes = nullptr);
  // Shows only the fields of these names, above a button that shows all.
  void ShowFirst(const std::vector<std::string>& names);
  // Replaces the names of these parameters as labels of their fields.
  void SetLabels(const std::map<std::string, QString>& labels);
  // Sets which fields apply to the other values: those for which `applies` returns false are
  // hidden, and their options are not set.
  using Applies = std::function<bool(const std::string& name, const OptionSet& options)>;
  void SetApplies(Applies applies);
  // Calls `applies` again; call it when something else than the values that it uses has changed.
  void ShowFields();
  // Sets whether an option stays set when its value equals the default. By default it does not, so
  // that a later default applies to it.
  void SetKeepsStated(bool keeps);
  // Sets a check of all values together; it throws Error (usage), whose message the form shows.
  void SetCheck(std::function<void(const OptionSet&)> check);
  // The message shown below the fields; "" if there is none.
  QString error() const;

 Q_SIGNALS:
  void Changed();

 private:
  struct Row {
    ParameterField field;
    QLabel* error = nullptr;
    QLabel* label = nullptr;
    bool first = true;  // whether it is shown before the others are requested
  };
  bool AppliesTo(const std::string& name, const OptionSet& options) const;
  void AddRow(const Parameter& parameter, const std::string& prefix, const ChooseFile& choose);
  void Read();
  void ShowAll();
  // Reads one field into `options`; an empty field keeps its default. Throws Error (usage).
  void ReadField(const Parameter& option, OptionSet& options) const;

  OptionSet options_;
  std::map<std::string, Row> rows_;
  QFormLayout* layout_;
  std::function<void(const OptionSet&)> check_;
  Applies applies_;
  QLabel* check_error_;
  QPushButton* more_ = nullptr;  // shows all fields; null: all are shown
  bool keeps_stated_ = false;
  bool quiet_ = false;
};

// The options that differ from their defaults, such as "dtype float32, device cuda:0"; "" if none
// does.
QString ChangedOptionsText(const OptionSet& options);

}  // namespace midscope
