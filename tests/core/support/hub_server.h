// SPDX-License-Identifier: MIT
// Runs hub_server.py as a child process of the test.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/hub/http_client.h"
#include "tests/paths.h"

namespace midscope::test {

// The server ends when this process ends.
class HubServer {
 public:
  HubServer() {
    // Sets a proxy that does not exist, because addresses of this machine must not go through a
    // proxy.
    for (const char* name : {"http_proxy", "https_proxy", "all_proxy"}) {
      setenv(name, "http://127.0.0.1:9", 1);
    }
    for (const char* name : {"no_proxy", "NO_PROXY"}) unsetenv(name);
    const std::string command = "exec " MIDSCOPE_PYTHON " '" MIDSCOPE_TESTS
                                "/core/hub/hub_server.py"
                                "' '" MIDSCOPE_TESTS
                                "/core/golden/tiny_models"
                                "'";
    output_ = ::popen(command.c_str(), "r");
    if (output_ == nullptr || std::fscanf(output_, "%d %d", &hub_, &store_) != 2) {
      throw std::runtime_error("hub_server.py does not start");
    }
  }
  std::string hub() const { return "http://127.0.0.1:" + std::to_string(hub_); }

  // The requests that the server received for the model org/`name`, with the keys "server", "path",
  // "token", "range".
  std::vector<nlohmann::json> Asked(const std::string& name) const {
    std::vector<nlohmann::json> asked;
    for (const nlohmann::json& entry : nlohmann::json::parse(Log())) {
      if (entry["path"].get<std::string>().find("org/" + name + "/") != std::string::npos) {
        asked.push_back(entry);
      }
    }
    return asked;
  }

 private:
  std::string Log() const {
    HttpRequest request;
    request.url = hub() + "/log";
    std::string text;
    HttpClient().Get(
        request, [](const HttpAnswer&) {},
        [&](std::span<const std::byte> bytes) {
          text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        },
        {});
    return text;
  }

  std::FILE* output_ = nullptr;  // never closed, because pclose would wait for the server to end
  int hub_ = 0;
  int store_ = 0;
};

}  // namespace midscope::test
