// SPDX-License-Identifier: MIT
#include "probes/serve/server.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/base/timing.h"
#include "core/base/utf8.h"
#include "probes/serve/frames.h"
#include "probes/serve/method.h"

namespace midscope {
namespace {

constexpr const char* kWhatIf = "what_if";
// Maximum number of concurrent requests that do not use the model; others wait.
constexpr size_t kMostBeside = 32;

// A request that waits or runs, with its state.
struct Request {
  Message id;
  const Method* method = nullptr;
  Message params;
  std::atomic<bool> cancel{false};
  std::atomic<const char*> cancelled_reason{"it was cancelled"};
};
using RequestPointer = std::shared_ptr<Request>;

// A queue of requests for a number of threads, which are started when first needed.
struct Lane {
  size_t most_threads = 1;
  std::deque<RequestPointer> waiting;
  std::vector<RequestPointer> running;
  std::vector<std::thread> threads;
};

class Server {
 public:
  Server(int output, std::unique_ptr<Engine> engine)
      : session_(std::move(engine)), writer_(output) {
    writer_.SendLine("midscope-engine " + std::to_string(kProtocolVersion));
  }

  void Read(int input) {
    FrameReader reader(input);
    while (true) {
      try {
        const std::optional<std::string_view> frame = reader.Next();
        if (!frame) break;
        Take(UnpackMessage(*frame));
      } catch (const Error& error) {
        SendError(nullptr, ErrorMessage(error));
      }
    }
    Leave();
  }

 private:
  // Handles one message from the client.
  void Take(Message message) {
    if (!message.is_object()) throw Failure("message", "it must be a map");
    if (message.contains("cancel")) {
      CancelRequest(message["cancel"]);
    } else if (message.contains("reply")) {
      TakeReply(std::move(message));
    } else {
      TakeRequest(std::move(message));
    }
  }

  void TakeRequest(Message message) {
    auto request = std::make_shared<Request>();
    request->id = message.value("id", Message());
    const std::string name = message.contains("method") && message["method"].is_string()
                                 ? message["method"].get<std::string>()
                                 : "";
    const auto params = message.find("params");
    request->params = params == message.end() ? Message::object() : std::move(*params);
    request->method = FindMethod(name);
    try {
      if (!request->id.is_number_integer()) {
        throw UsageError("request", "its id must be an integer");
      }
      if (!request->method) {
        throw UsageError("method " + Quote(name), "it is unknown",
                         KnownWordsHint(name, NamesIn(Methods())));
      }
      CheckParams(*request);
    } catch (const Error& error) {
      SendError(request->id, ErrorMessage(error));
      return;
    }
    const std::lock_guard lock(mutex_);
    if (name == kWhatIf) Supersede();
    Lane& lane = request->method->runs_beside ? beside_ : model_;
    lane.waiting.push_back(std::move(request));
    if (lane.waiting.size() + lane.running.size() > lane.threads.size() &&
        lane.threads.size() < lane.most_threads) {
      lane.threads.emplace_back([this, &lane] { RunWaiting(lane); });
    }
    changed_.notify_all();
  }

  static void CheckParams(const Request& request) {
    const JsonFields params(request.params, request.method->name, "");
    std::vector<std::string> names;
    for (const MethodParameter& parameter : request.method->parameters) {
      names.push_back(parameter.name);
      if (parameter.required && !params.Find(parameter.name)) {
        throw UsageError(request.method->name, "it needs " + Quote(parameter.name), parameter.help);
      }
    }
    params.RefuseOthers(names);
  }

  // Cancels running and waiting what_if requests that a newer one supersedes. Requires mutex_.
  void Supersede() {
    constexpr const char* kReason = "a newer what_if supersedes it";
    std::erase_if(model_.waiting, [&](const RequestPointer& request) {
      if (request->method->name != kWhatIf) return false;
      SendCancelled(*request, kReason);
      return true;
    });
    for (const RequestPointer& request : model_.running) {
      if (request->method->name != kWhatIf) continue;
      request->cancelled_reason = kReason;
      request->cancel = true;
    }
  }

  void CancelRequest(const Message& id) {
    const std::lock_guard lock(mutex_);
    for (Lane* lane : {&model_, &beside_}) {
      std::erase_if(lane->waiting, [&](const RequestPointer& request) {
        if (request->id != id) return false;
        SendCancelled(*request, request->cancelled_reason);
        return true;
      });
      for (const RequestPointer& request : lane->running) {
        if (request->id == id) request->cancel = true;
      }
    }
    changed_.notify_all();  // a hook may be waiting for an answer
  }

  void TakeReply(Message message) {
    const std::lock_guard lock(mutex_);
    const Message question = message["reply"];
    const auto found = questions_.find(question.is_number_integer() ? question.get<int64_t>() : -1);
    if (found == questions_.end()) return;  // the question's request has been cancelled
    found->second = std::move(message);
    changed_.notify_all();
  }

