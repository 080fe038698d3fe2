// SPDX-License-Identifier: MIT
// The JSON form of interventions, intervention files, and published settings by name.

#include "core/terms/intervention_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "core/terms/presets.h"
#include "tests/core/support/random_intervention.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string JsonError(std::string_view text) {
  try {
    return "no error: " + PrintIntervention(ParseIntervention(text));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(InterventionJson, StatesEveryArgument) {
  EXPECT_EQ(InterventionToJson({}), R"({"terms":[]})");
  EXPECT_EQ(InterventionToJson(ParseIntervention("ms-poe + channel([1,2], factor=[-1,0.5])")),
            R"({"terms":[{"term":"ms-poe","min":1.2,"max":1.8,"mode":"rank","order":"score",)"
            R"("first_layer":2},{"term":"channel","channel":1,"factor":-1,"layers":"all",)"
            R"("rows":"answer"},{"term":"channel","channel":2,"factor":0.5,"layers":"all",)"
            R"("rows":"answer"}]})");
  EXPECT_EQ(InterventionToJson(ParseIntervention("infini(gate=[0.1,1])")),
            R"({"terms":[{"term":"infini","segment":2048,"gate":[0.1,1],"update":"linear"}]})");
}

TEST(InterventionJson, TakesWhatThePersonLeavesOut) {
  const auto same = [](const char* json, const char* text) {
    EXPECT_EQ(ParseIntervention(json), ParseIntervention(text)) << json;
  };
  same(R"({"terms": []})", "none");
  same(R"( {"terms": [{"term": "none"}]})", "none");
  same(R"({"terms": [{"term": "base", "base": 5e5}]})", "base(500000)");
  same(R"({"terms": [{"term": "yarn", "factor": 8, "context": "model", "magnitude": 1.0}]})",
       "yarn(8, magnitude=1)");
  same(R"({"terms": [{"term": "channel", "channel": 1, "factor": 0, "change_value": true}]})",
       "channel(1, factor=0, change_value=yes)");
  same(R"({"terms": [{"term": "channel", "channel": [1, 2], "factor": 0, "layers": ["2-8", 12]}]})",
       "channel([1,2], factor=0, layers=[2-8,12])");
  same(R"({"terms": [{"term": "boost", "span": "pair 7", "renormalise": true}]})",
       "boost(span=\"pair 7\", renormalise=yes)");
  same(R"({"terms": [{"term": "crop", "span": "4:6"}, {"term": "crop", "span": "\"4:6\""}]})",
       "crop(span=4:6) + crop(span=\"4:6\")");
  same(R"({"terms": [{"term": "preset", "name": "ms-poe-pi"}]})", "pi(1.5)");
}

TEST(InterventionJson, RandomInterventionsRoundTrip) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    const Intervention intervention = test::RandomIntervention(random);
    const std::string json = InterventionToJson(intervention);
    ASSERT_EQ(ParseIntervention(json), intervention) << json;
    ASSERT_EQ(InterventionToJson(ParseIntervention(json)), json);
  }
}

TEST(InterventionJson, SaysWhatIsWrong) {
  EXPECT_THAT(JsonError("{"), HasSubstr("not JSON"));
  EXPECT_THAT(JsonError("{}"), HasSubstr("\"terms\""));
  EXPECT_THAT(JsonError(R"({"terms": [], "seed": 1})"), HasSubstr("nothing else"));
  EXPECT_THAT(JsonError(R"({"terms": [7]})"), HasSubstr("object"));
  EXPECT_THAT(JsonError(R"({"terms": [{"term": "pi(2) + none"}]})"), HasSubstr("no term is named"));
  EXPECT_THAT(JsonError(R"({"terms": [{"term": "pi", "ratio=2, x": 2}]})"),
              HasSubstr("no argument is named"));
  EXPECT_THAT(JsonError(R"({"terms": [{"term": "pi", "ratio": null}]})"), HasSubstr("'ratio'"));
  EXPECT_THAT(JsonError(R"({"terms": [{"term": "pi", "ratio": [[2]]}]})"), HasSubstr("'ratio'"));
  EXPECT_THAT(JsonError(R"({"terms": [{"term": "pi", "ratio": 0}]})"),
              AllOf(HasSubstr("pi(ratio=0)"), HasSubstr("Allowed: 0.01 to")));
  EXPECT_THAT(JsonError(R"({"terms": [{"term": "crop", "span": "a\"b"}]})"),
              HasSubstr("quotation mark"));
  EXPECT_THAT(JsonError(R"({"terms": [{"term": "pj"}]})"), HasSubstr("Did you mean 'pi'"));
  EXPECT_THAT(JsonError("{\"terms\": [{\"term\": \"\xff\"}]}"), HasSubstr("UTF-8"));
}

TEST(InterventionFile, HoldsTextOnAnyLinesOrJson) {
  const test::TemporaryFolder folder;
  const auto at = [&](const char* name) { return "@" + (folder.path() / name).string(); };
  folder.Write("text", "ms-poe(min=1.2)\r\n  + channel(1,\n factor=0)\n");
  folder.Write("json", "\n{\"terms\": [\n{\"term\": \"pi\"}]}\n");
  folder.Write("bad", "pi(0)\n");
  folder.Write("again", at("text"));
  EXPECT_EQ(ParseIntervention(at("text")),
            ParseIntervention("ms-poe(min=1.2) + channel(1, factor=0)"));
  EXPECT_EQ(ParseIntervention(" " + at("json") + " "), ParseIntervention("pi"));
  EXPECT_THAT(JsonError(at("bad")), AllOf(HasSubstr("bad: "), HasSubstr("column 4")));
  EXPECT_THAT(JsonError(at("again")), HasSubstr("names another file"));
  EXPECT_THAT(JsonError(at("missing")), HasSubstr("missing"));
}

TEST(Presets, AllParseAndAreTold) {
  std::set<std::string> names;
  for (const Preset& preset : InterventionPresets()) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    EXPECT_FALSE(ParseIntervention(preset.text).empty()) << preset.name;
    EXPECT_EQ(ParseIntervention("preset(" + preset.name + ")"), ParseIntervention(preset.text));
    EXPECT_FALSE(preset.models.empty() || preset.source.empty()) << preset.name;
    if (preset.name.find("13b") != std::string::npos) {
      EXPECT_THAT(preset.warning, HasSubstr("transposition")) << preset.name;
    }
  }
  EXPECT_EQ(PrintIntervention(ParseIntervention("preset(channel-vicuna-7b) + pi(2)")),
            "pi(2) + channel(2393, factor=0, layers=10-25, rows=answer)");
  EXPECT_THAT(JsonError("pi(2) + preset(ms-poe-code)"),
              AllOf(HasSubstr("column 9"), HasSubstr("second position scheme")));
  EXPECT_THAT(JsonError("preset(channel-vicuna-8b)"), HasSubstr("channel-vicuna-7b"));
  EXPECT_THAT(JsonError("preset"), HasSubstr("'name'"));
}

}  // namespace
}  // namespace midscope
