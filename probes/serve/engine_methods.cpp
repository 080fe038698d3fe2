// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/intervention/intervention.h"
#include "core/terms/intervention_text.h"
#include "data/formats/json_lines.h"
#include "probes/prompt/prompt_format.h"
#include "probes/serve/capture_hooks.h"
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

int64_t IntegerOf(const JsonFields& params, const std::string& key, int64_t minimum,
                  int64_t otherwise) {
  return Integer(params, key, minimum, INT64_MAX >> 10, otherwise);
}

std::string TextOf(const JsonFields& params, const std::string& key, const std::string& otherwise) {
  return params.FindText(key).value_or(otherwise);
}

std::vector<int64_t> IntegersOf(const JsonFields& params, const std::string& key) {
  std::vector<int64_t> numbers;
  if (!params.Find(key)) return numbers;
  for (const Message& number : params.Array(key)) {
    if (!number.is_number_integer()) params.Fail("has a '" + key + "' with other than integers");
    numbers.push_back(number.get<int64_t>());
  }
  return numbers;
}

std::string ObjectOf(const JsonFields& params, const std::string& key) {
  const Message* found = params.Find(key);
  return found ? found->dump() : "{}";
}

Intervention SettingOf(const JsonFields& params) {
  return ParseIntervention(TextOf(params, "setting", "none"));
}

Message ConfigMessage(const ModelSummary& model) {
  const ModelConfig& config = model.config;
  Message probes = Message::array();
  for (const ProbeOffer& probe : model.probes) {
    probes.push_back({{"name", probe.name},
                      {"summary", probe.summary},
                      {"source", probe.source},
                      {"on_request", probe.on_request}});
  }
  return {{"path", model.path},
          {"architecture", config.architecture},
          {"layers", config.layers},
          {"heads", config.heads},
          {"key_value_heads", config.key_value_heads},
          {"head_dim", config.head_dim},
          {"hidden", config.hidden},
          {"vocabulary", config.vocabulary},
          {"trained_context", config.trained_context},
          {"dtype", model.dtype},
          {"products", model.products},
          {"weights", model.weights},
          {"device", model.device},
          {"probes", std::move(probes)}};
}

Message Open(EngineSession& session, const Call& call) {
  const JsonFields& params = call.params;
  OpenRequest request;
  request.model = params.Text("model");
  request.dtype = TextOf(params, "dtype", kAutoDtype);
  request.products = TextOf(params, "products", request.products);
  request.threads = static_cast<int>(IntegerOf(params, "threads", 0, 0));
  request.weights = TextOf(params, "weights", request.weights);
  request.device = TextOf(params, "device", request.device);
  request.sliding_window = params.Flag("sliding_window", true);
  request.beyond_context = params.Flag("beyond_context", false);
  session.model = session.engine().Open(request, call.job);
  session.has_model = true;
  session.has_prompt = false;
  Message result = ConfigMessage(session.model);
  result["provenance"] = ProvenanceMessage(session.engine().Describe());
  return result;
}

// Returns the range of bytes [begin, end).
std::pair<int64_t, int64_t> BytesOf(const JsonFields& fields, const std::string& key) {
  const std::vector<int64_t> range = IntegersOf(fields, key);
  if (range.size() != 2) fields.Fail("has a '" + key + "' that is not [begin, end]");
  return {range[0], range[1]};
}

