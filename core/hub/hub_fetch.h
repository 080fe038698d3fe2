// SPDX-License-Identifier: MIT
// Fetches a model or a data set from the Hugging Face hub, or a server with the same interface,
// into the Hugging Face cache, where model_cache.h finds it. Nothing else in Midscope downloads
// files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/hub/hub_listing.h"

namespace midscope {

struct FetchRequest {
  HubKind kind = HubKind::kModel;
  std::string model;              // "org/name", also of a data set
  std::string revision = "main";  // a branch, a tag or a commit
  std::vector<std::string>
      include;  // patterns, see ChooseFiles and ChooseDataFiles in hub_listing.h

  std::string endpoint;         // "https://HOST"
  std::string token;            // "" for none; sent only to the endpoint's origin
  std::filesystem::path cache;  // contains models--org--name, datasets--org--name

  double retry_pause = 1.0;    // seconds before the second attempt; doubled for each further one
  int64_t stall_seconds = 60;  // after this time without a byte, the connection is broken
};

// Returns a request with settings from the environment: HF_ENDPOINT, HF_TOKEN and the cache's
// variables (model_cache.h). Throws Error (usage) if HF_HUB_OFFLINE is set.
FetchRequest FetchRequestFromEnvironment(const std::string& model);

struct FetchedFile {
  std::string name;
  int64_t bytes = 0;
  int64_t fetched_bytes = 0;  // fetched by this call; 0 if the files existed
};

struct FetchResult {
  std::string commit;
  std::filesystem::path folder;  // folder of the snapshot
  std::vector<FetchedFile> files;
};

// Fetches the chosen files of a model or data set. Checks that every file has the size and the
// digest of the hub's listing; an existing file that is damaged is fetched again. An interrupted
// download is continued; a lost connection is retried a few times. refs/REVISION is written last,
// so that it always refers to a complete snapshot. Throws Error or Cancelled.
FetchResult FetchModel(const FetchRequest& request, const JobContext& context);

}  // namespace midscope
