// SPDX-License-Identifier: MIT
#include "probes/model/tensor_library.h"

#include <dlfcn.h>

#include "core/base/error.h"

namespace midscope {

void LoadTensorLibrary() {
  // The library is found by the run path of this one; its symbols are global, because the callers
  // were linked without it.
  static const void* const library = dlopen("libmidscope_core.so", RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr) {
    throw Failure("libmidscope_core.so", dlerror(), "Install the program with its libraries");
  }
}

std::shared_ptr<const Decoder> OpenDecoder(const std::string& model, const DecoderOptions& options,
                                           const JobContext& context) {
  LoadTensorLibrary();
  return Decoder::Open(model, options, context);
}

}  // namespace midscope
