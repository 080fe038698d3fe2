// SPDX-License-Identifier: MIT
// Downloads from hub_server.py, a local hub that behaves well or badly depending on the model's
// name. Contract: a file in the cache is complete and has the listed digest; an Error states the
// reason; nothing is written outside the cache.
#include "core/hub/hub_fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/model/model_source.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/hub_server.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::HubServer;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kCommit = "c0ffee0000000000000000000000000000000000";
constexpr const char* kToken = "hf_secret";

const HubServer& TheServer() {
  static const HubServer server;
  return server;
}

class HubFetch : public ::testing::Test {
 protected:
  FetchRequest Request(const std::string& name) {
    FetchRequest request;
    request.model = "org/" + name;
    request.endpoint = TheServer().hub();
    request.cache = folder_.path() / "hub";
    request.retry_pause = 0.01;
    request.stall_seconds = 20;
    return request;
  }

  JobContext Context() {
    JobContext context;
    context.log = [this](const std::string& message) { log_ += message + "\n"; };
    return context;
  }

  FetchResult Fetch(const FetchRequest& request) { return FetchModel(request, Context()); }
  FetchResult Fetch(const std::string& name) { return Fetch(Request(name)); }
  std::string ErrorOf(const FetchRequest& request) {
    return ErrorMessage([&] { Fetch(request); });
  }
  std::string ErrorOf(const std::string& name) { return ErrorOf(Request(name)); }

  fs::path Repository(const std::string& name) const {
    return folder_.path() / "hub" / ("models--org--" + name);
  }
  // Names of the regular files below a folder that end so.
  std::vector<std::string> FilesEnding(const fs::path& folder, const std::string& end) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_directory() && name.ends_with(end)) names.push_back(name);
    }
    return names;
  }
  // The weights that the cache holds are those of the tiny model.
  void ExpectWeights(const FetchResult& result) const {
    const std::string original =
        OpenModel(std::string(MIDSCOPE_TESTS "/core/golden/tiny_models") + "/qwen3")->Hash();
    EXPECT_EQ(OpenModel(result.folder.string())->Hash(), original);
    EXPECT_THAT(FilesEnding(folder_.path() / "hub", ".incomplete"), ElementsAre());
  }

  TemporaryFolder folder_;
  std::string log_;
};

std::vector<std::string> Names(const FetchResult& result) {
  std::vector<std::string> names;
  for (const FetchedFile& file : result.files) names.push_back(file.name);
  return names;
}

TEST_F(HubFetch, FetchesWhatAModelNeedsAndOpensItByItsName) {
  FetchRequest request = Request("private");
  request.token = kToken;
  const FetchResult result = Fetch(request);
  EXPECT_EQ(result.commit, kCommit);
  EXPECT_THAT(Names(result), ElementsAre("config.json", "tokenizer.json", "tokenizer_config.json",
                                         "model.safetensors"));
  EXPECT_TRUE(fs::is_symlink(result.folder / "config.json"));
  EXPECT_EQ(fs::read_symlink(result.folder / "config.json").string().substr(0, 12), "../../blobs/");
  EXPECT_EQ(folder_.Read("hub/models--org--private/refs/main"), kCommit);
  ExpectWeights(result);
  EXPECT_THAT(log_, AllOf(HasSubstr("optimizer.pt"), HasSubstr("pickle")));
  setenv("HF_HUB_CACHE", request.cache.c_str(), 1);
  EXPECT_EQ(OpenModel("org/private")->config().architecture, "qwen3");
  unsetenv("HF_HUB_CACHE");

  bool store = false;
  for (const Json& asked : TheServer().Asked("private")) {
    const bool hub = asked["server"] == "hub";
    store = store || !hub;
    EXPECT_EQ(asked["token"], hub ? Json("Bearer hf_secret") : Json(nullptr)) << asked;
  }
  EXPECT_TRUE(store);
}

TEST_F(HubFetch, FetchesNothingTwiceButWhatIsDamaged) {
  const FetchResult first = Fetch("plain");
  for (const FetchedFile& file : first.files) EXPECT_EQ(file.fetched_bytes, file.bytes);
  for (const FetchedFile& file : Fetch("plain").files) EXPECT_EQ(file.fetched_bytes, 0);
  const fs::path weights = fs::canonical(first.folder / "model.safetensors");
  std::string bytes = folder_.Read(fs::relative(weights, folder_.path()).string());
  bytes[30000] ^= 1;
  folder_.Write(fs::relative(weights, folder_.path()).string(), bytes);
  EXPECT_EQ(Fetch("plain").files.back().fetched_bytes, first.files.back().bytes);
  EXPECT_THAT(log_, HasSubstr("damaged"));
  ExpectWeights(first);
}

