// SPDX-License-Identifier: MIT
// Contracts: generated prompts have the published form around the drawn content, to the byte;
// lengths in tokens and depths are as requested; generated text is scored by each task's published
// rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "data/tasks/task.h"
#include "data/tasks/token_cut.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/data/support/task_passages.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<Task> Counted(const std::string& spec, uint64_t seed = 1) {
  return MakeTask(spec, seed, {}, CountWords);
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

constexpr const char* kLinesHeader =
    "Below is a record of lines I want you to remember. Each line begins with 'line <line index>' "
    "and contains a '<REGISTER_CONTENT>' at the end of the line as a numerical value. For each "
    "line index, memorize its corresponding <REGISTER_CONTENT>. At the end of the record, I will "
    "ask you to retrieve the corresponding <REGISTER_CONTENT> of a certain line index. Now the "
    "record start:\n\n";

TEST(LinesTask, HasLongEvalsForm) {
  const TaskSample sample = MakeTask("lines:lines=3", 1)->Make(0, 2);
  const std::string gold = Passage(sample, "line 2");
  const std::string name = gold.substr(5, gold.find(':') - 5);
  EXPECT_EQ(sample.text, kLinesHeader + Passage(sample, "line 1") + "\n" + gold + "\n" +
                             Passage(sample, "line 3") +
                             "\n\nNow the record is over. Tell me what is the <REGISTER_CONTENT> "
                             "in line " +
                             name + "? I need the number.");
  EXPECT_EQ(gold, "line " + name + ": REGISTER_CONTENT is <" + sample.answers[0] + ">");
  EXPECT_EQ(sample.answer, " " + sample.answers[0]);
  EXPECT_EQ(Passage(sample, "gold"), gold);
}

TEST(LinesTask, TheSourcesDifferInScoreAndFinalSpace) {
  const TaskSample last = MakeTask("lines:lines=2", 1)->Make(0, 1);
  const std::string number = last.answers[0];
  EXPECT_EQ(last.generation.new_tokens, 100);
  EXPECT_EQ(ScoreGenerated(last, "Line 1 is <" + number + ">"), 1);
  EXPECT_EQ(ScoreGenerated(last, number + ", not 1"), 0);

  const TaskSample first = MakeTask("lines:lines=2,score=first,final_space=1", 1)->Make(0, 1);
  EXPECT_EQ(first.text, last.text + " ");
  EXPECT_EQ(first.answer, number);  // no leading space, because the text ends in one
  EXPECT_EQ(first.generation.new_tokens, 35);
  EXPECT_EQ(ScoreGenerated(first, number + ", not 1"), 1);
}

TEST(LinesTask, NamesAreDistinctAtTheLongestPublishedLength) {
  const TaskSample sample = MakeTask("lines:lines=1350", 3)->Make(2, 1350);
  std::set<std::string> names;
  for (int rank = 1; rank <= 1350; ++rank) {
    const std::string line = Passage(sample, "line " + std::to_string(rank));
    names.insert(line.substr(0, line.find(':')));
    const int number = std::stoi(line.substr(line.find('<') + 1));
    EXPECT_GE(number, 1);
    EXPECT_LE(number, 50000);
  }
  EXPECT_EQ(names.size(), 1350U);
}

TEST(PasskeyTask, HasTheFormOfLandmarkAndYarn) {
  const TaskSample sample = Counted("passkey:tokens=200")->Make(3, 51);
  const std::string& key = sample.answers[0];
  const std::string line = "The pass key is " + key + ". Remember it. " + key + " is the pass key.";
  const size_t in_front =
      sample.text.find("\n" + line) - std::string_view(kPasskeyInstruction).size();
  const std::string filler = kPasskeyBlock + Repeated(std::string(" ") + kPasskeyBlock, 20);
  const std::string tail = "\nWhat is the pass key? The pass key is";
  const size_t behind = sample.text.size() - std::string_view(kPasskeyInstruction).size() -
                        in_front - 1 - line.size() - 1 - tail.size();
  // Both parts of the filler start from its beginning.
  EXPECT_EQ(sample.text, kPasskeyInstruction + filler.substr(0, in_front) + "\n" + line + "\n" +
                             filler.substr(0, behind) + tail);
  EXPECT_LE(in_front, behind);
  EXPECT_GE(in_front + 1, behind);
  EXPECT_EQ(sample.answer, " " + key);
  EXPECT_EQ(Passage(sample, "gold"), line);
  EXPECT_EQ(sample.generation.new_tokens, 10);
  EXPECT_EQ(ScoreGenerated(sample, " " + key + ". The"), 1);
  EXPECT_EQ(ScoreGenerated(sample, " 0" + key), 1);  // the sources use int()
  EXPECT_EQ(ScoreGenerated(sample, " not 7 but " + key), 0);
}

