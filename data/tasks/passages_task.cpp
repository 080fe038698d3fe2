// SPDX-License-Identifier: MIT
#include "data/tasks/passages_task.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "data/formats/json_lines.h"
#include "data/scorers/answer_text.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"

namespace midscope {
namespace {

ByteSpan ReadBytes(const JsonFields& fields, const std::string& name, const nlohmann::json& bytes,
                   const std::string& text) {
  const bool pair = bytes.is_array() && bytes.size() == 2 && bytes[0].is_number_unsigned() &&
                    bytes[1].is_number_unsigned();
  if (!pair || bytes[1].get<uint64_t>() <= bytes[0].get<uint64_t>() ||
      bytes[1].get<uint64_t>() > text.size()) {
    fields.Fail("must have " + name + " as [first byte, one past the last] inside the text");
  }
  return {name, bytes[0].get<int64_t>(), bytes[1].get<int64_t>()};
}

// A task over one text without pieces: nothing moves, so there is one place.
class OnePlaceTask : public SpecTask {
 public:
  explicit OnePlaceTask(PiecesText text) : own_(std::move(text)) {
    if (own_.gold.end > own_.gold.begin) own_.spans.push_back(own_.gold);
  }
  std::optional<int64_t> samples() const override { return 1; }
  TaskSample MakeChecked(int64_t /*sample*/, int64_t /*place*/) const override {
    TaskSample made;
    made.text = own_.text;
    made.spans = own_.spans;
    made.answer = own_.answer;
    if (!own_.answer.empty()) made.answers = {StripText(own_.answer)};
    made.generation.own_answers = true;
    made.place = made.pieces = 1;
    return made;
  }

 private:
  PiecesText own_;
};

std::unique_ptr<Task> ReadText(const JsonFields& fields) {
  fields.RefuseOthers({"text", "prompt", "answer", "gold", "pieces", "spans", "id"});
  PiecesText own;
  if (fields.Find("text") && fields.Find("prompt")) {
    fields.Fail("has both 'text' and 'prompt', which mean the same. Leave one of the two out");
  }
  own.text = fields.Text(fields.Find("prompt") ? "prompt" : "text");
  own.answer = fields.FindText("answer").value_or("");
  if (fields.Find("answer") && StripText(own.answer).empty()) fields.Fail("has an empty answer");
  if (fields.Find("gold")) own.gold = ReadBytes(fields, "gold", fields.Array("gold"), own.text);
  if (fields.Find("spans")) {
    const JsonFields spans = fields.Inside("spans");
    for (const auto& [name, bytes] : fields.Find("spans")->items())
      own.spans.push_back(ReadBytes(spans, name, bytes, own.text));
  }
  if (!fields.Find("pieces")) return std::make_unique<OnePlaceTask>(std::move(own));
  for (const nlohmann::json& bytes : fields.Array("pieces"))
    own.pieces.push_back(ReadBytes(fields, "pieces", bytes, own.text));
  return MakePiecesTask(std::move(own));
}

class PassagesTask : public SpecTask {
 public:
  PassagesTask(const TaskSpec& spec, const TaskInputs& /*inputs*/) : SpecTask(spec) {
    ForEachJsonLine(spec.file(), [this](const JsonFields& fields) {
      texts_.push_back(ReadText(fields));
      if (texts_.back()->pieces() != pieces()) {
        fields.Fail(fmt::format("has another number of pieces than the first line, which has {}",
                                pieces()));
      }
    });
  }

  int64_t pieces() const override { return texts_.front()->pieces(); }
  std::optional<int64_t> samples() const override { return std::ssize(texts_); }
  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    return texts_[static_cast<size_t>(sample)]->Make(0, place);
  }

 private:
  std::vector<std::unique_ptr<Task>> texts_;
};

}  // namespace

TaskType PassagesTaskType() {
  TaskType type = {"passages",
                   "your own prompts, one per line: {\"prompt\": TEXT}, optionally with an "
                   "\"answer\" to score and passages marked by bytes: \"gold\": [begin, end], "
                   "\"pieces\": [[begin, end], ...]. probe takes prompts without answers",
                   {TaskFile("a JSONL file, plain or .gz", true)}};
  type.make = MakeSpecTask<PassagesTask>;
  return type;
}

std::string PassagesLine(const PiecesText& text) {
  nlohmann::ordered_json json = {{"text", text.text}, {"answer", text.answer}};
  if (text.gold.end > text.gold.begin) json["gold"] = {text.gold.begin, text.gold.end};
  for (const ByteSpan& piece : text.pieces) json["pieces"].push_back({piece.begin, piece.end});
  for (const ByteSpan& span : text.spans) json["spans"][span.name] = {span.begin, span.end};
  return json.dump() + '\n';
}

}  // namespace midscope
