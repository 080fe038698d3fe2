// SPDX-License-Identifier: MIT
// Fetches a model or a data set from the Hugging Face hub, or a server with its interface, into the
// Hugging Face cache, where model_cache.h finds it. Nothing else of Midscope downloads anything.
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
  std::string model;              // "org/name", of a data set too
  std::string revision = "main";  // a branch, a tag or a commit
  std::vector<std::string>
      include;  // patterns, see ChooseFiles and ChooseDataFiles in hub_listing.h

  std::string endpoint;         // "https://HOST"
  std::string token;            // "" for none; sent to the endpoint's origin only
  std::filesystem::path cache;  // contains models--org--name, datasets--org--name

  double retry_pause = 1.0;    // seconds before the second attempt, doubled with each further one
  int64_t stall_seconds = 60;  // without a byte: the connection counts as broken
};

// From the environment: HF_ENDPOINT, HF_TOKEN, the cache's variables (model_cache.h). Throws Error
// (usage) where HF_HUB_OFFLINE is set.
FetchRequest FetchRequestFromEnvironment(const std::string& model);

struct FetchedFile {
  std::string name;
  int64_t bytes = 0;
  int64_t fetched_bytes = 0;  // of this call; 0 where it existed
};

struct FetchResult {
  std::string commit;
  std::filesystem::path folder;  // the snapshot's
  std::vector<FetchedFile> files;
};

// Every file has the size and the digest of the hub's listing, also an existing one: it is checked,
// and fetched again where it is damaged. An interrupted file is continued; a lost connection is
// retried some times. The revision's name is written last, so that it names a complete snapshot.
// Throws Error, Cancelled.
FetchResult FetchModel(const FetchRequest& request, const JobContext& context);

}  // namespace midscope
