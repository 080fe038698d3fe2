// SPDX-License-Identifier: MIT
#include "data/store/record_group.h"

#include <hdf5_hl.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

#include "core/base/record.h"
#include "data/store/frame_check.h"
#include "data/store/run_store.h"  // for CheckStorable

namespace midscope {
namespace {

using hdf5::Check;
using hdf5::Handle;

constexpr hsize_t kChunkBytes = 1 << 20;

// Returns the chunk sizes of a data set: whole inner axes, and as many outer indices as fit.
std::vector<hsize_t> ChunkSizes(std::vector<hsize_t> sizes, size_t element_bytes, bool row_chunks) {
  if (row_chunks) {
    sizes[0] = 1;
    return sizes;
  }
  hsize_t bytes = element_bytes;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    sizes[axis] = std::clamp<hsize_t>(kChunkBytes / bytes, 1, sizes[axis]);
    bytes *= sizes[axis];
  }
  return sizes;
}

void SetFill(hid_t create, const ArrayData& data) {
  const std::string what = "set a fill value";
  if (std::holds_alternative<std::vector<float>>(data)) {
    const float fill = std::numeric_limits<float>::quiet_NaN();
    Check(H5Pset_fill_value(create, H5T_NATIVE_FLOAT, &fill), what);
  } else if (std::holds_alternative<std::vector<double>>(data)) {
    const double fill = std::numeric_limits<double>::quiet_NaN();
    Check(H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &fill), what);
  } else if (std::holds_alternative<std::vector<int64_t>>(data)) {
    const int64_t fill = -1;
    Check(H5Pset_fill_value(create, H5T_NATIVE_INT64, &fill), what);
  }
}

Handle CreationOf(const ArrayData& kind) {
  Handle create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "set up a data set");
  // Omits time stamps, so that equal results give identical files.
  Check(H5Pset_obj_track_times(create.id(), false), "set up a data set");
  SetFill(create.id(), kind);
  return create;
}

Handle Create(hid_t group, const std::string& name, const ArrayData& kind,
              const std::vector<hsize_t>& sizes, hid_t create) {
  const Handle space = hdf5::Space(sizes);
  const Handle type = hdf5::TypeOf(kind);
  return {H5Dcreate2(group, name.c_str(), type.id(), space.id(), H5P_DEFAULT, create, H5P_DEFAULT),
          H5Dclose, "create data set '" + name + "'"};
}

Handle CreateDataSet(hid_t group, const std::string& name, const ArrayData& kind,
                     const std::vector<hsize_t>& sizes, int gzip_level, bool row_chunks) {
  const Handle create = CreationOf(kind);
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  if (!sizes.empty() && !empty) {
    const std::vector<hsize_t> chunks = ChunkSizes(sizes, hdf5::ElementBytes(kind), row_chunks);
    Check(H5Pset_chunk(create.id(), static_cast<int>(chunks.size()), chunks.data()),
          "set up chunks");
    const bool text = std::holds_alternative<std::vector<std::string>>(kind);
    if (gzip_level > 0 && !text) {  // texts are stored outside chunks and not compressed
      Check(H5Pset_shuffle(create.id()), "set up compression");
      Check(H5Pset_deflate(create.id(), static_cast<unsigned>(gzip_level)), "set up compression");
    }
  }
  return Create(group, name, kind, sizes, create.id());
}

Handle CreateVirtualDataSet(hid_t group, const std::string& name, const ArrayData& kind,
                            const std::vector<hsize_t>& sizes,
                            const std::vector<hdf5::VirtualSource>& sources) {
  const Handle create = CreationOf(kind);
  hdf5::SetVirtual(create.id(), sizes, sources);
  return Create(group, name, kind, sizes, create.id());
}

std::vector<hsize_t> SizesOf(const Record& frame, const Array& array) {
  std::vector<hsize_t> sizes;
  for (const std::string& name : array.axes) {
    sizes.push_back(static_cast<hsize_t>(frame.FindAxis(name)->size));
  }
  return sizes;
}

void CheckStorableName(const std::string& kind, const std::string& name) {
  if (IsStorableName(name)) return;
  throw std::logic_error("store: '" + name + "' is not a valid name for " + kind);
}

}  // namespace

