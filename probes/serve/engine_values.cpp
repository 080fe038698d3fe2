// SPDX-License-Identifier: MIT
#include "probes/serve/engine_values.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/parameter.h"
#include "core/model/model_text.h"
#include "data/formats/json_lines.h"
#include "probes/model/model_options.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// Members of messages have the names of the C++ fields; enumerations are numbers.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(XieluSettings, alpha_positive, alpha_negative, beta, epsilon)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClampedSwiglu, gain, limit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RopeScaling, kind, factor, original_context,
                                   low_frequency_factor, high_frequency_factor, beta_fast,
                                   beta_slow, truncate, attention_factor, short_factors,
                                   long_factors)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerAttention, window, rotary, local, chunk, logit_divisor,
                                   head_dim, key_value_heads, value_is_key, mixing, keys_of,
                                   feed_forward, halves)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExpertSettings, count, per_row, width, shared_width, shared_gate,
                                   score, jitter, normalised, sum_epsilon, choice_bias, groups,
                                   groups_per_row, groups_by_largest, scale, scales_input,
                                   beside_mlp, layers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LatentAttention, rank, query_rank, plain, value, norm_epsilon,
                                   interleaved, split)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeltaRule, key_heads, value_heads, key_dim, value_dim, taps,
                                   tiled, log_decays)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShortConvolution, taps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StateSpace, heads, head_dim, groups, state_dim, taps, log_decays,
                                   norm, scales)
// The fields are in two lists, because the JSON library's macros take at most 63 fields.
#define MIDSCOPE_MODEL_FIELDS(CONVERT)                                                             \
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(                                                        \
      CONVERT, architecture, name, layers, heads, key_value_heads, head_dim, hidden, feed_forward, \
      vocabulary, embedding_width, trained_context, beyond_context, positions, rope_base,          \
      rope_local_base, rope_dimensions, turning_pairs, rope_scaling, alibi_max_bias, latent,       \
      delta_rule, convolution, state_space, gated_attention, query_growth, query_growth_context,   \
      query_growth_unrotated, alibi_bfloat16, alibi_scale, position_offset, attention))            \
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(                                                        \
      CONVERT, norm, norm_epsilon, norm_adds_one, embedding_norm, norm_weights, input_norms,       \
      output_norms, stream_norms, final_norm, query_key_norm, norm_after_rotation, value_norm,     \
      plain_query_key_norm, parallel_residual, shared_norm, gated_mlp, activation, clamped_swiglu, \
      xielu, experts, embedding_scale, layer_input_width, layer_scale, update_scale,               \
      attention_scale, mixer_scale, mlp_scale, gate_scale, output_scale, logit_scale,              \
      attention_softcap, final_softcap, attention_sinks, clip_qkv, clip_after_norm,                \
      prediction_layers, tied_embeddings, quantisation, parameters, stored_bytes, quantised_bytes, \
      copied_bytes, notes))

// NOLINTBEGIN(readability-identifier-naming): the library's names
void to_json(Message& nlohmann_json_j, const ModelConfig& nlohmann_json_t) {
  MIDSCOPE_MODEL_FIELDS(NLOHMANN_JSON_TO);
}

void from_json(const Message& nlohmann_json_j, ModelConfig& nlohmann_json_t) {
  MIDSCOPE_MODEL_FIELDS(NLOHMANN_JSON_FROM);
}
// NOLINTEND(readability-identifier-naming)
#undef MIDSCOPE_MODEL_FIELDS
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WhatIfCost, seconds, seen_before, last_rows_only, first_layer,
                                   first_row, share, kept_bytes, kept_limit, first_kept_layer)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Provenance, program, version, created, command, model_path,
                                   model_hash, architecture, dtype, products, weights, device,
                                   instructions, threads, seed, options_json, libraries)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceName, kind, index)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceFacts, device, name, compute_capability, total_bytes,
                                   free_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter::SliderEnds, first, last)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter::OtherName, name, choice)

namespace {

ParameterValue ReadParameterValue(const Message& message) {
  if (message.is_null()) return {};
  if (message.is_boolean()) return message.get<bool>();
  if (message.is_number_integer()) return message.get<int64_t>();
  if (message.is_number()) return message.get<double>();
  if (message.is_array()) return message.get<std::vector<std::string>>();
  return message.get<std::string>();
}

}  // namespace

