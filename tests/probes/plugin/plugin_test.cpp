// SPDX-License-Identifier: MIT
// Invalid plugins are rejected by name before a model is opened; an exception from a plugin during
// a run gives a message that names the plugin, never a crash or an invalid record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/tokenizer/prompt.h"
#include "probes/engine/run_probe.h"
#include "probes/plugin/plugin.h"
#include "probes/plugin/plugin_loader.h"
#include "tests/paths.h"
#include "tests/probes/support/open_model.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProgramRun;
using testing::RunMidscope;
using testing::TemporaryFolder;

// Sets an environment variable, also for child processes, until this object is destroyed.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

std::string Plugin(const std::string& name) {
  return std::string(MIDSCOPE_TEST_PLUGINS) + "/" + name + ".so";
}

// Expects loading to fail with an error of this kind that begins with the plugin's name, without
// changing the registry.
void ExpectNotLoaded(const std::string& file, ErrorKind kind,
                     const std::vector<std::string>& words) {
  ProbeRegistry registry = BuiltInProbes();
  const size_t before = registry.types().size();
  try {
    LoadPlugin(file, registry);
    ADD_FAILURE() << file << " is loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_EQ(std::string(error.what()).rfind("plugin " + file + ": ", 0), 0u) << error.what();
    for (const std::string& word : words) EXPECT_THAT(error.what(), HasSubstr(word));
  }
  EXPECT_EQ(registry.types().size(), before);
}

TEST(Plugin, WhatIsNoPluginIsRefusedByName) {
  const TemporaryFolder folder;
  const std::string text = folder.File("text.so");
  std::ofstream(text) << "I am no library\n";
  const std::string empty = folder.File("empty.so");
  std::ofstream(empty).flush();
  ExpectNotLoaded(folder.File("missing.so"), ErrorKind::kUsage, {"the file does not exist"});
  ExpectNotLoaded(folder.File(""), ErrorKind::kUsage, {"it is not a file"});
  ExpectNotLoaded(text, ErrorKind::kFailure, {"cannot be loaded as a library"});
  ExpectNotLoaded(empty, ErrorKind::kFailure, {"cannot be loaded as a library"});
  ExpectNotLoaded(Plugin("no_plugin"), ErrorKind::kFailure,
                  {"no plugin", "midscope_plugin_manifest"});
  ExpectNotLoaded(Plugin("undefined_symbol"), ErrorKind::kFailure, {"FunctionThatNobodyHas"});
  // Checks the message that a user sees.
  const ProgramRun run = RunMidscope({"probe", "--list", "--plugin", text});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err.rfind("midscope: plugin " + text, 0), 0u) << run.err;
}

TEST(Plugin, WhatDoesNotFitThisMidscopeIsRefused) {
  const struct {
    const char* hostile;
    std::vector<std::string> words;
  } cases[] = {
      {"version",
       {"plugin version " + std::to_string(kPluginVersion + 1),
        "has version " + std::to_string(kPluginVersion), "Build it again"}},
      {"abi", {"Watcom C++", "Itanium C++ ABI 1, libstdc++"}},
      {"layout", {"headers of another Midscope"}},
      {"no function", {"no function that registers probes"}},
      {"nothing", {"registers no probe"}},
      {"throws", {"registering its probes threw an exception that is not a std::exception"}},
      {"taken name", {"'last_logits'", "comes with Midscope"}},
      {"reserved name", {"'provenance'", "Midscope's own"}},
      {"misnamed", {"'Mine/2'", "invalid name"}},
      {"no make", {"'hostile'", "no make function"}},
      {"option's name", {"'mine'", "begin with --hostile-"}},
      {"required", {"--hostile-level", "must be given"}},
      {"default", {"a default breaks its description"}},
      {"twice", {"registered twice"}},
  };
  const TemporaryFolder folder;
  for (const auto& each : cases) {
    SCOPED_TRACE(each.hostile);
    const Environment hostile("MIDSCOPE_TEST_HOSTILE", each.hostile);
    // Under its own name, each copy is a separate library, which reads the variable again.
    const std::string file = folder.File(std::string(each.hostile) + ".so");
    fs::copy_file(Plugin("bad_manifest"), file);
    ExpectNotLoaded(file, ErrorKind::kFailure, each.words);
  }
}

TEST(Plugin, AnOptionOfTheCommandIsNotForProbes) {
  const Environment hostile("MIDSCOPE_TEST_HOSTILE", "command's option");
  const ProgramRun run = RunMidscope({"probe", "--list", "--plugin", Plugin("bad_manifest")});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("plugin bad_manifest.so: its option --prompt-file is an option"));
}

TEST(Plugin, ItsProbesAreAddedOnce) {
  ProbeRegistry registry = BuiltInProbes();
  const size_t before = registry.types().size();
  LoadPlugin(Plugin("probe_that_throws"), registry);
  ASSERT_EQ(registry.types().size(), before + 1);
  EXPECT_EQ(registry.types().back().plugin, "probe_that_throws.so");
  EXPECT_THROW(LoadPlugin(Plugin("probe_that_throws"), registry), Error);
  EXPECT_EQ(registry.types().size(), before + 1);
}

