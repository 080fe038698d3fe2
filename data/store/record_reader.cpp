// SPDX-License-Identifier: MIT
#include "data/store/record_reader.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/store/file_parts.h"
#include "data/store/file_seal.h"
#include "data/store/frame_check.h"
#include "data/store/hdf5_run.h"
#include "data/store/plan_text.h"
#include "data/store/reader/reader_process.h"
#include "data/store/sample_rows.h"
#include "data/store/unfinished_files.h"

namespace midscope {
namespace {

// Maximum elements of a small row, and of the block of small rows that is read at once.
constexpr int64_t kSmallRow = 1024;
constexpr int64_t kBlockElements = 1 << 16;
constexpr const char* kDamagedFile = "The file is damaged";
constexpr std::string_view kAddressSeparator = "::";

// Returns a hint for the error of a missing file, if a journal or a part of it exists.
std::string UnfinishedHint(const std::string& path) {
  if (const std::vector<std::string> parts = RankParts(path); !parts.empty()) {
    return "Several processes are at work on it, or were: look into " + parts.front() +
           ", or continue with --resume";
  }
  if (IsJournal(JournalPath(path)))
    return "The first samples of a sweep are in " + JournalPath(path) + "; --resume continues it";
  return "Check the path";
}

int64_t CheckedFileSize(const std::string& path) {
  if (!PathExists(path)) throw Failure(path, "the file does not exist", UnfinishedHint(path));
  if (!std::filesystem::is_regular_file(path))
    throw Failure(path, "is not a file", "Give a file of results");
  ::close(OpenForReading(path));
  return static_cast<int64_t>(std::filesystem::file_size(path));
}

// Returns the record if it is consistent; throws Error otherwise (the file is damaged).
Record Checked(const std::string& path, Record record) {
  try {
    record.Check();
  } catch (const std::logic_error& error) {
    throw Failure(path, error.what(), kDamagedFile);
  }
  return record;
}

// Whether HDF5's signature is at one of its possible offsets: 0, 512, 1024, 2048, ...
bool HasHdf5Mark(const std::string& path, int64_t size) {
  constexpr std::string_view kMark = "\x89HDF\r\n\x1a\n";
  std::ifstream file(path, std::ios::binary);
  for (int64_t offset = 0; offset + static_cast<int64_t>(kMark.size()) <= size;
       offset = offset == 0 ? 512 : offset * 2) {
    std::string bytes(kMark.size(), '\0');
    file.seekg(offset);
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return false;
    if (bytes == kMark) return true;
  }
  return false;
}

// Whether the superblock marks the file as open for writing (file consistency flags of its version
// 3). HDF5 sets the flag when a program opens the file for writing, and clears it when the program
// closes it.
bool IsMarkedOpenForWriting(const std::string& path) {
  constexpr size_t kVersionAt = 8;
  constexpr size_t kFlagsAt = 11;
  std::array<char, kFlagsAt + 1> bytes{};
  std::ifstream file(path, std::ios::binary);
  return file.read(bytes.data(), bytes.size()) && bytes[kVersionAt] == 3 &&
         (bytes[kFlagsAt] & 1) != 0;
}

void CheckIsHdf5(const std::string& path, int64_t size) {
  if (HasHdf5Mark(path, size)) return;
  ::close(OpenForReading(path));  // throws if too many files are open
  if (IsJournal(path)) {
    throw Failure(path, "is the journal of an unfinished sweep",
                  "midscope ls lists its samples; --resume continues the sweep");
  }
  throw Failure(
      path, "is not an HDF5 file",
      "Name a file of results that Midscope wrote, such as run.h5 of midscope sweep --out run.h5; "
      "if it is one, it is damaged or cut off");
}

int64_t HalfOfMemory() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2;
}

[[noreturn]] void ThrowUnknown(const std::string& path, const std::string& kind,
                               const std::string& name, const std::vector<std::string>& known) {
  throw Failure(path, "has no " + kind + " '" + name + "'", KnownWordsHint(name, known));
}

const Array& FindArrayOrThrow(const std::string& path, const Record& frame,
                              const std::string& array) {
  if (const Array* found = frame.FindArray(array)) return *found;
  std::vector<std::string> known = NamesIn(frame.arrays);
  ThrowUnknown(path, "array", array, known);
}

}  // namespace

struct RunReader::State {
  std::string path;
  std::string location;    // `path` or, if that is a symbolic link, its target
  int64_t most_bytes = 0;  // maximum size of an array, in bytes
  std::unique_ptr<RunSource> source;
  RunContents contents;
  mutable std::vector<Record> frames;  // filled on first use; an empty name means not yet read

