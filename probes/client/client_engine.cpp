// SPDX-License-Identifier: MIT
#include "probes/client/client_engine.h"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "kernels/check.h"
#include "probes/client/engine_link.h"
#include "probes/client/sent_files.h"
#include "probes/measure/scan/scan_kind.h"
#include "probes/serve/engine_values.h"

namespace midscope {
namespace {

using OnRecord = std::function<void(const Record&)>;

class ClientEngine : public Engine {
 public:
  explicit ClientEngine(std::shared_ptr<EngineLink> link)
      : link_(std::move(link)), files_(*link_) {}

  ModelSummary Open(const OpenRequest& request, const JobContext& context) override {
    return ReadAnswer([&] {
      const Message result = link_->Call("open", OpenMessage(request), context);
      process_ = link_->process();
      {
        const std::lock_guard lock(mutex_);
        provenance_ = ReadProvenance(result.at("provenance"));
      }
      return ReadModel(result);
    });
  }

  std::vector<Record> SetPrompt(const PromptRequest& request, const JobContext& context) override {
    return RecordsOf("set_prompt", PromptParams(request), context);
  }

  std::vector<Record> Preview(const PromptRequest& request) const override {
    if (process_ == 0) {
      throw UsageError("preview", "a model must be open to show tokens", "Open one");
    }
    return RecordsOf("preview", PromptParams(request), {});
  }

  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override {
    MIDSCOPE_CHECK(request.hooks.empty(), "hooks of a window");
    return ReadAnswer([&] {
      Message params = {{"place", request.place},
                        {"setting", SettingText(request.intervention)},
                        {"options", Message::parse(request.probe_options)},
                        {"logits", request.last_logits}};
      if (!request.channels.empty()) params["channels"] = request.channels;
      const Message result = link_->Call("run", params, context, {}, process_);
      return CaptureRunReply{link_->Records(result.at("records")), result.at("failures"),
                             result.at("seconds")};
    });
  }

  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override {
    return ReadAnswer([&] {
      const auto reply = [this](const Message& message) {
        return WhatIfReply{link_->Records(message.at("records")), ReadCost(message.at("cost"))};
      };
      Message params = {{"place", request.place},
                        {"setting", SettingText(request.intervention)},
                        {"attention", request.attention},
                        {"partial", partial != nullptr}};
      if (!request.channels.empty()) params["channels"] = request.channels;
      const auto on_part = [&](const Message& part) {
        if (partial) partial(reply(part));
      };
      return reply(link_->Call("what_if", params, context, on_part, process_));
    });
  }

  Record Compare(const CompareRequest& request, const OnRecord& partial,
                 const JobContext& context) override {
    Message params = {{"settings", Texts(request.settings)}, {"samples", request.samples}};
    if (!request.beside.empty()) params["beside"] = Texts(request.beside);
    if (request.against) params["against"] = SettingText(*request.against);
    return OnlyRecord("compare", params, context, partial);
  }

  Record Scan(const ScanRequest& request, const OnRecord& partial,
              const JobContext& context) override {
    Message params = {{"over", request.over},
                      {"samples", request.samples},
                      {"range", RangeMessage(FindScanKind(request.over), request.range)}};
    if (!request.term.empty()) params["term"] = request.term;
    if (!request.base.empty()) params["base"] = SettingText(request.base);
    if (!request.places.empty()) params["places"] = request.places;
    if (!request.first.empty()) params["first"] = request.first;
    return OnlyRecord("scan", params, context, partial);
  }

  std::vector<Record> SearchChannels(const ChannelSearchRequest& request, const OnRecord& partial,
                                     const JobContext& context) override {
    return RecordsOf("channels", {{"options", Message::parse(request.options)}}, context, partial);
  }

  Record PromptChannels(const PromptChannelsRequest& request, const JobContext& context) override {
    return OnlyRecord("prompt_channels",
                      {{"place", request.place},
                       {"setting", SettingText(request.intervention)},
                       {"options", Message::parse(request.options)}},
                      context);
  }

  std::vector<Record> ProbeSamples(const ProbeSamplesRequest& request, const OnRecord& partial,
                                   const JobContext& context) override {
    return RecordsOf("probe_samples",
                     {{"setting", SettingText(request.intervention)},
                      {"samples", request.samples},
                      {"options", Message::parse(request.probe_options)}},
                     context, partial);
  }

  Record Generate(const GenerateRequest& request, const OnRecord& partial,
                  const JobContext& context) override {
    return OnlyRecord("generate",
                      {{"place", request.place},
                       {"setting", SettingText(request.intervention)},
                       {"new_tokens", request.new_tokens}},
                      context, partial);
  }

  Record MeasureLearnedPositions(const JobContext& context) const override {
    return OnlyRecord("learned_positions", Message::object(), context);
  }

  // Describes the last model that was opened, even if the process has ended since.
  Provenance Describe() const override {
    const std::lock_guard lock(mutex_);
    return provenance_;
  }

 private:
  std::string SettingText(const Intervention& setting) {
    return files_.Sent(PrintIntervention(setting));
  }

  Message Texts(const std::vector<Intervention>& settings) {
    Message texts = Message::array();
    for (const Intervention& setting : settings) texts.push_back(SettingText(setting));
    return texts;
  }

  Message PromptParams(PromptRequest request) const {
    request.task = files_.Sent(request.task);
    return PromptMessage(request);
  }

  std::vector<Record> RecordsOf(const std::string& method, const Message& params,
                                const JobContext& context, const OnRecord& partial = {}) const {
    return ReadAnswer([&] {
      const auto on_part = [&](const Message& part) {
        if (!partial) return;
        for (const Record& record : link_->Records(part.at("records"))) partial(record);
      };
      return link_->Records(link_->Call(method, params, context, on_part, process_).at("records"));
    });
  }

  Record OnlyRecord(const std::string& method, const Message& params, const JobContext& context,
                    const OnRecord& partial = {}) const {
    std::vector<Record> records = RecordsOf(method, params, context, partial);
    if (records.size() != 1) throw Failure("engine", "it sent not one record but others");
    return std::move(records.front());
  }

  const std::shared_ptr<EngineLink> link_;
  mutable SentFiles files_;
  std::atomic<int64_t> process_{0};  // number of the process that opened the model; 0: none
  mutable std::mutex mutex_;
  Provenance provenance_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<Engine> MakeClientEngine(std::shared_ptr<EngineLink> link) {
  return std::make_unique<ClientEngine>(std::move(link));
}

}  // namespace midscope