bool IsSchemaAttribute(const std::string& name) {
  static const std::set<std::string> reserved = {
      "NX_class", "signal", "axes", "default", "auxiliary_signals", kRecordNameAttribute};
  constexpr std::string_view kIndices = "_indices";
  return reserved.count(name) > 0 ||
         (name.size() > kIndices.size() &&
          name.compare(name.size() - kIndices.size(), kIndices.size(), kIndices) == 0);
}

void CheckStorable(const Record& record) {
  record.Check();
  CheckStorableName("a record", record.name);
  std::set<std::string> taken;
  for (const Axis& axis : record.axes) {
    CheckStorableName("an axis", axis.name);
    taken.insert(axis.name);
    if (!axis.labels.empty()) taken.insert(axis.name + kLabelSuffix);
  }
  for (const Array& array : record.arrays) {
    CheckStorableName("an array", array.name);
    if (!taken.insert(array.name).second) {
      throw std::logic_error("store: array '" + array.name + "' is named like an axis' labels");
    }
  }
  for (const auto& [name, value] : record.attributes) {
    CheckStorableName("an attribute", name);
    if (IsSchemaAttribute(name))
      throw std::logic_error("store: attribute '" + name + "' is the schema's");
  }
}

Record StorableRecord(Record record) {
  const auto store = [](std::string& text) { text = hdf5::StorableText(text); };
  for (Axis& axis : record.axes) {
    store(axis.unit);
    std::for_each(axis.labels.begin(), axis.labels.end(), store);
  }
  for (Array& array : record.arrays) {
    store(array.unit);
    store(array.description);
    if (auto* texts = std::get_if<std::vector<std::string>>(&array.data)) {
      std::for_each(texts->begin(), texts->end(), store);
    }
  }
  for (auto& [name, value] : record.attributes) {
    if (auto* text = std::get_if<std::string>(&value)) store(*text);
  }
  return record;
}

std::string PlottableSignal(const Record& record) {
  const auto plottable = [](const Array& array) {
    return !array.axes.empty() && !std::holds_alternative<std::vector<std::string>>(array.data);
  };
  const Array* signal = record.FindArray(record.signal);
  if (signal && plottable(*signal)) return signal->name;
  const auto first = std::find_if(record.arrays.begin(), record.arrays.end(), plottable);
  return first == record.arrays.end() ? "" : first->name;
}

std::vector<std::string> GroupNames(const std::vector<Record>& records) {
  std::set<std::string> taken = {"provenance"};
  for (const Record& record : records) {
    for (const Array& array : record.arrays) taken.insert(array.name);
  }
  std::vector<std::string> names;
  for (const Record& record : records) {
    std::string name = record.name;
    while (taken.count(name) > 0) name += "_record";
    taken.insert(name);
    names.push_back(name);
  }
  return names;
}

RecordGroupWriter::RecordGroupWriter(hid_t entry, const std::string& group_name,
                                     const Record& frame, int gzip_level,
                                     const std::vector<std::string>& row_arrays,
                                     const VirtualArrays& elsewhere)
    : group_(hdf5::CreateGroup(entry, group_name)) {
  hdf5::WriteAttribute(group_.id(), "NX_class", Attribute("NXdata"));
  hdf5::WriteAttribute(group_.id(), kRecordNameAttribute, Attribute(frame.name));
  for (const auto& [name, value] : frame.attributes) {
    hdf5::WriteAttribute(group_.id(), name, value);
  }
  for (const Axis& axis : frame.axes) CreateAxis(axis, gzip_level);
  for (const Array& array : frame.arrays) {
    const std::vector<hsize_t> sizes = SizesOf(frame, array);
    const auto sources = elsewhere.find(array.name);
    if (sources != elsewhere.end()) {
      CreateArray(
          frame, array,
          CreateVirtualDataSet(group_.id(), array.name, array.data, sizes, sources->second));
      continue;
    }
    const bool row_chunks =
        std::find(row_arrays.begin(), row_arrays.end(), array.name) != row_arrays.end();
    CreateArray(frame, array,
                CreateDataSet(group_.id(), array.name, array.data, sizes, gzip_level, row_chunks));
  }
  MarkAsPlot(frame);
}

