// SPDX-License-Identifier: MIT
// Errors that are stated for the published tables must follow from their numbers, and every error
// that follows must be stated.
#include "data/published/published_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "data/published/published_record.h"
#include "data/published/tuning_recipe.h"
#include "data/tasks/longbench_formats.h"
#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const PublishedTable& Table(const std::string& name) { return *FindPublishedTables(name).front(); }

bool HasMark(const PublishedTable& table, size_t row, const std::string& column,
             PublishedMarkKind kind) {
  for (const PublishedMark* mark : table.MarksOf(row, column)) {
    if (mark->kind == kind) return true;
  }
  return false;
}

int64_t Decimals(const std::string& text) {
  const size_t point = text.find('.');
  return point == std::string::npos ? 0 : static_cast<int64_t>(text.size() - point - 1);
}

// Whether the first parameter of a task, its data set, has this choice.
bool IsChoiceOf(const std::string& task, const std::string& choice) {
  for (const TaskType& type : Tasks()) {
    if (type.name != task) continue;
    const std::vector<std::string>& choices = type.parameters.front().choices;
    return std::find(choices.begin(), choices.end(), choice) != choices.end();
  }
  return false;
}

TEST(PublishedTables, AreWholeAndNamedOnce) {
  std::set<std::string> names;
  for (const PublishedTable& table : PublishedTables()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.source.empty());
    EXPECT_FALSE(table.rows.empty());
    const std::set<std::string> rows(table.rows.begin(), table.rows.end());
    EXPECT_EQ(rows.size(), table.rows.size()) << table.name;
    for (const PublishedMark& mark : table.marks) {
      EXPECT_TRUE(rows.contains(mark.row)) << table.name << ": " << mark.row;
      if (mark.column.empty()) continue;
      EXPECT_NO_THROW(table.ColumnIndex(mark.column)) << table.name;
    }
    for (const PublishedOutcome& outcome : table.outcomes) {
      ASSERT_EQ(outcome.columns.size(), outcome.places.size()) << table.name;
      for (const std::string& column : outcome.columns) {
        EXPECT_NO_THROW(table.ColumnIndex(column)) << table.name;
      }
    }
  }
  EXPECT_EQ(names.size(), 20U);
}

TEST(PublishedTables, CellsThatSoManySamplesCannotGiveAreMarkedAndNoOthers) {
  for (const PublishedTable& table : PublishedTables()) {
    if (table.samples == 0 || table.outcomes.empty()) continue;
    std::set<std::string> impossible_rows;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      for (const PublishedOutcome& outcome : table.outcomes) {
        for (const std::string& column : outcome.columns) {
          const double value = table.Value(row, table.ColumnIndex(column));
          if (std::isnan(value)) continue;
          const double hits = value / 100 * static_cast<double>(table.samples);
          const bool possible = std::abs(hits - std::round(hits)) < 1e-6;
          const bool marked = HasMark(table, row, column, PublishedMarkKind::kSamples);
          if (!possible) impossible_rows.insert(table.rows[row]);
          EXPECT_TRUE(possible || marked)
              << table.name << ": " << table.rows[row] << ", " << column;
        }
      }
    }
    for (const PublishedMark& mark : table.marks) {
      if (mark.kind == PublishedMarkKind::kSamples) {
        EXPECT_TRUE(impossible_rows.contains(mark.row)) << table.name << ": " << mark.row;
      }
    }
  }
}

