// SPDX-License-Identifier: MIT
// The engine's requests and replies (probes/engine/engine.h) as messages of the protocol, in both
// directions: the server reads requests and writes replies, a client writes requests and reads
// replies. Reading throws Error for a missing member or one of another type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/json_fields.h"
#include "core/base/record.h"
#include "core/intervention/intervention.h"
#include "probes/engine/engine.h"
#include "probes/measure/scan/scan_kind.h"
#include "probes/serve/message.h"

namespace midscope {

// Reads integers and texts that a request may omit; a missing member gives the default.
int64_t IntegerOf(const JsonFields& params, const std::string& key, int64_t minimum,
                  int64_t otherwise);
std::string TextOf(const JsonFields& params, const std::string& key, const std::string& otherwise);
std::vector<int64_t> IntegersOf(const JsonFields& params, const std::string& key);

// Describes a model. Member `config` contains the whole ModelConfig, for clients with the same
// protocol number; the other members are those that `midscope info` prints.
Message ModelMessage(const ModelSummary& model);
ModelSummary ReadModel(const Message& message);

Message OpenMessage(const OpenRequest& request);
OpenRequest ReadOpenRequest(const JsonFields& params);

Message PromptMessage(const PromptRequest& request);
// Reads a request to make prompts. Throws Error (usage) also if neither or both of task and text
// are given, if gold or spans do not fit the text, and for an unknown member of `format`.
PromptRequest ReadPromptRequest(const JsonFields& params);

// Writes the options that restrict the items of a scan: only those that apply to the scan's kind.
Message RangeMessage(const ScanKind& kind, const ScanRange& range);
ScanRange ReadRange(const JsonFields& params, const std::string& over);

Message CostMessage(const WhatIfCost& cost);
WhatIfCost ReadCost(const Message& message);

Message ProvenanceMessage(const Provenance& provenance);
Provenance ReadProvenance(const Message& message);

// Fetches the bytes of an array that was sent without data, by its handle.
using FetchBytes = std::function<std::vector<uint8_t>(int64_t handle, int64_t bytes)>;

// Reads a record that WireWriter (wire_arrays.h) wrote.
Record ReadRecord(const Message& message, const FetchBytes& fetch);
std::vector<Record> ReadRecords(const Message& messages, const FetchBytes& fetch);

}  // namespace midscope
