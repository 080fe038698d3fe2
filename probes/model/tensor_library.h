// SPDX-License-Identifier: MIT
// The library with models and tensors, which brings LibTorch. It takes a quarter of a second to
// load, so the program loads it only when a command is about to run a model.
#pragma once

#include <memory>
#include <string>

#include "core/base/job.h"
#include "core/decoder/decoder.h"

namespace midscope {

// Loads libmidscope_core, which probes and commands call without being linked to it. Must be called
// before any function of it that needs no object of it: tests/rules/check_tensor_library.py has the
// list. Returns at once if it is loaded. Throws Error if it cannot be loaded.
void LoadTensorLibrary();

// Decoder::Open(), after loading that library.
std::shared_ptr<const Decoder> OpenDecoder(const std::string& model, const DecoderOptions& options,
                                           const JobContext& context = {});

}  // namespace midscope