TEST(PublishedTables, AveragesThatAreNotTheCellsAreMarkedAndNoOthers) {
  int wrong_averages = 0;
  for (const PublishedTable& table : PublishedTables()) {
    for (const auto& [column, parts] : table.averages) {
      for (size_t row = 0; row < table.rows.size(); ++row) {
        double sum = 0;
        for (const std::string& part : parts) sum += table.Value(row, table.ColumnIndex(part));
        const size_t index = table.ColumnIndex(column);
        const double printed = table.Value(row, index);
        if (std::isnan(printed)) continue;
        const double rounding = 0.5 * std::pow(10, -Decimals(table.cells[row][index])) + 1e-6;
        const bool wrong = std::abs(sum / static_cast<double>(parts.size()) - printed) > rounding;
        EXPECT_EQ(wrong, HasMark(table, row, column, PublishedMarkKind::kAverage))
            << table.name << ": " << table.rows[row] << ", " << column;
        wrong_averages += wrong ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(wrong_averages, 5);
}

TEST(PublishedTables, CopiedRowsAreIndeedEqual) {
  const PublishedTable& table = Table("cream-t4");
  for (const char* method : {"PoSE", "CREAM"}) {
    std::vector<std::vector<std::string>> rows;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      if (table.rows[row] == std::string(method) + "-Linear" ||
          table.rows[row] == std::string(method) + "-NTK") {
        rows.push_back(table.cells[row]);
        EXPECT_TRUE(HasMark(table, row, "PIQA", PublishedMarkKind::kCopy));
      }
    }
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0], rows[1]);
  }
}

// Table 2 of CREAM contains the means of its Tables 7 and 8, except for rounding.
TEST(PublishedTables, SubtasksGiveTheMeansOfTheirGroups) {
  const PublishedTable& means = Table("cream-t2");
  const std::map<std::string, std::pair<std::string, std::vector<std::string>>> groups = {
      {"SingleDoc", {"cream-t7", {"NQA", "QAPR", "MFQA_en"}}},
      {"MultiDoc", {"cream-t7", {"HPQA", "WMQA", "MSQ"}}},
      {"Summ", {"cream-t7", {"GR", "QMSM", "MNWS"}}},
      {"FewShot", {"cream-t8", {"TREC", "TRVQA", "SMSM"}}},
      {"Synth", {"cream-t8", {"PC", "PR_en"}}},
      {"Code", {"cream-t8", {"LCC", "RBP"}}}};
  for (const auto& [group, parts] : groups) {
    const PublishedTable& subtasks = Table(parts.first);
    ASSERT_EQ(subtasks.rows.size(), means.rows.size());
    for (size_t row = 0; row < means.rows.size(); ++row) {
      EXPECT_EQ(subtasks.rows[row], means.rows[row].substr(0, subtasks.rows[row].size()));
      double sum = 0;
      for (const std::string& column : parts.second) {
        sum += subtasks.Value(row, subtasks.ColumnIndex(column));
      }
      EXPECT_NEAR(sum / static_cast<double>(parts.second.size()),
                  means.Value(row, means.ColumnIndex(group)), 0.1)
          << group << " " << means.rows[row];
    }
  }
}

// The total of rounded cells does not prove a number, but would reveal one in the wrong column.
// Each column of a table and each row of a recipe must exist and be named once.
TEST(PublishedTables, NumbersNameColumnsTasksAndRowsThatExist) {
  std::set<std::string> with_numbers;
  for (const PublishedTable& table : PublishedTables()) {
    std::set<std::string> columns;
    for (const PublishedNumber& number : table.numbers) {
      with_numbers.insert(table.name);
      EXPECT_NO_THROW(table.ColumnIndex(number.column)) << table.name;
      EXPECT_TRUE(columns.insert(number.column).second) << table.name << ": " << number.column;
      EXPECT_TRUE(IsPublishedTask(number.task, number.task));
      const bool known = number.measure == "answered" || number.measure == "perplexity" ||
                         number.measure == "seconds";
      EXPECT_TRUE(known) << number.measure;
      for (const std::string& set : number.sets) {
        const bool is_known = FindLongBenchFormat(set) != nullptr ||
                              (number.task == "zeroscrolls" && IsChoiceOf("zeroscrolls", set));
        EXPECT_TRUE(is_known) << table.name << ": " << set;
      }
      const std::string task = number.task.substr(0, number.task.find(':'));
      const bool is_task = std::any_of(Tasks().begin(), Tasks().end(),
                                       [&](const TaskType& type) { return type.name == task; });
      EXPECT_TRUE(is_task) << number.task;
      if (!number.relative_to.empty()) {
        EXPECT_THAT(table.rows, ::testing::Contains(number.relative_to));
      }
    }
    for (const auto& [row, recipe] : table.recipes) {
      EXPECT_THAT(table.rows, ::testing::Contains(row)) << table.name;
      EXPECT_TRUE(recipe.contains("method"));
    }
    for (const auto& [column, methods] : table.column_methods) {
      EXPECT_NO_THROW(table.ColumnIndex(column)) << table.name;
      for (const auto& method : methods) {
        EXPECT_THAT(table.rows, ::testing::Contains(method.first)) << table.name;
      }
    }
    for (const auto& method : table.methods) {
      const bool met = std::any_of(table.rows.begin(), table.rows.end(),
                                   [&](const auto& row) { return row.ends_with(method.first); });
      EXPECT_TRUE(met) << table.name << " has settings for no row: " << method.first;
    }
  }
  EXPECT_THAT(with_numbers, ElementsAre("cream-t2", "cream-t3", "cream-t4", "cream-t5", "cream-t6",
                                        "cream-t7", "cream-t8", "mspoe-t1", "poshidden-t2",
                                        "poshidden-t3", "poshidden-t4", "poshidden-t6"));
}