  void Leave() {
    {
      const std::lock_guard lock(mutex_);
      left_ = true;
      for (Lane* lane : {&model_, &beside_}) {
        for (const RequestPointer& request : lane->running) request->cancel = true;
      }
      changed_.notify_all();
    }
    writer_.Close();
    for (Lane* lane : {&model_, &beside_}) {
      for (std::thread& thread : lane->threads) thread.join();
    }
  }

  // Runs the requests of a queue until the client disconnects.
  void RunWaiting(Lane& lane) {
    while (true) {
      RequestPointer request;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return left_ || !lane.waiting.empty(); });
        if (left_) return;
        request = lane.waiting.front();
        lane.waiting.pop_front();
        lane.running.push_back(request);
      }
      Run(*request);
      const std::lock_guard lock(mutex_);
      std::erase(lane.running, request);
    }
  }

  void Run(const Request& request) {
    Message answer = {{"id", request.id}};
    JobContext job;
    job.cancel = &request.cancel;
    ProgressLimit limit;
    job.progress = [&](const Progress& progress) {
      if (!limit.Passes(progress)) return;
      Send({{"id", request.id},
            {"progress",
             {{"stage", progress.stage},
              {"done", progress.done},
              {"total", progress.total},
              {"unit", progress.unit}}}});
    };
    job.log = [&](const std::string& message) { Send({{"id", request.id}, {"log", message}}); };
    job.warn = [&](const std::string& message) {
      Send({{"id", request.id}, {"log", message}, {"warning", true}});
    };
    std::optional<Message> failure;
    const JobOutcome outcome = RunJob(job, [&](const JobContext& context) {
      try {
        const JsonFields params(request.params, request.method->name, "");
        const Call call = {params, context,
                           [&](Message part) {
                             Message notice = {{"id", request.id}};
                             notice["partial"] = std::move(part);
                             Send(std::move(notice));
                           },
                           [&](Message about) { return Ask(request, std::move(about)); }};
        answer["result"] = request.method->run(session_, call);
      } catch (const Error& error) {
        failure = ErrorMessage(error);
        throw;
      }
    });
    if (outcome.end == JobEnd::kCancelled) {
      SendCancelled(request, request.cancelled_reason);
      return;
    }
    if (outcome.end == JobEnd::kFailed) {
      answer["error"] = failure.value_or(Message{{"thing", request.method->name},
                                                 {"reason", outcome.why},
                                                 {"remedy", ""},
                                                 {"usage", false}});
    }
    Send(std::move(answer));
  }

  Message Ask(const Request& request, Message about) {
    int64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = ++last_question_;
      questions_[number];
    }
    Message question = {{"id", request.id}, {"question", number}};
    question["about"] = std::move(about);
    Send(std::move(question));
    std::unique_lock lock(mutex_);
    const auto open = questions_.find(number);
    changed_.wait(lock, [&] { return left_ || request.cancel || !open->second.is_null(); });
    Message reply = std::move(open->second);
    questions_.erase(open);
    if (reply.is_null()) throw Cancelled();
    lock.unlock();
    if (reply.contains("error")) {
      throw Failure("hook", reply["error"].is_string() ? reply["error"].get<std::string>()
                                                       : "the client's function failed");
    }
    return std::move(reply["value"]);
  }

  void SendCancelled(const Request& request, const char* reason) {
    SendError(request.id, {{"thing", request.method->name},
                           {"reason", reason},
                           {"remedy", ""},
                           {"usage", false},
                           {"cancelled", true}});
  }

  void SendError(const Message& id, const Message& error) {
    writer_.SendNow(PackMessage({{"id", id}, {"error", error}}));
  }

  void Send(Message message) {
    const Message id = message["id"];
    Frame frame = PackFrame(std::move(message));
    if (frame.size() > kLargestFrame) {
      frame = PackFrame({{"id", id},
                         {"error",
                          {{"thing", "answer"},
                           {"reason", "it is larger than a frame"},
                           {"remedy", "Request fewer values, such as fewer rows"},
                           {"usage", false}}}});
    }
    writer_.Send(std::move(frame));
  }

  EngineSession session_;
  FrameWriter writer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All members below are guarded by mutex_.
  Lane model_;
  Lane beside_{kMostBeside, {}, {}, {}};
  std::map<int64_t, Message> questions_;  // open questions with their answers; null: no answer yet
  int64_t last_question_ = 0;
  bool left_ = false;
};

}  // namespace

int ServeClient(int input, int output, std::unique_ptr<Engine> engine) {
  Server(output, std::move(engine)).Read(input);
  return 0;
}

}  // namespace midscope