  void Open(ReadBy by);
  void CheckContents();
  // Calls `read`, and converts exceptions about invalid contents to Error with the file's name.
  template <typename Read>
  auto Guarded(const Read& read) const {
    try {
      return read();
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw Failure(path, "does not fit into this machine's memory", "Read a part: --slice");
    } catch (const std::runtime_error& error) {
      throw Failure(path, error.what(), kDamagedFile);
    }
  }
  size_t IndexOf(const std::string& record) const {
    for (size_t i = 0; i < contents.records.size(); ++i) {
      if (contents.records[i] == record || contents.groups[i] == record) return i;
    }
    ThrowUnknown(path, "record", record, contents.records);
  }
  const Record& Frame(const std::string& record) const {
    const size_t index = IndexOf(record);
    if (frames[index].name.empty()) {
      frames[index] = Guarded([&] {
        Record frame = source->Frame(index);
        if (frame.name != contents.records[index])
          throw std::runtime_error("it contradicts itself");
        CheckFrame(frame, most_bytes);
        return frame;
      });
    }
    return frames[index];
  }
  ArrayData Values(const std::string& record, const Array& array, const IndexBox& box) const;
  // Reads row `row`, cut to the first `sizes` indices of the axes after the first (empty: whole).
  Array Row(const std::string& record, const Array& frame_array, int64_t row,
            std::vector<int64_t> sizes) const;
  // Returns row `row` of a small array from a block of rows, which is read if necessary.
  ArrayData SmallRow(const std::string& record, const Array& frame_array, int64_t row,
                     int64_t elements) const;

  // A block of rows of a small array. Every read costs about 0.1 ms, independent of its size, so
  // consecutive rows are read in blocks; each block has twice as many rows as the previous one.
  struct RowBlock {
    int64_t begin = 0;
    int64_t rows = 0;
    ArrayData data;
  };
  mutable std::map<std::pair<std::string, std::string>, RowBlock> blocks;  // by record, array name
};

void RunReader::State::Open(ReadBy by) {
  const int64_t bytes = CheckedFileSize(path);
  CheckIsHdf5(path, bytes);
  SealState seal = CheckSeal(path);
  // If there is no reader program, computes the checksum of large files, too, which takes seconds.
  if (seal == SealState::kUnchecked && FindReaderProgram().empty()) seal = CheckSeal(path, bytes);
  if (seal != SealState::kIntact && IsMarkedOpenForWriting(path)) {
    throw Failure(
        path,
        "is marked as open for writing: another program has it open, or ended without "
        "closing it",
        "Close it there (in Python: file.close()). If no program has it open: h5clear -s " + path);
  }
  if (seal == SealState::kBroken) {
    throw Failure(path, "is damaged: its bytes do not agree with its checksum",
                  "Copy it again, or run again");
  }
  location = LocationOf(path);
  const bool go_on = by == ReadBy::kThisProcess;
  bool here = seal == SealState::kIntact || (go_on && seal == SealState::kUnchecked);
  if (here) {
    source = OpenRunHere(path, go_on ? FileTrust::kOwn : FileTrust::kSealed);
    contents = source->Contents();
    here = go_on || PartsAreChecked(location, contents.parts);
  }
  if (!here) {
    source = OpenRunApart(path);
    contents = source->Contents();
  }
  const int64_t all_bytes = bytes + PartBytes(location, contents.parts);
  most_bytes =
      FileLimits(here ? FileTrust::kSealed : FileTrust::kForeign, all_bytes).MostArrayBytes();
}

void RunReader::State::CheckContents() {
  if (!contents.plan_json.empty()) CheckJsonText(path, "plan", contents.plan_json);
  CheckJsonText(path, "list of options", contents.provenance.options_json);
  Guarded([&] {
    if (contents.groups.size() != contents.records.size())
      throw std::runtime_error("it contradicts itself");
    std::set<std::string> names;
    for (size_t i = 0; i < contents.records.size(); ++i) {
      CheckGroupName(contents.groups[i], contents.records[i]);
      if (!names.insert(contents.records[i]).second)
        throw std::runtime_error("record " + Quote(contents.records[i]) + " occurs twice");
    }
    return 0;
  });
  frames.resize(contents.records.size());
}