// The setting of a row can be run: it compiles for a model with enough layers and channels.
TEST(PublishedTables, SettingsOfRowsApply) {
  ModelConfig config;
  config.layers = 48;
  config.heads = 8;
  config.key_value_heads = 8;
  config.head_dim = 16;
  config.rope_dimensions = 16;
  config.hidden = 8192;
  config.trained_context = 4096;
  for (const PublishedTable& table : PublishedTables()) {
    std::vector<std::map<std::string, PublishedMethod>> all = {table.methods};
    for (const auto& [column, methods] : table.column_methods) all.push_back(methods);
    for (const auto& methods : all) {
      for (const auto& [row, method] : methods) {
        for (const std::string& setting : method.settings) {
          EXPECT_NO_THROW(CompilePlans(ParseIntervention(setting), config, 64))
              << table.name << ", " << row << ": " << setting;
        }
      }
    }
  }
}

TEST(PublishedTables, SettingsMayDifferByColumn) {
  const PublishedTable& table = Table("poshidden-t3");
  EXPECT_THAT(table.MethodOf(0, "llama2_7b").settings, ElementsAre("none"));
  EXPECT_THAT(table.MethodOf(1, "llama2_7b").settings,
              ElementsAre("channel(2393, factor=-1, layers=10-25, rows=answer)"));
  EXPECT_THAT(table.MethodOf(1, "gemma_7b").settings,
              ElementsAre("channel(1665, factor=0, layers=10-22, rows=answer)",
                          "channel(1665, factor=0, layers=10-25, rows=answer)"));
  EXPECT_THAT(table.MethodOf(6, "mistral_7b").settings,
              ElementsAre("channel(213, factor=0, layers=10-25, rows=last:16)"));
  // For the ablated searches, only the method is published, not the channels.
  EXPECT_TRUE(table.MethodOf(2, "gemma_7b").settings.empty());
  EXPECT_EQ(table.MethodOf(2, "gemma_7b").term, "channel");
}

