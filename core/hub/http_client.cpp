// SPDX-License-Identifier: MIT
#include "core/hub/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/base/environment.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr int kMaxRedirects = 10;
constexpr int kPollMilliseconds = 100;
// Limit on the bodies of redirects and errors, which are read and discarded to keep the connection.
constexpr int64_t kMaxDropped = 64 << 10;
constexpr int64_t kMaxHeaderBytes = 256 << 10;

// Whether the host (in lower case) is this machine; "127.0.0.1.example.com" is not.
bool IsLoopback(std::string_view host) {
  const bool number = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host.ends_with(".localhost") || host == "[::1]" || host == "::1" ||
         (number && host.starts_with("127."));
}

struct Address {
  std::string scheme;
  std::string host;
  std::string port;
  std::string Origin() const { return scheme + "://" + host + ":" + port; }
};

// Parses an http or https address; nullopt if it is invalid or has no host.
std::optional<Address> ParseAddress(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
  if (!parsed) throw std::bad_alloc();
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return std::nullopt;
  const auto part = [&](CURLUPart which) -> std::string {
    char* text = nullptr;
    if (curl_url_get(parsed.get(), which, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return "";
    std::string copy = LowerCase(text);
    curl_free(text);
    return copy;
  };
  Address address{part(CURLUPART_SCHEME), part(CURLUPART_HOST), part(CURLUPART_PORT)};
  const bool http = address.scheme == "http" || address.scheme == "https";
  if (!http || address.host.empty()) return std::nullopt;
  return address;
}

// The state of one response during libcurl's callbacks.
struct Transfer {
  CURL* curl = nullptr;
  HttpAnswer answer;
  const HttpClient::OnHead* head = nullptr;
  const HttpClient::OnBody* body = nullptr;
  bool begun = false;
  int64_t dropped = 0;
  int64_t header_bytes = 0;
  std::exception_ptr thrown;  // thrown by head or body: exceptions must not pass through libcurl

  bool Wanted() const { return answer.status == 200 || answer.status == 206; }
  void Begin() {
    if (begun) return;
    begun = true;
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
    if (Wanted()) (*head)(answer);
  }
};

size_t OnHeaderLine(char* data, size_t size, size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  const std::string_view line(data, size * count);
  try {
    transfer->header_bytes += static_cast<int64_t>(line.size());
    if (transfer->header_bytes > kMaxHeaderBytes) {
      throw Failure(transfer->answer.host, "its answer has headers without end");
    }
    if (line.starts_with("HTTP/")) transfer->answer.headers.clear();  // after a 100, or a proxy's
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      transfer->answer.headers[LowerCase(line.substr(0, colon))] =
          Trimmed(line.substr(colon + 1), " \t\r\n");
    }
  } catch (...) {
    transfer->thrown = std::current_exception();
    return 0;
  }
  return size * count;
}

size_t OnBodyPiece(char* data, size_t size, size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  try {
    transfer->Begin();
    if (!transfer->Wanted()) {
      transfer->dropped += static_cast<int64_t>(size * count);
      return transfer->dropped <= kMaxDropped ? size * count : 0;
    }
    (*transfer->body)(std::as_bytes(std::span(data, size * count)));
  } catch (...) {
    transfer->thrown = std::current_exception();
    return 0;
  }
  return size * count;
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

int64_t RetryAfter(const HttpAnswer& answer) {
  constexpr int64_t kLongest = 60;
  const std::string text = answer.Header("retry-after");
  int64_t seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::clamp<int64_t>(seconds, 0, kLongest);
}

void ThrowIfBusy(const HttpAnswer& answer) {
  const int status = answer.status;
  if (status != 408 && status != 429 && (status < 500 || status > 504)) return;
  const std::string why = status == 429 ? "has had too many requests" : "is not in order";
  throw ConnectionError(answer.host, fmt::format("{} (status {})", why, status), "Try again later",
                        RetryAfter(answer));
}

[[noreturn]] void ThrowTransferError(CURLcode code, const std::string& host, const char* detail) {
  const std::string why = DisplayText(*detail != '\0' ? detail : curl_easy_strerror(code));
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      throw ConnectionError(host, "it cannot be reached (" + why + ")",
                            "Check the connection; behind a proxy set https_proxy");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_UNSUPPORTED_PROTOCOL:
      throw Failure(host, "the connection is not to be trusted (" + why + ")",
                    "Where a proxy signs with a certificate of its own, set SSL_CERT_FILE");
    default:
      throw ConnectionError(host, "the connection broke off (" + why + ")",
                            "Run the command again: it goes on where it stopped");
  }
}

void StartLibcurl() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) throw std::bad_alloc();
  });
}

}  // namespace

