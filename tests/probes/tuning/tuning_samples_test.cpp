// SPDX-License-Identifier: MIT
// Samples for tuning: documents from files, tokens and position ids as the sampler draws them, and
// the answers of tasks.
#include "probes/tuning/tuning_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>

#include "core/chat/chat_template.h"
#include "core/model/model_source.h"
#include "probes/prompt/task_prompt.h"
#include "probes/tuning/tuning_documents.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

SampledRecipe Recipe(const std::string& name, int64_t tokens, int64_t factor) {
  SampledRecipe recipe;
  recipe.sampler = FindPositionSampler(name);
  recipe.options = OptionSet(recipe.sampler->parameters);
  recipe.tokens = tokens;
  recipe.factor = factor;
  return recipe;
}

// Token t of document d is 1000 d + t.
std::vector<TuningDocument> Documents(int64_t count, size_t tokens) {
  std::vector<TuningDocument> documents(static_cast<size_t>(count));
  for (size_t d = 0; d < documents.size(); ++d) {
    std::vector<int32_t>& ids = documents[d].ids;
    ids.resize(tokens);
    std::iota(ids.begin(), ids.end(), static_cast<int32_t>(1000 * d));
  }
  return documents;
}

TEST(DocumentSamples, AreTheSamplersTokensAndIds) {
  for (const std::string name : {"cream", "pose", "randpos", "full"}) {
    const SampledRecipe recipe = Recipe(name, 60, 4);
    const TuningSamples samples = DocumentSamples(recipe, Documents(1, 240), 5, 0);
    for (int64_t i = 0; i < 5; ++i) {
      const TuningSample sample = samples(i);
      const PositionSample drawn = PreparePositions(
          *recipe.sampler, {.tokens = recipe.sample_tokens(), .context = 240, .document = 240},
          recipe.options)(i);
      EXPECT_EQ(std::vector<int64_t>(sample.ids.begin(), sample.ids.end()), drawn.token_index);
      EXPECT_EQ(std::vector<int64_t>(sample.position_ids.begin(), sample.position_ids.end()),
                drawn.position_id);
      EXPECT_EQ(std::ssize(sample.ids), name == "full" ? 240 : 60);
      EXPECT_TRUE(sample.in_loss.empty());
    }
  }
}

