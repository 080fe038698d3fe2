// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/intervention/intervention.h"
#include "core/terms/intervention_text.h"
#include "data/formats/json_lines.h"
#include "probes/serve/capture_hooks.h"
#include "probes/serve/engine_values.h"
#include "probes/serve/method.h"

namespace midscope {
namespace {

void NeedModel(const EngineSession& session) {
  if (!session.has_model) throw UsageError("model", "none is open", "Send open first");
}

void NeedPrompt(const EngineSession& session) {
  NeedModel(session);
  if (!session.has_prompt) throw UsageError("prompt", "none is set", "Send set_prompt first");
}

std::string ObjectOf(const JsonFields& params, const std::string& key) {
  const Message* found = params.Find(key);
  return found ? found->dump() : "{}";
}

Intervention SettingOf(const JsonFields& params) {
  return ParseIntervention(TextOf(params, "setting", "none"));
}

Message Open(EngineSession& session, const Call& call) {
  session.model = session.engine().Open(ReadOpenRequest(call.params), call.job);
  session.has_model = true;
  session.has_prompt = false;
  Message result = ModelMessage(session.model);
  result["provenance"] = ProvenanceMessage(session.engine().Describe());
  return result;
}

Message SetPrompt(EngineSession& session, const Call& call) {
  NeedModel(session);
  const std::vector<Record> records =
      session.engine().SetPrompt(ReadPromptRequest(call.params), call.job);
  session.has_prompt = true;
  return {{"records", session.RecordsMessage(records)}};
}

// Runs concurrently with other requests, so it does not read the session's model.
Message Preview(EngineSession& session, const Call& call) {
  const std::vector<Record> records = session.engine().Preview(ReadPromptRequest(call.params));
  return {{"records", session.RecordsMessage(records)}};
}

Message Run(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  const JsonFields& params = call.params;
  const ModelConfig& config = session.model.config;
  CaptureRunRequest request;
  request.place = static_cast<size_t>(IntegerOf(params, "place", 0, 0));
  request.intervention = SettingOf(params);
  request.channels = IntegersOf(params, "channels");
  request.probe_options = ObjectOf(params, "options");
  request.last_logits = params.Flag("logits", false);
  std::vector<CapturePart> parts;
  if (params.Find("capture")) {
    for (const Message& part : params.Array("capture")) {
      parts.push_back(ReadCapturePart(part, config));
    }
  }
  std::vector<std::unique_ptr<CallbackHook>> callbacks;
  if (params.Find("hooks")) {
    for (const Message& hook : params.Array("hooks")) {
      const auto ask = [&call, number = callbacks.size()](Message question) {
        question["hook"] = number;
        return call.ask(std::move(question));
      };
      callbacks.push_back(std::make_unique<CallbackHook>(ReadCapturePart(hook, config), ask));
      request.hooks.push_back(callbacks.back().get());
    }
  }
  // The capture hook runs after the callbacks, so that it sees their changes.
  CaptureHook capture(std::move(parts), config);
  request.hooks.push_back(&capture);
  CaptureRunReply reply = session.engine().CaptureRun(request, call.job);
  std::vector<Record> captured = std::move(capture).Records();
  const std::lock_guard lock(session.mutex);
  WireWriter writer(session.held);
  Message records = writer.Write(reply.records);
  return {{"records", std::move(records)},
          {"captured", writer.Write(std::move(captured))},
          {"failures", reply.failures},
          {"seconds", reply.seconds}};
}

Message RunWhatIf(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  WhatIfRequest request;
  request.intervention = SettingOf(call.params);
  request.place = static_cast<size_t>(IntegerOf(call.params, "place", 0, 0));
  request.attention = call.params.Flag("attention", true);
  request.channels = IntegersOf(call.params, "channels");
  const auto message = [&](const WhatIfReply& reply) {
    return Message{{"records", session.RecordsMessage(reply.records)},
                   {"cost", CostMessage(reply.cost)}};
  };
  WhatIfPartial partial;
  if (call.params.Flag("partial", false)) {
    partial = [&](const WhatIfReply& part) { call.partial(message(part)); };
  }
  return message(session.engine().WhatIf(request, partial, call.job));
}

// Returns a function that sends records as partial results.
std::function<void(const Record&)> PartialRecords(EngineSession& session, const Call& call) {
  return [&session, &call](const Record& record) {
    call.partial({{"records", session.RecordsMessage({record})}});
  };
}

Message OneRecord(EngineSession& session, const Record& record) {
  return {{"records", session.RecordsMessage({record})}};
}

Message Compare(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  CompareRequest request;
  for (const std::string& setting : TextList(call.params, "settings")) {
    request.settings.push_back(ParseIntervention(setting));
  }
  if (request.settings.empty()) throw UsageError("settings", "the list is empty");
  request.samples = IntegerOf(call.params, "samples", 1, request.samples);
  if (call.params.Find("beside")) {
    for (const std::string& setting : TextList(call.params, "beside")) {
      request.beside.push_back(ParseIntervention(setting));
    }
  }
  if (const auto against = call.params.FindText("against")) {
    request.against = ParseIntervention(*against);
  }
  return OneRecord(session,
                   session.engine().Compare(request, PartialRecords(session, call), call.job));
}

Message RunScan(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  ScanRequest request;
  request.over = TextOf(call.params, "over", request.over);
  request.term = TextOf(call.params, "term", "");
  request.base = ParseIntervention(TextOf(call.params, "base", "none"));
  request.places = TextOf(call.params, "places", "");
  request.samples = IntegerOf(call.params, "samples", 1, request.samples);
  request.range = ReadRange(call.params, request.over);
  if (call.params.Find("first")) request.first = TextList(call.params, "first");
  return OneRecord(session,
                   session.engine().Scan(request, PartialRecords(session, call), call.job));
}

Message SearchChannels(EngineSession& session, const Call& call) {
  NeedModel(session);
  const std::vector<Record> records = session.engine().SearchChannels(
      {ObjectOf(call.params, "options")}, PartialRecords(session, call), call.job);
  return {{"records", session.RecordsMessage(records)}};
}

Message PromptChannels(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  PromptChannelsRequest request;
  request.place = static_cast<size_t>(IntegerOf(call.params, "place", 0, 0));
  request.intervention = SettingOf(call.params);
  request.options = ObjectOf(call.params, "options");
  return OneRecord(session, session.engine().PromptChannels(request, call.job));
}

Message ProbeSamples(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  ProbeSamplesRequest request;
  request.intervention = SettingOf(call.params);
  request.samples = IntegerOf(call.params, "samples", 1, request.samples);
  if (call.params.Find("options")) request.probe_options = ObjectOf(call.params, "options");
  const std::vector<Record> records =
      session.engine().ProbeSamples(request, PartialRecords(session, call), call.job);
  return {{"records", session.RecordsMessage(records)}};
}

Message Generate(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  GenerateRequest request;
  request.place = static_cast<size_t>(IntegerOf(call.params, "place", 0, 0));
  request.intervention = SettingOf(call.params);
  request.new_tokens = IntegerOf(call.params, "new_tokens", 1, request.new_tokens);
  return OneRecord(session,
                   session.engine().Generate(request, PartialRecords(session, call), call.job));
}

// Runs concurrently with other requests, so it does not read the session's model.
Message LearnedPositions(EngineSession& session, const Call& call) {
  return OneRecord(session, session.engine().MeasureLearnedPositions(call.job));
}

Message Describe(EngineSession& session, const Call& /*call*/) {
  NeedModel(session);
  Message result = ModelMessage(session.model);
  result["provenance"] = ProvenanceMessage(session.engine().Describe());
  return result;
}

MethodParameter PlaceParameter() {
  return {"place", "integer", "index among the places of the prompt; default 0"};
}

MethodParameter SettingParameter() { return {"setting", "text", "what to change; default none"}; }

std::vector<MethodParameter> PromptParameters() {
  return {{"task", "text", "a task, such as list:lines=20; or `text`"},
          {"seed", "integer", "seed of the task's samples; default 1"},
          {"sample", "integer", "number of the sample; default 0"},
          {"places", "text",
           "places of the gold piece, such as 1,5,10 or 0%,50%; default: first, "
           "quarter, middle, three quarters, last"},
          {"text", "text", "a prompt of one's own, sent unchanged"},
          {"gold", "text or [begin, end]",
           "the gold passage of `text`, which occurs once, or its "
           "bytes"},
          {"answer", "text", "the answer whose likelihood is scored"},
          {"question", "text", "appended to `text` as the task jsonl does"},
          {"spans", "map", "other passages of `text` by name: texts, or [begin, end] in bytes"},
          {"pieces", "list of [begin, end]",
           "pieces of `text` in bytes; the one with the gold "
           "passage moves among the others"},
          {"sources", "list of {name, text, spans, answer}",
           "further prompts from which patches take values"},
          {"given", "list of {name, text, spans, answer}",
           "texts of another model's prompts, by place: the prompts if those of `task` have other "
           "texts"},
          {"kept_limit", "integer",
           "bytes of activations kept for what_if; default 3 GiB; 0: no limit"},
          {"format", "map", "chat_template, system, bos, chat_options"}};
}

}  // namespace

std::vector<Method> EngineMethods() {
  return {
      {"open",
       "Opens a model in place of the open one.",
       {{"model", "text",
         "embedded, a .gguf file, a Hugging Face folder or ORG/NAME; MODEL@init: random weights",
         true},
        {"adapter", "text", "a LoRA adapter, FOLDER or FOLDER:SCALE; default none"},
        {"dtype", "text", "auto, float32, bfloat16 or float16; default auto"},
        {"products", "text", "float, int16 or int8; default float"},
        {"threads", "integer", "0: all; default 0"},
        {"weights", "text", "auto, stored or expanded; default auto"},
        {"device", "text", "cpu, cuda:0, ...; default cpu"},
        {"sliding_window", "boolean", "default true"},
        {"beyond_context", "boolean", "allows prompts longer than the context; default false"}},
       "the model's dimensions, dtype, device, probes, recipe of tuning, and provenance",
       "",
       false,
       Open},
      {"describe", "Returns what open returned.", {}, "as of open", "", false, Describe},
      {"set_prompt", "Makes the prompts that later requests use.", PromptParameters(),
       "records: a record `prompt` per place", "", false, SetPrompt},
      {"preview", "Makes prompts without using them.", PromptParameters(), "as of set_prompt", "",
       true, Preview},
      {"learned_positions",
       "Measures the model's embeddings of positions.",
       {},
       "records: learned_positions",
       "",
       true,
       LearnedPositions},
      {"run",
       "Runs a prompt in full, with probes, captured activations and hooks.",
       {PlaceParameter(),
        SettingParameter(),
        {"options", "map",
         "options of probes as in midscope probe, such as {\"probes\": "
         "\"default,logit_lens\"}"},
        {"channels", "list of integers", "hidden channels to return"},
        {"logits", "boolean", "whether to return last_logits; default false"},
        {"capture", "list of names or {point, rows, heads}",
         "hook points whose activations are "
         "returned"},
        {"hooks", "list of {point, rows, heads}", "hook points at which the client is asked"}},
       "records, captured (a record per point), failures (of single probes), seconds",
       "",
       false,
       Run},
      {"what_if",
       "Runs the prompts under a setting from cached activations. While a model is open, a setting "
       "has one outcome on a prompt: later requests, also run, return the numbers of the first "
       "one. "
       "In bfloat16 and float16, outcome has the attribute answer_nll_noise: the largest change in "
       "nats between a whole run and a run of the last rows.",
       {PlaceParameter(),
        SettingParameter(),
        {"attention", "boolean", "default true"},
        {"channels", "list of integers", "hidden channels to return"},
        {"partial", "boolean", "whether to send partial results; default false"}},
       "records (outcome over places first), cost",
       "records, cost",
       false,
       RunWhatIf},
      {"compare",
       "Compares settings on samples of the current task.",
       {{"settings", "list of texts", "the settings; differences are from the first", true},
        {"samples", "integer", "default 20"},
        {"beside", "list of texts", "settings of earlier requests, which partial results include"},
        {"against", "text", "differences are from this setting instead"}},
       "records: outcome_means",
       "as the result, so far",
       false,
       Compare},
      {"scan",
       "Applies a term to every head, layer, channel or passage, one at a time.",
       {{"over", "text", "heads, layers, channels, ...; default heads"},
        {"term", "text", "with a placeholder; default: that of `over`"},
        {"base", "text", "the setting under which all items run; default none"},
        {"range", "map",
         "options of midscope scan that restrict the items: layers, channels, pairs, span"},
        {"places", "text", "default: those of the prompt"},
        {"samples", "integer", "default 5"},
        {"first", "list of texts", "items that run first within each sample"}},
       "records: scan",
       "as the result, so far",
       false,
       RunScan},
      {"channels",
       "Searches the model for positional channels.",
       {{"options", "map", "options of midscope channels"}},
       "records: channel_search and channel_validation",
       "channel_search of 1, 2, 4, ... prompts, with attribute planned_prompts, and of all; "
       "channel_validation of the examples so far, with planned_examples",
       false,
       SearchChannels},
      {"prompt_channels",
       "Ranks the monotone channels of one prompt.",
       {PlaceParameter(), SettingParameter(), {"options", "map", "options of midscope channels"}},
       "records: prompt_channels",
       "",
       false,
       PromptChannels},
      {"probe_samples",
       "Runs probes on samples of the current task at the places of the prompt, and summarises "
       "them "
       "as midscope probe --samples does.",
       {SettingParameter(),
        {"samples", "integer", "default 20; own text is one sample"},
        {"options", "map",
         "options of probes; default {\"probes\": "
         "\"position_awareness,span_attention,answer_attribution\"}"}},
       "records: what the probes measure over several prompts, such as gold_following",
       "one of the records, so far",
       false,
       ProbeSamples},
      {"generate",
       "Continues a prompt with the likeliest tokens.",
       {PlaceParameter(), SettingParameter(), {"new_tokens", "integer", "maximum; default 32"}},
       "records: generation",
       "as the result, so far",
       false,
       Generate}};
}

}  // namespace midscope