TEST(TuningRecipes, AreReadComparedAndRefused) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(ReadTuningRecipe(folder.path().string()).empty());
  EXPECT_TRUE(ReadTuningRecipe(folder.path() / "model.gguf").empty());
  folder.Write(kRecipeFile,
               R"({"method": "CREAM", "interpolation": "Linear", "context": 32768, "mine": "x"})");
  const TuningRecipe recipe = ReadTuningRecipe(folder.path().string());
  EXPECT_EQ(TuningRecipeText(recipe), "cream, context=32768, interpolation=linear, mine=x");
  const PublishedTable& t1 = Table("cream-t1");
  EXPECT_TRUE(IsOfRecipe(recipe, t1.RecipeOf(1))) << t1.rows[1];
  EXPECT_FALSE(IsOfRecipe(recipe, t1.RecipeOf(0))) << "PoSE";
  EXPECT_FALSE(IsOfRecipe(recipe, t1.RecipeOf(3))) << "NTK";
  EXPECT_FALSE(IsOfRecipe(recipe, {})) << "the row's model is not tuned";
  EXPECT_FALSE(IsOfRecipe({}, t1.RecipeOf(1)));
  EXPECT_TRUE(IsOfRecipe({}, {}));
  EXPECT_TRUE(IsOfRecipe(recipe, Table("cream-t7").RecipeOf(5)));
  for (const char* bad : {"[1]", "{", R"({"interpolation": "ntk"})", R"({"method": [1]})", "{}"}) {
    folder.Write(kRecipeFile, bad);
    EXPECT_THAT(
        ErrorMessage(ErrorKind::kFailure, [&] { ReadTuningRecipe(folder.path().string()); }),
        HasSubstr(kRecipeFile))
        << bad;
  }
}

TEST(PublishedTables, ANameMayStandForHalvesOfATable) {
  EXPECT_EQ(FindPublishedTables("mspoe-t2").size(), 2U);
  EXPECT_EQ(FindPublishedTables("mspoe-t2-kv").size(), 1U);
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [] { FindPublishedTables("mspoe-t22"); }),
              HasSubstr("'mspoe-t"));
}

TEST(PublishedLines, AreByTaskWithSettingsAndMarks) {
  const std::vector<PublishedLine> lines =
      PublishedLines(Table("mspoe-t2-mdqa"), "mdqa:documents=10,seed=3");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].method.term, "none");
  EXPECT_THAT(lines[0].places, ElementsAre(1, 3, 5, 7, 10));
  EXPECT_DOUBLE_EQ(lines[0].accuracy[2], 0.574);
  EXPECT_EQ(lines[2].method.settings,
            std::vector<std::string>{"self-extend(group=2, window=1024)"});
  EXPECT_THAT(lines[2].marked, ElementsAre(true, true, false, false, false));
  EXPECT_TRUE(PublishedLines(Table("mspoe-t2-mdqa"), "mdqa:documents=20").empty());
  EXPECT_TRUE(PublishedLines(Table("mspoe-t2-mdqa"), "kv:pairs=50").empty());
}

TEST(PublishedLines, SettingsAreTheEndsOfLabels) {
  const std::vector<PublishedLine> lines = PublishedLines(Table("poshidden-t1"), "kv:pairs=140");
  EXPECT_EQ(lines.size(), 23U) << "MPT was not run with Ms-PoE";
  EXPECT_EQ(lines[0].method.term, "none");
  EXPECT_EQ(lines[1].method.term, "ms-poe");
  EXPECT_EQ(lines[2].method.term, "channel");
  EXPECT_THAT(lines[0].places, ElementsAre(1, 35, 70, 105, 140));
  const std::vector<PublishedLine> own = PublishedLines(Table("litm-experiments"), "kv:pairs=140");
  ASSERT_EQ(own.size(), 2U);
  EXPECT_THAT(own[1].method.settings, ElementsAre("none"));
  // A fine-tuned model run without a setting is not the counterpart of one that is not fine-tuned.
  const std::vector<PublishedLine> tuned = PublishedLines(Table("cream-t1"), "kv:pairs=75");
  EXPECT_EQ(TuningRecipeText(tuned.front().recipe), "pose, interpolation=linear");
  const Record record = PublishedRecord(tuned, "kv:pairs=75", 75);
  EXPECT_EQ(std::get<std::vector<std::string>>(record.FindArray("setting")->data).front(), "");
}