// nlohmann finds the two functions by their names.
// NOLINTNEXTLINE(readability-identifier-naming)
void to_json(Message& message, const Parameter& parameter) {
  message = {{"name", parameter.name},
             {"kind", parameter.kind},
             {"help", parameter.help},
             {"unit", parameter.unit},
             {"choices", parameter.choices},
             {"minimum", parameter.minimum},
             {"maximum", parameter.maximum},
             {"default", ParameterJson(parameter.default_value)},
             {"required", parameter.required},
             {"value_if_bare", parameter.value_if_bare},
             {"always_stated", parameter.always_stated},
             {"numbered_choice", parameter.numbered_choice},
             {"several", parameter.several},
             {"slider", parameter.slider},
             {"group", parameter.group},
             {"brief", parameter.brief},
             {"other_names", parameter.other_names}};
}

// NOLINTNEXTLINE(readability-identifier-naming)
void from_json(const Message& message, Parameter& parameter) {
  message.at("name").get_to(parameter.name);
  message.at("kind").get_to(parameter.kind);
  message.at("help").get_to(parameter.help);
  message.at("unit").get_to(parameter.unit);
  message.at("choices").get_to(parameter.choices);
  message.at("minimum").get_to(parameter.minimum);
  message.at("maximum").get_to(parameter.maximum);
  parameter.default_value = ReadParameterValue(message.at("default"));
  message.at("required").get_to(parameter.required);
  message.at("value_if_bare").get_to(parameter.value_if_bare);
  message.at("always_stated").get_to(parameter.always_stated);
  message.at("numbered_choice").get_to(parameter.numbered_choice);
  message.at("several").get_to(parameter.several);
  message.at("slider").get_to(parameter.slider);
  message.at("group").get_to(parameter.group);
  message.at("brief").get_to(parameter.brief);
  message.at("other_names").get_to(parameter.other_names);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeOffer, name, summary, source, departures, limits,
                                   on_request, options)

namespace {

// Converts a message to a value. Throws Error (failure) if its type does not fit.
template <typename Value>
Value ReadAs(const Message& message, const char* thing) {
  try {
    return message.get<Value>();
  } catch (const nlohmann::json::exception& error) {
    throw Failure(thing, std::string("a member is missing or of another type: ") + error.what());
  }
}

// Reads a range of bytes [begin, end) from member `key`.
std::pair<int64_t, int64_t> RangeOfBytes(const JsonFields& fields, const std::string& key) {
  const std::vector<int64_t> range = IntegersOf(fields, key);
  if (range.size() != 2) fields.Fail("has a '" + key + "' that is not [begin, end]");
  return {range[0], range[1]};
}

Message SpansMessage(const std::vector<SpanRequest>& spans) {
  Message message = Message::object();
  for (const SpanRequest& span : spans) {
    message[span.span.name] =
        span.text.empty() ? Message::array({span.span.begin, span.span.end}) : Message(span.text);
  }
  return message;
}

std::vector<SpanRequest> ReadSpans(const JsonFields& fields) {
  std::vector<SpanRequest> spans;
  if (!fields.Find("spans")) return spans;
  const JsonFields inside = fields.Inside("spans");
  for (const auto& [name, value] : inside.json().items()) {
    SpanRequest span{{name, 0, 0}, ""};
    if (value.is_string()) {
      span.text = value.get<std::string>();
    } else {
      std::tie(span.span.begin, span.span.end) = RangeOfBytes(inside, name);
    }
    spans.push_back(std::move(span));
  }
  return spans;
}

std::vector<SourceText> ReadSources(const JsonFields& params, const std::string& name) {
  std::vector<SourceText> sources;
  if (!params.Find(name)) return sources;
  for (const Message& one : params.Array(name)) {
    const JsonFields fields(one, params.thing(), name);
    fields.RefuseOthers({"name", "text", "spans", "answer"});
    sources.push_back({fields.Text("name"),
                       {fields.Text("text"), ReadSpans(fields), TextOf(fields, "answer", "")}});
  }
  return sources;
}

PromptFormat ReadFormat(const Message& format) {
  if (!format.is_object()) throw UsageError("format", "it must be a map");
  for (const auto& [key, value] : format.items()) {
    const std::vector<std::string>& known = PromptFormatKeys();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw UsageError("format", "it has an unknown member " + Quote(key),
                     KnownWordsHint(key, known));
  }
  try {
    return ReadPromptFormat(format);
  } catch (const nlohmann::json::exception&) {
    throw UsageError("format", "a member has another type");
  }
}

template <typename T>
ArrayData Elements(const std::vector<uint8_t>& bytes) {
  const auto* begin = reinterpret_cast<const T*>(bytes.data());  // the allocator aligns them
  return std::vector<T>(begin, begin + bytes.size() / sizeof(T));
}

ArrayData ReadData(const Message& message, const FetchBytes& fetch) {
  const std::string dtype = message.at("dtype");
  if (dtype == "str") return message.at("data").get<std::vector<std::string>>();
  std::vector<uint8_t> fetched;
  if (!message.contains("data")) fetched = fetch(message.at("handle"), message.at("bytes"));
  const std::vector<uint8_t>& bytes =
      message.contains("data")
          ? static_cast<const std::vector<uint8_t>&>(message.at("data").get_binary())
          : fetched;
  if (dtype == "float32") return Elements<float>(bytes);
  if (dtype == "float64") return Elements<double>(bytes);
  if (dtype == "int64") return Elements<int64_t>(bytes);
  if (dtype == "bool") return Elements<uint8_t>(bytes);
  throw Failure("array", "its dtype " + Quote(dtype) + " is unknown");
}

Record RecordOf(const Message& message, const FetchBytes& fetch) {
  Record record;
  message.at("name").get_to(record.name);
  message.at("signal").get_to(record.signal);
  for (const Message& axis : message.at("axes")) {
    record.axes.push_back({axis.at("name"), axis.at("size"), axis.at("unit"),
                           axis.value("labels", std::vector<std::string>()),
                           axis.value("values", std::vector<double>())});
  }
  for (const Message& array : message.at("arrays")) {
    record.arrays.push_back({array.at("name"), array.at("dims"), ReadData(array, fetch),
                             array.at("unit"), array.at("description")});
  }
  for (const auto& [name, value] : message.at("attributes").items()) {
    if (value.is_string()) {
      record.attributes[name] = value.get<std::string>();
    } else if (value.is_number_integer()) {
      record.attributes[name] = value.get<int64_t>();
    } else {
      record.attributes[name] = value.get<double>();
    }
  }
  return record;
}

}  // namespace

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

