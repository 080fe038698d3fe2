// SPDX-License-Identifier: MIT
// A record of the probe answer_attribution with planted numbers, and engines whose capture runs
// return it together with a record of logit_lens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/lens_record.h"

namespace midscope {

inline constexpr int64_t kAttributionKeys = 6;

// Two layers of two heads. L1H0 has the largest contribution, the MLP of the second layer the
// smallest.
inline Record AttributionRecord() {
  Record record;
  record.name = "answer_attribution";
  record.axes = {{"layer", 2, "", {}, {}},
                 {"head", 2, "", {}, {}},
                 {"part", 3, "", {"heads", "attention bias", "MLP"}, {}},
                 {"key", kAttributionKeys, "", {}, {}}};
  record.arrays = {{"answer_attribution",
                    {"layer", "head"},
                    std::vector<double>{0.5, -0.25, 3, 1},
                    "logits",
                    "what the head adds"},
                   {"attribution_of_part",
                    {"part", "layer"},
                    std::vector<double>{0.25, 4, 0, 0, -2, 0.125},
                    "logits",
                    ""}};
  std::vector<float> values(4 * kAttributionKeys);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 10;
  record.arrays.push_back(
      {"answer_attribution_by_key", {"layer", "head", "key"}, values, "logits", ""});
  record.arrays.push_back({"answer_attribution_of_key",
                           {"key"},
                           std::vector<double>{1, -2, 0, 0, 0, 0.5},
                           "logits",
                           ""});
  record.attributes = {{"answer_token_text", std::string(" Paris")},
                       {"against_token_text", std::string(" London")},
                       {"logit_difference", 3.0},
                       {"embedding_attribution", 0.75},
                       {"constant_attribution", 0.0}};
  return record;
}

class EngineWithAttribution : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override {
    CaptureRunReply reply = FakeEngine::CaptureRun(request, context);
    if (!Gives(request)) return reply;
    reply.records.push_back(AttributionRecord());
    Stamp(request.intervention, request.place, reply.records.back());
    reply.records.push_back(LensRecord());
    Stamp(request.intervention, request.place, reply.records.back());
    return reply;
  }

 protected:
  virtual bool Gives(const CaptureRunRequest&) const { return true; }
};

// An engine whose capture runs return it only if the probe is requested by name.
class EngineThatOffersAttribution : public EngineWithAttribution {
 public:
  using EngineWithAttribution::EngineWithAttribution;
  ModelSummary Open(const OpenRequest& request, const JobContext& context) override {
    ModelSummary summary = EngineWithAttribution::Open(request, context);
    ProbeOffer offer;
    offer.name = "answer_attribution";
    offer.on_request = true;
    summary.probes.push_back(offer);
    offer.name = "logit_lens";
    summary.probes.push_back(offer);
    return summary;
  }

 protected:
  bool Gives(const CaptureRunRequest& request) const override {
    return request.probe_options.find("default,answer_attribution") != std::string::npos ||
           request.probe_options.find("default,logit_lens") != std::string::npos;
  }
};

}  // namespace midscope