TEST(PasskeyTask, HasTheFormOfPose) {
  const auto task = Counted("passkey:tokens=200,filler=blocks");
  const TaskSample sample = task->Make(0, 1);
  const std::string& key = sample.answers[0];
  const std::string line = "The pass key is " + key + ". Remember it. " + key + " is the pass key.";
  const std::string tail = "\nWhat is the pass key? The pass key is";
  // 152 words are 8 blocks of 19; blocks that meet without a space lose one word.
  EXPECT_EQ(sample.text, std::string(kPasskeyInstruction) + "\n" + line + "\n" +
                             Repeated(kPasskeyBlock, 8) + tail);
  EXPECT_EQ(task->Make(0, 101).text,
            kPasskeyInstruction + Repeated(kPasskeyBlock, 8) + "\n" + line + "\n" + tail);
}

// The format is that of LongLM's passkey_examples.jsonl, with the text that its example.py appends
// to a line.
TEST(PasskeyTask, HasTheFormOfLongLm) {
  const auto task = Counted("passkey:tokens=150,filler=lines");
  const TaskSample sample = task->Make(1, 51);
  const std::string& key = sample.answers[0];
  ASSERT_EQ(key.size(), 5u);
  const std::string line = std::string(kPasskeyBlock) + "\n";
  std::string lines =
      "There is an important info hidden inside a lot of irrelevant text. Find it "
      "and memorize it. I will quiz you about the important information there.\n" +
      Repeated(line, 2) + "The pass key is " + key + ". Remember it. " + key +
      " is the pass key.\n" + Repeated(line, 3);
  lines.pop_back();
  EXPECT_EQ(sample.text, lines + "What is the pass key? The pass key is ");
  EXPECT_EQ(sample.answer, key);
  EXPECT_EQ(sample.generation.new_tokens, 5);
  EXPECT_EQ(ScoreGenerated(sample, key), 1);
  EXPECT_THAT(task->Make(1, 101).text, HasSubstr(key + " is the pass key.What is the pass key?"));
  for (int64_t i = 0; i < 200; ++i) EXPECT_EQ(task->Make(i, 1).answers[0].size(), 5u);
}

// The number of blocks is (2048 - 69) / 25, without a tokenizer.
TEST(PasskeyTask, BlocksAreCountedAsPosesCodeDoes) {
  const auto blocks = [](int64_t tokens, int64_t place) {
    const TaskSample sample =
        MakeTask("passkey:tokens=" + std::to_string(tokens) + ",filler=pose", 1)->Make(0, place);
    const size_t gold = sample.text.find("The pass key is");
    std::pair<int64_t, int64_t> counts;
    for (size_t at = 0; (at = sample.text.find(kPasskeyBlock, at)) != std::string::npos; ++at) {
      ++(at < gold ? counts.first : counts.second);
    }
    return counts;
  };
  EXPECT_EQ(blocks(2048, 1), std::pair(int64_t{0}, int64_t{79}));
  EXPECT_EQ(blocks(2048, 51), std::pair(int64_t{39}, int64_t{40}));
  EXPECT_EQ(blocks(16384, 101), std::pair(int64_t{652}, int64_t{0}));
}

TEST(PasskeyTask, LengthIsKeptAtEveryDepth) {
  for (const char* filler : {"characters", "blocks", "lines"}) {
    for (const int64_t tokens : {100, 333, 2048}) {
      const auto task =
          Counted("passkey:tokens=" + std::to_string(tokens) + ",filler=" + std::string(filler));
      for (const int64_t place : {1, 26, 50, 101}) {
        const TaskSample sample = task->Make(5, place);
        EXPECT_NEAR(static_cast<double>(CountWords(sample.text)), static_cast<double>(tokens), 20);
        EXPECT_EQ(sample.answers, task->Make(5, 1).answers);
      }
    }
  }
  EXPECT_THAT(ErrorOf([] {
                MakeTask("passkey:tokens=100", 1, {},
                         [](std::string_view text) { return static_cast<int64_t>(text.size()); });
              }),
              HasSubstr("more tokens"));
}

