# SPDX-License-Identifier: MIT
# Finds LibTorch's CPU libraries and headers without the wheel's own CMake config, which demands a CUDA toolkit.
#   LibTorch_ROOT   a folder that holds include/ and lib/ (a LibTorch archive, or `torch/` of a Python installation)
# Default: where the `midscope` script puts it, $XDG_CACHE_HOME/midscope/libtorch-2.11.0/torch.
# Defines the imported target LibTorch::cpu.
if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(_libtorch_cache "$ENV{XDG_CACHE_HOME}/midscope")
else()
  set(_libtorch_cache "$ENV{HOME}/.cache/midscope")
endif()
set(_libtorch_hints ${LibTorch_ROOT} $ENV{LibTorch_ROOT} ${_libtorch_cache}/libtorch-2.11.0/torch)

find_path(LibTorch_INCLUDE_DIR ATen/ATen.h HINTS ${_libtorch_hints} PATH_SUFFIXES include)
find_library(LibTorch_CPU_LIBRARY torch_cpu HINTS ${_libtorch_hints} PATH_SUFFIXES lib)
find_library(LibTorch_C10_LIBRARY c10 HINTS ${_libtorch_hints} PATH_SUFFIXES lib)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Run ./midscope setup, or pass -DLibTorch_ROOT=<folder with include/ and lib/>.")

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  get_filename_component(_libtorch_lib_dir ${LibTorch_CPU_LIBRARY} DIRECTORY)
  # The CPU library of a CUDA wheel needs two small CUDA libraries to load; they lie beside it.
  file(GLOB _libtorch_nvidia_dirs ${_libtorch_lib_dir}/../../nvidia/*/lib)
  add_library(LibTorch::cpu INTERFACE IMPORTED)
  set_target_properties(LibTorch::cpu PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${LibTorch_CPU_LIBRARY};${LibTorch_C10_LIBRARY}")
  foreach(_dir ${_libtorch_nvidia_dirs})
    target_link_options(LibTorch::cpu INTERFACE "LINKER:-rpath-link,${_dir}")
  endforeach()
  target_link_options(LibTorch::cpu INTERFACE "LINKER:--allow-shlib-undefined")
endif()
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY)
