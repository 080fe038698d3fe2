// SPDX-License-Identifier: MIT
// The engine of a process. Contract: it returns the records of an engine in this process, bit for
// bit; a process that is killed is an error that names it, and the next Open starts another one.
#include "probes/client/client_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/terms/intervention_text.h"
#include "probes/client/sent_files.h"
#include "probes/serve/engine_values.h"
#include "probes/serve/wire_arrays.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"
#include "tests/probes/support/local_engine_fixture.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

EngineCommand Program() { return {{MIDSCOPE_PROGRAM, "serve", "--stdio"}, false}; }

// A command with a greeting before the engine starts.
EngineCommand ProgramAfter(const std::string& script) {
  return {{"sh", "-c", script, MIDSCOPE_PROGRAM, "serve", "--stdio"}, true};
}

// Everything of the records but durations, as bytes; as a number, so that a difference is printed
// in one line.
size_t Bits(std::vector<Record> records) {
  for (Record& record : records) {
    std::erase_if(record.arrays, [](const Array& array) { return array.unit == "s"; });
  }
  HeldArrays held;
  return std::hash<std::string>()(PackMessage(WireWriter(held).Write(records)));
}

class ClientEngineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    link = std::make_shared<EngineLink>(Program());
    client = MakeClientEngine(link);
    local = MakeLocalEngine();
    for (Engine* engine : {client.get(), local.get()}) {
      engine->Open({.model = "embedded", .dtype = "float32", .threads = 1}, {});
    }
  }
  static void TearDownTestSuite() {
    client.reset();
    local.reset();
    link.reset();
  }
  static void SetSmallTask() {
    PromptRequest request;
    request.task = "list:lines=4";
    request.places = "1,4";
    request.seed = 7;
    EXPECT_EQ(Bits(client->SetPrompt(request, {})), Bits(local->SetPrompt(request, {})));
  }

  static inline std::shared_ptr<EngineLink> link;
  static inline std::unique_ptr<Engine> client;
  static inline std::unique_ptr<Engine> local;
};

TEST_F(ClientEngineTest, ReturnsTheRecordsOfALocalEngine) {
  SetSmallTask();
  const Intervention setting = ParseIntervention("ms-poe(min=1.2, max=1.8)");
  CaptureRunRequest run;
  run.place = 1;
  run.intervention = setting;
  run.channels = {100, 215};
  const CaptureRunReply got = client->CaptureRun(run, {});
  EXPECT_EQ(Bits(got.records), Bits(local->CaptureRun(run, {}).records));
  EXPECT_GT(got.seconds, 0);

  WhatIfRequest what_if;
  what_if.intervention = ParseIntervention("channel(100, factor=-1, layers=8-25)");
  what_if.channels = {100};
  int parts = 0;
  const WhatIfReply reply = client->WhatIf(what_if, [&](const WhatIfReply&) { ++parts; }, {});
  EXPECT_EQ(Bits(reply.records), Bits(local->WhatIf(what_if, {}, {}).records));
  EXPECT_EQ(reply.cost.first_layer, 0);
  EXPECT_GT(parts, 0);

  CompareRequest compare;
  compare.settings = {Intervention(), setting};
  compare.samples = 2;
  compare.against = setting;
  compare.beside = {ParseIntervention("pi(1.5)")};
  EXPECT_EQ(Bits({client->Compare(compare, {}, {})}), Bits({local->Compare(compare, {}, {})}));

  ScanRequest scan;
  scan.over = "layer_spans";
  scan.range.layers = LayerSet::From(28);
  scan.range.spans = {"gold"};
  scan.samples = 1;
  int scanned = 0;
  EXPECT_EQ(Bits({client->Scan(scan, [&](const Record&) { ++scanned; }, {})}),
            Bits({local->Scan(scan, {}, {})}));
  EXPECT_GT(scanned, 0);

  GenerateRequest generate;
  generate.new_tokens = 3;
  EXPECT_EQ(Bits({client->Generate(generate, {}, {})}), Bits({local->Generate(generate, {}, {})}));
  EXPECT_EQ(client->Describe().model_hash, local->Describe().model_hash);
}

