// SPDX-License-Identifier: MIT
#include "core/hub/hub_fetch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/formats/folder_weights.h"
#include "core/hub/http_client.h"
#include "core/hub/hub_cache.h"
#include "core/hub/hub_listing.h"
#include "core/hub/model_cache.h"

namespace midscope {
namespace {

constexpr const char* kDefaultEndpoint = "https://huggingface.co";
constexpr size_t kMaxListingBytes = 32 << 20;
constexpr int kMaxPages = 100;
constexpr int64_t kListingSeconds = 300;
constexpr int kTries = 5;  // consecutive attempts without a byte of progress

std::string TrimmedEnvironment(const char* name) {
  return std::string(Trimmed(Environment(name), " \t\r\n"));
}

std::string KindText(const FetchRequest& request) {
  return request.kind == HubKind::kModel ? "model" : "data set";
}

void CheckRequest(const FetchRequest& request) {
  if (!IsModelName(request.model)) {
    throw UsageError(Quote(request.model, 120),
                     "is not the name of a " + KindText(request) + " on the hub",
                     "It must read ORG/NAME");
  }
  if (!IsRevisionName(request.revision)) {
    throw UsageError("option --revision",
                     Quote(request.revision, 120) + " is not a branch, tag or commit");
  }
  const auto strange = [](unsigned char c) { return c <= 0x20 || c >= 0x7f; };
  if (std::any_of(request.token.begin(), request.token.end(), strange)) {
    throw UsageError("HF_TOKEN", "it holds a character that no token has");
  }
  HttpOrigin(request.endpoint);
}

// Sleeps in steps and checks the cancel flag between them.
void SleepUnlessCancelled(double seconds, const JobContext& context) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    context.ThrowIfCancelled();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  context.ThrowIfCancelled();
}

// Sends requests to the hub about one model or data set.
class Hub {
 public:
  Hub(const FetchRequest& request, const JobContext& context)
      : request_(request), context_(context), client_(request.stall_seconds) {}

  std::string Commit() {
    const std::string url = Questions() + "/revision/" + PercentEncode(request_.revision);
    return ReadCommit(Text(url).body, Thing("revision"));
  }

  std::vector<HubFile> Files(const std::string& commit) {
    std::string url = Questions() + "/tree/" + commit + "?recursive=true";
    std::vector<HubFile> files;
    for (int page = 0; page < kMaxPages; ++page) {
      const Listing answer = Text(url);
      AddTreePage(answer.body, Thing("list of files"), &files);
      url = NextPage(answer.link);
      if (url.empty()) return files;
      if (url.starts_with('/')) url.insert(0, request_.endpoint);
      if (HttpOrigin(url) != HttpOrigin(request_.endpoint)) break;
    }
    throw Failure(Thing("list of files"), "it goes on without end, or at another server");
  }

  // Fetches the bytes of a file from first_byte on; `head` receives whether the bytes begin there
  // (status 206) or at the file's beginning (200). Returns false if the server has no bytes from
  // that offset on.
  bool Download(const HubFile& file, const std::string& commit, int64_t first_byte,
                const HttpClient::OnHead& head, const HttpClient::OnBody& body) {
    HttpRequest http;
    http.url = Page() + "/resolve/" + commit + "/" + PercentEncode(file.name, "/");
    http.token = request_.token;
    http.first_byte = first_byte;
    const HttpAnswer answer = client_.Get(http, head, body, context_);
    if (answer.status == 416 && first_byte > 0) return false;
    Check(answer, DisplayText(file.name));
    return true;
  }

  // Calls `work` until it succeeds. Connection errors are retried, up to kTries times in a row
  // without progress; `progress` returns a number that grows with progress.
  void WithRetries(const std::function<int64_t()>& progress, const std::function<void()>& work) {
    int tries = 0;
    int64_t before = progress();
    while (true) {
      try {
        work();
        return;
      } catch (const ConnectionError& error) {
        if (progress() > before) tries = 0;
        before = progress();
        if (++tries >= kTries) throw;
        context_.Warn(std::string(error.what()) + ". Trying again");
        const double pause = request_.retry_pause * std::pow(2.0, tries - 1);
        SleepUnlessCancelled(std::max(pause, static_cast<double>(error.wait_seconds())), context_);
      }
    }
  }

 private:
  struct Listing {
    std::string body;
    std::string link;
  };

  // Return base URLs: Questions of the hub's API, Page of files and the web page.
  std::string Questions() const {
    const bool model = request_.kind == HubKind::kModel;
    return request_.endpoint + (model ? "/api/models/" : "/api/datasets/") + request_.model;
  }
  std::string Page() const {
    const bool model = request_.kind == HubKind::kModel;
    return request_.endpoint + (model ? "/" : "/datasets/") + request_.model;
  }

