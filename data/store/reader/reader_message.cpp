// SPDX-License-Identifier: MIT
#include "data/store/reader/reader_message.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/json_depth.h"
#include "core/base/record.h"

namespace midscope {
namespace {

using Json = nlohmann::json;

template <typename Decode>
auto DecodedAnswer(const std::string& file, std::span<const uint8_t> bytes, const Decode& decode) {
  if (MessagePackNestsWithin(bytes)) {
    try {
      return decode(Json::from_msgpack(bytes.begin(), bytes.end()));
    } catch (const Json::exception&) {
      // handled below
    }
  }
  throw Failure(file, "is damaged: its reader gave no answer that can be read");
}

}  // namespace

std::vector<uint8_t> EncodeRequest(const ReaderRequest& request) {
  return Json::to_msgpack({{"kind", static_cast<int64_t>(request.kind)},
                           {"record", request.record},
                           {"array", request.array},
                           {"begin", request.box.begin},
                           {"sizes", request.box.sizes}});
}

ReaderRequest DecodeRequest(const std::string& file, std::span<const uint8_t> bytes) {
  return DecodedAnswer(file, bytes, [](const Json& json) -> ReaderRequest {
    return {static_cast<ReaderRequest::Kind>(json.at("kind").get<int64_t>()),
            json.at("record").get<int64_t>(),
            json.at("array").get<std::string>(),
            {json.at("begin").get<std::vector<int64_t>>(),
             json.at("sizes").get<std::vector<int64_t>>()}};
  });
}

std::vector<uint8_t> EncodeContents(const RunContents& contents) {
  Json provenance = Json::object();
  ForEachField(contents.provenance,
               [&](const char* name, const auto& value) { provenance[name] = value; });
  Json parts = Json::array();
  for (const FilePart& part : contents.parts) parts.push_back({part.file, part.seal});
  return Json::to_msgpack({{"provenance", std::move(provenance)},
                           {"plan", contents.plan_json},
                           {"parts", std::move(parts)},
                           {"records", contents.records},
                           {"groups", contents.groups}});
}

RunContents DecodeContents(const std::string& file, std::span<const uint8_t> bytes) {
  return DecodedAnswer(file, bytes, [](const Json& json) {
    RunContents contents;
    const Json& provenance = json.at("provenance");
    ForEachField(contents.provenance,
                 [&](const char* name, auto& value) { provenance.at(name).get_to(value); });
    json.at("plan").get_to(contents.plan_json);
    for (const Json& part : json.at("parts")) {
      contents.parts.push_back({part.at(0).get<std::string>(), part.at(1).get<std::string>()});
    }
    json.at("records").get_to(contents.records);
    json.at("groups").get_to(contents.groups);
    return contents;
  });
}

void AppendText(std::vector<uint8_t>& piece, const std::string& text) {
  const auto length = static_cast<uint32_t>(text.size());
  const size_t at = piece.size();
  piece.resize(at + sizeof(length) + text.size());
  std::memcpy(piece.data() + at, &length, sizeof(length));
  if (!text.empty()) std::memcpy(piece.data() + at + sizeof(length), text.data(), text.size());
}

bool TakeTexts(std::span<const uint8_t> piece, std::vector<std::string>& texts) {
  while (!piece.empty()) {
    uint32_t length = 0;
    if (piece.size() < sizeof(length)) return false;
    std::memcpy(&length, piece.data(), sizeof(length));
    piece = piece.subspan(sizeof(length));
    if (piece.size() < length) return false;
    texts.emplace_back(piece.begin(), piece.begin() + length);
    piece = piece.subspan(length);
  }
  return true;
}

bool SendBytes(int socket, const void* bytes, size_t size) {
  const auto* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t sent = send(socket, next, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    next += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool SendMessage(int socket, MessageKind kind, std::span<const uint8_t> bytes) {
  const MessageHead head{MessageHead::kMagic, kind, bytes.size()};
  return SendBytes(socket, &head, sizeof(head)) && SendBytes(socket, bytes.data(), bytes.size());
}

bool ReceiveBytes(int socket, void* bytes, size_t size, int wait_ms) {
  auto* next = static_cast<char*>(bytes);
  while (size > 0) {
    pollfd waiting{socket, POLLIN, 0};
    const int ready = poll(&waiting, 1, wait_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = recv(socket, next, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace midscope
