# SPDX-License-Identifier: MIT
# Finds LibTorch's CPU libraries and headers without the wheel's own CMake config, which demands a CUDA toolkit; with
# MIDSCOPE_CUDA its CUDA libraries too (of a whole wheel, with the nvidia/ folder beside it). No toolkit is needed for those
# (kernels/cuda does: FindCudaCompiler.cmake).
#   LibTorch_ROOT   a folder that holds include/ and lib/ (a LibTorch archive, or `torch/` of a Python installation)
# Default: where the `midscope` script puts it, $XDG_CACHE_HOME/midscope/libtorch-2.11.0/torch (libtorch-2.11.0-cuda/torch).
# Defines the imported target LibTorch::cpu, and with MIDSCOPE_CUDA LibTorch::cuda.
if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(_libtorch_cache "$ENV{XDG_CACHE_HOME}/midscope")
else()
  set(_libtorch_cache "$ENV{HOME}/.cache/midscope")
endif()
if(MIDSCOPE_CUDA)
  set(_libtorch_home libtorch-2.11.0-cuda)
else()
  set(_libtorch_home libtorch-2.11.0)
endif()
set(_libtorch_hints ${LibTorch_ROOT} $ENV{LibTorch_ROOT} ${_libtorch_cache}/${_libtorch_home}/torch)

find_path(LibTorch_INCLUDE_DIR ATen/ATen.h HINTS ${_libtorch_hints} PATH_SUFFIXES include)
find_library(LibTorch_CPU_LIBRARY torch_cpu HINTS ${_libtorch_hints} PATH_SUFFIXES lib)
find_library(LibTorch_C10_LIBRARY c10 HINTS ${_libtorch_hints} PATH_SUFFIXES lib)
set(_libtorch_required LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR)
set(_libtorch_remedy "Run ./midscope setup, or pass -DLibTorch_ROOT=<folder with include/ and lib/>.")
if(MIDSCOPE_CUDA)
  find_library(LibTorch_CUDA_LIBRARY torch_cuda HINTS ${_libtorch_hints} PATH_SUFFIXES lib)
  find_library(LibTorch_C10_CUDA_LIBRARY c10_cuda HINTS ${_libtorch_hints} PATH_SUFFIXES lib)
  list(APPEND _libtorch_required LibTorch_CUDA_LIBRARY LibTorch_C10_CUDA_LIBRARY)
  set(_libtorch_remedy "Run MIDSCOPE_CUDA=ON ./midscope setup, or pass -DLibTorch_ROOT=<folder with include/ and lib/>.")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS ${_libtorch_required}
  REASON_FAILURE_MESSAGE "${_libtorch_remedy}")

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
  if(MIDSCOPE_CUDA)
    file(GLOB _libtorch_cudart ${_libtorch_lib_dir}/../../nvidia/*/lib/libcudart.so.*)
    add_library(LibTorch::cudart INTERFACE IMPORTED)
    target_link_libraries(LibTorch::cudart INTERFACE ${_libtorch_cudart})
    # Nobody calls into these: they announce their operations when they are loaded.
    add_library(LibTorch::cuda INTERFACE IMPORTED)
    target_link_libraries(LibTorch::cuda INTERFACE LibTorch::cpu)
    target_link_options(LibTorch::cuda INTERFACE
      "LINKER:--push-state,--no-as-needed,${LibTorch_CUDA_LIBRARY},${LibTorch_C10_CUDA_LIBRARY},--pop-state")
    set_property(TARGET LibTorch::cuda APPEND PROPERTY INTERFACE_LINK_LIBRARIES
      "${LibTorch_CUDA_LIBRARY}" "${LibTorch_C10_CUDA_LIBRARY}")
  endif()
endif()
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_CUDA_LIBRARY LibTorch_C10_CUDA_LIBRARY)
