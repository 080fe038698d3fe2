// SPDX-License-Identifier: MIT
// HTTP GET, used only by `midscope fetch`: nothing else in Midscope opens a connection. Proxies are
// set by the environment, as in libcurl (http_proxy, https_proxy, no_proxy), except for addresses
// of this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/base/error.h"
#include "core/base/job.h"

namespace midscope {

// Thrown if the connection failed or was interrupted, or if the server is busy: a retry may
// succeed.
class ConnectionError : public Error {
 public:
  ConnectionError(const std::string& thing, const std::string& reason, const std::string& remedy,
                  int64_t wait_seconds = 0)
      : Error(ErrorKind::kFailure, thing, reason, remedy), wait_seconds_(wait_seconds) {}
  // Returns the server's Retry-After in seconds; 0 if there is none.
  int64_t wait_seconds() const { return wait_seconds_; }

 private:
  int64_t wait_seconds_;
};

struct HttpRequest {
  std::string url;
  std::string token;  // sent as a bearer token to the origin (scheme, host, port) of `url` only,
                      // and over plain http to this machine only; "" for none
  int64_t first_byte = 0;  // > 0: requests the bytes from this offset on (Range)
  int64_t time_limit = 0;  // seconds for the whole request; 0: no limit as long as bytes arrive
};

struct HttpAnswer {
  int status = 0;
  std::string host;  // the host that answered, after redirects
  // Response headers, keyed by the name in lower case. If a name is repeated, the last value.
  std::map<std::string, std::string, std::less<>> headers;

  std::string Header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

class HttpClient {
 public:
  // If no byte arrives for `stall_seconds`, the connection is considered broken.
  explicit HttpClient(int64_t stall_seconds = 60);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  using OnHead = std::function<void(const HttpAnswer&)>;
  using OnBody = std::function<void(std::span<const std::byte>)>;

  // Sends a GET request. Follows up to ten redirects, over http and https only and never from https
  // to http. Calls `head` before the body and `body` for each part of it, but only for status 200
  // and 206; if one of them throws, the request ends. Returns the answer, whatever its status.
  // Throws ConnectionError, Error (too many redirects, an invalid address, an invalid certificate),
  // or Cancelled within a quarter of a second.
  HttpAnswer Get(const HttpRequest& request, const OnHead& head, const OnBody& body,
                 const JobContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns "https://host:port" in a canonical form, for comparison. Throws Error (usage) for
// anything but an http or https address.
std::string HttpOrigin(const std::string& url);

// Whether a token may be sent to this address: over https, or to this machine.
bool MayCarryToken(const std::string& url);

// Percent-encodes all but letters, digits, - . _ ~ and the characters of `keep`.
std::string PercentEncode(const std::string& text, const std::string& keep = "");

}  // namespace midscope