TEST(DocumentSamples, TakeEveryDocumentOncePerRoundAndHoldSomeOut) {
  const TuningSamples samples = DocumentSamples(Recipe("full", 10, 1), Documents(7, 10), 10, 2);
  std::vector<int32_t> rounds[2];
  for (int64_t i = 0; i < 10; ++i) rounds[i / 5].push_back(samples(i).ids[0] / 1000);
  EXPECT_NE(rounds[0], rounds[1]);
  for (const std::vector<int32_t>& round : rounds)
    EXPECT_EQ(std::set<int32_t>(round.begin(), round.end()), (std::set<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(samples(10).ids[0], 5000);
  EXPECT_EQ(samples(11).ids[0], 6000);
  EXPECT_EQ(samples(2).ids[0] / 1000, rounds[0][2]);  // does not depend on earlier calls
}

class FromFiles : public ::testing::Test {
 protected:
  FromFiles() : tokenizer_(OpenModel(test::TinyModelPath("qwen3"))->MakeTokenizer()) {
    Write("a.txt", "a text of some length");
    Write("b.jsonl", "{\"text\": \"short\"}\n{\"text\": \"another longer document\"}\n");
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
  }
  DocumentRequest Request(int64_t least_tokens) const {
    return {.files = {folder_.path().string()}, .least_tokens = least_tokens, .documents = 100};
  }
  test::TemporaryFolder folder_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(FromFiles, ShortDocumentsAreLeftOutOrJoined) {
  const auto tokens = [&](const std::string& text) {
    return std::ssize(tokenizer_->EncodeIds(text));
  };
  const int64_t least = tokens("short") + 1;
  const TuningDocuments selected = ReadTuningDocuments(Request(least), *tokenizer_, {});
  EXPECT_EQ(selected.documents.size(), 2U);
  EXPECT_EQ(selected.left_out, 1);
  EXPECT_EQ(selected.documents[0].ids, tokenizer_->EncodeIds("a text of some length"));
  DocumentRequest joined = Request(tokens("short") + tokens("another longer document"));
  joined.files = {(folder_.path() / "b.jsonl").string()};
  joined.packing = DocumentPacking::kJoin;
  const TuningDocuments documents = ReadTuningDocuments(joined, *tokenizer_, {});
  ASSERT_EQ(documents.documents.size(), 1U);
  EXPECT_EQ(documents.documents[0].ids[static_cast<size_t>(tokens("short"))],
            *tokenizer_->eos_id());
  DocumentRequest one = Request(1);
  one.documents = 1;
  EXPECT_EQ(ReadTuningDocuments(one, *tokenizer_, {}).documents.size(), 1U);
}

TEST_F(FromFiles, FaultsAreNamed) {
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure,
                           [&] { ReadTuningDocuments(Request(1000), *tokenizer_, {}); }),
              HasSubstr("a sample needs 1000 tokens; the longest document has"));
  DocumentRequest other = Request(1);
  other.field = "body";
  EXPECT_THAT(
      ErrorMessage(ErrorKind::kFailure, [&] { ReadTuningDocuments(other, *tokenizer_, {}); }),
      HasSubstr("has no text in the field 'body'"));
  const std::string before = DocumentFilesHash(Request(1).files);
  Write("a.txt", "another text");
  EXPECT_NE(DocumentFilesHash(Request(1).files), before);
}

TEST_F(FromFiles, TasksEndInTheirAnswer) {
  const SampledRecipe recipe = Recipe("pose", 400, 4);
  const TuningSamples samples = TaskSamples(recipe, {.tasks = {"kv:pairs=2"}}, *tokenizer_);
  const TuningSample sample = samples(3);
  const auto tokens = static_cast<int64_t>(sample.ids.size());
  ASSERT_EQ(std::ssize(sample.in_loss), tokens);
  ASSERT_EQ(std::ssize(sample.position_ids), tokens);
  EXPECT_LT(sample.position_ids.back(), 1600);
  EXPECT_TRUE(std::is_sorted(sample.position_ids.begin(), sample.position_ids.end()));
  const auto answer = std::find(sample.in_loss.begin(), sample.in_loss.end(), 1);
  const std::vector<int32_t> answer_ids(sample.ids.begin() + (answer - sample.in_loss.begin()),
                                        sample.ids.end());
  const std::string text = tokenizer_->Decode(answer_ids);
  EXPECT_THAT(tokenizer_->Decode(sample.ids), HasSubstr("\"" + text.substr(1) + "\""));
  EXPECT_EQ(samples(3).ids, sample.ids);
  EXPECT_NE(samples(4).ids, sample.ids);
  EXPECT_THAT(
      ErrorMessage(
          ErrorKind::kFailure,
          [&] { TaskSamples(Recipe("full", 20, 1), {.tasks = {"kv:pairs=2"}}, *tokenizer_); }),
      HasSubstr("tokens with its answer, which exceeds 20"));
}

// Text of the tokens that are in the loss.
std::string CountedText(const TuningDocument& document, const Tokenizer& tokenizer) {
  std::vector<int32_t> counted;
  for (size_t i = 0; i < document.ids.size(); ++i) {
    if (document.in_loss[i] != 0) counted.push_back(document.ids[i]);
  }
  return tokenizer.Decode(counted);
}

TEST_F(FromFiles, OnlyTheAssistantsTurnsOfConversationsCount) {
  Write(
      "chat.jsonl",
      R"({"conversations": [{"from": "gpt", "value": "left out"}, {"from": "human", "value": "Hi"}, )"
      R"({"from": "gpt", "value": "Hello there."}, {"from": "human", "value": "More"}, )"
      R"({"from": "gpt", "value": "No."}]})"
      "\n"
      R"({"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]})"
      "\n");
  DocumentRequest request = Request(1);
  request.files = {(folder_.path() / "chat.jsonl").string()};
  request.chat = ConversationFormat{std::string(ChatFamilyTemplate("chatml"))};
  const TuningDocuments read = ReadTuningDocuments(request, *tokenizer_, {});
  ASSERT_EQ(read.documents.size(), 2U);
  EXPECT_THAT(tokenizer_->Decode(read.documents[0].ids),
              AllOf(HasSubstr("<|im_start|>user\nHi<|im_end|>"), Not(HasSubstr("left out"))));
  EXPECT_EQ(CountedText(read.documents[0], *tokenizer_), "Hello there.<|im_end|>\nNo.<|im_end|>\n");
  EXPECT_EQ(CountedText(read.documents[1], *tokenizer_), "A<|im_end|>\n");
  request.packing = DocumentPacking::kJoin;
  request.least_tokens = std::ssize(read.documents[0].ids) + 1;
  request.chat->mask_user = false;
  const TuningDocuments joined = ReadTuningDocuments(request, *tokenizer_, {});
  ASSERT_EQ(joined.documents.size(), 1U);
  EXPECT_EQ(joined.documents[0].ids.size(),
            read.documents[0].ids.size() + read.documents[1].ids.size());
  EXPECT_EQ(CountedText(joined.documents[0], *tokenizer_),
            tokenizer_->Decode(joined.documents[0].ids));
  const TuningSample sample = DocumentSamples(Recipe("full", 10, 1), read.documents, 4, 0)(0);
  EXPECT_EQ(sample.in_loss.size(), sample.ids.size());
}

