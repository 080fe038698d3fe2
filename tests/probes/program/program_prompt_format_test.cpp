// SPDX-License-Identifier: MIT
// The prompts that every command passes to a model, compared with transformers with the unchanged
// tokenizer (make_prompt_format_golden.py): plain prompts with the BOS that the tokenizer requires,
// and chats as apply_chat_template writes them. Ids are equal; logits, nats and perplexity are
// within 1e-4 (float32 in both; of the largest logit, or relative).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "data/store/record_reader.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr double kTolerance = 1e-4;

json ReadJsonFile(const std::string& path) { return json::parse(std::ifstream(path)); }

const json& Golden() {
  static const json golden =
      ReadJsonFile(MIDSCOPE_TESTS "/probes/golden/prompt_format_golden.json");
  return golden;
}

// A model of the golden file in a separate folder.
class ModelFolder {
 public:
  explicit ModelFolder(const json& model)
      : folder_(std::string(MIDSCOPE_TESTS "/core/golden/tiny_models"
                                           "/") +
                model["base"].get<std::string>()) {
    json config = json::parse(folder_.Read("config.json"));
    config["max_position_embeddings"] = Golden()["context"];
    folder_.Write("config.json", config.dump());
    json tokenizer = json::parse(folder_.Read("tokenizer.json"));
    tokenizer["post_processor"] = model["post_processor"];
    folder_.Write("tokenizer.json", tokenizer.dump());
    folder_.Write("chat_template.jinja", model["template"].get<std::string>());
  }

  std::string path() const { return folder_.path().string(); }
  // Makes a file in the model's folder.
  std::string File(const std::string& name, const std::string& bytes) const {
    folder_.Write(name, bytes);
    return Path(name);
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  test::TemporaryFolder folder_;
};

Arguments FormatArguments(const json& arm) {
  Arguments arguments;
  if (arm.value("chat", false)) arguments.emplace_back("--chat");
  if (arm.contains("system") && !arm["system"].get<std::string>().empty()) {
    arguments.insert(arguments.end(), {"--system", arm["system"]});
  }
  const json options = arm.value("options", json::object());
  for (const auto& [key, value] : options.items()) {
    arguments.insert(arguments.end(), {"--chat-option", key + "=" + value.dump()});
  }
  return arguments;
}

json RunJson(Arguments arguments, const Arguments& more) {
  arguments.emplace_back("--json");
  const ProgramRun run = RunWell(With(std::move(arguments), more));
  return run.status == 0 ? json::parse(run.out) : json();
}

template <typename T>
std::vector<T> ArrayOf(const std::string& file, const std::string& record,
                       const std::string& array) {
  const Record read = RunReader(file).Read(record);
  const Array* found = read.FindArray(array);
  return found ? std::get<std::vector<T>>(found->data) : std::vector<T>();
}

// The token ids in a file that a command wrote.
json IdsIn(const std::string& file) { return ArrayOf<int64_t>(file, "prompt", "token_ids"); }

// Runs one setting with `whatif`, which writes its records to `out`. Returns the JSON line of its
// outcome.
json WhatIf(const ModelFolder& model, const Arguments& source, const std::string& out) {
  const std::string lines = model.File("lines.txt", "none\nout " + out + "\n");
  ProgramOptions options;
  options.standard_input = lines;
  const ProgramRun run = RunWell(With({"whatif", model.path(), "--json"}, source), options);
  return run.status == 0 ? json::parse(run.out.substr(0, run.out.find('\n'))) : json();
}

class PromptFormats : public ::testing::TestWithParam<std::string> {
 protected:
  PromptFormats() : golden_(Model()), model_(golden_) {}

  Arguments OwnText(const json& arm) const {
    Arguments arguments = FormatArguments(arm);
    const json& golden = Golden();
    arguments.insert(arguments.end(), {"--prompt", golden["prompt"], "--answer", golden["answer"]});
    return arguments;
  }

  const json golden_;
  const ModelFolder model_;