TEST(PasskeyTask, KeysAreOfOneToFiveDigits) {
  const auto task = Counted("passkey:tokens=100");
  std::set<size_t> digits;
  for (int64_t sample = 0; sample < 300; ++sample) {
    const std::string key = task->Make(sample, 1).answers[0];
    digits.insert(key.size());
    EXPECT_LE(std::stoi(key), 50000);
  }
  EXPECT_TRUE(digits.contains(4) && digits.contains(5) && *digits.rbegin() == 5);
}

constexpr const char* kNeedle =
    "The best thing to do in San Francisco is eat a sandwich and sit in Dolores Park on a sunny "
    "day.";

class NeedleFiles : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const { folder_.Write(name, text); }

  test::TemporaryFolder folder_;
};

TEST_F(NeedleFiles, AnswerFormHidesTheNeedleBehindASentence) {
  Write("b.txt", Repeated("One two three four five. ", 100));
  Write("a.txt", "Alpha beta. ");
  Write("c.md", "not this");
  // 14 words of description, 21 of the needle, 10 of the question, 1 of the beginning of the
  // answer; 4 are reserved.
  const auto task = Counted("needle:tokens=100,file=" + folder_.path().string());
  const auto text = [&](int64_t place) { return task->Make(0, place).text; };
  const std::string description =
      "Read the text below with care. One question about it follows at its end.\n\n";
  const std::string needle = "\n\n" + std::string(kNeedle) + "\n\n";
  const std::string tail = "\n\nWhat is the best thing to do in San Francisco?\nAnswer:";
  const std::string whole =
      "Alpha beta. " + Repeated("One two three four five. ", 9) + "One two three";
  EXPECT_EQ(CountWords(text(1)), 96);
  EXPECT_EQ(text(1), description + needle + whole + tail);
  EXPECT_EQ(text(101), description + whole + needle + tail);
  // Half of 50 words is 25; the fourth sentence of five words ends at 22.
  EXPECT_EQ(text(51), description + "Alpha beta. " + Repeated("One two three four five. ", 3) +
                          "One two three four five." + needle + " " +
                          Repeated("One two three four five. ", 5) + "One two three" + tail);
  const TaskSample sample = task->Make(0, 51);
  EXPECT_EQ(Passage(sample, "gold"), kNeedle);
  EXPECT_EQ(sample.answer, " eat a sandwich and sit in Dolores Park on a sunny day.");
  EXPECT_EQ(ScoreGenerated(sample, " Eat a sandwich and sit in Dolores Park on a sunny day\nYes"),
            1);
  EXPECT_EQ(ScoreGenerated(sample, "Walk"), 0);
  const TaskSample by_rule =
      Counted("needle:tokens=100,score=word-recall,file=" + folder_.path().string())->Make(0, 51);
  EXPECT_EQ(by_rule.text, sample.text);
  // There are 11 distinct words, because "park," and "Park" differ.
  EXPECT_NEAR(ScoreGenerated(by_rule, " Sit on A sandwich in Dolores Park, day. day.\nEat"),
              7. / 11, 1e-12);
  EXPECT_NE(task->Make(1, 51).text, sample.text);
}

TEST_F(NeedleFiles, ChatFormIsKamradts) {
  Write("a.txt", Repeated("One two three four five. ", 100));
  const TaskSample sample =
      Counted("needle:tokens=240,form=chat,file=" + folder_.File("a.txt"))->Make(0, 1);
  EXPECT_EQ(sample.text, "\n" + std::string(kNeedle) + "\n" +
                             Repeated("One two three four five. ", 3) + "One two three four" +
                             "\n\nWhat is the best thing to do in San Francisco? Don't give "
                             "information outside the document or repeat your findings");
  EXPECT_EQ(sample.system,
            "You are a helpful AI bot that answers questions for a user. Keep your response short "
            "and direct");
}

