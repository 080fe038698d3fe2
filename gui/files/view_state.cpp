// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/view_state.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSpinBox>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/json_fields.h"
#include "gui/panels/panel_list.h"
#include "gui/plots/plot.h"
#include "gui/widgets/selection.h"

namespace midscope {
namespace {

// Conversion of one class of controls to and from JSON.
struct ControlKind {
  // Returns null if the widget is of another class.
  std::function<nlohmann::json(const QWidget&)> read;
  // Returns whether the widget is of this class and accepts the value.
  std::function<bool(QWidget*, const nlohmann::json&)> write;
};

template <typename Control, typename Read, typename Write>
ControlKind KindOf(Read read, Write write) {
  return {[read](const QWidget& widget) -> nlohmann::json {
            const auto* control = qobject_cast<const Control*>(&widget);
            return control ? nlohmann::json(read(*control)) : nlohmann::json();
          },
          [read, write](QWidget* widget, const nlohmann::json& value) {
            auto* control = qobject_cast<Control*>(widget);
            if (!control) return false;
            write(control, value);
            return nlohmann::json(read(*control)) == value;
          }};
}

const std::vector<ControlKind>& ControlKinds() {
  static const std::vector<ControlKind> kinds = {
      KindOf<QCheckBox>([](const QCheckBox& box) { return box.isChecked(); },
                        [](QCheckBox* box, const nlohmann::json& value) {
                          if (value.is_boolean()) box->setChecked(value.get<bool>());
                        }),
      KindOf<QComboBox>([](const QComboBox& box) { return box.currentText().toStdString(); },
                        [](QComboBox* box, const nlohmann::json& value) {
                          if (!value.is_string()) return;
                          const int index =
                              box->findText(QString::fromStdString(value.get<std::string>()));
                          if (index >= 0) box->setCurrentIndex(index);
                        }),
      KindOf<QSpinBox>([](const QSpinBox& box) { return box.value(); },
                       [](QSpinBox* box, const nlohmann::json& value) {
                         if (value.is_number_integer()) box->setValue(value.get<int>());
                       }),
      KindOf<QDoubleSpinBox>([](const QDoubleSpinBox& box) { return box.value(); },
                             [](QDoubleSpinBox* box, const nlohmann::json& value) {
                               if (value.is_number()) box->setValue(value.get<double>());
                             }),
  };
  return kinds;
}

nlohmann::json ControlsOf(const Panel& panel) {
  nlohmann::json controls = nlohmann::json::object();
  for (const QWidget* widget : panel.findChildren<QWidget*>()) {
    const std::string name = widget->objectName().toStdString();
    // Skips parts of Qt's own widgets, which are named qt_...
    if (name.empty() || name.starts_with("qt_") || controls.contains(name)) continue;
    for (const ControlKind& kind : ControlKinds()) {
      nlohmann::json value = kind.read(*widget);
      if (value.is_null()) continue;
      controls[name] = std::move(value);
      break;
    }
  }
  return controls;
}

std::string NameOf(const Plot& plot) {
  return (plot.objectName().isEmpty() ? plot.file_stem() : plot.objectName()).toStdString();
}

// Only the ranges of y axes; in plots over tokens, the x range belongs to the selection.
nlohmann::json RangesOf(const Panel& panel) {
  nlohmann::json ranges = nlohmann::json::object();
  for (const Plot* plot : panel.findChildren<Plot*>()) {
    if (!(plot->held() & Qt::Vertical)) continue;
    const QCPRange range = plot->yAxis->range();
    ranges[NameOf(*plot)] = {range.lower, range.upper};
  }
  return ranges;
}

// Returns nullopt if the field is absent.
std::optional<std::array<double, 2>> FindPair(const JsonFields& fields, const std::string& key) {
  if (!fields.Find(key)) return std::nullopt;
  const nlohmann::json& pair = fields.Array(key);
  if (pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number() ||
      !(pair[0].get<double>() < pair[1].get<double>())) {
    fields.Fail("has a '" + key + "' that is not [lower, upper]");
  }
  return std::array<double, 2>{pair[0].get<double>(), pair[1].get<double>()};
}

// Sets the controls. Returns the entries whose value is not available yet.
nlohmann::json RestoreControls(const nlohmann::json& controls, Panel* panel) {
  nlohmann::json rest = nlohmann::json::object();
  for (QWidget* widget : panel->findChildren<QWidget*>()) {
    const auto value = controls.find(widget->objectName().toStdString());
    if (value == controls.end()) continue;
    bool set = false;
    for (const ControlKind& kind : ControlKinds()) set = kind.write(widget, *value) || set;
    if (!set) rest[value.key()] = *value;
  }
  return rest;
}

// Does not change plots whose range the user has chosen.
void RestoreRanges(const JsonFields& ranges, Panel* panel) {
  for (Plot* plot : panel->findChildren<Plot*>()) {
    const auto range = FindPair(ranges, NameOf(*plot));
    if (range && !(plot->held() & Qt::Vertical)) plot->ShowAlongY({(*range)[0], (*range)[1]});
  }
}

nlohmann::json RestorePanel(const JsonFields& fields, Panel* panel) {
  nlohmann::json rest = nlohmann::json::object();
  if (const nlohmann::json* controls = fields.Find("controls"))
    rest["controls"] = RestoreControls(*controls, panel);
  if (const nlohmann::json* ranges = fields.Find("ranges")) {
    RestoreRanges(fields.Inside("ranges"), panel);
    rest["ranges"] = *ranges;
  }
  return rest;
}

// Restores every panel named in the field `panels`.
nlohmann::json RestorePanels(const JsonFields& view, const std::vector<Panel*>& panels) {
  nlohmann::json rest = {{"panels", nlohmann::json::object()}};
  for (size_t i = 0; i < panels.size(); ++i) {
    const std::string id = PanelList()[i].id.toStdString();
    if (view.Find("panels") && view.Inside("panels").Find(id))
      rest["panels"][id] = RestorePanel(view.Inside("panels").Inside(id), panels[i]);
  }
  return rest;
}

}  // namespace

nlohmann::json ViewState(const std::vector<Panel*>& panels, const Selection& selection) {
  nlohmann::json state = {{"panels", nlohmann::json::object()}, {"linked", selection.linked()}};
  for (size_t i = 0; i < panels.size(); ++i) {
    state["panels"][PanelList()[i].id.toStdString()] = {{"controls", ControlsOf(*panels[i])},
                                                        {"ranges", RangesOf(*panels[i])}};
  }
  if (selection.locked_token() >= 0) state["token"] = selection.locked_token();
  if (!selection.range().empty()) state["range"] = {selection.range().begin, selection.range().end};
  if (const auto& window = selection.window()) state["tokens"] = {window->lower, window->upper};
  return state;
}

void CheckViewState(const JsonFields& session) {
  if (!session.Find(kViewKey)) return;
  const JsonFields view = session.Inside(kViewKey);
  view.RefuseOthers({"panels", "linked", "token", "range", "tokens"});
  view.Flag("linked", true);
  view.Whole("token", 0, 0);
  FindPair(view, "range");
  FindPair(view, "tokens");
  if (!view.Find("panels")) return;
  const JsonFields panels = view.Inside("panels");
  for (const PanelEntry& entry : PanelList()) {
    const std::string id = entry.id.toStdString();
    if (!panels.Find(id)) continue;
    const JsonFields panel = panels.Inside(id);
    panel.RefuseOthers({"controls", "ranges"});
    if (panel.Find("controls")) panel.Inside("controls");
    if (!panel.Find("ranges")) continue;
    const JsonFields ranges = panel.Inside("ranges");
    for (const auto& [name, range] : panel.Find("ranges")->items()) FindPair(ranges, name);
  }
}

nlohmann::json RestoreView(const nlohmann::json& state, const std::vector<Panel*>& panels,
                           Selection* selection) {
  const nlohmann::json session = {{kViewKey, state}};
  const JsonFields view = JsonFields(session, "session", "").Inside(kViewKey);
  selection->SetLinked(view.Flag("linked", true));
  nlohmann::json rest = RestorePanels(view, panels);
  const int64_t token = view.Find("token") ? view.Whole("token", 0, 0) : -1;
  if (token != selection->locked_token())
    selection->LockToken(token >= 0 ? token : selection->locked_token());
  if (const auto range = FindPair(view, "range"))
    selection->SetRange(static_cast<qint64>((*range)[0]), static_cast<qint64>((*range)[1]));
  if (const auto tokens = FindPair(view, "tokens"))
    selection->ShowTokens(TokenWindow{(*tokens)[0], (*tokens)[1]});
  return rest;
}

void RestoreRest(const nlohmann::json& rest, const std::vector<Panel*>& panels) {
  const nlohmann::json session = {{kViewKey, rest}};
  RestorePanels(JsonFields(session, "session", "").Inside(kViewKey), panels);
}

void AddRest(const nlohmann::json& rest, nlohmann::json& state) {
  for (const auto& [id, panel] : rest.at("panels").items()) {
    const auto controls = panel.find("controls");
    if (controls != panel.end()) state["panels"][id]["controls"].update(*controls);
  }
}

}  // namespace midscope
