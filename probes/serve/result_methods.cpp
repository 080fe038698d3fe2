// SPDX-License-Identifier: MIT
// Methods for windows: results files to read and to write, curves over files, devices.
#include <fstream>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/compute/device_facts.h"
#include "data/formats/json_lines.h"
#include "data/store/run_store.h"
#include "data/sweep/sample_view.h"
#include "probes/base/private_folder.h"
#include "probes/model/tensor_library.h"
#include "probes/serve/engine_values.h"
#include "probes/serve/method.h"
#include "probes/sweep/curve_points.h"
#include "probes/sweep/outcome_curves.h"

namespace midscope {
namespace {

constexpr size_t kMostViews = 8;
constexpr int64_t kMostReceivedBytes = int64_t{4} << 30;

// Returns the open view of a file; `anew`: opens it again. Requires views_mutex.
const SampleView& ViewOf(EngineSession& session, const std::string& path, bool anew) {
  auto found = session.views.find(path);
  if (found != session.views.end() && !anew) return *found->second;
  auto view = std::make_unique<SampleView>(path);
  if (found != session.views.end()) session.views.erase(found);
  if (session.views.size() >= kMostViews) session.views.erase(session.views.begin());
  return *session.views.emplace(path, std::move(view)).first->second;
}

Message ViewFile(EngineSession& session, const Call& call) {
  const std::string path = call.params.Text("path");
  RunFile file;
  Record choices{"choices", {}, {}, {}, ""};
  if (call.params.Flag("first_sample", false)) {
    file = ReadForViewing(path);
  } else {
    const std::lock_guard lock(session.views_mutex);
    const SampleView& view = ViewOf(session, path, true);
    file = view.Overview();
    choices.axes = {view.samples(), view.settings(), view.places()};
    constexpr const char* kNames[] = {"sample", "setting", "place"};
    for (size_t i = 0; i < choices.axes.size(); ++i) choices.axes[i].name = kNames[i];
  }
  return {{"records", session.RecordsMessage(file.records)},
          {"plan", file.plan_json},
          {"provenance", ProvenanceMessage(file.provenance)},
          {"choices", session.RecordsMessage({choices})}};
}

Message ViewSample(EngineSession& session, const Call& call) {
  const auto index = [&](const char* key) { return IntegerOf(call.params, key, 0, 0); };
  const SampleChoice choice{index("sample"), index("setting"), index("place")};
  std::vector<Record> records;
  {
    const std::lock_guard lock(session.views_mutex);
    records = ViewOf(session, call.params.Text("path"), false).Read(choice);
  }
  return {{"records", session.RecordsMessage(records)}};
}

Message Curves(EngineSession& session, const Call& call) {
  const std::vector<CurveInput> inputs = ReadCurveInputs(TextList(call.params, "paths"), call.job);
  const std::vector<std::string> parameters = CurveParameters(inputs);
  // If there are no parameters, this call throws the error that says so.
  if (parameters.empty()) OutcomeCurves(inputs, "");
  std::vector<Record> records;
  for (const std::string& parameter : parameters) {
    call.job.ThrowIfCancelled();
    records.push_back(OutcomeCurves(inputs, parameter));
  }
  return {{"parameters", parameters},
          {"files", inputs.size()},
          {"records", session.RecordsMessage(records)}};
}

Message Devices(EngineSession& /*session*/, const Call& call) {
  const bool facts = call.params.Flag("facts", true);
  LoadTensorLibrary();
  Message devices = Message::array();
  for (const DeviceName& device : AvailableDevices()) {
    devices.push_back({{"device", DeviceText(device)}});
    if (facts) devices.back()["facts"] = DeviceFactsText(FactsOf(device));
  }
  return {{"devices", std::move(devices)}};
}

Message Receive(EngineSession& session, const Call& call) {
  const Message& data = call.params.Need("data");
  if (!data.is_binary()) throw UsageError("data", "it must be a binary");
  const auto& bytes = data.get_binary();
  const std::lock_guard lock(session.mutex);
  int64_t all = std::ssize(bytes);
  for (const auto& [number, held] : session.received) all += std::ssize(held);
  if (all > kMostReceivedBytes) throw UsageError("data", "the engine holds 4 GiB already");
  std::vector<uint8_t>& held = session.received[IntegerOf(call.params, "handle", 0, 0)];
  held.insert(held.end(), bytes.begin(), bytes.end());
  return Message::object();
}

// Returns the bytes of an HDF5 file with the records.
std::vector<uint8_t> FileWith(const std::vector<Record>& records, const Provenance& provenance) {
  const PrivateFolder folder;
  const std::string path = folder.File("results.h5");
  WriteRecords(path, records, provenance);
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Message WriteResults(EngineSession& session, const Call& call) {
  const auto fetch = [&session](int64_t handle, int64_t bytes) {
    const std::lock_guard lock(session.mutex);
    const auto found = session.received.find(handle);
    if (found == session.received.end() || std::ssize(found->second) != bytes) {
      throw UsageError("array", "its bytes were not sent", "Send them with receive first");
    }
    std::vector<uint8_t> data = std::move(found->second);
    session.received.erase(found);
    return data;
  };
  const std::vector<Record> records = ReadRecords(call.params.Need("records"), fetch);
  std::vector<uint8_t> file = FileWith(records, ReadProvenance(call.params.Need("provenance")));
  const auto bytes = std::ssize(file);
  const std::lock_guard lock(session.mutex);
  return {{"bytes", bytes}, {"handle", session.held.Hold(std::move(file))}};
}

}  // namespace

std::vector<Method> ResultMethods() {
  return {{"view_file",
           "Reads a results file to look at: without arrays that are read one sample at a time.",
           {{"path", "text", "an HDF5 file", true},
            {"first_sample", "boolean",
             "whether to add these arrays' first sample as records NAME_sample; default false"}},
           "records, plan (JSON), provenance, choices: a record with the axes sample, setting and "
           "place that view_sample takes",
           "",
           true,
           ViewFile},
          {"view_sample",
           "Reads one sample of a results file.",
           {{"path", "text", "an HDF5 file", true},
            {"sample", "integer", "index; default 0"},
            {"setting", "integer", "index; default 0"},
            {"place", "integer", "index; default 0"}},
           "records",
           "",
           true,
           ViewSample},
          {"curves",
           "Computes curves of the outcome over a parameter, as midscope curves does.",
           {{"paths", "list of texts", "files of sweeps or probes, and folders of them", true}},
           "parameters, files (their number), records: outcome_curves over each parameter",
           "",
           true,
           Curves},
          {"devices",
           "Lists the devices that can run layers.",
           {{"facts", "boolean",
             "whether to return names and free memory, which takes some of a GPU's memory; default "
             "true"}},
           "devices: a list of {device, facts}",
           "",
           true,
           Devices},
          {"receive",
           "Takes a slice of an array's bytes for write_results, where the array has `handle` and "
           "`bytes` instead of `data`.",
           {{"handle", "integer", "a number that the client chose", true},
            {"data", "binary", "the next bytes", true}},
           "an empty map",
           "",
           true,
           Receive},
          {"write_results",
           "Makes an HDF5 file of records.",
           {{"records", "list of records", "as run returns them", true},
            {"provenance", "map", "as open returns it", true}},
           "handle, bytes: read the file with read_array, then send release",
           "",
           true,
           WriteResults}};
}

}  // namespace midscope
