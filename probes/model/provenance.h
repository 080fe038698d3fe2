// SPDX-License-Identifier: MIT
// Makes the provenance of an output: program and library versions, time, command, model.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/model/model_source.h"

namespace midscope {

// Returns the program's version, "0.1.0"; in packages with the commit, "0.1.0+g1fa85d8d4c2b".
std::string ProgramVersion();
// Returns the versions of libraries: "LibTorch 2.11.0, HDF5 1.10.8".
std::string LibraryVersions();
// Returns the current time in UTC, "2026-11-21T03:04:05Z".
std::string UtcNow();

// Makes the provenance of an output made without a model.
Provenance ProgramProvenance(const std::string& command, int64_t seed,
                             const std::string& options_json);

// Makes the provenance of an output of a model. `command`: the command line; `options_json`: the
// result of OptionSet::ToJson.
Provenance MakeProvenance(const Decoder& decoder, const std::string& command, int64_t seed,
                          const std::string& options_json);

// Makes the provenance of an output computed from a model's weights without a decoder.
Provenance MakeProvenance(const ModelSource& source, kernels::Dtype dtype, const DeviceName& device,
                          int64_t threads, const std::string& command, int64_t seed,
                          const std::string& options_json);

}  // namespace midscope
