// SPDX-License-Identifier: GPL-3.0-or-later
// Selects the probes of capture runs: check boxes for those that run on request only, and the
// options of all, from their descriptions.
#pragma once

#include <QScrollArea>
#include <string>
#include <vector>

#include "probes/engine/engine.h"

class QCheckBox;
class QPushButton;
class QVBoxLayout;

namespace midscope {

class ParameterForm;

class ProbeForm : public QScrollArea {
  Q_OBJECT

 public:
  explicit ProbeForm(QWidget* parent = nullptr);

  // Rebuilds the forms; values of options that still exist are kept.
  void SetProbes(const std::vector<ProbeOffer>& probes);
  // As CaptureRunRequest::probe_options. Throws Error (usage) for a value that can't be read.
  std::string Json() const;
  // Sets the forms without emitting a signal. Names of unknown probes are kept for later calls of
  // SetProbes. Throws Error (usage) for a value that does not fit its option.
  void SetJson(const std::string& json);

 Q_SIGNALS:
  // Emitted when the user requests a run with these options.
  void RunRequested();

 private:
  struct Entry {
    ProbeOffer probe;
    QCheckBox* named = nullptr;        // of a probe on request
    ParameterForm* options = nullptr;  // null for a probe without options
  };
  void AddProbe(const ProbeOffer& probe);
  void ShowWanted();

  std::vector<Entry> entries_;
  std::string wanted_ = "{}";  // what was set last; may name unknown probes
  QWidget* page_ = nullptr;
  QVBoxLayout* column_ = nullptr;
};

// Probe options with one more probe: those that run by default, the named ones and `name`. Throws
// Error for what is no JSON object.
std::string WithProbe(const std::string& json, const std::string& name);

// Summary, source, departures and limits, for a tooltip.
QString ProbeHelp(const ProbeOffer& probe);

}  // namespace midscope
