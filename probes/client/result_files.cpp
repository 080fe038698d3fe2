// SPDX-License-Identifier: MIT
#include "probes/client/result_files.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/file_access.h"
#include "probes/client/engine_link.h"
#include "probes/serve/engine_values.h"
#include "probes/serve/wire_arrays.h"

namespace midscope {
namespace {

constexpr int64_t kFileSliceBytes = int64_t{16} << 20;

RunFile FileOfAnswer(EngineLink& link, const Message& answer) {
  return {link.Records(answer.at("records")), ReadProvenance(answer.at("provenance")),
          answer.at("plan")};
}

// Sends the bytes of arrays in `records` that contain only a handle, before the request itself.
void SendHeld(EngineLink& link, const HeldArrays& held, const Message& records) {
  for (const Message& record : records) {
    for (const Message& array : record.at("arrays")) {
      if (!array.contains("handle")) continue;
      const int64_t bytes = array.at("bytes");
      for (int64_t begin = 0; begin < bytes; begin += kFileSliceBytes) {
        link.Call("receive", {{"handle", array.at("handle")},
                              {"data", held.Read(array.at("handle"), begin,
                                                 std::min(kFileSliceBytes, bytes - begin))}});
      }
    }
  }
}

}  // namespace

RemoteSampleView::RemoteSampleView(std::shared_ptr<EngineLink> link, const std::string& path)
    : link_(std::move(link)), path_(path) {
  ReadAnswer([&] {
    const Message answer = link_->Call("view_file", {{"path", path}});
    overview_ = FileOfAnswer(*link_, answer);
    choices_ = link_->Records(answer.at("choices")).at(0);
  });
}

std::vector<Record> RemoteSampleView::Read(const SampleChoice& choice) const {
  return ReadAnswer([&] {
    return link_->Records(link_
                              ->Call("view_sample", {{"path", path_},
                                                     {"sample", choice.sample},
                                                     {"setting", choice.setting},
                                                     {"place", choice.place}})
                              .at("records"));
  });
}

RunFile ResultFiles::Read(const std::string& path) const {
  return ReadWritten(sent_->SentFile(path));
}

RunFile ResultFiles::ReadWritten(const std::string& path) const {
  return ReadAnswer([&] {
    return FileOfAnswer(*link_, link_->Call("view_file", {{"path", path}, {"first_sample", true}}));
  });
}

std::shared_ptr<const RemoteSampleView> ResultFiles::View(const std::string& path) const {
  return std::make_shared<const RemoteSampleView>(link_, path);
}

FileCurves ResultFiles::Curves(const std::vector<std::string>& paths,
                               const JobContext& context) const {
  return ReadAnswer([&] {
    Message names = Message::array();
    for (const std::string& path : paths) names.push_back(sent_->SentFile(path));
    const Message answer = link_->Call("curves", {{"paths", names}}, context);
    return FileCurves{answer.at("parameters"), link_->Records(answer.at("records")),
                      answer.at("files")};
  });
}

bool ResultFiles::Exists(const std::string& path) const try {
  if (!link_->command().remote) return PathExists(path);
  if (link_->process() == 0) return false;
  const std::filesystem::path file(path);
  const std::string folder = file.parent_path().string();
  const Message answer = link_->Call("list_folder", {{"path", folder.empty() ? "." : folder}});
  const Message& entries = answer.at("entries");
  return std::any_of(entries.begin(), entries.end(), [&](const Message& entry) {
    return entry.at("name") == file.filename().string();
  });
} catch (const std::exception&) {
  return false;
}

std::string ResultFiles::FileOf(const std::vector<Record>& records,
                                const Provenance& provenance) const {
  return ReadAnswer([&] {
    HeldArrays held;
    const Message message = WireWriter(held).Write(records);
    SendHeld(*link_, held, message);
    const Message answer = link_->Call(
        "write_results", {{"records", message}, {"provenance", ProvenanceMessage(provenance)}});
    const std::vector<uint8_t> file = FetchHeld(*link_, answer.at("handle"), answer.at("bytes"));
    return std::string(file.begin(), file.end());
  });
}

}  // namespace midscope