Message ModelMessage(const ModelSummary& model) {
  const ModelConfig& config = model.config;
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
          {"devices", model.devices},
          {"sliding_window", model.sliding_window},
          {"learned_positions", model.has_learned_positions},
          {"recipe", model.recipe},
          {"probes", model.probes},
          {"config", config}};
}

ModelSummary ReadModel(const Message& message) {
  try {
    return {.config = message.at("config"),
            .path = message.at("path"),
            .dtype = message.at("dtype"),
            .products = message.at("products"),
            .weights = message.at("weights"),
            .device = message.at("device"),
            .devices = message.at("devices"),
            .sliding_window = message.at("sliding_window"),
            .probes = message.at("probes"),
            .has_learned_positions = message.at("learned_positions"),
            .recipe = message.at("recipe")};
  } catch (const nlohmann::json::exception& error) {
    throw Failure("model", std::string("a member is missing or of another type: ") + error.what());
  }
}

Message OpenMessage(const OpenRequest& request) {
  return {{"model", request.model},
          {"dtype", request.dtype},
          {"products", request.products},
          {"threads", request.threads},
          {"weights", request.weights},
          {"device", request.device},
          {"sliding_window", request.sliding_window},
          {"beyond_context", request.beyond_context}};
}

OpenRequest ReadOpenRequest(const JsonFields& params) {
  OpenRequest request;
  request.model = WithAdapterText(params.Text("model"), TextOf(params, "adapter", ""));
  request.dtype = TextOf(params, "dtype", request.dtype);
  request.products = TextOf(params, "products", request.products);
  request.threads = static_cast<int>(IntegerOf(params, "threads", 0, 0));
  request.weights = TextOf(params, "weights", request.weights);
  request.device = TextOf(params, "device", request.device);
  request.sliding_window = params.Flag("sliding_window", true);
  request.beyond_context = params.Flag("beyond_context", false);
  return request;
}

namespace {

Message SourcesMessage(const std::vector<SourceText>& texts) {
  Message sources = Message::array();
  for (const SourceText& source : texts) {
    sources.push_back({{"name", source.name},
                       {"text", source.own.text},
                       {"spans", SpansMessage(source.own.spans)},
                       {"answer", source.own.answer}});
  }
  return sources;
}

}  // namespace