TEST(PublishedLines, AMatchIsOfTheWholeSetting) {
  const auto match = [](const char* table, const char* task, size_t line, const char* setting) {
    return MatchSetting(PrintIntervention(ParseIntervention(setting)),
                        PublishedLines(Table(table), task).at(line).method);
  };
  const auto t2 = [&](size_t line, const char* setting) {
    return match("mspoe-t2-mdqa", "mdqa:documents=10", line, setting);
  };
  EXPECT_EQ(t2(0, "none"), PublishedMatch::kSame);
  EXPECT_EQ(t2(1, "none"), PublishedMatch::kNone);
  EXPECT_EQ(t2(1, "pi(1.5)"), PublishedMatch::kSame);
  EXPECT_EQ(t2(1, "pi(2)"), PublishedMatch::kOtherArguments);
  EXPECT_EQ(t2(1, "pi(1.5) + channel(100, factor=0)"), PublishedMatch::kNone);
  for (const char* either : {"preset(ms-poe-paper)", "preset(ms-poe-code)"}) {
    EXPECT_EQ(t2(3, either), PublishedMatch::kSame);
  }
  EXPECT_EQ(t2(3, "ms-poe(min=1.2, max=1.8)"), PublishedMatch::kOtherArguments)
      << "neither what the paper says nor what its code does";
  const auto t4 = [&](size_t line, const char* setting) {
    return match("mspoe-t4", "mdqa:documents=10", line, setting);
  };
  EXPECT_EQ(t4(2, "pi(1.5)"), PublishedMatch::kSame);
  EXPECT_EQ(t4(3, "pi(1.5)"), PublishedMatch::kOtherArguments);
  const auto of_model = [&](size_t line, const char* setting) {
    return match("poshidden-t1", "kv:pairs=140", line, setting);
  };
  EXPECT_EQ(of_model(1, "preset(ms-poe-paper)"), PublishedMatch::kMethodAlone);
  EXPECT_EQ(of_model(2, "preset(channel-llama-2-7b)"), PublishedMatch::kSame);
  EXPECT_EQ(of_model(5, "preset(channel-llama-2-7b)"), PublishedMatch::kOtherArguments)
      << "the channel of another model";
}

// Rows of tuned models also match their interpolation as a setting, by the context of the recipe.
TEST(PublishedLines, TunedRowsMatchTheirInterpolationAsASetting) {
  const auto match = [](size_t line, const TuningRecipe& run, const char* setting) {
    return MatchSetting(
        PrintIntervention(ParseIntervention(setting)),
        MethodForRun(PublishedLines(Table("cream-t1"), "kv:pairs=75").at(line).method, run));
  };
  const TuningRecipe run = {{"method", "cream"}, {"context", "32768"}};
  // Lines: PoSE and CREAM with Linear, then with NTK, then with YaRN.
  EXPECT_EQ(match(1, run, "pi(8)"), PublishedMatch::kSame);
  EXPECT_EQ(match(1, run, "none"), PublishedMatch::kSame);
  EXPECT_EQ(match(1, run, "pi(4)"), PublishedMatch::kOtherArguments);
  EXPECT_EQ(match(1, run, "ntk(8)"), PublishedMatch::kNone);
  EXPECT_EQ(match(3, run, "ntk(8)"), PublishedMatch::kSame);
  EXPECT_EQ(match(5, run, "yarn(8, context=4096, form=cream)"), PublishedMatch::kSame);
  EXPECT_EQ(match(5, run, "yarn(8, context=4096)"), PublishedMatch::kOtherArguments)
      << "another form of YaRN";
  EXPECT_EQ(match(1, {{"method", "cream"}}, "pi(8)"), PublishedMatch::kNone)
      << "no factor without a context";
  // PoSE's rows of Table 5 are of a model with 2,048 tokens.
  const PublishedTable& t5 = Table("cream-t5");
  EXPECT_EQ(t5.rows.at(0), "PoSE-Linear-128K");
  EXPECT_EQ(MethodForRun(t5.MethodOf(0), {{"context", "131072"}}).settings.back(), "pi(64)");
}

