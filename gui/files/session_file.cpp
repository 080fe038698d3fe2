// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/session_file.h"

#include <QFile>
#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/terms/intervention_text.h"
#include "gui/base/write_whole_file.h"
#include "gui/files/view_state.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/panel_list.h"
#include "gui/session/setting_marks.h"

namespace midscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kVersion = 1;
constexpr char kKeptKey[] = "kept_settings";
constexpr char kSecondKey[] = "second_model";
constexpr qint64 kLargestFile = 64 << 20;  // large enough for a prompt of millions of tokens

Json PromptRequestJson(const PromptRequest& prompt_request) {
  if (!prompt_request.task.empty()) {
    Json json = {{"task", prompt_request.task},
                 {"seed", prompt_request.seed},
                 {"sample", prompt_request.sample},
                 {"places", prompt_request.places}};
    AddPromptFormat(prompt_request.format, &json);
    return json;
  }
  Json spans = Json::object();
  if (prompt_request.gold_end > prompt_request.gold_begin) {
    spans["gold"] = {prompt_request.gold_begin, prompt_request.gold_end};
  }
  Json json = {{"text", prompt_request.text}, {"spans", spans}, {"answer", prompt_request.answer}};
  if (!prompt_request.question.empty()) json["question"] = prompt_request.question;
  if (!prompt_request.pieces.empty()) {
    json["pieces"] = Json::array();
    for (const ByteSpan& piece : prompt_request.pieces)
      json["pieces"].push_back({piece.begin, piece.end});
    json["places"] = prompt_request.places;
  }
  AddPromptFormat(prompt_request.format, &json);
  return json;
}

// All keys, in the order of the file.
std::vector<std::string> SessionKeys() {
  std::vector<std::string> keys = {"midscope_session", "model",   "model_options", "subject",
                                   "place_index",      "channel", "samples",       "setting_a",
                                   "setting_b",        "head",    "probes",        "setting_a_off",
                                   "setting_b_off"};
  for (const PanelEntry& panel : PanelList()) {
    const bool is_new = std::find(keys.begin(), keys.end(), panel.state_key) == keys.end();
    if (!panel.state_key.empty() && is_new) keys.push_back(panel.state_key);
  }
  for (const char* key : {kSecondKey, "layout", kViewKey, "documents", "shown_document", kKeptKey,
                          SettingMarks::kStateKey})
    keys.emplace_back(key);
  return keys;
}

void CheckKeys(const nlohmann::json& object, const std::vector<std::string>& known,
               const std::string& file) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw UsageError("session '" + file + "'", "unknown key '" + key + "'",
                     KnownWordsHint(key, known));
  }
}

