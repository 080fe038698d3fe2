// SPDX-License-Identifier: GPL-3.0-or-later
// Selects the probes of capture runs. It has check boxes for the probes that run only on request,
// and the options of all probes, from their descriptions.
#pragma once

#include <QScrollArea>
#include <string>
#include <vector>

#include "gui/widgets/parameter_field.h"
#include "probes/engine/engine.h"

class QCheckBox;
class QPushButton;
class QVBoxLayout;

namespace midscope {

class ParameterForm;

class ProbeForm : public QScrollArea {
  Q_OBJECT

 public:
  // `choose`: for options that are paths, which are of the engine's machine.
  explicit ProbeForm(QWidget* parent = nullptr, ChooseFile choose = {});

  // Rebuilds the forms and keeps the values of options that still exist.
  void SetProbes(const std::vector<ProbeOffer>& probes);
  // In the format of CaptureRunRequest::probe_options. Throws Error (usage) if a value cannot be
  // read.
  std::string Json() const;
  // Sets the forms without emitting a signal. Options of unknown probes are stored for later calls
  // of SetProbes. Throws Error (usage) if a value is not valid for its option.
  void SetJson(const std::string& json);

 Q_SIGNALS:
  // Emitted when the user requests a run with these options.
  void RunRequested();

 private:
  struct Entry {
    ProbeOffer probe;
    QCheckBox* named = nullptr;        // check box of a probe that runs on request
    ParameterForm* options = nullptr;  // null for a probe without options
  };
  void AddProbe(const ProbeOffer& probe);
  void ShowWanted();

  std::vector<Entry> entries_;
  std::string wanted_ = "{}";  // the last value set; may name unknown probes
  QWidget* page_ = nullptr;
  QVBoxLayout* column_ = nullptr;
  const ChooseFile choose_;
};

// Probe options that run `name` in addition to the probes that run by default and those already
// named in `json`. Throws Error if `json` is not a JSON object.
std::string WithProbe(const std::string& json, const std::string& name);

// Probe options `json` without the probe `name`. Throws Error if `json` is not a JSON object.
std::string WithoutProbe(const std::string& json, const std::string& name);

// Summary, source, departures from the source, and limits of a probe, for a tooltip.
QString ProbeHelp(const ProbeOffer& probe);

}  // namespace midscope