TEST_F(HubFetch, FetchesTheShardsThatAnIndexNames) {
  const FetchResult result = Fetch("sharded");
  EXPECT_EQ(OpenModel(result.folder.string())->Hash(),
            OpenModel(std::string(MIDSCOPE_TESTS "/core/golden/tiny_models") + "/olmo2")->Hash());
}

TEST_F(HubFetch, ReadsAListOfSeveralPages) { ExpectWeights(Fetch("paged")); }

TEST_F(HubFetch, FetchesAnotherRevisionUnderItsName) {
  FetchRequest request = Request("plain");
  request.revision = "refs/pr/1";
  const FetchResult result = Fetch(request);
  EXPECT_EQ(folder_.Read("hub/models--org--plain/refs/refs/pr/1"), kCommit);
  EXPECT_FALSE(fs::exists(Repository("plain") / "refs" / "main"));
  setenv("HF_HUB_CACHE", request.cache.c_str(), 1);
  EXPECT_EQ(ResolveModel("org/plain@refs/pr/1"), result.folder);
  EXPECT_EQ(ResolveModel(std::string("org/plain@") + kCommit), result.folder);
  EXPECT_THAT(ErrorMessage([] { ResolveModel("org/plain@v2"); }),
              HasSubstr("midscope fetch org/plain --revision v2"));
  unsetenv("HF_HUB_CACHE");
  request.revision = "v7";
  EXPECT_THAT(ErrorOf(request), HasSubstr("no revision 'v7'"));
}

TEST_F(HubFetch, FetchesAGgufFileAlone) {
  FetchRequest request = Request("gguf");
  EXPECT_THAT(Names(Fetch(request)), ElementsAre("config.json", "quants/model.gguf"));
  request.include = {"*.gguf"};
  const FetchResult result = Fetch(request);
  EXPECT_THAT(Names(result), ElementsAre("quants/model.gguf"));
  setenv("HF_HUB_CACHE", request.cache.c_str(), 1);
  EXPECT_EQ(OpenModel("org/gguf")->config().architecture, "llama");
  unsetenv("HF_HUB_CACHE");
  EXPECT_THAT(ErrorOf("ggufs"),
              AllOf(HasSubstr("a-Q4_0.gguf (104 bytes)"), HasSubstr("--include")));
  FetchRequest one = Request("ggufs");
  one.include = {"*Q8_0*"};
  EXPECT_THAT(Names(Fetch(one)), ElementsAre("b-Q8_0.gguf"));
  one.include = {"*Q5*"};
  EXPECT_THAT(ErrorOf(one), AllOf(HasSubstr("no file"), HasSubstr("b-Q8_0.gguf")));
}

TEST_F(HubFetch, FetchesAllShardsOfASplitGgufModel) {
  const auto all = ElementsAre("Q8/m-00001-of-00003.gguf", "Q8/m-00002-of-00003.gguf",
                               "Q8/m-00003-of-00003.gguf");
  const FetchResult result = Fetch("split");
  EXPECT_THAT(Names(result), all);
  setenv("HF_HUB_CACHE", Request("split").cache.c_str(), 1);
  EXPECT_EQ(ResolveModel("org/split"), result.folder / "Q8/m-00001-of-00003.gguf");
  unsetenv("HF_HUB_CACHE");
  FetchRequest request = Request("split");
  request.include = {"*00002-of-00003.gguf"};
  EXPECT_THAT(Names(Fetch(request)), ::testing::UnorderedElementsAreArray(
                                         {"Q8/m-00001-of-00003.gguf", "Q8/m-00002-of-00003.gguf",
                                          "Q8/m-00003-of-00003.gguf"}));
  EXPECT_THAT(ErrorOf("half-split"), HasSubstr("lacks the file 'm-00002-of-00002.gguf'"));
}