TEST_F(ClientEngineTest, PreviewsWhileAnotherRequestRuns) {
  SetSmallTask();
  PromptRequest own;
  own.task = "";
  own.text = "A b c d. E f g h.";
  own.answer = " i";
  own.gold_begin = 0;
  own.gold_end = 8;
  own.spans = {{{"rest", 9, 17}, ""}};
  own.sources = {{"other", {"J k l.", {}, ""}}};
  EXPECT_EQ(Bits(client->Preview(own)), Bits(local->Preview(own)));
  own.given = {{"2", {"Another text.", {{{"gold", 0, 7}, ""}}, " x"}}};
  EXPECT_EQ(Bits(client->Preview(own)), Bits(local->Preview(own)));
  own.given.clear();
  own.gold_end = 100;
  EXPECT_EQ(ErrorMessage([&] { client->Preview(own); }),
            ErrorMessage([&] { local->Preview(own); }));
}

TEST_F(ClientEngineTest, ErrorsHaveTheirKindAndCancellationIsOne) {
  SetSmallTask();
  CaptureRunRequest run;
  run.intervention = ParseIntervention("channel(100000, factor=2)");
  try {
    client->CaptureRun(run, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(std::string(error.what()), ErrorMessage([&] { local->CaptureRun(run, {}); }));
  }
  std::atomic<bool> cancel{true};
  JobContext context;
  context.cancel = &cancel;
  ScanRequest scan;
  EXPECT_THROW(client->Scan(scan, {}, context), Cancelled);
  EXPECT_THROW(client->MeasureLearnedPositions({}), Error);
}

// All numbers of all families' configurations, and the probes' options.
TEST(EngineValuesTest, EveryModelSurvivesTheWire) {
  const std::unique_ptr<Engine> engine = MakeLocalEngine();
  int64_t models = 0;
  for (const std::string& name : test::TinyModelNames()) {
    const ModelSummary summary =
        engine->Open({.model = test::TinyModelPath(name), .dtype = "float32", .threads = 1}, {});
    const Message message = ModelMessage(summary);
    const ModelSummary read = ReadModel(UnpackMessage(PackMessage(message)));
    EXPECT_EQ(ModelMessage(read), message) << name;
    EXPECT_EQ(read.config.attention, summary.config.attention) << name;
    EXPECT_EQ(read.config.rope_scaling, summary.config.rope_scaling) << name;
    EXPECT_EQ(read.probes.size(), summary.probes.size());
    ++models;
  }
  EXPECT_GT(models, 20);
}

TEST(EngineLinkTest, AKilledProcessIsAnErrorAndIsStartedAnew) {
  const auto link = std::make_shared<EngineLink>(Program());
  const std::unique_ptr<Engine> engine = MakeClientEngine(link);
  const OpenRequest open = {.model = test::TinyModelPath("llama"), .dtype = "float32"};
  EXPECT_EQ(link->process(), 0);
  engine->Open(open, {});
  EXPECT_EQ(link->process(), 1);
  PromptRequest prompt;
  prompt.task = "";
  prompt.text = "abc";
  engine->SetPrompt(prompt, {});
  ::kill(link->pid(), SIGKILL);
  const auto run = [&] { engine->CaptureRun({}, {}); };
  EXPECT_THROW(run(), EngineEnded);
  EXPECT_THAT(ErrorMessage(run), AllOf(HasSubstr("engine: it"), HasSubstr("Restart it")));
  engine->Open(open, {});
  EXPECT_EQ(link->process(), 2);
  engine->SetPrompt(prompt, {});
  EXPECT_NO_THROW(run());
}

TEST(EngineLinkTest, AProgramThatIsNotFoundIsToBeNamed) {
  const auto link =
      std::make_shared<EngineLink>(ProgramAfter("echo 'midscope: not found' >&2; exit 127"));
  const std::unique_ptr<Engine> engine = MakeClientEngine(link);
  EXPECT_THAT(ErrorMessage([&] { engine->Open({.model = "embedded"}, {}); }),
              AllOf(HasSubstr("midscope: not found"), HasSubstr("user@host:FOLDER/bin/midscope")));
}

// A file that exists here is sent once; the engine reads it under another name.
TEST(SentFilesTest, FilesOfThisMachineTravel) {
  const std::string path = ::testing::TempDir() + "midscope sent.json";
  std::ofstream(path) << "ratios";
  EngineLink far(ProgramAfter("exec \"$0\" \"$@\""));
  SentFiles files(far);
  const std::string sent = files.Sent("pi(1.5) + ratios(\"" + path + "\")");
  EXPECT_THAT(sent,
              AllOf(HasSubstr("pi(1.5) + ratios(\"/"), Not(HasSubstr(path)), HasSubstr(".json")));
  EXPECT_EQ(files.Sent("ratios(" + path + ")").size(),
            sent.size() - std::string("pi(1.5) + \"\"").size());
  EXPECT_EQ(files.Sent("jsonl:file=/no/such.jsonl,field=a"), "jsonl:file=/no/such.jsonl,field=a");
  EngineLink near(Program());
  EXPECT_EQ(SentFiles(near).Sent(path), path);
  std::remove(path.c_str());
}

// The name is that of the contents, in every session; what was sent long ago is removed.
TEST(SentFilesTest, TheSameContentsHaveTheSameName) {
  namespace fs = std::filesystem;
  const test::TemporaryFolder cache;
  const std::string program = "XDG_CACHE_HOME='" + cache.path().string() + "' exec \"$0\" \"$@\"";
  const auto sent = [&](const std::string& text) {
    EngineLink link(ProgramAfter(program));
    return SentFiles(link).SentText(text, ".jsonl");
  };
  const std::string first = sent("a log");
  const std::string second = sent("another log");
  EXPECT_NE(second, first);
  const fs::path folder = fs::path(first).parent_path();
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  fs::last_write_time(second, fs::file_time_type::clock::now() - std::chrono::days(91));
  EXPECT_EQ(sent("a log"), first);
  std::ifstream file(first);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "a log");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST(EngineLinkTest, AGreetingIsSkippedAndShownIfNoEngineFollows) {
  EngineLink greeted(
      ProgramAfter("echo Welcome to the cluster; echo quota >&2; exec \"$0\" \"$@\""));
  EXPECT_EQ(greeted.Call("hello").at("protocol"), 1);
  EngineLink refused(ProgramAfter("echo You may not log in here; exit 3"));
  EXPECT_THAT(ErrorMessage([&] { refused.Call("hello"); }),
              AllOf(HasSubstr("status 3"), HasSubstr("You may not log in here")));
  EngineLink endless(ProgramAfter("yes no engine here"));
  EXPECT_THAT(ErrorMessage([&] { endless.Call("hello"); }), HasSubstr("no engine here"));
  EngineLink other(ProgramAfter("echo midscope-engine 9; cat"));
  EXPECT_THAT(ErrorMessage([&] { other.Call("hello"); }), HasSubstr("speaks protocol 1"));
  EngineLink echo(ProgramAfter("echo midscope-engine 1; cat"));
  EXPECT_THAT(ErrorMessage([&] { echo.Call("hello"); }), HasSubstr("it sends requests"));
  EngineLink missing({{"/no/such/program", "serve"}, false});
  EXPECT_THAT(ErrorMessage([&] { missing.Call("hello"); }), HasSubstr("cannot be started"));
}

TEST(EngineCommandTest, RemoteIsAHostOrACommand) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(RemoteEngine("me@far").words,
            (Words{"ssh", "-T", "me@far", "midscope", "serve", "--stdio"}));
  EXPECT_EQ(RemoteEngine("far:/opt/m").words,
            (Words{"ssh", "-T", "far", "/opt/m", "serve", "--stdio"}));
  EXPECT_EQ(RemoteEngine("srun -p 'a gpu' midscope").words,
            (Words{"srun", "-p", "a gpu", "midscope", "serve", "--stdio"}));
  EXPECT_TRUE(RemoteEngine("far").remote);
  for (const char* wrong : {"", "-oProxyCommand=x", ":p", "a 'b", "/opt/m", "./m"}) {
    EXPECT_THROW(RemoteEngine(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace midscope
