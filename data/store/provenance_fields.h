// SPDX-License-Identifier: MIT
// The fields of Provenance with their names in files; used by the store and the exports.
#pragma once

#include <string>

#include "core/base/record.h"

namespace midscope {

// Calls visit(const char* name, field&) for each field; `Origin` is Provenance or const Provenance;
// the type of a field is std::string or int64_t.
template <typename Origin, typename Visit>
void ForEachField(Origin& provenance, Visit&& visit) {
  // Fails to compile if a field is added to Provenance.
  auto& [program, version, created, command, model_path, model_hash, architecture, dtype, products,
         weights, device, instructions, threads, seed, options_json, libraries] = provenance;
  visit("program", program);
  visit("version", version);
  visit("created", created);
  visit("command", command);
  visit("model_path", model_path);
  visit("model_hash", model_hash);
  visit("architecture", architecture);
  visit("dtype", dtype);
  visit("products", products);
  visit("weights", weights);
  visit("device", device);
  visit("instructions", instructions);
  visit("threads", threads);
  visit("seed", seed);
  visit("options_json", options_json);
  visit("libraries", libraries);
}

}  // namespace midscope