TEST_F(HubFetch, FetchesAnEmptyFile) {
  FetchRequest request = Request("plain");
  request.include = {"empty.txt", ".git*"};
  EXPECT_EQ(Fetch(request).files.size(), 2u);
  EXPECT_EQ(fs::file_size(Repository("plain") / "snapshots" / kCommit / "empty.txt"), 0u);
}

TEST_F(HubFetch, TakesPytorchModelFilesWhereThereAreNoSafetensors) {
  const FetchResult result = Fetch("torch-shards");
  EXPECT_THAT(Names(result),
              ElementsAre("config.json", "pytorch_model.bin.index.json",
                          "pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"));
  EXPECT_THAT(log_, HasSubstr("reads only pytorch_model*.bin: training_args.bin (4 bytes)\n"));
  FetchRequest request = Request("torch-shards");
  request.include = {"*model-00002*", "training*"};
  EXPECT_THAT(Names(Fetch(request)), ElementsAre("pytorch_model-00002-of-00002.bin"));
}

TEST_F(HubFetch, NeverFetchesOtherPickledFiles) {
  EXPECT_THAT(ErrorOf("pickled"), AllOf(HasSubstr("under other names"), HasSubstr("never")));
  FetchRequest request = Request("pickled");
  request.include = {"*.pth", "*.pt"};
  EXPECT_THAT(ErrorOf(request), AllOf(HasSubstr("consolidated.00.pth"), HasSubstr("sub/model.pt")));
  request.include = {"*"};
  EXPECT_THAT(Names(Fetch(request)), ElementsAre("config.json"));
  EXPECT_THAT(log_, HasSubstr("any program"));
}

// The store sends 20,000 bytes of the weights and closes the connection.
TEST_F(HubFetch, GoesOnAfterALostConnection) {
  ExpectWeights(Fetch("cut"));
  std::vector<Json> ranges;
  for (const Json& asked : TheServer().Asked("cut")) {
    if (asked["server"] == "store") ranges.push_back(asked["range"]);
  }
  EXPECT_THAT(ranges, ElementsAre(Json(nullptr), Json("bytes=20000-")));
  EXPECT_THAT(log_, HasSubstr("Trying again"));
}

TEST_F(HubFetch, StartsOverWhereTheServerIgnoresTheRange) {
  ExpectWeights(Fetch("no-range"));
  EXPECT_THAT(log_, HasSubstr("starting over"));
}

TEST_F(HubFetch, StartsOverWhereTheServerSendsAnotherPart) { ExpectWeights(Fetch("wrong-part")); }

TEST_F(HubFetch, GoesOnWithWhatAnEarlierRunLeft) {
  const FetchResult first = Fetch("plain");
  const fs::path blob = fs::canonical(first.folder / "model.safetensors");
  const fs::path part = blob.string() + ".incomplete";
  const auto leave = [&](int64_t bytes, bool damage) {
    fs::rename(blob, part);
    fs::resize_file(part, static_cast<uintmax_t>(bytes));
    if (damage) {
      std::fstream file(part, std::ios::in | std::ios::out | std::ios::binary);
      file.write("????", 4);
    }
  };
  leave(30000, false);
  EXPECT_EQ(Fetch("plain").files.back().fetched_bytes, first.files.back().bytes - 30000);
  ExpectWeights(first);
  // The digest differs at the end; then the whole file is fetched again.
  leave(30000, true);
  EXPECT_EQ(Fetch("plain").files.back().fetched_bytes, 2 * first.files.back().bytes - 30000);
  ExpectWeights(first);
  // Whole, but not yet under its name; longer than the file is.
  leave(first.files.back().bytes, false);
  EXPECT_EQ(Fetch("plain").files.back().fetched_bytes, 0);
  leave(first.files.back().bytes + 5, false);
  EXPECT_EQ(Fetch("plain").files.back().fetched_bytes, first.files.back().bytes);
  ExpectWeights(first);
}

TEST_F(HubFetch, TriesAgainWhileTheServerIsBusy) {
  ExpectWeights(Fetch("busy"));
  EXPECT_THAT(log_, HasSubstr("503"));
}

TEST_F(HubFetch, RefusesWhatHasAnotherDigest) {
  EXPECT_THAT(ErrorOf("wrong-hash"), AllOf(HasSubstr("model.safetensors"), HasSubstr("digest")));
  EXPECT_FALSE(fs::exists(Repository("wrong-hash") / "snapshots" / kCommit / "model.safetensors"));
  EXPECT_FALSE(fs::exists(Repository("wrong-hash") / "refs" / "main"));
}