 private:
  static json Model() {
    for (const json& model : Golden()["models"]) {
      if (model["name"] == GetParam()) return model;
    }
    return json();
  }
};

TEST_P(PromptFormats, ProbeIsTransformers) {
  for (const json& arm : golden_["arms"]) {
    const std::string file = model_.Path("probe-" + arm["name"].get<std::string>() + ".h5");
    const json probe = RunJson({"probe", model_.path(), "--out", file}, OwnText(arm));
    EXPECT_EQ(probe["token_ids"], arm["ids"]) << arm["name"];
    EXPECT_EQ(probe["prompt_text"], arm["text"]);
    EXPECT_NEAR(probe["answer_nll"].get<double>(), arm["answer_nll"].get<double>(),
                kTolerance * arm["answer_nll"].get<double>());
    EXPECT_EQ(IdsIn(file), arm["ids"]);
    const auto logits = ArrayOf<float>(file, "last_logits_record", "last_logits");
    ASSERT_EQ(logits.size(), arm["logits"].size());
    double largest = 0;
    for (const double logit : arm["logits"]) largest = std::max(largest, std::abs(logit));
    for (size_t i = 0; i < logits.size(); ++i) {
      EXPECT_NEAR(logits[i], arm["logits"][i].get<double>(), kTolerance * largest) << i;
    }
  }
}

TEST_P(PromptFormats, WhatIfIsTransformers) {
  for (const json& arm : golden_["arms"]) {
    const std::string file = model_.Path("whatif-" + arm["name"].get<std::string>() + ".h5");
    const json outcome = WhatIf(model_, OwnText(arm), file);
    EXPECT_EQ(IdsIn(file), arm["ids"]) << arm["name"];
    EXPECT_NEAR(outcome["answer_nll"].get<double>(), arm["answer_nll"].get<double>(),
                kTolerance * arm["answer_nll"].get<double>());
  }
}

TEST_P(PromptFormats, GenerateIsTransformers) {
  for (const json& arm : golden_["arms"]) {
    Arguments arguments = FormatArguments(arm);
    arguments.insert(arguments.end(), {"--prompt", Golden()["prompt"], "--new-tokens",
                                       std::to_string(arm["greedy"].size())});
    const json made = RunJson({"generate", model_.path()}, arguments);
    EXPECT_EQ(made["prompt_token_ids"], arm["ids"]) << arm["name"];
    EXPECT_EQ(made["new_token_ids"], arm["greedy"]);
  }
}

TEST_P(PromptFormats, SweepIsTransformers) {
  const std::string questions = model_.File("questions.jsonl", Golden()["question"].dump() + "\n");
  for (const json& arm : golden_["arms"]) {
    const std::string file = model_.Path("sweep-" + arm["name"].get<std::string>() + ".h5");
    const json sweep = RunJson({"sweep", model_.path(), "--task", "jsonl:file=" + questions,
                                "--score", "likelihood", "--out", file},
                               FormatArguments(arm));
    ASSERT_EQ(sweep["rows"].size(), 1u);
    EXPECT_NEAR(sweep["rows"][0]["answer_nll"].get<double>(), arm["question_nll"].get<double>(),
                kTolerance * arm["question_nll"].get<double>())
        << arm["name"];
    EXPECT_EQ(json(ArrayOf<int64_t>(file, "sweep", "prompt_tokens")),
              json::array({arm["question_tokens"]}));
  }
}

TEST_P(PromptFormats, PerplexityIsTransformers) {
  const json& golden = Golden();
  const std::string file = model_.Path("perplexity.h5");
  RunJson({"probe", model_.path(), "--out", file},
          {"--prompt", golden["prompt"], "--probes", "perplexity", "--window",
           std::to_string(golden["window"].get<int>()), "--stride",
           std::to_string(golden["stride"].get<int>())});
  const Record record = RunReader(file).Read("perplexity");
  const double expected = golden_["perplexity"];
  EXPECT_NEAR(std::get<double>(record.attributes.at("perplexity")), expected,
              kTolerance * expected);
}

TEST_P(PromptFormats, BosOnAndOffSayWhatTheyDo) {
  const json& plain = golden_["arms"][0];
  const bool requires_bos = !golden_["post_processor"].is_null();
  json bare = plain["ids"];
  if (requires_bos) bare.erase(0);
  json with = bare;
  with.insert(with.begin(), 257);
  const Arguments source = {"--prompt", Golden()["prompt"]};
  const auto ids = [&](const Arguments& bos) {
    return RunJson({"probe", model_.path()}, [&] {
      Arguments all = bos;
      all.insert(all.end(), source.begin(), source.end());
      return all;
    }())["token_ids"];
  };
  EXPECT_EQ(ids({"--bos", "off"}), bare);
  EXPECT_EQ(ids({"--bos", "on"}), with);
  EXPECT_EQ(ids({"--bos"}), with);  // as in earlier versions
  EXPECT_EQ(ids({"--bos", "auto"}), plain["ids"]);
  EXPECT_EQ(ids({"--bos", "template"}), bare);
  const ProgramRun off = RunWell(With({"probe", model_.path(), "--bos", "off"}, source));
  EXPECT_THAT(off.err,
              HasSubstr("prompt: " + std::to_string(bare.size()) + " tokens, no begin-of-text" +
                        (requires_bos ? ", though the tokenizer adds one by default" : "")));
  const ProgramRun on = RunWell(With({"probe", model_.path(), "--bos"}, source));
  EXPECT_THAT(on.err, HasSubstr(" tokens, begin-of-text first: [[<s>]]The mill"));
}

INSTANTIATE_TEST_SUITE_P(Models, PromptFormats,
                         ::testing::Values("llama-like", "zephyr-like", "gemma-like", "qwen-like"),
                         [](const auto& model) {
                           return model.param.substr(0, model.param.find('-'));
                         });

// The templates of chat_golden.jsonl by name.
std::map<std::string, std::string> ChatTemplates() {
  std::map<std::string, std::string> templates;
  std::ifstream lines(MIDSCOPE_TESTS "/core/golden/chat_golden.jsonl");
  for (std::string line; std::getline(lines, line);) {
    const json entry = json::parse(line);
    // The template of a name is stated once.
    if (entry["template"].is_string()) templates[entry["name"]] = entry["template"];
  }
  return templates;
}

// A task's prompt has no begin-of-text token, so --bos adds the model's, and nothing else.
TEST(TaskPrompts, TakeBos) {
  const ModelFolder model(Golden()["models"].front());
  const auto tokens = [&](const std::string& bos) {
    const ProgramRun run = RunWell({"probe", model.path(), "--task", "kv:pairs=1", "--bos", bos,
                                    "--probes", "default", "--json"});
    return json::parse(run.out)["tokens"].get<int64_t>();
  };
  EXPECT_EQ(tokens("on"), tokens("off") + 1);
}

TEST(ChatTemplates, EveryCommandPutsWhatApplyChatTemplateWrites) {
  const ModelFolder model(Golden()["models"][0]);  // its tokenizer requires BOS
  const auto templates = ChatTemplates();
  ASSERT_GE(Golden()["templates"].size(), 10u);
  const std::string task =
      "jsonl:file=" + model.File("questions.jsonl", Golden()["question"].dump() + "\n");
  for (const json& entry : Golden()["templates"]) {
    const std::string name = entry["name"];
    SCOPED_TRACE(name);
    ASSERT_TRUE(templates.contains(name));
    json arm = entry;
    arm["chat"] = true;
    Arguments format = FormatArguments(arm);
    const std::string file = model.File(name + ".jinja", templates.at(name));
    format.insert(format.end(), {"--chat-template", file});
    Arguments own = format;
    own.insert(own.end(), {"--prompt", Golden()["prompt"]});
    const json probe = RunJson({"probe", model.path()}, own);
    EXPECT_EQ(probe["prompt_text"], entry["text"]);
    EXPECT_EQ(probe["token_ids"], entry["ids"]);
    Arguments generated = own;
    generated.insert(generated.end(), {"--new-tokens", "1"});
    EXPECT_EQ(RunJson({"generate", model.path()}, generated)["prompt_token_ids"], entry["ids"]);
    Arguments scored = own;
    scored.insert(scored.end(), {"--answer", " x"});
    WhatIf(model, scored, model.Path(name + ".h5"));
    EXPECT_EQ(IdsIn(model.Path(name + ".h5")), entry["ids"]);
    // A sweep builds its prompts with the same code; their length equals that reported by probe.
    Arguments sample = format;
    sample.insert(sample.end(), {"--task", task});
    const json one = RunJson({"probe", model.path()}, sample);
    const std::string out = model.Path(name + "-sweep.h5");
    sample.insert(sample.end(), {"--score", "likelihood", "--out", out});
    const json sweep = RunJson({"sweep", model.path()}, sample);
    EXPECT_EQ(json(ArrayOf<int64_t>(out, "sweep", "prompt_tokens")), json::array({one["tokens"]}));
    // The probe captures more rows of the last layer, so the last bits may differ.
    const double expected = one["answer_nll"];
    EXPECT_NEAR(sweep["rows"][0]["answer_nll"].get<double>(), expected, 1e-6 * expected);
  }
}

}  // namespace
}  // namespace midscope
