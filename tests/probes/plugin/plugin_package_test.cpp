// SPDX-License-Identifier: MIT
// Midscope is installed and moved, and the example of PLUGINS.md is built against it as a user
// builds it; the installed program then prints and stores the example's record without further
// code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "data/store/record_reader.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TemporaryFolder;

struct Output {
  int status = 0;
  std::string text;
};

// Runs a shell command and returns its standard output and error.
Output Shell(const std::string& command) {
  Output output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return {-1, "no shell"};
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.text.append(buffer, n);
  }
  output.status = ::pclose(pipe);
  return output;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class PluginPackage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<TemporaryFolder>();
    prefix = folder->File("moved");
    const std::string first = folder->File("first");
    Output output =
        Shell("'" MIDSCOPE_CMAKE "' --install '" MIDSCOPE_BUILD "' --component toolkit --prefix '" +
              first + "'");
    ASSERT_EQ(output.status, 0) << output.text;
    fs::rename(first, prefix);
    const std::string build = folder->File("build");
    // CMake's default generator would need another build tool than that of this build.
    output = Shell("'" MIDSCOPE_CMAKE "' -G '" MIDSCOPE_GENERATOR "' -S '" MIDSCOPE_TESTS
                   "/probes/plugin/plugin_example"
                   "' -B '" +
                   build + "' -DCMAKE_PREFIX_PATH='" + prefix.string() +
                   "' -DCMAKE_CXX_COMPILER='" MIDSCOPE_COMPILER
                   "' -DCMAKE_CXX_FLAGS='-Wall "
                   "-Wextra -Werror " MIDSCOPE_FLAGS "' && '" MIDSCOPE_CMAKE "' --build '" +
                   build + "'");
    ASSERT_EQ(output.status, 0) << output.text;
    // Not even a warning that LibTorch, which Midscope's libraries need, was not found.
    EXPECT_THAT(output.text, Not(HasSubstr("warning")));
    plugin = build + "/attention_entropy.so";
  }
  static void TearDownTestSuite() { folder.reset(); }

  static std::string Program() { return "'" + (prefix / "bin" / "midscope").string() + "'"; }
  static std::string WithPlugin() { return " --plugin '" + plugin + "' "; }

  static inline std::unique_ptr<TemporaryFolder> folder;
  static inline fs::path prefix;
  static inline std::string plugin;
};

TEST_F(PluginPackage, InstalledHeadersStandAloneAndNeedNoTensorLibrary) {
  size_t headers = 0;
  for (const auto& entry : fs::recursive_directory_iterator(prefix / "include")) {
    if (!entry.is_regular_file()) continue;
    ++headers;
    std::istringstream lines(ReadFile(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("#include", 0) != 0) continue;
      EXPECT_THAT(line, Not(::testing::ContainsRegex("ATen|torch|c10|hdf5|Q[A-Z]")));
      const size_t quote = line.find('"');
      if (quote == std::string::npos) continue;
      const std::string name = line.substr(quote + 1, line.rfind('"') - quote - 1);
      EXPECT_TRUE(fs::exists(prefix / "include" / "midscope" / name)) << name;
    }
  }
  EXPECT_GT(headers, 15u);
}

TEST_F(PluginPackage, ShowsUpInHelpAndList) {
  const Output help = Shell(Program() + " probe --help" + WithPlugin());
  EXPECT_THAT(help.text, HasSubstr("--attention-entropy-unit"));
  EXPECT_THAT(help.text, HasSubstr("nats | bits"));
  const Output list = Shell(Program() + " probe --list" + WithPlugin());
  EXPECT_EQ(list.status, 0) << list.text;
  EXPECT_THAT(list.text, HasSubstr("attention_entropy.so"));
  EXPECT_THAT(list.text, HasSubstr("how widely the last prompt token spreads its attention"));
  EXPECT_THAT(Shell(Program() + " probe --list").text, Not(HasSubstr("attention_entropy")));
}

TEST_F(PluginPackage, ItsRecordIsPrintedAndStored) {
  const std::string file = folder->File("entropy.h5");
  const std::string run = Program() + " probe embedded --prompt 'The capital of France is'" +
                          WithPlugin() + "--attention-entropy-unit bits --out '" + file + "'";
  const Output text = Shell(run);
  ASSERT_EQ(text.status, 0) << text.text;
  EXPECT_THAT(text.text, HasSubstr("attention_entropy:\n  plugin attention_entropy.so"));
  EXPECT_THAT(text.text, HasSubstr("entropy [layer 30, head 9] in bits: "));
  EXPECT_THAT(text.text, HasSubstr("layer  mean_entropy [bits]"));

  const RunFile stored = ReadRecords(file);
  const auto find = [&](const std::string& name) -> const Record& {
    for (const Record& record : stored.records) {
      if (record.name == name) return record;
    }
    throw std::runtime_error("no record " + name);
  };
  const Record& record = find("attention_entropy");
  const auto& entropy = std::get<std::vector<double>>(record.FindArray("entropy")->data);
  EXPECT_EQ(record.FindArray("entropy")->unit, "bits");
  EXPECT_EQ(std::get<std::string>(record.attributes.at("plugin")), "attention_entropy.so");
  EXPECT_EQ(std::get<std::string>(record.attributes.at("plugin_hash")).size(), 32u);
  // Computes the entropy from the attention in the same file.
  const auto& attention = std::get<std::vector<float>>(
      find("last_query_attention").FindArray("last_query_attention")->data);
  const size_t keys = attention.size() / entropy.size();
  ASSERT_EQ(keys, 5u);
  for (size_t head = 0; head < entropy.size(); ++head) {
    double expected = 0;
    for (size_t key = 0; key < keys; ++key) {
      const double weight = attention[head * keys + key];
      if (weight > 0) expected -= weight * std::log2(weight);
    }
    ASSERT_NEAR(entropy[head], expected, 1e-6) << head;
  }

  const Output printed = Shell(run + " --overwrite --json --quiet");
  ASSERT_EQ(printed.status, 0) << printed.text;
  const json records = json::parse(printed.text).at("records");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["name"], "attention_entropy");
  EXPECT_EQ(records[0]["arrays"][0]["shape"], json({30, 9}));
  EXPECT_DOUBLE_EQ(records[0]["arrays"][0]["data"][29][8].get<double>(), entropy.back());
}

TEST_F(PluginPackage, ItsOptionIsCheckedAsAllOthers) {
  const Output refused = Shell(Program() + " probe embedded --prompt a" + WithPlugin() +
                               "--attention-entropy-unit nat");
  EXPECT_THAT(refused.text, HasSubstr("--attention-entropy-unit"));
  EXPECT_THAT(refused.text, HasSubstr("nats"));
  EXPECT_NE(refused.status, 0);
}

}  // namespace
}  // namespace midscope