TEST_F(HubFetch, RefusesBodiesOfAnotherLength) {
  EXPECT_THAT(ErrorOf("endless"), HasSubstr("sends more than its"));
  EXPECT_THAT(ErrorOf("endless-list"), HasSubstr("longer than"));
  EXPECT_THAT(ErrorOf("short"), HasSubstr("ended early"));
  EXPECT_THAT(ErrorOf("no-json"), HasSubstr("JSON"));
}

TEST_F(HubFetch, SaysWhatTheHubRefuses) {
  EXPECT_THAT(ErrorOf("unknown"), AllOf(HasSubstr("no such model"), HasSubstr("set HF_TOKEN")));
  FetchRequest request = Request("unknown");
  request.token = kToken;
  EXPECT_THAT(ErrorOf(request), AllOf(HasSubstr("HF_TOKEN's account"), Not(HasSubstr(kToken))));
  EXPECT_THAT(ErrorOf("gated"), AllOf(HasSubstr("accepted its terms"), HasSubstr("restricted"),
                                      Not(HasSubstr("\x07"))));
  EXPECT_THAT(ErrorOf("no-file"), AllOf(HasSubstr("model.safetensors"), HasSubstr("404")));
}

TEST_F(HubFetch, FollowsRedirectsNeitherForEverNorAnywhere) {
  EXPECT_THAT(ErrorOf("loop"), HasSubstr("from address to address"));
  EXPECT_THAT(ErrorOf("to-file"), HasSubstr("not followed"));
}

TEST_F(HubFetch, IsNotLedElsewhereByNames) {
  for (const char* name : {"hostile-parent", "hostile-root", "hostile-inner", "hostile-backslash",
                           "hostile-newline", "hostile-dot", "hostile-empty"}) {
    EXPECT_THAT(ErrorOf(name), HasSubstr("could lead out")) << name;
  }
  EXPECT_THAT(ErrorOf("bad-commit"), HasSubstr("as the commit, which is none"));
  EXPECT_THAT(ErrorOf("bad-digest"), HasSubstr("digest"));
  EXPECT_THAT(FilesEnding(folder_.path(), "evil.json"), ElementsAre());
  EXPECT_THAT(FilesEnding(folder_.path(), "config.json"), ElementsAre());
  for (const char* name : {"..", "../name", "a", "a/b/c", ""}) {
    FetchRequest request = Request("plain");
    request.model = name;
    EXPECT_THAT(ErrorOf(request), HasSubstr("ORG/NAME")) << name;
  }
  FetchRequest request = Request("plain");
  request.revision = "../main";
  EXPECT_THAT(ErrorOf(request), HasSubstr("--revision"));
  request = Request("plain");
  request.token = "a\r\nHost: b";
  EXPECT_THAT(ErrorOf(request), HasSubstr("HF_TOKEN"));
}

TEST_F(HubFetch, SaysBeforehandThatTheDiskIsTooSmall) {
  EXPECT_THAT(ErrorOf("huge"), AllOf(HasSubstr("100.0 TB"), HasSubstr("left")));
  for (const Json& asked : TheServer().Asked("huge")) EXPECT_EQ(asked["server"], "hub");
}

TEST_F(HubFetch, SaysThatNobodyAnswers) {
  FetchRequest request = Request("plain");
  request.endpoint = "http://127.0.0.1:1";
  EXPECT_THAT(ErrorOf(request), AllOf(HasSubstr("cannot be reached"), HasSubstr("connection")));
  request.endpoint = "ftp://127.0.0.1";
  EXPECT_THAT(ErrorOf(request), HasSubstr("http"));
}

