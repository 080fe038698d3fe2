// SPDX-License-Identifier: MIT
#include "data/hdf5_values.h"

#include <algorithm>

#include "core/utf8.h"

namespace midscope::hdf5 {
namespace {

// gzip shrinks by a factor of about 1,030 at most; a larger claim is a damaged or hostile file.
constexpr int64_t kLargestExpansion = 1100;
constexpr int64_t kAlwaysAllowedBytes = 1 << 20;

template <typename T>
hid_t NativeType() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, uint8_t>) return H5T_NATIVE_UINT8;
}

// Strings that HDF5 allocated, given back to it whatever happens.
class LibraryStrings {
 public:
  LibraryStrings(hid_t type, hid_t space, size_t count)
      : type_(type), space_(space), pointers_(count, nullptr) {}
  ~LibraryStrings() { H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, pointers_.data()); }
  LibraryStrings(const LibraryStrings&) = delete;
  LibraryStrings& operator=(const LibraryStrings&) = delete;

  char** data() { return pointers_.data(); }
  std::vector<std::string> Copy() const {
    std::vector<std::string> texts;
    texts.reserve(pointers_.size());
    for (const char* pointer : pointers_) texts.emplace_back(pointer ? pointer : "");
    return texts;
  }

 private:
  hid_t type_;
  hid_t space_;
  std::vector<char*> pointers_;
};

// What HDF5 wants of texts to write: pointers, and the texts that had to be changed to be storable.
class TextPointers {
 public:
  explicit TextPointers(const std::vector<std::string>& texts) : storable_(texts.size()) {
    for (size_t i = 0; i < texts.size(); ++i) {
      storable_[i] = StorableText(texts[i]);
      pointers_.push_back(storable_[i].c_str());
    }
  }
  const char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> storable_;
  std::vector<const char*> pointers_;
};

Handle OpenAttribute(hid_t object, const std::string& name) {
  return {H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "open attribute '" + name + "'"};
}

Handle CreateAttribute(hid_t object, const std::string& name, hid_t type, hid_t space) {
  return {H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
          "create attribute '" + name + "'"};
}

bool IsVariableText(hid_t type) {
  return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
}

std::vector<std::string> ReadTexts(hid_t attribute, const std::string& name) {
  const Handle type(H5Aget_type(attribute), H5Tclose, "read attribute '" + name + "'");
  if (!IsVariableText(type.id())) return {};
  const Handle space(H5Aget_space(attribute), H5Sclose, "read attribute '" + name + "'");
  const auto count = H5Sget_simple_extent_npoints(space.id());
  const Handle memory_type = TextType();
  LibraryStrings texts(memory_type.id(), space.id(),
                       static_cast<size_t>(std::max<int64_t>(count, 0)));
  Check(H5Aread(attribute, memory_type.id(), texts.data()), "read attribute '" + name + "'");
  return texts.Copy();
}

// The file's and the memory's data space for a box.
std::pair<Handle, Handle> BoxSpaces(hid_t data_set, const Box& box) {
  Handle file_space = SpaceOf(data_set);
  if (box.sizes.empty()) {
    Handle memory_space(H5Scopy(file_space.id()), H5Sclose, "set up a data space");
    return {std::move(file_space), std::move(memory_space)};
  }
  Check(H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, box.begin.data(), nullptr,
                            box.sizes.data(), nullptr),
        "select a part of a data set");
  return {std::move(file_space), Space(box.sizes)};
}

int64_t CheckedElements(hid_t memory_space, size_t element_bytes, int64_t file_bytes) {
  const int64_t count = Check(H5Sget_simple_extent_npoints(memory_space), "count elements");
  const int64_t most = file_bytes > (INT64_MAX - kAlwaysAllowedBytes) / kLargestExpansion
                           ? INT64_MAX
                           : file_bytes * kLargestExpansion + kAlwaysAllowedBytes;
  if (count > most / static_cast<int64_t>(element_bytes)) {
    throw Hdf5Error("a data set claims " + std::to_string(count) +
                    " elements, more than a file of " + std::to_string(file_bytes) +
                    " bytes can hold");
  }
  return count;
}

template <typename T>
std::vector<T> ReadNumbers(hid_t data_set, int64_t file_bytes, const Box& box) {
  const auto [file_space, memory_space] = BoxSpaces(data_set, box);
  std::vector<T> values(
      static_cast<size_t>(CheckedElements(memory_space.id(), sizeof(T), file_bytes)));
  Check(H5Dread(data_set, NativeType<T>(), memory_space.id(), file_space.id(), H5P_DEFAULT,
                values.data()),
        "read a data set");
  return values;
}

std::vector<std::string> ReadTextData(hid_t data_set, int64_t file_bytes, const Box& box) {
  const auto [file_space, memory_space] = BoxSpaces(data_set, box);
  const Handle type = TextType();
  const int64_t count = CheckedElements(memory_space.id(), sizeof(char*), file_bytes);
  LibraryStrings texts(type.id(), memory_space.id(), static_cast<size_t>(count));
  Check(H5Dread(data_set, type.id(), memory_space.id(), file_space.id(), H5P_DEFAULT, texts.data()),
        "read a data set of texts");
  return texts.Copy();
}

}  // namespace

std::string StorableText(const std::string& text) {
  const bool storable = text.find('\0') == std::string::npos && !FindInvalidUtf8(text).has_value();
  return storable ? text : DisplayText(text);
}

