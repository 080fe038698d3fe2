// SPDX-License-Identifier: MIT
#include "probes/engine/loaded_prompts.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/terms/intervention_text.h"
#include "core/tokenizer/prompt.h"
#include "data/tasks/pieces_task.h"
#include "probes/base/records.h"
#include "probes/engine/own_text_request.h"
#include "probes/model/model_options.h"
#include "probes/prompt/prompt_record.h"
#include "probes/prompt/sent_prompt.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {

namespace {

int64_t GivenPlace(const SourceText& given) {
  try {
    return std::stoll(given.name);
  } catch (const std::logic_error&) {
    throw UsageError("given text " + Quote(given.name), "its name must be a place, an integer");
  }
}

// Makes prompts from PromptRequest::given, the texts of another model's prompts.
void TakeGiven(const Tokenizer& tokenizer, LoadedPrompts& loaded) {
  loaded.given = true;
  loaded.task = nullptr;
  loaded.request.format.chat_template.clear();
  loaded.places.clear();
  loaded.prompts.clear();
  for (const SourceText& text : loaded.request.given) {
    loaded.places.push_back(GivenPlace(text));
    loaded.prompts.push_back(OwnPrompt(tokenizer, text.own, loaded.request.format));
  }
}

bool HasGivenTexts(const LoadedPrompts& loaded) {
  const std::vector<SourceText>& given = loaded.request.given;
  return std::equal(given.begin(), given.end(), loaded.prompts.begin(), loaded.prompts.end(),
                    [](const SourceText& text, const Prompt& prompt) {
                      return text.own.text == prompt.text && text.own.answer == prompt.answer;
                    });
}

// Makes the prompts that the request describes, without using its texts in `given`.
void MakeRequested(const Tokenizer& tokenizer, const JobContext& context, LoadedPrompts& loaded) {
  const PromptRequest& request = loaded.request;
  CheckPromptFormat(tokenizer, request.format);
  if (request.task.empty() && request.pieces.empty()) {
    loaded.places = {1};
    loaded.prompts = {OwnPrompt(tokenizer, OwnTextOf(request), request.format)};
    LogBytesWithoutToken(loaded.prompts.front(), context);
    LogPromptNotes(loaded.prompts.front(), request.format, context);
  } else {
    const bool own = request.task.empty();
    loaded.task = own ? MakePiecesTask(PiecesTextOf(request))
                      : MakeTaskFor(tokenizer, request.task, request.seed);
    if (own) loaded.request.seed = 0;
    if (own) loaded.request.sample = 0;
    loaded.places = ReadPlaces(request.places, *loaded.task);
    loaded.prompts =
        TaskPrompts(tokenizer, *loaded.task, loaded.places, loaded.request.sample, request.format);
    if (own) LogBytesWithoutToken(loaded.prompts.front(), context);
    LogTaskNotes(*loaded.task, loaded.places, loaded.request.sample, context);
  }
}

}  // namespace

LoadedPrompts LoadPrompts(const Decoder& decoder, const PromptRequest& request,
                          const JobContext& context) {
  const Tokenizer& tokenizer = decoder.tokenizer();
  LoadedPrompts loaded;
  loaded.request = request;
  if (request.given.empty()) {
    MakeRequested(tokenizer, context, loaded);
  } else {
    // If the task cannot be made with this model's tokens, its prompts differ from the given texts.
    try {
      MakeRequested(tokenizer, {}, loaded);
    } catch (const Error&) {
      loaded.prompts.clear();
    }
    if (!HasGivenTexts(loaded)) TakeGiven(tokenizer, loaded);
  }
  loaded.origin = {.task = loaded.task ? loaded.task->name() : "",
                   .seed = loaded.task ? static_cast<int64_t>(loaded.request.seed) : 0,
                   .sample = loaded.task ? loaded.request.sample : 0,
                   .subject_hash = PromptsHash(loaded.prompts),
                   .model_hash = decoder.hash(),
                   .dtype = DtypeName(decoder.options().dtype),
                   .products = ProductsName(decoder.options().products)};
  for (const SourceText& source : request.sources)
    loaded.source_prompts.emplace_back(source.name,
                                       OwnPrompt(tokenizer, source.own, request.format));
  return loaded;
}