std::vector<std::string> WithFormatKeys(std::vector<std::string> keys) {
  const std::vector<std::string>& more = PromptFormatKeys();
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

PromptFormat ReadFormat(const JsonFields& fields, const nlohmann::json& json) {
  try {
    return ReadPromptFormat(json);
  } catch (const nlohmann::json::exception&) {
    fields.Fail("has a prompt format (bos, chat_template, ...) of another type than it should be");
  }
}

ByteSpan ReadBytes(const JsonFields& fields, const std::string& name, const nlohmann::json& bytes,
                   const std::string& text) {
  const bool pair = bytes.is_array() && bytes.size() == 2 && bytes[0].is_number_integer() &&
                    bytes[1].is_number_integer();
  if (!pair || bytes[0].get<int64_t>() < 0 || bytes[1].get<int64_t>() <= bytes[0].get<int64_t>() ||
      bytes[1].get<int64_t>() > static_cast<int64_t>(text.size())) {
    fields.Fail("must have " + name + " as [first byte, one past the last] inside the text");
  }
  return {"", bytes[0].get<int64_t>(), bytes[1].get<int64_t>()};
}

PromptRequest ReadPromptRequest(const JsonFields& fields, const nlohmann::json& json,
                                const std::string& file) {
  PromptRequest prompt_request;
  prompt_request.format = ReadFormat(fields, json);
  if (fields.Find("task")) {
    CheckKeys(json, WithFormatKeys({"task", "seed", "sample", "places"}), file);
    prompt_request.task = fields.Text("task");
    prompt_request.seed = static_cast<uint64_t>(fields.Whole("seed", 1, 0));
    prompt_request.sample = fields.Whole("sample", 0, 0);
    prompt_request.places = fields.FindText("places").value_or("");
    return prompt_request;
  }
  CheckKeys(json, WithFormatKeys({"text", "spans", "answer", "question", "pieces", "places"}),
            file);
  prompt_request.task.clear();
  prompt_request.text = fields.Text("text");
  prompt_request.answer = fields.FindText("answer").value_or("");
  prompt_request.question = fields.FindText("question").value_or("");
  prompt_request.places = fields.FindText("places").value_or("");
  if (fields.Find("pieces")) {
    for (const nlohmann::json& piece : fields.Array("pieces"))
      prompt_request.pieces.push_back(ReadBytes(fields, "pieces", piece, prompt_request.text));
  }
  if (!fields.Find("spans")) return prompt_request;
  const JsonFields spans = fields.Inside("spans");
  CheckKeys(json.at("spans"), {"gold"}, file);
  if (!spans.Find("gold")) return prompt_request;
  const nlohmann::json& gold = spans.Array("gold");
  const ByteSpan span = ReadBytes(spans, "gold", gold, prompt_request.text);
  prompt_request.gold_begin = span.begin;
  prompt_request.gold_end = span.end;
  return prompt_request;
}

// Throws Error unless the field is a list of settings, at most one per letter.
std::vector<std::string> ReadKept(const JsonFields& fields) {
  std::vector<std::string> kept;
  if (!fields.Find(kKeptKey)) return kept;
  for (const nlohmann::json& text : fields.Array(kKeptKey)) {
    if (!text.is_string()) fields.Fail("has a kept setting that is not a string");
    kept.push_back(text.get<std::string>());
    if (!kept.back().empty()) kept.back() = PrintIntervention(ParseIntervention(kept.back()));
  }
  if (kept.size() > static_cast<size_t>(TriedSettings::kMostKept))
    fields.Fail("keeps more settings than there are letters");
  return kept;
}

std::string OffKey(Side side) { return side == Side::kA ? "setting_a_off" : "setting_b_off"; }

Json OffTermsJson(const std::vector<OffTerm>& off) {
  Json json = Json::array();
  for (const OffTerm& term : off) json.push_back({{"term", term.text}, {"rank", term.rank}});
  return json;
}

// Files that the terms name need not exist, because switched-off terms do not run.
std::vector<OffTerm> ReadOffTerms(const JsonFields& fields, const std::string& key) {
  std::vector<OffTerm> off;
  if (!fields.Find(key)) return off;
  for (const nlohmann::json& one : fields.Array(key)) {
    const bool known = one.is_object() && one.contains("term") && one["term"].is_string() &&
                       one.value("rank", nlohmann::json(0)).is_number_integer();
    if (!known) fields.Fail("has a term in '" + key + "' that is not {term, rank}");
    off.push_back({one["term"].get<std::string>(), one.value("rank", int64_t{0})});
    ReadTerm(off.back().text);
  }
  return off;
}

void ReadDocuments(const JsonFields& fields, SavedSession* session) {
  if (!fields.Find("documents")) return;
  for (const nlohmann::json& path : fields.Array("documents")) {
    if (!path.is_string()) fields.Fail("has a document that is not a path");
    session->documents.push_back(path.get<std::string>());
  }
  session->shown_document = fields.Whole("shown_document", -1, -1);
}

// Runs `work` and adds the file's name to its errors.
template <typename Work>
void Naming(const std::string& file, Work work) {
  try {
    work();
  } catch (const Error& error) {
    throw UsageError("session '" + file + "'", error.what());
  }
}

}  // namespace

std::string PromptRequestText(const PromptRequest& prompt_request) {
  return PromptRequestJson(prompt_request).dump(-1, ' ', false, Json::error_handler_t::replace);
}

