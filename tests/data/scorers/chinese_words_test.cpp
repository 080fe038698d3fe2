// SPDX-License-Identifier: MIT
// Contracts: with the data of the package jieba (MIDSCOPE_JIEBA, or Debian's package) texts have
// that package's words and LongBench's scores over them (make/make_chinese.py); over a small
// dictionary of our own the likeliest words win, and the model splits what it lacks; damaged data
// is an error that names its file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/scorers/chinese_scores.h"
#include "data/scorers/chinese_words.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/jieba_data.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SmallDictionary : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("midscope_chinese_" + std::to_string(::getpid()) + "_" + test->name());
    std::filesystem::create_directories(folder_ / "finalseg");
    Write("dict.txt", "长江 60 ns\n长江大桥 40 ns\n大桥 50 n\n市长 30 n\n南京市 80 ns\n");
    // After a begin comes an end; the other characters stand alone.
    Write("finalseg/prob_emit.py",
          "P={'B': {'\\u4f60': -1.0},\n 'E': {'\\u597d': -1.0},\n 'M': {'\\u597d': -9.5},\n"
          " 'S': {'\\u554a': -1.0}}\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string ErrorOfOpening() const {
    return test::ErrorMessage(ErrorKind::kFailure,
                              [this] { const ChineseWords words(folder_.string()); });
  }

  std::filesystem::path folder_;
};

TEST_F(SmallDictionary, TheLikeliestWordsWin) {
  const ChineseWords words(folder_.string());
  EXPECT_THAT(words.Split("南京市长江大桥"), ElementsAre("南京市", "长江大桥"));
  EXPECT_THAT(words.Split("市长，大桥 ok"), ElementsAre("市长", "，", "大桥", " ", "ok"));
  EXPECT_THAT(words.Split("a\r\nb\n"), ElementsAre("a", "\r\n", "b", "\n"));
  EXPECT_THAT(words.Split(""), ElementsAre());
}

TEST_F(SmallDictionary, TheModelSplitsWhatTheDictionaryLacks) {
  const ChineseWords words(folder_.string());
  EXPECT_THAT(words.Split("你好啊你好"), ElementsAre("你好", "啊", "你好"));
  EXPECT_THAT(words.Split("你好v2.10%+-x"), ElementsAre("你好", "v2.10%", "+-", "x"));
}

TEST_F(SmallDictionary, BytesOutsideCharactersArePieces) {
  const ChineseWords words(folder_.string());
  EXPECT_THAT(words.Split("大桥\xE5\xA4"), ElementsAre("大桥", "\xE5", "\xA4"));
}

TEST_F(SmallDictionary, DamagedDataIsAnErrorWithItsFile) {
  Write("dict.txt", "长江 60 ns\n大桥\n");
  EXPECT_THAT(ErrorOfOpening(), ::testing::AllOf(HasSubstr("dict.txt"), HasSubstr("line 2")));
  Write("dict.txt", "");
  EXPECT_THAT(ErrorOfOpening(), HasSubstr("no words"));
  Write("dict.txt", "长江 60 ns\n");
  for (const char* damaged :
       {"", "P={'B': {'\\u4f60': x}}", "P={'\\u4f60': -1}", "P={'B': {'\\u4f"}) {
    Write("finalseg/prob_emit.py", damaged);
    EXPECT_THAT(ErrorOfOpening(), HasSubstr("prob_emit.py")) << damaged;
  }
  std::filesystem::remove(folder_ / "finalseg/prob_emit.py");
  EXPECT_THAT(ErrorOfOpening(), HasSubstr("prob_emit.py"));
}

TEST(ChineseWords, AreThoseOfJiebaAndScoredAsLongBenchDoes) {
  if (!test::JiebaIsInstalled()) GTEST_SKIP() << test::kWithoutJieba;
  std::ifstream file(std::string(MIDSCOPE_TESTS "/data/golden") + "/chinese.jsonl");
  int texts = 0;
  int pairs = 0;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json golden = nlohmann::json::parse(line);
    if (golden.contains("text")) {
      ++texts;
      EXPECT_EQ(ChineseWords::Installed().Split(golden["text"].get<std::string>()),
                golden["words"].get<std::vector<std::string>>())
          << golden["text"];
      continue;
    }
    ++pairs;
    const std::string prediction = golden["prediction"];
    const std::string reference = golden["reference"];
    EXPECT_NEAR(ChineseF1(prediction, reference), golden["f1"].get<double>(), 1e-12) << line;
    EXPECT_NEAR(ChineseRouge(prediction, reference), golden["rouge_l"].get<double>(), 1e-9) << line;
  }
  EXPECT_EQ(texts, 92);
  EXPECT_EQ(pairs, 60);
}

}  // namespace
}  // namespace midscope
