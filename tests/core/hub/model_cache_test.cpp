// SPDX-License-Identifier: MIT
#include "core/hub/model_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/model/model_source.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::TemporaryFolder;
using ::testing::HasSubstr;

// The cache's variables as given, and no others.
class Variables {
 public:
  Variables(const std::string& hub_cache, const std::string& home) {
    for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"}) unsetenv(name);
    if (!hub_cache.empty()) setenv("HF_HUB_CACHE", hub_cache.c_str(), 1);
    if (!home.empty()) setenv("HF_HOME", home.c_str(), 1);
  }
  ~Variables() {
    for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"}) unsetenv(name);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
};

TEST(ModelCache, FollowsItsVariables) {
  {
    const Variables variables("", "/home");
    EXPECT_EQ(HuggingFaceCache(), "/home/hub");
  }
  const Variables variables("/hub", "/home");
  EXPECT_EQ(HuggingFaceCache(), "/hub");
}

TEST(ModelCache, KnowsNamesFromPaths) {
  EXPECT_TRUE(IsModelName("HuggingFaceTB/SmolLM2-135M-Instruct"));
  EXPECT_TRUE(IsModelName("a/b.c_d"));
  for (const char* name : {"", "a", "a/", "/b", "a/b/c", "../b", "a/..", "a/.b", "a b/c", "-a/b"}) {
    EXPECT_FALSE(IsModelName(name)) << name;
  }
}

class Cache : public ::testing::Test {
 protected:
  void AddSnapshot(const std::string& revision) {
    const std::filesystem::path snapshot = folder_.path() / kModel / "snapshots" / revision;
    std::filesystem::create_directories(snapshot);
    // As huggingface_hub lays them: links to blobs beside the snapshots.
    const std::filesystem::path blobs = folder_.path() / kModel / "blobs";
    std::filesystem::create_directories(blobs);
    const std::filesystem::path tiny =
        std::filesystem::path(MIDSCOPE_TESTS "/core/golden/tiny_models") / "qwen3";
    for (const auto& file : std::filesystem::directory_iterator(tiny)) {
      const std::string name = file.path().filename().string();
      std::filesystem::copy(file.path(), blobs / name,
                            std::filesystem::copy_options::overwrite_existing);
      std::filesystem::create_symlink("../../blobs/" + name, snapshot / name);
    }
  }

  static constexpr const char* kModel = "models--org--name";
  TemporaryFolder folder_;
  Variables variables_{folder_.path().string(), ""};
};

TEST_F(Cache, OpensAModelByItsName) {
  AddSnapshot("abc123");
  folder_.Write("models--org--name/refs/main", "abc123");
  const std::unique_ptr<ModelSource> model = OpenModel("org/name");
  EXPECT_EQ(model->config().architecture, "qwen3");
  EXPECT_THAT(model->path(), HasSubstr("snapshots/abc123"));
}

TEST_F(Cache, TakesTheOnlySnapshotWhereNoneIsMain) {
  AddSnapshot("abc123");
  EXPECT_EQ(FindCachedModel("org/name")->filename(), "abc123");
  AddSnapshot("def456");
  EXPECT_THAT(ErrorMessage([] { FindCachedModel("org/name"); }), HasSubstr("several snapshots"));
  folder_.Write("models--org--name/refs/main", "def456\n");
  EXPECT_EQ(FindCachedModel("org/name")->filename(), "def456");
}

// refs/main becomes part of a path.
TEST_F(Cache, IsNotLedElsewhereByRefs) {
  AddSnapshot("abc123");
  folder_.Write("secret/config.json", "{}");
  folder_.Write("models--org--name/refs/main", "../../secret");
  EXPECT_EQ(FindCachedModel("org/name")->filename(), "abc123");
}

TEST_F(Cache, SaysWhatIsNotThere) {
  EXPECT_EQ(FindCachedModel("org/name"), std::nullopt);
  EXPECT_THAT(
      ErrorMessage([] { OpenModel("org/name"); }),
      HasSubstr("is neither a file nor a folder, nor a model in " + folder_.path().string()));
  std::filesystem::create_directories(folder_.path() / kModel);
  EXPECT_THAT(ErrorMessage([] { FindCachedModel("org/name"); }), HasSubstr("holds no snapshot"));
}

}  // namespace
}  // namespace midscope