TEST_F(NeedleFiles, WrongTextsAreErrors) {
  const auto error = [&](const std::string& name) {
    return ErrorOf([&] { Counted("needle:file=" + folder_.File(name)); }, ErrorKind::kFailure);
  };
  EXPECT_THAT(error(""), HasSubstr("a file *.txt"));
  EXPECT_THAT(error("none.txt"), HasSubstr("cannot be opened"));
  Write("empty.txt", "");
  EXPECT_THAT(error("empty.txt"), HasSubstr("empty"));
  Write("bad.txt", "ab\xFF");
  EXPECT_THAT(error("bad.txt"), HasSubstr("UTF-8 at byte 2"));
}

TEST(NeedleTask, MadeTextsAreOfTheWantedLength) {
  for (const int64_t tokens : {100, 1024, 8192}) {
    const auto task = Counted("needle:tokens=" + std::to_string(tokens));
    for (const int64_t place : {1, 34, 101}) {
      const TaskSample sample = task->Make(2, place);
      EXPECT_EQ(CountWords(sample.text), tokens - 4);
      EXPECT_EQ(sample.text, Counted(task->name())->Make(2, place).text);
      const auto before = CountWords(
          std::string_view(sample.text).substr(0, static_cast<size_t>(sample.spans[0].begin)));
      EXPECT_LE(before - 14, (tokens - 50) * (place - 1) / 100);
      EXPECT_GE(before - 14, (tokens - 50) * (place - 1) / 100 - 20);  // at most a sentence earlier
    }
  }
}

TEST(TimelineTask, HasLooglesForm) {
  const auto task = MakeTask("timeline:events=3,filler=0", 1);
  for (int64_t index = 0; index < 20; ++index) {
    const TaskSample sample = task->Make(index, 1);
    std::map<int, std::string> by_year;
    for (int event = 1; event <= 3; ++event) {
      const std::string text = Passage(sample, "event " + std::to_string(event));
      by_year[std::stoi(text.substr(3))] = std::string(static_cast<size_t>(event), 'I');
      EXPECT_THAT(sample.text,
                  HasSubstr(std::string(static_cast<size_t>(event), 'I') + ". T" + text.substr(9)));
    }
    ASSERT_EQ(by_year.size(), 3U);
    std::string answer;
    for (const auto& [year, roman] : by_year) answer += (answer.empty() ? "" : ",") + roman;
    EXPECT_EQ(sample.answer, answer);
    EXPECT_THAT(sample.text,
                StartsWith("Please answer the question based on the long texts below. \nIn 1"));
    EXPECT_THAT(sample.text, HasSubstr(".\nQuestion: Reorder the timeline of below events:\nI. T"));
    EXPECT_THAT(sample.text, EndsWith(".\nAnswer: "));
    EXPECT_EQ(ScoreGenerated(sample, answer + " (1901)"), 1);
  }
  EXPECT_GT(MakeTask("timeline:events=20,filler=1000", 1)->Make(0, 1).text.size(), 20000U);
}

TEST_F(NeedleFiles, TextIsScoredPieceByPiece) {
  Write("t.txt", "a b c d\ne f g h i\n");
  const auto task = Counted("text:tokens=5,stride=2,file=" + folder_.File("t.txt"));
  ASSERT_EQ(task->samples(), 4);
  EXPECT_EQ(task->Make(0, 1).text, "a b");
  EXPECT_EQ(task->Make(0, 1).answer, " c d");
  EXPECT_EQ(task->Make(1, 1).text, "b c d");
  EXPECT_EQ(task->Make(1, 1).answer, "\ne f");
  EXPECT_EQ(task->Make(3, 1).text, "f g h");
  EXPECT_EQ(task->Make(3, 1).answer, " i\n");
  EXPECT_EQ(Counted("text:tokens=5,stride=2,windows=2,file=" + folder_.File("t.txt"))->samples(),
            2);
  EXPECT_THAT(ErrorOf([&] { Counted("text:tokens=5,stride=5,file=x"); }), HasSubstr("stride"));
}