namespace {

void AddPieceAnswers(const Task& task, int64_t sample, int64_t place, Record& record) {
  std::vector<std::string> answers = task.Make(sample, place).piece_answers;
  if (answers.empty()) return;
  record.axes.push_back(CountedAxis("piece", static_cast<int64_t>(answers.size())));
  record.arrays.push_back({kPieceAnswer,
                           {"piece"},
                           std::move(answers),
                           "",
                           "what each piece answers, in the order of the text"});
  record.attributes["first_place"] = task.first_place();
}

}  // namespace

std::vector<Record> PromptRecords(const LoadedPrompts& loaded, const Tokenizer& tokenizer) {
  std::vector<Record> records;
  records.reserve(loaded.prompts.size());
  const PromptFormat& format = loaded.request.format;
  std::vector<std::string> places;
  if (loaded.task && loaded.task->by_depth())
    places = PlaceTexts(loaded.request.places, loaded.places, *loaded.task);
  for (size_t i = 0; i < loaded.prompts.size(); ++i) {
    const Prompt& prompt = loaded.prompts[i];
    const int64_t place = loaded.task || loaded.given ? loaded.places[i] : 0;
    records.push_back(PromptRecord(prompt, tokenizer, place));
    RecordOrigin origin = loaded.origin;
    origin.place = place;
    origin.prompt_hash = PromptsHash({prompt});
    WriteOrigin(origin, records.back());
    NoteFormat(prompt, tokenizer, format, records.back());
    if (loaded.task) {
      records.back().attributes["pieces"] = loaded.task->pieces();
      AddPieceAnswers(*loaded.task, loaded.request.sample, place, records.back());
    }
    if (places.size() == loaded.places.size()) records.back().attributes["place_text"] = places[i];
    records.back().attributes["sent"] = SentLine(prompt, tokenizer, format);
  }
  return records;
}

PatchPrompts PatchPromptsOf(const LoadedPrompts& loaded, const Tokenizer& tokenizer) {
  PatchPrompts prompts;
  prompts.named = loaded.source_prompts;
  if (!loaded.task) return prompts;
  prompts.at_place = [&tokenizer, task = loaded.task, sample = loaded.request.sample,
                      format = loaded.request.format](int64_t place, int64_t samples_on) {
    return PromptOfSample(tokenizer, *task, sample + samples_on, place, format);
  };
  return prompts;
}

RecordOrigin OriginOf(const LoadedPrompts& loaded, const Intervention& intervention,
                      std::optional<size_t> place) {
  RecordOrigin origin = loaded.origin;
  origin.intervention = PrintIntervention(intervention);
  if (place) {
    origin.place = loaded.task || loaded.given ? loaded.places.at(*place) : 0;
    origin.prompt_hash = PromptsHash({loaded.prompts.at(*place)});
  }
  return origin;
}

RecordOrigin OriginOfSamples(const LoadedPrompts& loaded) {
  RecordOrigin origin = loaded.origin;
  origin.sample = -1;
  origin.subject_hash.clear();
  return origin;
}

SweepRun RunOfSamples(const std::shared_ptr<const Decoder>& decoder, const LoadedPrompts& loaded,
                      int64_t samples, const std::string& places) {
  if (!places.empty() && !loaded.task) {
    throw UsageError("places", "the prompt is own text, whose gold passage has one place",
                     "Leave places empty, mark pieces of the text, or take a task");
  }
  SweepRun run;
  run.decoder = decoder;
  run.plan.task = loaded.task ? loaded.task->name() : "";
  run.plan.seed = loaded.request.seed;
  run.plan.format = loaded.request.format;
  run.plan.samples = loaded.request.task.empty() ? 1 : samples;  // own text is one sample
  run.plan.places = places.empty() ? loaded.places : ReadPlaces(places, *loaded.task);
  run.source_prompts = loaded.source_prompts;
  run.questions = [decoder, &loaded, at = run.plan.places](int64_t sample) {
    if (!loaded.task) return AnswerQuestions(loaded.prompts);
    return AnswerQuestions(
        TaskPrompts(decoder->tokenizer(), *loaded.task, at, sample, loaded.request.format));
  };
  if (loaded.task) {
    run.prompt_at = [decoder, &loaded](int64_t sample, int64_t place) {
      return PromptOfSample(decoder->tokenizer(), *loaded.task, sample, place,
                            loaded.request.format);
    };
  }
  return run;
}

}  // namespace midscope