  std::string Thing(const std::string& what) const { return what + " of " + request_.model; }

  Listing Text(const std::string& url) {
    Listing page;
    WithRetries([] { return 0; },
                [&] {
                  page = {};
                  HttpRequest http;
                  http.url = url;
                  http.token = request_.token;
                  http.time_limit = kListingSeconds;
                  const HttpAnswer answer = client_.Get(
                      http, [](const HttpAnswer&) {},
                      [&](std::span<const std::byte> bytes) {
                        if (page.body.size() + bytes.size() > kMaxListingBytes) {
                          throw Failure(Thing("list of files"),
                                        "it is longer than " + BytesText(kMaxListingBytes));
                        }
                        page.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                      },
                      context_);
                  Check(answer, request_.model);
                  page.link = answer.Header("link");
                });
    return page;
  }

  // Throws Error for an error status. The hub returns 401 for a model that does not exist if the
  // client is not authenticated.
  void Check(const HttpAnswer& answer, const std::string& thing) const {
    if (answer.status == 200 || answer.status == 206) return;
    const std::string code = answer.Header("x-error-code");
    const std::string page = Page();
    const std::string kind = KindText(request_);
    if (code == "GatedRepo" || (answer.status == 403 && code.empty())) {
      throw Failure(request_.model,
                    "the hub lets only those have it who accepted its terms" + Said(answer),
                    "Accept them at " + page + " and set HF_TOKEN to a token of that account");
    }
    if (code == "RevisionNotFound") {
      throw Failure(request_.model,
                    "the hub has no revision " + Quote(request_.revision) + " of it",
                    "Look at " + page);
    }
    if (answer.status == 401 || code == "RepoNotFound") {
      throw Failure(request_.model,
                    request_.token.empty()
                        ? "the hub has no such " + kind + ", or shows it to certain accounts alone"
                        : "the hub has no such " + kind + ", or HF_TOKEN's account may not see it",
                    request_.token.empty()
                        ? "Check the name; for a private or gated " + kind + " set HF_TOKEN"
                        : "Check the name, and that the token is right and may read the " + kind);
    }
    if (answer.status == 404) {
      throw Failure(thing, answer.host + " does not have it (status 404)",
                    "Check the name at " + page);
    }
    throw Failure(
        thing, fmt::format("{} refuses (status {}){}", answer.host, answer.status, Said(answer)));
  }

  static std::string Said(const HttpAnswer& answer) {
    const std::string message = answer.Header("x-error-message");
    return message.empty() ? "" : " (the server reports " + Quote(message, 200) + ")";
  }

  const FetchRequest& request_;
  const JobContext& context_;
  HttpClient client_;
};

// Fetches files one by one and counts bytes.
class Fetcher {
 public:
  Fetcher(const FetchRequest& request, const JobContext& context)
      : request_(request),
        context_(context),
        hub_(request, context),
        cache_(request.cache, request.kind, request.model) {}

  FetchResult Run() {
    if (!request_.token.empty() && !MayCarryToken(request_.endpoint)) {
      context_.Warn("HF_TOKEN is not sent: " + HttpOrigin(request_.endpoint) +
                    " is not https, and anybody on the way could read it");
    }
    result_.commit = hub_.Commit();
    const std::vector<HubFile> files = hub_.Files(result_.commit);
    result_.folder = cache_.Snapshot(result_.commit);
    const auto choose = request_.kind == HubKind::kModel ? ChooseFiles : ChooseDataFiles;
    const HubChoice choice = choose(files, request_.include, request_.model, context_);
    FetchAll(choice.files);
    if (!choice.index.empty()) {
      const auto names = ShardNames(result_.folder / choice.index);
      FetchAll(FindFiles(files, names, request_.model));
    }
    cache_.WriteRef(request_.revision, result_.commit);
    return std::move(result_);
  }

 private:
  void FetchAll(const std::vector<HubFile>& files) {
    int64_t missing = 0;
    for (const HubFile& file : files) {
      missing += cache_.MissingBytes(file);
      total_ += file.bytes;
    }
    cache_.CheckSpace(missing);
    for (const HubFile& file : files) {
      context_.ThrowIfCancelled();
      const int64_t fetched = FetchFile(file);
      cache_.Link(file, result_.commit);
      done_ += file.bytes;
      result_.files.push_back({file.name, file.bytes, fetched});
      if (fetched > 0) context_.Log(DisplayText(file.name) + ": " + BytesText(file.bytes));
    }
  }

