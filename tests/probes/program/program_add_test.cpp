// SPDX-License-Identifier: MIT
// `midscope sweep --add`: settings, places and samples are added to a file, whose data sets then
// equal those of one run of the complete plan bit for bit; any other addition is rejected by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/record_names.h"
#include "data/store/record_reader.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kChannel = "channel(100, factor=-1, layers=8-25)";

Arguments AddedSweep(const std::string& file, const Arguments& more) {
  return With(
      {"sweep", "embedded", "--task", "list:lines=6", "--seed", "5", "--json", "--out", file},
      more);
}

// Compares bits; NaN equals NaN.
bool SameArrayBits(const ArrayData& a, const ArrayData& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& left) {
        const auto& right = std::get<std::decay_t<decltype(left)>>(b);
        using T = typename std::decay_t<decltype(left)>::value_type;
        if constexpr (std::is_floating_point_v<T>) {
          return left.size() == right.size() &&
                 std::memcmp(left.data(), right.data(), left.size() * sizeof(T)) == 0;
        } else {
          return left == right;
        }
      },
      a);
}

// Expects all arrays to have equal names and contents, except times, axes and plans.
void ExpectSameFile(const std::string& a, const std::string& b) {
  const RunReader one(a);
  const RunReader other(b);
  EXPECT_EQ(json::parse(one.plan_json()), json::parse(other.plan_json()));
  ASSERT_EQ(one.record_names(), other.record_names());
  for (const std::string& name : one.record_names()) {
    const Record left = one.Read(name);
    const Record right = other.Read(name);
    EXPECT_EQ(left.attributes, right.attributes) << name;
    ASSERT_EQ(left.arrays.size(), right.arrays.size()) << name;
    for (size_t i = 0; i < left.arrays.size(); ++i) {
      EXPECT_EQ(left.arrays[i].name, right.arrays[i].name);
      if (left.arrays[i].unit == kSeconds) continue;
      EXPECT_TRUE(SameArrayBits(left.arrays[i].data, right.arrays[i].data))
          << name << "/" << left.arrays[i].name;
    }
  }
}

TEST(ProgramAdd, TheFileIsThatOfOneRunOfTheWholePlan) {
  const TemporaryFolder folder;
  const std::string grown = folder.File("grown.h5");
  RunWell(AddedSweep(grown, {"--places", "1,6", "--samples", "2", "--with", "none"}));
  const ProgramRun added = RunWell(
      AddedSweep(grown, {"--add", "--places", "3", "--with", kChannel, "--with", "pi(1.5)"}));
  EXPECT_THAT(added.err, HasSubstr("remains unchanged"));
  const ProgramRun more = RunWell(AddedSweep(grown, {"--add", "--samples", "3"}));
  EXPECT_THAT(more.err, Not(HasSubstr("run again")));
  const std::string whole = folder.File("whole.h5");
  const ProgramRun at_once =
      RunWell(AddedSweep(whole, {"--places", "1,3,6", "--samples", "3", "--with", "none", "--with",
                                 kChannel, "--with", "pi(1.5)"}));
  EXPECT_EQ(json::parse(more.out)["rows"], json::parse(at_once.out)["rows"]);
  ExpectSameFile(grown, whole);
  // Times differ between the two files and are not compared.
  EXPECT_THAT(RunWell({"compare", grown, whole}).out,
              AllOf(HasSubstr(", 0 differ"), HasSubstr("not compared, wall time (B): ")));
  EXPECT_FALSE(std::filesystem::exists(grown + ".adding"));
}

TEST(ProgramAdd, NothingToAddPrintsTheTable) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  const ProgramRun first = RunWell(AddedSweep(file, {"--places", "1", "--samples", "2"}));
  const ProgramRun again = RunWell(AddedSweep(file, {"--add", "--places", "1"}));
  EXPECT_THAT(again.err, HasSubstr("nothing to add"));
  EXPECT_EQ(again.out, first.out);
}

TEST(ProgramAdd, WhatDiffersIsNamed) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  RunWell(AddedSweep(file, {"--places", "1", "--samples", "1", "--with", "none"}));
  const ProgramRun resumed =
      RunMidscope(AddedSweep(file, {"--resume", "--places", "1", "--samples", "1", "--with", "none",
                                    "--with", "pi(1.5)"}));
  EXPECT_EQ(resumed.status, 1);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("settings: there without 'pi(1.5)'"), HasSubstr("--add"),
                                 Not(HasSubstr("{"))));
  const ProgramRun other = RunMidscope(AddedSweep(file, {"--add", "--bos", "on"}));
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("bos is not set there, but 'on' is requested"));
  EXPECT_EQ(RunMidscope(AddedSweep(folder.File("none.h5"), {"--add"})).status, 2);
  EXPECT_EQ(RunMidscope(AddedSweep(file, {"--add", "--resume"})).status, 2);
}

TEST(ProgramAdd, EqualSettingsAreRefused) {
  const TemporaryFolder folder;
  const ProgramRun run = RunMidscope(
      AddedSweep(folder.File("run.h5"), {"--with", "pi(1.5)", "--with", "pi(ratio=1.5)"}));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("same setting"));
}

}  // namespace
}  // namespace midscope
