// SPDX-License-Identifier: MIT
// Loads the library that contains models and tensors and depends on LibTorch. Loading takes a
// quarter of a second, so the program does it only when a command is about to run a model.
#pragma once

#include <memory>
#include <string>

#include "core/base/job.h"
#include "core/decoder/decoder.h"

namespace midscope {

// Loads libmidscope_core, which probes and commands call without being linked to it. Must be called
// before any function of that library that needs no object of it:
// tests/rules/check_tensor_library.py has the list. Returns at once if the library is loaded.
// Throws Error if it cannot be loaded.
void LoadTensorLibrary();

// Calls Decoder::Open() after LoadTensorLibrary().
std::shared_ptr<const Decoder> OpenDecoder(const std::string& model, const DecoderOptions& options,
                                           const JobContext& context = {});

}  // namespace midscope
