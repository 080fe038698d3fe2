// SPDX-License-Identifier: GPL-3.0-or-later
// A session as one text file (JSON, keys in a fixed order, so that versions can be compared line by
// line): model, prompt request, settings and what panels keep (Panel::State). Results are separate
// files (result_file.h).
#pragma once

#include <QString>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/options.h"
#include "gui/session/setting_history.h"
#include "probes/engine/engine.h"

namespace midscope {

struct SavedSession {
  SavedSession();

  std::string model = "embedded";
  OptionSet model_options;       // OptionsBesideModel()
  PromptRequest prompt_request;  // the passage marked as gold is the span "gold"
  int64_t place_index = -1;      // into the prompt request's places; -1: the middle one
  SettingPair settings;
  std::string layout;  // DockArea::State in base 64; "": the layout that the window has
  std::map<std::string, nlohmann::json> panels;  // Panel::State by Panel::StateKey; none is null
  // Settings that are kept as C to F, in this order; "": none under that letter.
  std::vector<std::string> kept;
  nlohmann::json marks;                // SettingMarks::State; null: none
  nlohmann::json view;                 // ViewState (gui/files/view_state.h); null: as the window is
  std::vector<std::string> documents;  // files of results that are open beside the model
  int64_t shown_document = -1;         // index into them; -1: the model
};

// The file's text, with a line end at the end.
std::string SessionText(const SavedSession& session);
// The prompt request alone, as the session's JSON: equal for equal requests.
std::string PromptRequestText(const PromptRequest& prompt_request);
// Throws Error that names `file`: not JSON, an unknown key, a value out of range.
SavedSession ParseSession(const std::string& text, const std::string& file);

// Throws Error (failure) where the file can't be read or written.
void WriteSessionFile(const QString& path, const SavedSession& session);
SavedSession ReadSessionFile(const QString& path);

}  // namespace midscope