  void Report(int64_t of_file) const {
    context_.Report({"fetch", done_ + of_file, total_, "bytes"});
  }

  // Returns the number of bytes fetched over the network.
  int64_t FetchFile(const HubFile& file) {
    const std::string thing = DisplayText(file.name);
    const FileLock lock(cache_.Lock(file), thing, context_);
    const std::filesystem::path blob = cache_.Blob(file);
    Report(0);
    std::error_code error;
    if (std::filesystem::exists(blob, error)) {
      if (HasContent(blob, file, context_)) return 0;
      context_.Warn(thing + ": what the cache holds is damaged; fetching it again");
      std::filesystem::remove(blob, error);
    }
    int64_t fetched = 0;
    const bool resumed = cache_.MissingBytes(file) < file.bytes;
    PartFile part(cache_.Part(file));
    if (!Complete(file, &part, &fetched)) {
      part.Clear();
      // A resumed partial file may belong to another version and is then fetched again. A file
      // fetched in a single request is the server's current one.
      if (!resumed || !Complete(file, &part, &fetched)) {
        part.Clear();
        throw Failure(thing,
                      "the received file's digest differs from that in the hub's list of files",
                      "Try again; where it stays so, do not trust the server or what is between");
      }
    }
    part.MoveTo(blob);
    return fetched;
  }

  // Completes the partial file. Returns whether it then has the right digest.
  bool Complete(const HubFile& file, PartFile* part, int64_t* fetched) {
    if (part->size() > file.bytes) part->Clear();
    std::optional<ContentHash> hash(std::in_place, file.hash_kind, file.bytes);
    part->AddTo(&*hash, context_);
    // The largest size in this request: a server that restarts each time is not retried forever.
    int64_t farthest = part->size();
    const auto restart = [&] {
      part->Clear();
      hash.emplace(file.hash_kind, file.bytes);
    };
    const auto body = [&](std::span<const std::byte> bytes) {
      if (part->size() + static_cast<int64_t>(bytes.size()) > file.bytes) {
        restart();
        throw Failure(DisplayText(file.name),
                      fmt::format("the server sends more than its {} bytes", file.bytes));
      }
      part->Append(bytes);
      hash->Add(bytes);
      *fetched += static_cast<int64_t>(bytes.size());
      farthest = std::max(farthest, part->size());
      Report(part->size());
    };
    hub_.WithRetries([&] { return farthest; },
                     [&] {
                       if (part->size() == file.bytes) return;
                       const bool goes_on = hub_.Download(
                           file, result_.commit, part->size(),
                           [&](const HttpAnswer& head) { Begin(head, file, *part, restart); },
                           body);
                       if (part->size() == file.bytes) return;
                       if (!goes_on) restart();
                       throw ConnectionError(DisplayText(file.name), "it ended early",
                                             "Run the command again: it goes on where it stopped");
                     });
    return hash->Finish() == file.hash;
  }

  // Handles the head of a response, which determines the offset of its bytes.
  void Begin(const HttpAnswer& head, const HubFile& file, const PartFile& part,
             const std::function<void()>& restart) const {
    if (head.status == 200) {
      if (part.size() > 0) {
        context_.Warn(DisplayText(file.name) + ": the server cannot go on; starting over");
        restart();
      }
      return;
    }
    const std::string wanted = fmt::format("bytes {}-", part.size());
    if (part.size() > 0 && head.Header("content-range").starts_with(wanted)) return;
    restart();
    throw ConnectionError(DisplayText(file.name),
                          "the server sent a part other than the requested one", "Try again");
  }

  const FetchRequest& request_;
  const JobContext& context_;
  Hub hub_;
  HubCacheModel cache_;
  FetchResult result_;
  int64_t done_ = 0;
  int64_t total_ = 0;
};

}  // namespace

FetchRequest FetchRequestFromEnvironment(const std::string& model) {
  const std::string offline = Environment("HF_HUB_OFFLINE");
  if (!offline.empty() && offline != "0") {
    throw UsageError("HF_HUB_OFFLINE", "it is set, so nothing is fetched", "Unset it");
  }
  FetchRequest request;
  request.model = model;
  request.endpoint = TrimmedEnvironment("HF_ENDPOINT");
  if (request.endpoint.empty()) request.endpoint = kDefaultEndpoint;
  while (request.endpoint.ends_with('/')) request.endpoint.pop_back();
  request.token = TrimmedEnvironment("HF_TOKEN");
  request.cache = HuggingFaceCache();
  return request;
}

FetchResult FetchModel(const FetchRequest& request, const JobContext& context) {
  CheckRequest(request);
  return Fetcher(request, context).Run();
}

}  // namespace midscope