TEST(Plugin, TwoPluginsWithOneProbeAreBothNamed) {
  const TemporaryFolder folder;
  const std::string copy = folder.File("copy.so");
  fs::copy_file(Plugin("probe_that_throws"), copy);
  const ProgramRun run =
      RunMidscope({"probe", "--list", "--plugin", Plugin("probe_that_throws"), "--plugin=" + copy});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("copy.so: there is a probe 'throw' already, of plugin "
                                 "probe_that_throws.so"));
}

TEST(Plugin, ThePathsLibrariesAreLoadedInOrderAndOnce) {
  const TemporaryFolder folder;
  fs::create_directory(folder.File("two"));
  for (const char* name : {"b.so", "a.so", "notes.txt", "two/c.so"}) {
    std::ofstream(folder.File(name)) << "x";
  }
  EXPECT_THAT(PluginsOnPath(folder.File("two") + "::" + folder.File("")),
              ElementsAre(folder.File("two/c.so"), folder.File("a.so"), folder.File("b.so")));
  EXPECT_THROW(PluginsOnPath(folder.File("three")), Error);

  fs::copy_file(Plugin("probe_that_throws"), folder.File("two/d.so"));
  fs::remove(folder.File("two/c.so"));
  const Environment path(kPluginPathVariable, folder.File("two"));
  const ProgramRun run =
      RunMidscope({"probe", "--list", "--json", "--plugin", folder.File("two/d.so")});
  EXPECT_EQ(run.status, 0) << run.err;
  const json list = json::parse(run.out);
  EXPECT_EQ(list.back()["plugin"], "d.so");
  EXPECT_EQ(list.back()["options"][0]["name"], "throw-where");
  EXPECT_TRUE(list.front()["plugin"].is_null());
  EXPECT_THAT(RunMidscope({"help", "probe"}).out, HasSubstr("--throw-where"));
  // A command that runs no probes does not load plugins.
  const Environment nowhere(kPluginPathVariable, folder.File("three"));
  EXPECT_EQ(RunMidscope({"sweep", "--help"}).status, 0);
  EXPECT_THAT(RunMidscope({"probe", "--help"}).err, HasSubstr("MIDSCOPE_PLUGIN_PATH"));
}

// Runs the plugin's probe, which fails at that place, together with Midscope's own probes.
std::vector<Record> RunThrowing(const std::string& where) {
  ProbeRegistry registry = BuiltInProbes();
  LoadPlugin(Plugin("probe_that_throws"), registry);
  OptionSet options(registry.Options());
  options.SetText("throw-where", where);
  const Decoder& decoder = *testing::EmbeddedModel();
  const Prompt prompt = BuildPrompt(decoder.tokenizer(), "a b", {}, "", false);
  return RunProbes(decoder, prompt, {}, registry, options);
}

TEST(Plugin, WhatItThrowsOrGetsWrongIsToldUnderItsName) {
  const struct {
    const char* where;
    ErrorKind kind;
    const char* words;
  } cases[] = {
      {"wanted", ErrorKind::kFailure, "ProbeType::wanted, threw"},
      {"make", ErrorKind::kUsage, "option --throw-where: 'make' does not fit the model"},
      {"null", ErrorKind::kFailure, "ProbeType::make returned null"},
      {"hooks", ErrorKind::kFailure, "Probe::Hooks, threw 'no hooks today'"},
      {"null-hook", ErrorKind::kFailure, "a hook that is null"},
      {"asks", ErrorKind::kFailure, "Hook::Request, threw 'a point too far'"},
      {"see", ErrorKind::kFailure,
       "Hook::OnActivation, threw an exception that is not a std::exception"},
      {"finish", ErrorKind::kFailure, "Probe::Finish, threw 'no end'"},
      {"other-name", ErrorKind::kFailure, "a record called 'last_logits'"},
      {"wrong-size", ErrorKind::kFailure, "holds 3 elements"},
      {"wrong-axis", ErrorKind::kFailure, "missing axis 'depth'"},
      {"schema-attribute", ErrorKind::kFailure, "'signal' is the schema's"},
      {"fixed-array", ErrorKind::kFailure, "an array called 'last_logits'"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.where);
    try {
      RunThrowing(each.where);
      ADD_FAILURE() << "nothing is thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), each.kind);
      EXPECT_EQ(std::string(error.what()).rfind("plugin probe_that_throws.so: ", 0), 0u);
      EXPECT_THAT(error.what(), HasSubstr(each.words));
    }
  }
  // The model is still usable.
  const std::vector<Record> records = RunThrowing("nowhere");
  EXPECT_TRUE(std::any_of(records.begin(), records.end(),
                          [](const Record& record) { return record.name == "throw"; }));
}

TEST(Plugin, WhatItThrowsEndsTheProgramWithoutAFile) {
  const TemporaryFolder folder;
  const std::string file = folder.File("out.h5");
  const ProgramRun run =
      RunMidscope({"probe", "embedded", "--prompt", "a", "--plugin", Plugin("probe_that_throws"),
                   "--throw-where", "see", "--out", file});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(
      run.err,
      HasSubstr("midscope: plugin probe_that_throws.so: probe 'throw', Hook::OnActivation"));
  EXPECT_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace midscope