SavedSession::SavedSession() : model_options(OptionsBesideModel()) {}

std::string SessionText(const SavedSession& session) {
  std::map<std::string, Json> values = {
      {"midscope_session", kVersion},
      {"model", session.model},
      {"model_options", Json::parse(session.model_options.ToJson())},
      {"subject", PromptRequestJson(session.prompt_request)},
      {"place_index", session.place_index},
      {"setting_a", PrintIntervention(session.settings.a)},
      {"setting_b", PrintIntervention(session.settings.b)}};
  for (const Side side : {Side::kA, Side::kB}) {
    const std::vector<OffTerm>& off = session.settings.off(side);
    if (!off.empty()) values[OffKey(side)] = OffTermsJson(off);
  }
  if (!session.second_model.empty()) values[kSecondKey] = session.second_model;
  if (!session.layout.empty()) values["layout"] = session.layout;
  if (!session.view.is_null()) values[kViewKey] = session.view;
  if (!session.marks.is_null()) values[SettingMarks::kStateKey] = session.marks;
  if (!session.kept.empty()) values[kKeptKey] = session.kept;
  if (!session.documents.empty()) {
    values["documents"] = session.documents;
    values["shown_document"] = session.shown_document;
  }
  values.insert(session.panels.begin(), session.panels.end());
  Json json;
  for (const std::string& key : SessionKeys()) {
    const auto found = values.find(key);
    if (found != values.end()) json[key] = found->second;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

SavedSession ParseSession(const std::string& text, const std::string& file) {
  const std::string thing = "session '" + file + "'";
  const nlohmann::json json = ParseJson(text, thing);
  const JsonFields fields(json, thing, "");
  CheckKeys(json, SessionKeys(), file);
  if (fields.Whole("midscope_session", 0, 0) != kVersion) {
    throw UsageError(thing, "it is not a session of this version",
                     "Save one with File > Save session");
  }
  SavedSession session;
  session.model = fields.Text("model");
  Naming(file, [&] {
    if (const auto* options = fields.Find("model_options")) {
      session.model_options.FromJson(options->dump());
    }
    session.settings.a = ParseIntervention(fields.FindText("setting_a").value_or("none"));
    session.settings.b = ParseIntervention(fields.FindText("setting_b").value_or("none"));
  });
  for (const Side side : {Side::kA, Side::kB}) {
    Naming(file, [&] { session.settings.off(side) = ReadOffTerms(fields, OffKey(side)); });
  }
  if (fields.Find("subject")) {
    session.prompt_request = ReadPromptRequest(fields.Inside("subject"), json.at("subject"), file);
  }
  session.place_index = fields.Whole("place_index", -1, -1);
  session.second_model = fields.FindText(kSecondKey).value_or("");
  session.layout = fields.FindText("layout").value_or("");
  CheckViewState(fields);
  if (const auto* view = fields.Find(kViewKey)) session.view = *view;
  SettingMarks::CheckState(fields);
  if (const auto* marks = fields.Find(SettingMarks::kStateKey)) session.marks = *marks;
  Naming(file, [&] { session.kept = ReadKept(fields); });
  ReadDocuments(fields, &session);
  for (const PanelEntry& panel : PanelList()) {
    if (panel.state_key.empty()) continue;
    panel.check_state(fields);
    if (const auto* state = fields.Find(panel.state_key)) session.panels[panel.state_key] = *state;
  }
  return session;
}

void WriteSessionFile(const QString& path, const SavedSession& session) {
  WriteWholeFile("session", path, SessionText(session));
}

SavedSession ReadSessionFile(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    throw Failure("session '" + path.toStdString() + "'", file.errorString().toStdString(),
                  "Give a file that File > Save session has written");
  }
  if (file.size() > kLargestFile) {
    throw Failure("session '" + path.toStdString() + "'", "it is larger than 64 MiB");
  }
  return ParseSession(file.readAll().toStdString(), path.toStdString());
}

}  // namespace midscope