TEST(PublishedTables, NameTheModelsOfRowsAndColumns) {
  EXPECT_EQ(Table("mspoe-t1").ModelNames().size(), 6U);
  EXPECT_EQ(Table("mspoe-t1").ModelOf(1), "Llama-2-7B-Chat");
  EXPECT_THAT(Table("mspoe-t4").ModelNames(), ElementsAre("Vicuna-7B"));
  EXPECT_EQ(Table("poshidden-t2").ModelNames().size(), 8U);
  EXPECT_EQ(Table("poshidden-t2").ModelOf(1), "LLaMA-2-7b-chat");
  EXPECT_EQ(Table("poshidden-t3").ModelOf(0, "gemma_7b"), "Gemma-1.1-7b-it");
  EXPECT_EQ(Table("poshidden-t4").ModelNames().size(), 3U);
}

TEST(PublishedLines, OfTheKindStandByTheShareOfPlaces) {
  const PublishedTable& table = Table("mspoe-t2-kv");
  EXPECT_TRUE(PublishedLines(table, "kv:pairs=10").empty());
  const std::vector<PublishedLine> lines = PublishedLinesOfKind(table, "kv:pairs=10");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].task, "kv:pairs=50");
  EXPECT_EQ(lines[0].pieces, 50);
  EXPECT_TRUE(PublishedLinesOfKind(table, "mdqa:documents=10").empty());
  // If lines with the task's number exist, lines of other numbers are omitted.
  EXPECT_EQ(PublishedLinesOfKind(Table("poshidden-t1"), "kv:pairs=140").size(), 23U);
  EXPECT_EQ(PublishedPieces("kv:pairs=50", "kv:pairs=10,query_aware=1"), 10);
  EXPECT_EQ(PublishedPieces("kv:pairs=50", "kv"), 0);
  EXPECT_DOUBLE_EQ(SamePlace(1, 50, 10), 1);
  EXPECT_DOUBLE_EQ(SamePlace(50, 50, 10), 10);
  EXPECT_DOUBLE_EQ(SamePlace(30, 50, 10), 1 + 9 * 29.0 / 49);
  EXPECT_DOUBLE_EQ(SamePlace(30, 50, 0), 30);
}

TEST(PublishedRecord, HoldsWhatTheLinesSay) {
  const std::vector<PublishedLine> lines =
      PublishedLinesOfKind(Table("mspoe-t2-mdqa"), "mdqa:documents=20");
  const Record record = PublishedRecord(lines, "mdqa:documents=20", 20);
  EXPECT_NO_THROW(record.Check());
  EXPECT_EQ(std::get<std::string>(record.attributes.at("table")), "mspoe-t2-mdqa");
  EXPECT_THAT(record.FindAxis("line")->labels,
              ElementsAre("Baseline", "PI", "Self-Extend", "Ms-PoE"));
  const auto& accuracy = std::get<std::vector<double>>(record.FindArray("accuracy")->data);
  EXPECT_DOUBLE_EQ(accuracy[2], 0.574);
  const auto& place = std::get<std::vector<double>>(record.FindArray("place")->data);
  EXPECT_DOUBLE_EQ(place[4], 20);
  EXPECT_DOUBLE_EQ(place[1], 1 + 19 * 2.0 / 9);
  const auto& notes = std::get<std::vector<std::string>>(record.FindArray("note")->data);
  EXPECT_EQ(notes[0], "");
  EXPECT_THAT(notes[10], HasSubstr("500 samples"));
  EXPECT_THAT(std::get<std::vector<int64_t>>(record.FindArray("pieces")->data),
              ElementsAre(10, 10, 10, 10));
  const std::vector<const PublishedTable*> tables = PublishedTablesFor("kv:pairs=7");
  std::vector<std::string> names;
  names.reserve(tables.size());
  for (const PublishedTable* table : tables) names.push_back(table->name);
  EXPECT_THAT(names, ::testing::Contains("mspoe-t2-kv"));
  EXPECT_THAT(names, ::testing::Not(::testing::Contains("mspoe-t2-mdqa")));
  EXPECT_TRUE(PublishedTablesFor("list:lines=20").empty());
}

}  // namespace
}  // namespace midscope