struct HttpClient::State {
  State() = default;
  ~State() {
    curl_easy_cleanup(curl);  // null: no effect
    curl_multi_cleanup(multi);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  CURL* curl = nullptr;
  CURLM* multi = nullptr;
  int64_t stall_seconds = 60;
};

HttpClient::HttpClient(int64_t stall_seconds) : state_(std::make_unique<State>()) {
  StartLibcurl();
  state_->stall_seconds = stall_seconds;
  state_->curl = curl_easy_init();
  state_->multi = curl_multi_init();
  if (state_->curl == nullptr || state_->multi == nullptr) throw std::bad_alloc();
}

HttpClient::~HttpClient() = default;

namespace {

struct List {
  curl_slist* items = nullptr;
  ~List() { curl_slist_free_all(items); }
  void Add(const std::string& line) {
    curl_slist* longer = curl_slist_append(items, line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    items = longer;
  }
};

void SetOptions(CURL* curl, const HttpRequest& request, const Address& address,
                int64_t stall_seconds, Transfer* transfer) {
  curl_easy_reset(curl);  // keeps connections
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "midscope");
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);  // cancelling does not wait for DNS
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(stall_seconds));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(request.time_limit));
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L << 10);
  // Addresses of this machine are never requested through a proxy.
  if (IsLoopback(address.host)) curl_easy_setopt(curl, CURLOPT_PROXY, "");
  // Reads the certificate settings of the program curl, because libcurl itself does not read them.
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const std::string file = Environment(name);
    if (file.empty()) continue;
    curl_easy_setopt(curl, CURLOPT_CAINFO, file.c_str());
    break;
  }
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeaderLine);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBodyPiece);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
}

// Removes the handle from the multi handle on every exit.
struct Running {
  CURLM* multi;
  CURL* curl;
  Running(CURLM* m, CURL* c) : multi(m), curl(c) { curl_multi_add_handle(multi, curl); }
  ~Running() {
    curl_multi_remove_handle(multi, curl);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);  // the buffer is the caller's
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  CURLcode Finish(const JobContext& context) const {
    int running = 1;
    while (true) {
      if (curl_multi_perform(multi, &running) != CURLM_OK) return CURLE_FAILED_INIT;
      context.ThrowIfCancelled();
      if (running == 0) break;
      if (curl_multi_poll(multi, nullptr, 0, kPollMilliseconds, nullptr) != CURLM_OK) {
        return CURLE_FAILED_INIT;
      }
    }
    int left = 0;
    const CURLMsg* message = curl_multi_info_read(multi, &left);
    return message != nullptr ? message->data.result : CURLE_FAILED_INIT;
  }
};

// Performs one request without redirects; `next` receives the address of a redirect.
void Perform(CURLM* multi, const Address& address, Transfer* transfer, std::string* next,
             const JobContext& context) {
  CURL* curl = transfer->curl;
  std::string detail(CURL_ERROR_SIZE, '\0');
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail.data());
  CURLcode code = CURLE_OK;
  {
    const Running running(multi, curl);
    code = running.Finish(context);
    if (code == CURLE_OK && !transfer->thrown) transfer->Begin();  // for a response without a body
    char* url = nullptr;
    curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &url);
    *next = url != nullptr ? url : "";
  }
  if (transfer->thrown) std::rethrow_exception(transfer->thrown);
  // The body of an error is discarded.
  const bool known = transfer->begun && !transfer->Wanted();
  if (code != CURLE_OK && !known) ThrowTransferError(code, address.host, detail.c_str());
}

}  // namespace

HttpAnswer HttpClient::Get(const HttpRequest& request, const OnHead& head, const OnBody& body,
                           const JobContext& context) {
  const std::string origin = HttpOrigin(request.url);
  std::string url = request.url;
  bool secure = false;
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    const auto address = ParseAddress(url);
    if (!address || (secure && address->scheme != "https")) {
      throw Failure(origin, "it sends to an address that is not followed",
                    "Only https leads on from https");
    }
    secure = address->scheme == "https";
    Transfer transfer;
    transfer.curl = state_->curl;
    transfer.head = &head;
    transfer.body = &body;
    transfer.answer.host = address->host;
    SetOptions(state_->curl, request, *address, state_->stall_seconds, &transfer);
    curl_easy_setopt(state_->curl, CURLOPT_URL, url.c_str());
    List headers;
    if (!request.token.empty() && address->Origin() == origin && MayCarryToken(url)) {
      headers.Add("Authorization: Bearer " + request.token);
    }
    if (request.first_byte > 0) {
      headers.Add(fmt::format("Range: bytes={}-", request.first_byte));
    }
    curl_easy_setopt(state_->curl, CURLOPT_HTTPHEADER, headers.items);
    std::string next;
    Perform(state_->multi, *address, &transfer, &next, context);
    ThrowIfBusy(transfer.answer);
    if (!IsRedirect(transfer.answer.status)) return std::move(transfer.answer);
    url = next;
  }
  throw Failure(origin,
                fmt::format("it sends from address to address (more than {})", kMaxRedirects),
                "Check HF_ENDPOINT and the proxy");
}

std::string HttpOrigin(const std::string& url) {
  if (const auto address = ParseAddress(url)) return address->Origin();
  throw UsageError(Quote(url, 120), "is not an http or https address",
                   "It must read https://HOST or http://HOST:PORT");
}

bool MayCarryToken(const std::string& url) {
  const auto address = ParseAddress(url);
  return address && (address->scheme == "https" || IsLoopback(address->host));
}

std::string PercentEncode(const std::string& text, const std::string& keep) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       keep.find(c) != std::string::npos;
    if (plain) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += "0123456789ABCDEF"[byte >> 4];
    encoded += "0123456789ABCDEF"[byte & 15];
  }
  return encoded;
}

}  // namespace midscope