Message PromptMessage(const PromptRequest& request) {
  Message message = {{"places", request.places}, {"kept_limit", request.kept_limit}};
  nlohmann::ordered_json format = nlohmann::ordered_json::object();
  AddPromptFormat(request.format, &format);
  message["format"] = format;
  message["sources"] = SourcesMessage(request.sources);
  if (!request.given.empty()) message["given"] = SourcesMessage(request.given);
  if (!request.task.empty()) {
    message["task"] = request.task;
    message["seed"] = request.seed;
    message["sample"] = request.sample;
    return message;
  }
  message["text"] = request.text;
  if (request.gold_end > request.gold_begin) {
    message["gold"] = {request.gold_begin, request.gold_end};
  }
  message["answer"] = request.answer;
  message["question"] = request.question;
  message["spans"] = SpansMessage(request.spans);
  Message pieces = Message::array();
  for (const ByteSpan& piece : request.pieces) pieces.push_back({piece.begin, piece.end});
  message["pieces"] = std::move(pieces);
  return message;
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
  request.kept_limit = IntegerOf(params, "kept_limit", 0, request.kept_limit);
  if (request.task.empty() == !params.Find("text")) {
    throw UsageError("set_prompt", "it needs either a task or a text");
  }
  if (params.Find("gold")) {
    if (params.Find("gold")->is_string()) {
      const ByteSpan gold = FindSpanBytes(request.text, {{"gold", 0, 0}, params.Text("gold")});
      request.gold_begin = gold.begin;
      request.gold_end = gold.end;
    } else {
      std::tie(request.gold_begin, request.gold_end) = RangeOfBytes(params, "gold");
    }
  }
  request.spans = ReadSpans(params);
  if (params.Find("pieces")) {
    for (const Message& piece : params.Array("pieces")) {
      const Message one = {{"piece", piece}};
      const auto [begin, end] = RangeOfBytes(JsonFields(one, params.thing(), ""), "piece");
      request.pieces.push_back({"", begin, end});
    }
  }
  request.sources = ReadSources(params, "sources");
  request.given = ReadSources(params, "given");
  if (params.Find("format")) request.format = ReadFormat(params.Need("format"));
  return request;
}

Message RangeMessage(const ScanKind& kind, const ScanRange& range) {
  const auto numbers = [](const std::vector<int64_t>& list) {
    std::string text;
    for (const int64_t number : list) text += (text.empty() ? "" : ",") + std::to_string(number);
    return text;
  };
  Message message = Message::object();
  for (const std::string& option : kind.options) {
    if (option == "layers" && !(range.layers == LayerSet())) message[option] = range.layers.Text();
    if (option == "channels" && !range.channels.empty()) message[option] = numbers(range.channels);
    if (option == "pairs" && !range.rotary_pairs.empty()) {
      message[option] = numbers(range.rotary_pairs);
    }
    if (option == "span" && !range.spans.empty()) message[option] = range.spans;
  }
  return message;
}

ScanRange ReadRange(const JsonFields& params, const std::string& over) {
  Message options = params.Find("range") ? params.Need("range") : Message::object();
  if (!options.is_object()) throw UsageError("range", "it must be a map");
  options["over"] = over;
  OptionSet range(ScanParameters());
  range.FromJson(options.dump());
  return ReadScanRange(range);
}

Message CostMessage(const WhatIfCost& cost) { return cost; }

WhatIfCost ReadCost(const Message& message) { return ReadAs<WhatIfCost>(message, "cost"); }

Message ProvenanceMessage(const Provenance& provenance) { return provenance; }

Provenance ReadProvenance(const Message& message) {
  return ReadAs<Provenance>(message, "provenance");
}

Record ReadRecord(const Message& message, const FetchBytes& fetch) {
  try {
    Record record = RecordOf(message, fetch);
    record.Check();
    return record;
  } catch (const nlohmann::json::exception& error) {
    throw Failure("record", std::string("a member is missing or of another type: ") + error.what());
  } catch (const std::logic_error& error) {
    throw Failure("record", error.what());
  }
}

std::vector<Record> ReadRecords(const Message& messages, const FetchBytes& fetch) {
  if (!messages.is_array()) throw Failure("records", "they must be a list");
  std::vector<Record> records;
  for (const Message& message : messages) records.push_back(ReadRecord(message, fetch));
  return records;
}

}  // namespace midscope