PromptRequest ReadPromptRequest(const JsonFields& params) {
  PromptRequest request;
  request.task = TextOf(params, "task", "");
  request.seed = static_cast<uint64_t>(IntegerOf(params, "seed", 0, 1));
  request.sample = IntegerOf(params, "sample", 0, 0);
  request.places = TextOf(params, "places", "");
  request.text = TextOf(params, "text", "");
  request.answer = TextOf(params, "answer", "");
  request.question = TextOf(params, "question", "");
  if (request.task.empty() == request.text.empty()) {
    throw UsageError("set_prompt", "it needs either a task or a text");
  }
  if (params.Find("gold")) {
    if (params.Find("gold")->is_string()) {
      const ByteSpan gold = FindSpanBytes(request.text, {{"gold", 0, 0}, params.Text("gold")});
      request.gold_begin = gold.begin;
      request.gold_end = gold.end;
    } else {
      std::tie(request.gold_begin, request.gold_end) = BytesOf(params, "gold");
    }
  }
  if (params.Find("spans")) {
    const JsonFields spans = params.Inside("spans");
    for (const auto& [name, value] : spans.json().items()) {
      SpanRequest span{{name, 0, 0}, ""};
      if (value.is_string()) {
        span.text = value.get<std::string>();
      } else {
        std::tie(span.span.begin, span.span.end) = BytesOf(spans, name);
      }
      request.spans.push_back(std::move(span));
    }
  }
  if (params.Find("pieces")) {
    for (const Message& piece : params.Array("pieces")) {
      const Message one = {{"piece", piece}};
      const auto [begin, end] = BytesOf(JsonFields(one, params.thing(), ""), "piece");
      request.pieces.push_back({"", begin, end});
    }
  }
  if (params.Find("format")) {
    const Message& format = params.Need("format");
    for (const auto& [key, value] : format.items()) {
      const std::vector<std::string>& known = PromptFormatKeys();
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      throw UsageError("format", "it has an unknown member " + Quote(key),
                       KnownWordsHint(key, known));
    }
    try {
      request.format = ReadPromptFormat(format);
    } catch (const nlohmann::json::exception&) {
      throw UsageError("format", "a member has another type");
    }
  }
  return request;
}

Message SetPrompt(EngineSession& session, const Call& call) {
  NeedModel(session);
  const std::vector<Record> records =
      session.engine().SetPrompt(ReadPromptRequest(call.params), call.job);
  session.has_prompt = true;
  const std::lock_guard lock(session.mutex);
  return {{"records", WireWriter(session.held).Write(records)}};
}