void WriteAttribute(hid_t object, const std::string& name, const Attribute& value) {
  const Handle space = Space({});
  if (const auto* text = std::get_if<std::string>(&value)) {
    const Handle type = TextType();
    const Handle attribute = CreateAttribute(object, name, type.id(), space.id());
    const TextPointers pointers({*text});
    Check(H5Awrite(attribute.id(), type.id(), pointers.data()), "write attribute '" + name + "'");
    return;
  }
  const bool whole = std::holds_alternative<int64_t>(value);
  const hid_t type = whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
  const Handle attribute = CreateAttribute(object, name, type, space.id());
  const void* number = whole ? static_cast<const void*>(&std::get<int64_t>(value))
                             : static_cast<const void*>(&std::get<double>(value));
  Check(H5Awrite(attribute.id(), type, number), "write attribute '" + name + "'");
}

void WriteAttribute(hid_t object, const std::string& name, const std::vector<std::string>& values) {
  const Handle space = Space({values.size()});
  const Handle type = TextType();
  const Handle attribute = CreateAttribute(object, name, type.id(), space.id());
  const TextPointers pointers(values);
  Check(H5Awrite(attribute.id(), type.id(), pointers.data()), "write attribute '" + name + "'");
}

bool HasAttribute(hid_t object, const std::string& name) {
  return Check(H5Aexists(object, name.c_str()), "look for attribute '" + name + "'") > 0;
}

std::optional<Attribute> ReadAttribute(hid_t object, const std::string& name) {
  if (!HasAttribute(object, name)) return std::nullopt;
  const Handle attribute = OpenAttribute(object, name);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose, "read attribute '" + name + "'");
  if (H5Sget_simple_extent_npoints(space.id()) != 1) return std::nullopt;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose, "read attribute '" + name + "'");
  switch (H5Tget_class(type.id())) {
    case H5T_STRING: {
      const std::vector<std::string> texts = ReadTexts(attribute.id(), name);
      if (texts.empty()) return std::nullopt;
      return texts.front();
    }
    case H5T_INTEGER: {
      int64_t value = 0;
      Check(H5Aread(attribute.id(), H5T_NATIVE_INT64, &value), "read attribute '" + name + "'");
      return value;
    }
    case H5T_FLOAT: {
      double value = 0;
      Check(H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &value), "read attribute '" + name + "'");
      return value;
    }
    default:
      return std::nullopt;
  }
}

std::string ReadTextAttribute(hid_t object, const std::string& name) {
  const std::optional<Attribute> value = ReadAttribute(object, name);
  const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
  return text ? *text : "";
}

std::vector<std::string> ReadTextListAttribute(hid_t object, const std::string& name) {
  if (!HasAttribute(object, name)) return {};
  const Handle attribute = OpenAttribute(object, name);
  return ReadTexts(attribute.id(), name);
}

std::vector<std::string> AttributeNames(hid_t object) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t position = 0;
  Check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, add, &names), "list attributes");
  return names;
}

Handle TypeOf(const ArrayData& data) {
  if (std::holds_alternative<std::vector<std::string>>(data)) return TextType();
  const hid_t native = std::visit(
      [](const auto& values) -> hid_t {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, std::string>)
          return H5I_INVALID_HID;
        else
          return NativeType<T>();
      },
      data);
  return {H5Tcopy(native), H5Tclose, "set up a type"};
}

size_t ElementBytes(const ArrayData& data) {
  return std::visit(
      [](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        return std::is_same_v<T, std::string> ? sizeof(hvl_t) : sizeof(T);
      },
      data);
}

void WriteData(hid_t data_set, const ArrayData& data, const Box& box) {
  const auto spaces = BoxSpaces(data_set, box);
  const Handle type = TypeOf(data);
  const auto write = [&](const void* values) {
    Check(H5Dwrite(data_set, type.id(), spaces.second.id(), spaces.first.id(), H5P_DEFAULT, values),
          "write a data set");
  };
  if (const auto* texts = std::get_if<std::vector<std::string>>(&data)) {
    const TextPointers pointers(*texts);
    if (!texts->empty()) write(pointers.data());
    return;
  }
  std::visit(
      [&](const auto& values) {
        if (!values.empty()) write(values.data());
      },
      data);
}

ArrayData DataKind(hid_t data_set) {
  const Handle type(H5Dget_type(data_set), H5Tclose, "read a data set's type");
  const size_t bytes = H5Tget_size(type.id());
  switch (H5Tget_class(type.id())) {
    case H5T_FLOAT:
      if (bytes == sizeof(float)) return std::vector<float>{};
      if (bytes == sizeof(double)) return std::vector<double>{};
      break;
    case H5T_INTEGER:
      if (bytes == sizeof(uint8_t)) return std::vector<uint8_t>{};
      if (bytes == sizeof(int64_t)) return std::vector<int64_t>{};
      break;
    case H5T_STRING:
      if (IsVariableText(type.id())) return std::vector<std::string>{};
      break;
    default:
      break;
  }
  throw Hdf5Error("a data set has a type that Midscope does not write");
}

ArrayData ReadData(hid_t data_set, int64_t file_bytes, const Box& box) {
  return std::visit(
      [&](const auto& kind) -> ArrayData {
        using T = typename std::decay_t<decltype(kind)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) {
          return ReadTextData(data_set, file_bytes, box);
        } else {
          return ReadNumbers<T>(data_set, file_bytes, box);
        }
      },
      DataKind(data_set));
}

}  // namespace midscope::hdf5
