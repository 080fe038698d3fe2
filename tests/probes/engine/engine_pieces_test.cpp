// SPDX-License-Identifier: MIT
// Own text with pieces in the window's engine: one prompt per place, and every function that works
// on the places of a task.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "data/tasks/pieces_task.h"
#include "tests/core/support/error_message.h"
#include "tests/probes/support/local_engine_fixture.h"

namespace midscope {
namespace {

using testing::Data;
using testing::Find;
using ::testing::HasSubstr;

class EnginePieces : public testing::LocalEngineFixture {
 protected:
  static PromptRequest Three() {
    PromptRequest own;
    own.task.clear();
    own.text = "The mill belongs to Tom.\n\nThe inn belongs to Ann.\n\nThe farm belongs to Sue.";
    own.pieces = ParagraphPieces(own.text);
    own.gold_begin = own.pieces[1].begin;
    own.gold_end = own.pieces[1].end;
    own.question = "Who owns the inn?";
    own.answer = "Ann";
    return own;
  }
  static std::string Text(const Record& record, const char* name) {
    return std::get<std::string>(record.attributes.at(name));
  }
};

TEST_F(EnginePieces, OnePromptPerPlace) {
  PromptRequest own = Three();
  const std::vector<Record> prompts = engine->SetPrompt(own, {});
  ASSERT_EQ(prompts.size(), 3u);
  EXPECT_EQ(Text(prompts[0], "text"),
            "The inn belongs to Ann.\n\nThe mill belongs to Tom.\n\nThe farm belongs to Sue.\n\n"
            "Question: Who owns the inn?\nAnswer:");
  EXPECT_EQ(Text(prompts[0], "answer"), " Ann");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::get<int64_t>(prompts[i].attributes.at("place")), static_cast<int64_t>(i) + 1);
    EXPECT_EQ(Text(prompts[i], "task"), "");
    EXPECT_THAT(Data<std::string>(prompts[i], "span_name"),
                ::testing::IsSupersetOf({"piece 1", "piece 2", "piece 3", "gold", "question"}));
  }
  own.places = "0%,100%";
  EXPECT_EQ(engine->SetPrompt(own, {}).size(), 2u);
  own.places = "4";
  EXPECT_THAT(test::ErrorMessage([&] { engine->SetPrompt(own, {}); }), HasSubstr("places"));
  // A question is appended to text without pieces, too.
  own = Three();
  own.pieces.clear();
  const std::vector<Record> one = engine->SetPrompt(own, {});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_THAT(Text(one[0], "text"),
              ::testing::EndsWith("Sue.\n\nQuestion: Who owns the inn?\nAnswer:"));
  EXPECT_EQ(std::get<int64_t>(one[0].attributes.at("place")), 0);
}

// The texts of another model's prompts: the task's prompts if they are the same, else the texts.
TEST_F(EnginePieces, GivenTextsAreTakenWhereTheTaskHasOthers) {
  PromptRequest task;
  task.task = "list:lines=5";
  task.places = "1,3";
  const std::vector<Record> own = engine->SetPrompt(task, {});
  for (const Record& prompt : own) {
    task.given.push_back({std::to_string(std::get<int64_t>(prompt.attributes.at("place"))),
                          {Text(prompt, "text"), {}, Text(prompt, "answer")}});
  }
  const std::vector<Record> same = engine->SetPrompt(task, {});
  EXPECT_EQ(Text(same[1], "subject_hash"), Text(own[1], "subject_hash"));
  EXPECT_EQ(Text(same[1], "task"), Text(own[1], "task"));
  task.given[1].own.text = "Ann bought: a lamp. Ann bought:";
  task.given[1].own.answer = " a lamp";
  task.given[1].own.spans = {{{"gold", 0, 19}, ""}};
  const std::vector<Record> given = engine->SetPrompt(task, {});
  ASSERT_EQ(given.size(), 2u);
  EXPECT_EQ(Text(given[0], "text"), Text(own[0], "text"));
  EXPECT_EQ(Text(given[1], "text"), task.given[1].own.text);
  EXPECT_EQ(Text(given[1], "task"), "");
  EXPECT_EQ(std::get<int64_t>(given[1].attributes.at("place")), 3);
  EXPECT_EQ(Data<std::string>(given[1], "span_name"), std::vector<std::string>{"gold"});
  WhatIfRequest second;
  second.place = 1;
  const WhatIfReply reply = engine->WhatIf(second, {}, {});
  EXPECT_EQ(Find(reply.records, "outcome").axes[1].values, (std::vector<double>{1, 3}));
  task.given[0].name = "first";
  EXPECT_THAT(test::ErrorMessage([&] { engine->SetPrompt(task, {}); }), HasSubstr("'first'"));
}

TEST_F(EnginePieces, WhatIfsPatchesTextAndScansGoOverThePlaces) {
  engine->SetPrompt(Three(), {});
  WhatIfRequest request;
  request.place = 2;
  request.intervention = ParseIntervention("channel(100, factor=-1, layers=8-25)");
  const WhatIfReply reply = engine->WhatIf(request, {}, {});
  EXPECT_EQ(Data<double>(Find(reply.records, "outcome"), "answer_nll").size(), 3u);
  EXPECT_EQ(std::get<int64_t>(Find(reply.records, "next_tokens").attributes.at("place")), 3);
  CaptureRunRequest capture;
  capture.place = 1;
  capture.intervention = ParseIntervention("patch(from=place:1, span=last, layers=3)");
  EXPECT_FALSE(engine->CaptureRun(capture, {}).records.empty());
  GenerateRequest generate;
  generate.place = 2;
  generate.new_tokens = 2;
  EXPECT_EQ(std::get<int64_t>(engine->Generate(generate, {}, {}).attributes.at("place")), 3);
  ScanRequest scan;
  scan.range.layers = {false, {{29, 29}}};
  scan.samples = 5;  // own text has only one sample
  const Record effects = engine->Scan(scan, {}, {});
  EXPECT_EQ(std::get<int64_t>(effects.attributes.at("samples")), 1);
  EXPECT_EQ(effects.FindAxis("place")->size, 3);
}

// Called on another thread while the engine is running.
TEST_F(EnginePieces, APreviewIsWhatSetPromptMakesAndChangesNothing) {
  SetSmallTask();
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  std::thread busy([&] {
    GenerateRequest request;
    request.new_tokens = 4000;
    EXPECT_THROW(engine->Generate(request, {}, context), Cancelled);
  });
  const std::vector<Record> preview = engine->Preview(Three());
  PromptRequest bad = Three();
  bad.gold_end = bad.gold_begin;
  EXPECT_THAT(test::ErrorMessage([&] { engine->Preview(bad); }), HasSubstr("marked as gold"));
  cancel = true;
  busy.join();
  GenerateRequest request;
  request.new_tokens = 1;
  EXPECT_EQ(Text(engine->Generate(request, {}, {}), "task"), "list:lines=4");
  const std::vector<Record> made = engine->SetPrompt(Three(), {});
  ASSERT_EQ(preview.size(), made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(preview[i].attributes, made[i].attributes);
    EXPECT_EQ(Data<int64_t>(preview[i], "token_ids"), Data<int64_t>(made[i], "token_ids"));
  }
  EXPECT_THROW(MakeLocalEngine()->Preview(Three()), Error);
}

}  // namespace
}  // namespace midscope