Message Preview(EngineSession& session, const Call& call) {
  NeedModel(session);
  const std::vector<Record> records = session.engine().Preview(ReadPromptRequest(call.params));
  const std::lock_guard lock(session.mutex);
  return {{"records", WireWriter(session.held).Write(records)}};
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
  // Captures follow the callbacks, so that they see what these changed.
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

Message CostMessage(const WhatIfCost& cost) {
  return {{"seconds", cost.seconds},
          {"seen_before", cost.seen_before},
          {"last_rows_only", cost.last_rows_only},
          {"first_layer", cost.first_layer},
          {"first_row", cost.first_row},
          {"share", cost.share},
          {"kept_bytes", cost.kept_bytes},
          {"kept_limit", cost.kept_limit},
          {"first_kept_layer", cost.first_kept_layer}};
}

Message RunWhatIf(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  WhatIfRequest request;
  request.intervention = SettingOf(call.params);
  request.place = static_cast<size_t>(IntegerOf(call.params, "place", 0, 0));
  request.attention = call.params.Flag("attention", true);
  request.channels = IntegersOf(call.params, "channels");
  const auto message = [&](const WhatIfReply& reply) {
    const std::lock_guard lock(session.mutex);
    return Message{{"records", WireWriter(session.held).Write(reply.records)},
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
    const std::lock_guard lock(session.mutex);
    call.partial({{"records", WireWriter(session.held).Write(std::vector<Record>{record})}});
  };
}

Message OneRecord(EngineSession& session, const Record& record) {
  const std::lock_guard lock(session.mutex);
  return {{"records", WireWriter(session.held).Write(std::vector<Record>{record})}};
}

Message Compare(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  CompareRequest request;
  for (const std::string& setting : TextList(call.params, "settings")) {
    request.settings.push_back(ParseIntervention(setting));
  }
  if (request.settings.empty()) throw UsageError("settings", "the list is empty");
  request.samples = IntegerOf(call.params, "samples", 1, request.samples);
  return OneRecord(session,
                   session.engine().Compare(request, PartialRecords(session, call), call.job));
}

Message RunScan(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  ScanRequest request;
  request.over = TextOf(call.params, "over", request.over);
  request.term = TextOf(call.params, "term", "");
  request.places = TextOf(call.params, "places", "");
  request.samples = IntegerOf(call.params, "samples", 1, request.samples);
  if (call.params.Find("range")) {
    OptionSet range(ScanParameters());
    range.FromJson(ObjectOf(call.params, "range"));
    request.range = ReadScanRange(range);
  }
  return OneRecord(session,
                   session.engine().Scan(request, PartialRecords(session, call), call.job));
}

Message SearchChannels(EngineSession& session, const Call& call) {
  NeedModel(session);
  const std::vector<Record> records = session.engine().SearchChannels(
      {ObjectOf(call.params, "options")}, PartialRecords(session, call), call.job);
  const std::lock_guard lock(session.mutex);
  return {{"records", WireWriter(session.held).Write(records)}};
}

Message PromptChannels(EngineSession& session, const Call& call) {
  NeedPrompt(session);
  PromptChannelsRequest request;
  request.place = static_cast<size_t>(IntegerOf(call.params, "place", 0, 0));
  request.intervention = SettingOf(call.params);
  request.options = ObjectOf(call.params, "options");
  return OneRecord(session, session.engine().PromptChannels(request, call.job));
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

Message Describe(EngineSession& session, const Call& /*call*/) {
  NeedModel(session);
  Message result = ConfigMessage(session.model);
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
          {"format", "map", "chat_template, system, bos, chat_options"}};
}

}  // namespace

std::vector<Method> EngineMethods() {
  return {
      {"open",
       "Opens a model in place of the open one.",
       {{"model", "text", "embedded, a .gguf file, a Hugging Face folder or ORG/NAME", true},
        {"dtype", "text", "auto, float32, bfloat16 or float16; default auto"},
        {"products", "text", "float, int16, int8 or auto; default float"},
        {"threads", "integer", "0: all; default 0"},
        {"weights", "text", "auto, stored or expanded; default auto"},
        {"device", "text", "cpu, cuda:0, ...; default cpu"},
        {"sliding_window", "boolean", "default true"},
        {"beyond_context", "boolean", "allows prompts longer than the context; default false"}},
       "the model's dimensions, dtype, device, probes and provenance",
       "",
       false,
       Open},
      {"describe", "Returns what open returned.", {}, "as of open", "", false, Describe},
      {"set_prompt", "Makes the prompts that later requests use.", PromptParameters(),
       "records: a record `prompt` per place", "", false, SetPrompt},
      {"preview", "Makes prompts without using them.", PromptParameters(), "as of set_prompt", "",
       false, Preview},
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
       "Runs the prompts under a setting from cached activations.",
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
        {"samples", "integer", "default 20"}},
       "records: outcome_means",
       "as the result, so far",
       false,
       Compare},
      {"scan",
       "Applies a term to every head, layer, channel or passage, one at a time.",
       {{"over", "text", "heads, layers, channels, ...; default heads"},
        {"term", "text", "with a placeholder; default: that of `over`"},
        {"range", "map",
         "options of midscope scan that restrict the items: layers, channels, pairs, span"},
        {"places", "text", "default: those of the prompt"},
        {"samples", "integer", "default 5"}},
       "records: scan",
       "as the result, so far",
       false,
       RunScan},
      {"channels",
       "Searches the model for positional channels.",
       {{"options", "map", "options of midscope channels"}},
       "records: channel_search and channel_validation",
       "channel_search",
       false,
       SearchChannels},
      {"prompt_channels",
       "Ranks the monotone channels of one prompt.",
       {PlaceParameter(), SettingParameter(), {"options", "map", "options of midscope channels"}},
       "records: prompt_channels",
       "",
       false,
       PromptChannels},
      {"generate",
       "Continues a prompt with the likeliest tokens.",
       {PlaceParameter(), SettingParameter(), {"new_tokens", "integer", "maximum; default 32"}},
       "records: generation",
       "as the result, so far",
       false,
       Generate}};
}

}  // namespace midscope
