// SPDX-License-Identifier: GPL-3.0-or-later
// A form out of the one description of options (core/base/options.h): a box of choices, a number
// with its range and unit, a line of text, a tick. What the command line would refuse is refused
// here in the same words, below the field.
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

  // The last values that could be read; those that a field does not state have their defaults.
  const OptionSet& options() const { return options_; }
  // Throws Error (usage): what a field holds can't be read, or the check refuses it.
  OptionSet Checked() const;
  // Says Changed once where something is different.
  void SetOptions(const OptionSet& options);
  // One field, as the command line would read it. Throws Error (usage).
  void SetText(const std::string& name, const std::string& text);
  // Texts that may be chosen instead of typed, for an option of kText.
  void Offer(const std::string& name, const QStringList& texts);
  // What the values must also hold, together; throws Error (usage), whose message the form shows.
  void SetCheck(std::function<void(const OptionSet&)> check);
  // What is shown below the fields; "" for none.
  QString error() const;

 Q_SIGNALS:
  void Changed();

 private:
  struct Field {
    QWidget* widget = nullptr;
    std::function<std::string()> text;  // "" for nothing said
    std::function<void(const std::string&)> show;
    QLabel* error = nullptr;
  };
  void AddField(const OptionDescription& option, QFormLayout* layout);
  Field MakeField(const OptionDescription& option);
  void Read();
  void ShowAll();
  // Throws Error (usage). What a field does not say stays at its default.
  void ReadField(const OptionDescription& option, OptionSet& options) const;

  OptionSet options_;
  std::map<std::string, Field> fields_;
  std::function<void(const OptionSet&)> check_;
  QLabel* check_error_;
  bool quiet_ = false;
};

// The help as a tooltip that wraps, with what is allowed and the default.
QString OptionTooltip(const OptionDescription& option);

// "dtype float32, device cuda:0": what is not at its default; "" where everything is.
QString ChangedOptionsText(const OptionSet& options);

}  // namespace midscope
