// SPDX-License-Identifier: GPL-3.0-or-later
// State of a session's view, beyond its requests: the controls of the panels by their object names,
// the ranges of plots that the user has chosen, the locked token, the range of tokens and the
// visible part of their axis. JSON:
//
//   {"panels": {"channel": {"controls": {"smoothing": 15}, "ranges": {"hidden_channel": [0, 9]}}},
//    "token": 12, "range": [50, 60], "tokens": [40.5, 80.5], "linked": true}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace midscope {

class JsonFields;
class Panel;
class Selection;

inline constexpr char kViewKey[] = "view";

// `panels`: of PanelList(), in its order.
nlohmann::json ViewState(const std::vector<Panel*>& panels, const Selection& selection);
// Throws Error where the field kViewKey of a session is not what RestoreView takes.
void CheckViewState(const JsonFields& session);
// Leaves out entries that the panels lack (another version's control, a layer that the model
// lacks). Returns entries that may apply once the records have arrived: values that controls do not
// offer yet, and ranges, which the first numbers of a plot may replace.
nlohmann::json RestoreView(const nlohmann::json& state, const std::vector<Panel*>& panels,
                           Selection* selection);
// Restores it, except ranges of plots where the user has chosen another.
void RestoreRest(const nlohmann::json& rest, const std::vector<Panel*>& panels);
// Puts values that still wait into what ViewState gave.
void AddRest(const nlohmann::json& rest, nlohmann::json& state);

}  // namespace midscope
