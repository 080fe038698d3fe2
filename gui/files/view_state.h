// SPDX-License-Identifier: GPL-3.0-or-later
// The state of a session's view, in addition to its requests: the values of the panels' controls by
// object name, the plot ranges that the user has chosen, the locked token, the range of tokens and
// the visible part of the token axis. JSON:
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

// `panels`: the panels of PanelList(), in its order.
nlohmann::json ViewState(const std::vector<Panel*>& panels, const Selection& selection);
// Throws Error if the field kViewKey of a session is not valid input for RestoreView.
void CheckViewState(const JsonFields& session);
// Ignores entries that do not exist here (a control of another version, a layer that the model
// lacks). Returns the entries that may become applicable when the records arrive: values that
// controls do not offer yet, and ranges, which a plot may reset when it first gets data.
nlohmann::json RestoreView(const nlohmann::json& state, const std::vector<Panel*>& panels,
                           Selection* selection);
// Restores the returned entries, except the ranges of plots for which the user has meanwhile chosen
// another range.
void RestoreRest(const nlohmann::json& rest, const std::vector<Panel*>& panels);
// Adds values that are still waiting to a state that ViewState returned.
void AddRest(const nlohmann::json& rest, nlohmann::json& state);

}  // namespace midscope
