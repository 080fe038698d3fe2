// SPDX-License-Identifier: GPL-3.0-or-later
// A session as a text file (JSON with keys in a fixed order, so that versions can be compared line
// by line): model, prompt request, settings and the states of panels (Panel::State). Results are in
// separate files (result_file.h).
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
  OptionSet model_options;       // for OptionsBesideModel()
  std::string second_model;      // ModelPanel::SecondText; "": none
  PromptRequest prompt_request;  // the gold passage is the span named "gold"
  int64_t place_index = -1;      // index into the prompt request's places; -1: the middle one
  SettingPair settings;
  std::string layout;  // DockArea::State in base 64; "": keep the window's layout
  // Panel::State by Panel::StateKey; null states are omitted.
  std::map<std::string, nlohmann::json> panels;
  // The settings kept as C to F, in this order; "": the letter is free.
  std::vector<std::string> kept;
  nlohmann::json marks;  // SettingMarks::State; null: none
  // ViewState (gui/files/view_state.h); null: keep the window's view.
  nlohmann::json view;
  std::vector<std::string> documents;  // paths of the results files open beside the model
  int64_t shown_document = -1;         // index into `documents`; -1: the model
};

// The text of the file; ends with a line end.
std::string SessionText(const SavedSession& session);
// The prompt request alone, as JSON in a session's format. Equal requests give equal texts.
std::string PromptRequestText(const PromptRequest& prompt_request);
// Throws Error, with `file` in its message, if the text is not JSON, has an unknown key or a value
// is out of range.
SavedSession ParseSession(const std::string& text, const std::string& file);

// Both throw Error (failure) if the file cannot be read or written.
void WriteSessionFile(const QString& path, const SavedSession& session);
SavedSession ReadSessionFile(const QString& path);

}  // namespace midscope