ArrayData RunReader::State::Values(const std::string& record, const Array& array,
                                   const IndexBox& box) const {
  const Record& frame = Frame(record);
  int64_t elements = 1;
  for (size_t i = 0; i < array.axes.size(); ++i) {
    const int64_t size = frame.FindAxis(array.axes[i])->size;
    if (box.begin[i] < 0 || box.sizes[i] < 0 || box.begin[i] > size - box.sizes[i]) {
      throw Failure(path, "array '" + array.name + "' has no such part");
    }
    elements *= box.sizes[i];
  }
  return std::visit(
      [&](const auto& kind) -> ArrayData {
        using Values = std::decay_t<decltype(kind)>;
        const auto bytes = static_cast<double>(elements) *
                           static_cast<double>(sizeof(typename Values::value_type));
        if (bytes > static_cast<double>(HalfOfMemory())) {
          throw Failure(path,
                        "array '" + array.name + "' takes more than half of this machine's memory",
                        "Read a part: --slice");
        }
        if (elements == 0) return Values{};
        ArrayData values = source->Values(IndexOf(record), array, box);
        if (values.index() != array.data.index() || ElementCount(values) != elements)
          throw Failure(path, "array '" + array.name + "' has changed", kDamagedFile);
        return values;
      },
      array.data);
}

Array RunReader::State::Row(const std::string& record, const Array& frame_array, int64_t row,
                            std::vector<int64_t> sizes) const {
  const Record& frame = Frame(record);
  if (frame_array.axes.empty() || row < 0 ||
      row >= frame.FindAxis(frame_array.axes.front())->size) {
    throw Failure(path, fmt::format("array '{}' has no row {}", frame_array.name, row));
  }
  Array array = frame_array;
  array.axes.erase(array.axes.begin());
  if (sizes.empty()) {
    for (const std::string& axis : array.axes) sizes.push_back(frame.FindAxis(axis)->size);
  }
  int64_t elements = 1;
  bool whole = true;
  for (size_t i = 0; i < array.axes.size(); ++i) {
    const int64_t size = frame.FindAxis(array.axes[i])->size;
    whole = whole && sizes[i] == size;
    elements *= size;
  }
  if (whole && elements > 0 && elements <= kSmallRow) {
    array.data = SmallRow(record, frame_array, row, elements);
    return array;
  }
  IndexBox box{std::vector<int64_t>(frame_array.axes.size(), 0), std::move(sizes)};
  box.begin[0] = row;
  box.sizes.insert(box.sizes.begin(), 1);
  array.data = Values(record, frame_array, box);
  return array;
}

ArrayData RunReader::State::SmallRow(const std::string& record, const Array& frame_array,
                                     int64_t row, int64_t elements) const {
  RowBlock& block = blocks[{record, frame_array.name}];
  if (row < block.begin || row >= block.begin + block.rows) {
    const Record& frame = Frame(record);
    const bool follows = block.rows > 0 && row == block.begin + block.rows;
    const int64_t most = std::max<int64_t>(1, kBlockElements / elements);
    const int64_t rows = std::min(
        {follows ? 2 * block.rows : 1, most, frame.FindAxis(frame_array.axes.front())->size - row});
    IndexBox box{std::vector<int64_t>(frame_array.axes.size(), 0), {rows}};
    box.begin[0] = row;
    for (size_t i = 1; i < frame_array.axes.size(); ++i)
      box.sizes.push_back(frame.FindAxis(frame_array.axes[i])->size);
    block = {row, rows, Values(record, frame_array, box)};
  }
  return std::visit(
      [&](const auto& values) -> ArrayData {
        const auto begin = values.begin() + (row - block.begin) * elements;
        return std::decay_t<decltype(values)>(begin, begin + elements);
      },
      block.data);
}

RunReader::RunReader(const std::string& path, ReadBy by) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->Open(by);
  state_->CheckContents();
}

RunReader::~RunReader() = default;
RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&& other) noexcept = default;

const std::string& RunReader::path() const { return state_->path; }
const Provenance& RunReader::provenance() const { return state_->contents.provenance; }
const std::string& RunReader::plan_json() const { return state_->contents.plan_json; }
const std::vector<std::string>& RunReader::record_names() const { return state_->contents.records; }

bool RunReader::Has(const std::string& record) const {
  const std::vector<std::string>& names = record_names();
  return std::find(names.begin(), names.end(), record) != names.end();
}

std::vector<std::string> RunReader::parts() const {
  std::vector<std::string> files;
  for (const FilePart& part : state_->contents.parts) files.push_back(part.file);
  return files;
}

std::string RunReader::GroupPath(const std::string& record) const {
  return "/entry/" + state_->contents.groups[state_->IndexOf(record)];
}

Record RunReader::Describe(const std::string& record) const { return state_->Frame(record); }

Record RunReader::Read(const std::string& record) const {
  Record whole = Describe(record);
  for (Array& array : whole.arrays) array = ReadArray(record, array.name);
  return Checked(state_->path, std::move(whole));
}

Array RunReader::ReadArray(const std::string& record, const std::string& array) const {
  return ReadPart(record, array, {});
}

