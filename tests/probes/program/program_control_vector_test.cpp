// SPDX-License-Identifier: MIT
// A direction is found, written as a control vector, and added to a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/formats/control_vector_file.h"
#include "tests/core/support/tiny_models.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ProgramControlVector : public ::testing::Test {
 protected:
  static Arguments Probe(const std::string& file, const std::string& with = "none") {
    return {"probe",      test::TinyModelPath("llama"),
            "--prompt",   "one two three four five six",
            "--probes",   "position_direction",
            "--with",     with,
            "--out",      file,
            "--overwrite"};
  }
  json Arrays(const std::string& file) {
    const json file_json = json::parse(RunWell({"export", file, "--format", "json"}).out);
    for (const json& record : file_json["records"]) {
      if (record["name"] == "position_direction") return record["arrays"];
    }
    return nullptr;
  }
  TemporaryFolder folder_;
};

TEST_F(ProgramControlVector, GoesFromAFileOfResultsToARun) {
  const std::string results = folder_.File("d.h5");
  const std::string vector = folder_.File("d.gguf");
  RunWell(Probe(results));
  RunWell({"export", results, "--array", "position_direction", "--out", vector});
  const ControlVector read = ReadControlVector(vector);
  EXPECT_EQ(read.model_hint, "llama");
  ASSERT_EQ(read.directions.size(), 1u);
  const json before = Arrays(results);
  const double slope = before[1]["data"][1];
  EXPECT_FLOAT_EQ(read.directions.at(1)[3], before[0]["data"][1][3].get<float>());
  // Added to every row, the vector changes neither direction nor slope, because a constant has no
  // covariance with position; added only to the last row, it does.
  RunWell(Probe(results, "vector(" + vector + ", scale=50)"));
  EXPECT_NEAR(Arrays(results)[1]["data"][1].get<double>(), slope, 1e-4 * std::abs(slope));
  RunWell(Probe(results, "vector(" + vector + ", scale=50, rows=last)"));
  EXPECT_GT(Arrays(results)[1]["data"][1].get<double>(), 1.5 * slope);
}

TEST_F(ProgramControlVector, OtherArraysAndTerminalsAreRefused) {
  const std::string results = folder_.File("d.h5");
  RunWell(Probe(results));
  const ProgramRun slope = RunMidscope(
      {"export", results, "--array", "position_slope", "--out", folder_.File("s.gguf")});
  EXPECT_EQ(slope.status, 2);
  EXPECT_THAT(slope.err, HasSubstr("one direction a layer"));
  const ProgramRun terminal =
      RunMidscope({"export", results, "--array", "position_direction", "--format", "gguf"});
  EXPECT_EQ(terminal.status, 2);
  EXPECT_THAT(terminal.err, HasSubstr("Give --out FILE.gguf"));
}

}  // namespace
}  // namespace midscope