TEST_F(HubFetch, IsCancelledWithinASecondAndKeepsWhatCame) {
  using Clock = std::chrono::steady_clock;
  std::atomic<bool> cancel = false;
  Clock::time_point since;
  // One for all the reports, and joined: it writes to this function's variables.
  std::thread canceller;
  JobContext context;
  context.cancel = &cancel;
  context.progress = [&](const Progress& progress) {
    if (progress.total == progress.done || progress.done < 1000 || canceller.joinable()) return;
    if (FilesEnding(folder_.path(), ".incomplete").empty()) return;
    const fs::path parts = Repository("slow") / "blobs";
    for (const auto& entry : fs::directory_iterator(parts)) {
      if (entry.path().extension() != ".incomplete" || entry.file_size() < 1000) continue;
      // Not at once: while the server is silent.
      canceller = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        since = Clock::now();
        cancel = true;
      });
      return;
    }
  };
  EXPECT_THROW(FetchModel(Request("slow"), context), Cancelled);
  ASSERT_TRUE(canceller.joinable());
  canceller.join();
  EXPECT_LT(Clock::now() - since, std::chrono::seconds(1));
  const auto left = FilesEnding(folder_.path(), ".incomplete");
  EXPECT_EQ(left.size(), 1u);
}

TEST_F(HubFetch, TwoAtOnceDoNotDisturbEachOther) {
  std::vector<FetchResult> results(4);
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (FetchResult& result : results) {
    threads.emplace_back([this, &result] { result = FetchModel(Request("plain"), {}); });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t fetched = 0;
  for (const FetchResult& result : results) fetched += result.files.back().fetched_bytes;
  EXPECT_EQ(fetched, results[0].files.back().bytes);
  ExpectWeights(results[0]);
}

// A data set may have the name of a model: it is in a folder of its own kind.
TEST_F(HubFetch, TakesADataSet) {
  FetchRequest request = Request("data-lines");
  request.kind = HubKind::kData;
  const FetchResult result = Fetch(request);
  std::vector<std::string> names;
  for (const FetchedFile& file : result.files) names.push_back(file.name);
  EXPECT_THAT(names, ElementsAre("test/a.jsonl", "b.csv"));
  EXPECT_EQ(result.folder,
            folder_.path() / "hub" / "datasets--org--data-lines" / "snapshots" / kCommit);
  std::ifstream lines(result.folder / "test" / "a.jsonl");
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"question": "a"})");
  request.include = {"*.parquet"};
  EXPECT_EQ(Fetch(request).files.front().name, "c.parquet");
  EXPECT_THAT(ErrorOf("data-lines"), HasSubstr("no such model"));
}

TEST_F(HubFetch, SaysWhatADataSetHasInstead) {
  FetchRequest request = Request("data-parquet");
  request.kind = HubKind::kData;
  EXPECT_THAT(ErrorOf(request), AllOf(HasSubstr("Parquet"), HasSubstr("parquet_to_jsonl.py"),
                                      HasSubstr("data/test-00000.parquet")));
  request.model = "org/data-zip";
  EXPECT_THAT(ErrorOf(request), HasSubstr("unpack"));
  request.model = "org/plain";
  EXPECT_THAT(ErrorOf(request), HasSubstr("no such data set"));
}

TEST_F(HubFetch, ReportsBytes) {
  std::vector<Progress> seen;
  JobContext context;
  context.progress = [&](const Progress& progress) { seen.push_back(progress); };
  const FetchResult result = FetchModel(Request("plain"), context);
  ASSERT_FALSE(seen.empty());
  int64_t bytes = 0;
  for (const FetchedFile& file : result.files) bytes += file.bytes;
  EXPECT_EQ(seen.back().done, bytes);
  EXPECT_EQ(seen.back().total, bytes);
  EXPECT_EQ(seen.back().unit, "bytes");
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_GE(seen[i].done, seen[i - 1].done);
}

TEST(FetchRequestTest, FollowsTheEnvironment) {
  setenv("HF_ENDPOINT", "https://mirror.example/hub/", 1);
  setenv("HF_TOKEN", " hf_x\n", 1);
  setenv("HF_HUB_CACHE", "/cache", 1);
  const FetchRequest request = FetchRequestFromEnvironment("org/name");
  EXPECT_EQ(request.endpoint, "https://mirror.example/hub");
  EXPECT_EQ(request.token, "hf_x");
  EXPECT_EQ(request.cache, "/cache");
  setenv("HF_HUB_OFFLINE", "1", 1);
  EXPECT_THAT(ErrorMessage([] { FetchRequestFromEnvironment("org/name"); }), HasSubstr("OFFLINE"));
  for (const char* name : {"HF_ENDPOINT", "HF_TOKEN", "HF_HUB_CACHE", "HF_HUB_OFFLINE"}) {
    unsetenv(name);
  }
}

}  // namespace
}  // namespace midscope
