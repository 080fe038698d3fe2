// SPDX-License-Identifier: GPL-3.0-or-later
// A form made from descriptions of options (core/base/options.h): a box of choices, a number with
// range and unit, a line of text, a check box. Values that the command line would refuse are
// refused with the same message, shown below the fields.
#pragma once

#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/options.h"

class QFormLayout;
class QLabel;

namespace midscope {

class OptionForm : public QWidget {
  Q_OBJECT

 public:
  explicit OptionForm(std::vector<OptionDescription> descriptions, QWidget* parent = nullptr);

  // The last valid values; empty fields have their defaults.
  const OptionSet& options() const { return options_; }
  // Throws Error (usage) for a field that can't be read or values that the check refuses.
  OptionSet Checked() const;
  // Sets all fields; emits Changed once if a value differs.
  void SetOptions(const OptionSet& options);
  // Sets one field from the command line's text. Throws Error (usage).
  void SetText(const std::string& name, const std::string& text);
  // Texts that can be chosen instead of typed, for an option of kText.
  void Offer(const std::string& name, const QStringList& texts);
  // A check of all values together; throws Error (usage), whose message the form shows.
  void SetCheck(std::function<void(const OptionSet&)> check);
  // The message below the fields; "" for none.
  QString error() const;

 Q_SIGNALS:
  void Changed();

 private:
  struct Field {
    QWidget* widget = nullptr;
    std::function<std::string()> text;  // "" for an empty field
    std::function<void(const std::string&)> show;
    QLabel* error = nullptr;
  };
  void AddField(const OptionDescription& option, QFormLayout* layout);
  Field MakeField(const OptionDescription& option);
  void Read();
  void ShowAll();
  // Throws Error (usage). An empty field keeps its default.
  void ReadField(const OptionDescription& option, OptionSet& options) const;

  OptionSet options_;
  std::map<std::string, Field> fields_;
  std::function<void(const OptionSet&)> check_;
  QLabel* check_error_;
  bool quiet_ = false;
};

// Help, allowed values and default, as a tooltip that wraps.
QString OptionTooltip(const OptionDescription& option);

// "dtype float32, device cuda:0": the options that are not at their defaults; "" for none.
QString ChangedOptionsText(const OptionSet& options);

}  // namespace midscope