// No window crosses from one document into the next.
TEST_F(NeedleFiles, DocumentsAreScoredOneByOne) {
  Write("d.jsonl",
        "{\"id\": \"x\", \"report\": \"a b c d e\"}\n{\"id\": \"y\", \"report\": \"f g\"}\n"
        "{\"id\": \"z\", \"report\": \"h i j k\"}\n");
  const std::string file = ",file=" + folder_.File("d.jsonl");
  const auto task = Counted("text:tokens=4,stride=2,field=report" + file);
  ASSERT_EQ(task->samples(), 3);
  EXPECT_EQ(task->Make(0, 1).text, "a b");
  EXPECT_EQ(task->Make(0, 1).answer, " c d");
  EXPECT_EQ(task->Make(1, 1).answer, " e");
  EXPECT_EQ(task->Make(2, 1).text, "h i");
  EXPECT_EQ(task->Make(2, 1).answer, " j k");
  EXPECT_THAT(task->Make(2, 1).groups, ElementsAre("document 3"));
  EXPECT_THAT(task->notes(), ElementsAre(HasSubstr("1 document is too short")));
  EXPECT_EQ(Counted("text:tokens=4,stride=2,field=report,documents=1" + file)->samples(), 2);
  // A prompt may be shorter than the scored part.
  const auto whole = Counted("text:tokens=4,stride=3,from=1,field=report,documents=2" + file);
  EXPECT_EQ(whole->Make(0, 1).text, "a");
  EXPECT_EQ(whole->Make(0, 1).answer, " b c d");
  EXPECT_THAT(ErrorOf([&] { Counted("text:tokens=4,stride=2,field=report,documents=3" + file); },
                      ErrorKind::kFailure),
              HasSubstr("only 2 documents"));
  // Without a field, JSON would be scored; the error lists the fields, the longest text first.
  EXPECT_THAT(ErrorOf([&] { Counted("text:tokens=4,stride=2" + file); }, ErrorKind::kUsage),
              HasSubstr("field=report or field=id"));
  EXPECT_THAT(
      ErrorOf([&] { Counted("text:tokens=4,stride=2,field=text" + file); }, ErrorKind::kFailure),
      HasSubstr("report"));
}

TEST_F(NeedleFiles, FilesOfAFolderMayBeDocuments) {
  std::filesystem::create_directory(folder_ / "texts");
  Write("texts/a.txt", "a b c d");
  Write("texts/b.txt", "e f g h");
  const std::string file = ",file=" + folder_.File("texts");
  EXPECT_EQ(Counted("text:tokens=4,stride=2" + file)->Make(1, 1).text, "c de") << "one text";
  const auto task = Counted("text:tokens=4,stride=2,documents=2" + file);
  ASSERT_EQ(task->samples(), 2);
  EXPECT_EQ(task->Make(1, 1).text, "e f");
  EXPECT_THAT(task->Make(1, 1).groups, ElementsAre("b.txt"));
  EXPECT_THAT(
      ErrorOf([&] { Counted("text:tokens=4,stride=2,field=report" + file); }, ErrorKind::kUsage),
      HasSubstr("JSONL"));
}

// Perplexities for several lengths are then computed over the same words.
TEST_F(NeedleFiles, TextWindowsOfSeveralLengthsScoreTheSamePieces) {
  Write("t.txt", "a b c d\ne f g h i\n");
  const auto windows = [&](const std::string& tokens) {
    return Counted("text:tokens=" + tokens + ",stride=2,from=4,file=" + folder_.File("t.txt"));
  };
  const auto shorter = windows("3");
  const auto longer = windows("6");
  EXPECT_THAT(longer->name(), HasSubstr(",from=4"));
  ASSERT_EQ(shorter->samples(), longer->samples());
  for (int64_t sample = 0; sample < *longer->samples(); ++sample) {
    EXPECT_EQ(shorter->Make(sample, 1).answer, longer->Make(sample, 1).answer);
    EXPECT_EQ(CountWords(longer->Make(sample, 1).text), 4);
    EXPECT_EQ(CountWords(shorter->Make(sample, 1).text), 1);
  }
  EXPECT_EQ(longer->Make(0, 1).answer, "\ne f");
}

TEST(Depths, PlacesAreReadAsPercentToo) {
  const auto task = Counted("passkey:tokens=200");
  EXPECT_EQ(ReadPlace(*task, "25%"), 26);
  EXPECT_EQ(ReadPlace(*task, "100%"), 101);
  EXPECT_EQ(ReadPlace(*task, "7"), 7);
  for (const char* wrong : {"101%", "-1%", "%", "2.5%", "", "102", "0"}) {
    EXPECT_THROW(ReadPlace(*task, wrong), Error) << wrong;
  }
}