void RecordGroupWriter::CreateAxis(const Axis& axis, int gzip_level) {
  const std::vector<hsize_t> sizes = {static_cast<hsize_t>(axis.size)};
  const ArrayData values = AxisValues(axis);
  Handle scale = CreateDataSet(group_.id(), axis.name, values, sizes, gzip_level, false);
  hdf5::WriteData(scale.id(), values);
  hdf5::WriteAttribute(scale.id(), kRoleAttribute, Attribute("axis"));
  if (axis.values.empty())
    hdf5::WriteAttribute(scale.id(), kImpliedAttribute, Attribute(int64_t{1}));
  if (!axis.unit.empty()) hdf5::WriteAttribute(scale.id(), "units", Attribute(axis.unit));
  hdf5::WriteAttribute(scale.id(), "long_name", Attribute(axis.name));
  Check(H5DSset_scale(scale.id(), axis.name.c_str()), "make '" + axis.name + "' an axis");
  if (!axis.labels.empty()) {
    const Handle labels =
        CreateDataSet(group_.id(), axis.name + kLabelSuffix, axis.labels, sizes, gzip_level, false);
    hdf5::WriteData(labels.id(), axis.labels);
    hdf5::WriteAttribute(labels.id(), kRoleAttribute, Attribute("label"));
    Check(H5DSattach_scale(labels.id(), scale.id(), 0), "attach an axis to its labels");
  }
  axes_.emplace(axis.name, std::move(scale));
}

void RecordGroupWriter::CreateArray(const Record& frame, const Array& array, Handle data_set) {
  std::string label_sets;
  for (const std::string& name : array.axes) {
    const Axis* axis = frame.FindAxis(name);
    if (!axis->labels.empty()) label_sets += (label_sets.empty() ? "" : " ") + name + kLabelSuffix;
  }
  hdf5::WriteAttribute(data_set.id(), kRoleAttribute, Attribute("array"));
  if (!array.unit.empty()) hdf5::WriteAttribute(data_set.id(), "units", Attribute(array.unit));
  if (!array.description.empty()) {
    hdf5::WriteAttribute(data_set.id(), "description", Attribute(array.description));
  }
  if (std::holds_alternative<std::vector<uint8_t>>(array.data)) {
    hdf5::WriteAttribute(data_set.id(), kKindAttribute, Attribute("boolean"));
  }
  if (!array.axes.empty()) {
    hdf5::WriteAttribute(data_set.id(), kAxisNamesAttribute, array.axes);
  }
  // Writes the attribute of the CF conventions by which xarray uses the labels as coordinates.
  if (!label_sets.empty())
    hdf5::WriteAttribute(data_set.id(), "coordinates", Attribute(label_sets));
  for (size_t i = 0; i < array.axes.size(); ++i) {
    Check(H5DSattach_scale(data_set.id(), axes_.at(array.axes[i]).id(), static_cast<unsigned>(i)),
          "attach axis '" + array.axes[i] + "' to '" + array.name + "'");
  }
  arrays_.emplace(array.name, std::move(data_set));
}

void RecordGroupWriter::MarkAsPlot(const Record& frame) {
  const Array* signal = frame.FindArray(PlottableSignal(frame));
  if (!signal) return;
  hdf5::WriteAttribute(group_.id(), "signal", Attribute(signal->name));
  hdf5::WriteAttribute(group_.id(), "axes", signal->axes);
  for (size_t i = 0; i < signal->axes.size(); ++i) {
    hdf5::WriteAttribute(group_.id(), signal->axes[i] + "_indices",
                         Attribute(static_cast<int64_t>(i)));
  }
}

void RecordGroupWriter::Write(const std::string& array, const ArrayData& data) {
  hdf5::WriteData(arrays_.at(array).id(), data);
}

void RecordGroupWriter::WriteRow(const std::string& array, int64_t row, const ArrayData& data,
                                 const std::vector<int64_t>& sizes) {
  hdf5::Box box{{static_cast<hsize_t>(row)}, {1}};
  for (const int64_t size : sizes) {
    box.begin.push_back(0);
    box.sizes.push_back(static_cast<hsize_t>(size));
  }
  hdf5::WriteData(arrays_.at(array).id(), data, box);
}

}  // namespace midscope