Array RunReader::ReadPart(const std::string& record, const std::string& array,
                          const std::vector<AxisSlice>& slices) const {
  return state_->Guarded([&] {
    const Record& frame = state_->Frame(record);
    Array part = FindArrayOrThrow(state_->path, frame, array);
    IndexBox box;
    for (const std::string& name : part.axes) {
      int64_t begin = 0;
      int64_t end = frame.FindAxis(name)->size;
      for (const AxisSlice& slice : slices) {
        if (slice.axis != name) continue;
        begin = slice.begin;
        end = slice.end;
      }
      box.begin.push_back(begin);
      box.sizes.push_back(end - begin);
    }
    part.data = state_->Values(record, part, box);
    return part;
  });
}

Array RunReader::ReadRow(const std::string& record, const std::string& array, int64_t row) const {
  return state_->Guarded([&] {
    return state_->Row(record, FindArrayOrThrow(state_->path, state_->Frame(record), array), row,
                       {});
  });
}

Record RunReader::ReadSample(const std::string& record, int64_t row,
                             const ArrayFilter& wanted) const {
  return state_->Guarded([&] {
    const Record& frame = state_->Frame(record);
    Record sample = ReadSampleRow(
        frame,
        [&](const Array& array, const std::vector<int64_t>& sizes) {
          return state_->Row(record, array, row, sizes);
        },
        wanted);
    return Checked(state_->path, std::move(sample));
  });
}

RunAddress ParseRunAddress(std::string_view address) {
  const size_t separator = address.rfind(kAddressSeparator);
  if (separator == std::string_view::npos) return {std::string(address), ""};
  std::string_view inside = address.substr(separator + kAddressSeparator.size());
  while (inside.starts_with('/')) inside.remove_prefix(1);
  constexpr std::string_view kEntry = "entry";
  if (inside == kEntry) inside = "";
  if (inside.starts_with("entry/")) inside.remove_prefix(kEntry.size() + 1);
  return {std::string(address.substr(0, separator)), std::string(inside)};
}

RunAddress FindRunAddress(std::string_view address, const RunReader& reader) {
  RunAddress parsed = ParseRunAddress(address);
  const std::string& name = parsed.inside;
  if (name.empty() || name.find('/') != std::string::npos || reader.Has(name)) return parsed;
  std::vector<std::string> found;
  for (const std::string& record : reader.record_names()) {
    if (reader.Describe(record).FindArray(name))
      found.emplace_back(record).append("/").append(name);
  }
  if (found.size() > 1) {
    throw Failure(parsed.path, "has several arrays '" + name + "'",
                  "Give one of them: " + Joined(found));
  }
  if (!found.empty()) parsed.inside = found.front();
  return parsed;
}

namespace {

// Reads record `name`, or only its array `array` ("": all arrays), cut to those slices in `texts`
// whose axis it has. `used` [slice]: increased for each slice that is applied.
Record ReadCut(const RunReader& reader, const std::string& name, const std::string& array,
               const std::vector<std::string>& texts, std::vector<int>& used) {
  Record part = reader.Describe(name);
  if (!array.empty()) {
    const Array only = FindArrayOrThrow(reader.path(), part, array);
    std::erase_if(part.axes, [&](const Axis& axis) { return !HasAxis(only, axis.name); });
    part.arrays = {only};
    part.signal = only.name;
  }
  std::vector<AxisSlice> slices;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!part.FindAxis(SlicedAxisName(texts[i]))) continue;
    slices.push_back(ReadAxisSlice(part, texts[i]));
    ++used[i];
  }
  for (Array& held : part.arrays) held = reader.ReadPart(name, held.name, slices);
  for (Axis& axis : part.axes) axis = SlicedAxis(axis, slices);
  return Checked(reader.path(), std::move(part));
}

}  // namespace

RunFile ReadRecords(const std::string& address, const std::vector<std::string>& slices) {
  const RunReader reader(ParseRunAddress(address).path);
  const RunAddress parsed = FindRunAddress(address, reader);
  RunFile file{{}, reader.provenance(), reader.plan_json(), parsed.inside};
  const size_t slash = parsed.inside.find('/');
  const std::string array = slash == std::string::npos ? "" : parsed.inside.substr(slash + 1);
  std::vector<std::string> names = reader.record_names();
  if (!parsed.inside.empty()) names = {parsed.inside.substr(0, slash)};
  std::vector<int> used(slices.size(), 0);
  for (const std::string& name : names) {
    file.records.push_back(ReadCut(reader, name, array, slices, used));
  }
  for (size_t i = 0; i < slices.size(); ++i) {
    if (used[i] > 0) continue;
    throw UsageError("slice '" + slices[i] + "'",
                     "nothing in " + address + " has axis '" + SlicedAxisName(slices[i]) + "'",
                     "midscope ls " + parsed.path + " lists the records");
  }
  return file;
}

}  // namespace midscope