TEST(Places, AreReadAsSharesOfTheirNumberInTasksByRank) {
  // rank = 1 + floor(share * (pieces - 1) + 0.5). The published indices for 140 pairs (0, 34, 69,
  // 104, 139) are the number of pairs times the share, which is another definition, so they are
  // specified as ranks.
  const auto pairs = MakeTask("kv:pairs=140", 1);
  const std::vector<std::pair<const char*, int64_t>> ranks = {
      {"0%", 1}, {"25%", 36}, {"50%", 71}, {"75%", 105}, {"100%", 140}, {"1%", 2}, {"99%", 139}};
  for (const auto& [text, place] : ranks) EXPECT_EQ(ReadPlace(*pairs, text), place) << text;
  EXPECT_EQ(ReadPlace(*MakeTask("kv:pairs=140,first_place=0", 1), "25%"), 35);
  EXPECT_EQ(ReadPlace(*MakeTask("mdqa:documents=20", 1), "75%"), 15);
  EXPECT_EQ(ReadPlace(*MakeTask("mdqa:documents=5", 1), "25%"), 2);
  for (int64_t pieces = 1; pieces < 300; pieces += 7) {
    EXPECT_EQ(RankAtPercent(pieces, 0), 1);
    EXPECT_EQ(RankAtPercent(pieces, 100), pieces);
    for (int64_t percent = 1; percent <= 100; ++percent) {
      EXPECT_GE(RankAtPercent(pieces, percent), RankAtPercent(pieces, percent - 1));
    }
  }
  for (const char* wrong : {"101%", "-1%", "%", "2.5%", "141", "0"}) {
    EXPECT_THROW(ReadPlace(*pairs, wrong), Error) << wrong;
  }
}

TEST(Tasks, GeneratedTextOfOldTasksIsScored) {
  const TaskSample list = MakeTask("list:lines=3", 1)->Make(0, 1);
  EXPECT_EQ(ScoreGenerated(list, " A" + list.answer + ".\nNext"), 1);
  EXPECT_EQ(ScoreGenerated(list, "\n" + list.answer), 1);
  EXPECT_EQ(ScoreGenerated(list, "nothing\n" + list.answer), 0);
  const TaskSample pairs = MakeTask("kv:pairs=3", 1)->Make(0, 1);
  EXPECT_EQ(ScoreGenerated(pairs, "\n\n\"" + pairs.answers[0] + "\""), 1);
}

TEST(Tasks, NewOnesOnlyMoveTheGoldPieceToo) {
  for (const std::string spec : {"mdqa:documents=4,labels=kept", "lines:lines=4"}) {
    const auto task = MakeTask(spec, 5);
    std::set<std::multiset<std::string>> contents;
    for (int64_t place = 1; place <= 4; ++place) {
      const TaskSample sample = task->Make(9, place);
      std::multiset<std::string> pieces;
      for (const ByteSpan& span : sample.spans) {
        if (span.name.back() == '0' + place) {
          EXPECT_EQ(Passage(sample, span.name), Passage(sample, "gold"));
        }
        pieces.insert(Passage(sample, span.name));
      }
      contents.insert(pieces);
      EXPECT_EQ(sample.place, place);
    }
    EXPECT_EQ(contents.size(), 1U) << spec;
  }
}

TEST(TokenCut, EndsAtWhiteSpaceWithinTheBound) {
  const std::string text = Repeated("ab  cd\n", 500);
  EXPECT_EQ(FirstTokens(text, 3, CountWords), "ab  cd\nab");
  EXPECT_EQ(LastTokens(text, 3, CountWords), "cd\nab  cd\n");
  EXPECT_EQ(FirstTokens(text, 100000, CountWords), text);
  EXPECT_EQ(LastTokens(text, 100000, CountWords), text);
  EXPECT_EQ(FirstTokens(text, 0, CountWords), "");
  EXPECT_EQ(LastTokens("", 3, CountWords), "");
  // In text without white space, the cut is between characters.
  const std::string chinese = Repeated("中", 1000);
  const TokenCounter bytes = [](std::string_view part) {
    return static_cast<int64_t>(part.size());
  };
  EXPECT_EQ(FirstTokens(chinese, 1000, bytes).size(), 999U);
  EXPECT_EQ(LastTokens(chinese, 1000, bytes).size(), 999U);
}

}  // namespace
}  // namespace midscope