TEST(TaskSamples, DistillationMovesTheGoldPieceOfOneQuestion) {
  const auto model = OpenRunnableModel(test::TinyModelPath("llama"));
  TaskSampleRequest request;
  request.tasks = {"kv:pairs=4"};
  request.distilled_places = 2;
  const TuningSamples samples = TaskSamples(Recipe("full", 2000, 1), request, *model.tokenizer);
  for (int64_t question = 0; question < 4; ++question) {
    std::set<int64_t> places;
    for (int64_t member = 0; member < 3; ++member) {
      const TuningSample sample = samples(3 * question + member);
      places.insert(sample.place);
      EXPECT_EQ(sample.teacher_ids, samples(3 * question + 2).ids);
      EXPECT_EQ(sample.ids == sample.teacher_ids, member == 2);
      EXPECT_EQ(sample.place == 0, member == 2);
      EXPECT_TRUE(std::equal(sample.ids.end() - sample.answer_tokens, sample.ids.end(),
                             sample.teacher_ids.end() - sample.answer_tokens));
    }
    EXPECT_EQ(places.size(), 3U);
  }
  request.tasks = {"kv:pairs=4", "kv:pairs=1"};
  EXPECT_THAT(
      ErrorMessage(ErrorKind::kUsage,
                   [&] { TaskSamples(Recipe("full", 2000, 1), request, *model.tokenizer); }),
      HasSubstr("one place"));
}

TEST(TaskSamples, QuestionsWithFewPlacesHaveNoPlaceTwice) {
  const auto model = OpenRunnableModel(test::TinyModelPath("llama"));
  TaskSampleRequest request;
  request.tasks = {"kv:pairs=2", "kv:pairs=3"};
  request.distilled_places = 4;
  const TuningSamples samples = TaskSamples(Recipe("full", 2000, 1), request, *model.tokenizer);
  std::set<std::vector<int32_t>> prompts;
  for (int64_t index = 0; index < 10; ++index) {
    const TuningSample sample = samples(index);
    EXPECT_TRUE(prompts.insert(sample.ids).second) << index;
    EXPECT_EQ(sample.place == 0, index % 5 == 1 || index % 5 == 4) << index;
  }
}

TEST(TaskSamples, HeldOutSamplesOfDistillationAreOfOtherQuestions) {
  const auto model = OpenRunnableModel(test::TinyModelPath("llama"));
  TaskSampleRequest request;
  request.tasks = {"kv:pairs=3"};
  request.distilled_places = 2;
  request.training = 4;
  const TuningSamples samples = TaskSamples(Recipe("full", 2000, 1), request, *model.tokenizer);
  for (int64_t index = 4; index < 7; ++index)
    EXPECT_NE(samples(index).teacher_ids, samples(3).teacher_ids) << index;
  EXPECT_EQ(samples(4).teacher_ids, samples(6).ids);
}

}  // namespace
}  // namespace midscope
