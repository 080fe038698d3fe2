// SPDX-License-Identifier: GPL-3.0-or-later
// What the probes of a full run are asked for: those that run only where they are named, and the
// options of all, each from its description.
#pragma once

#include <QScrollArea>
#include <string>
#include <vector>

#include "probes/engine/engine.h"

class QCheckBox;
class QPushButton;
class QVBoxLayout;

namespace midscope {

class OptionForm;

class ProbeForm : public QScrollArea {
  Q_OBJECT

 public:
  explicit ProbeForm(QWidget* parent = nullptr);

  // The forms are made anew; values of options that are still there are kept.
  void SetProbes(const std::vector<ProbeOffer>& probes);
  // As CaptureRunRequest::probe_options. Throws Error (usage) for a value that can't be read.
  std::string Json() const;
  // Says nothing to anybody. Names that no probe has (yet) are kept for probes to come. Throws
  // Error (usage) for a value that does not fit its option.
  void SetJson(const std::string& json);

 Q_SIGNALS:
  // The person asks for a run with what the forms say.
  void RunAsked();

 private:
  struct Entry {
    ProbeOffer probe;
    QCheckBox* named = nullptr;     // of a probe on request
    OptionForm* options = nullptr;  // null where it has none
  };
  void AddProbe(const ProbeOffer& probe);
  void ShowWanted();

  std::vector<Entry> entries_;
  std::string wanted_ = "{}";  // what was set last; may name probes that are not there
  QWidget* page_ = nullptr;
  QVBoxLayout* column_ = nullptr;
};

// Summary, source, departures and limits, for a tooltip.
QString ProbeHelp(const ProbeOffer& probe);

}  // namespace midscope
