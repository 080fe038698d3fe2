# SPDX-License-Identifier: MIT
# Finds nvcc and makes CUDA a language of the project: where CMake finds it, else where the `midscope` script puts the compiler's
# wheels, $XDG_CACHE_HOME/midscope/cuda-13.0. -DCMAKE_CUDA_COMPILER=, CUDACXX and -DCMAKE_CUDA_ARCHITECTURES= choose others.
if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(_cuda_home "$ENV{XDG_CACHE_HOME}/midscope/cuda-13.0/nvidia/cu13")
else()
  set(_cuda_home "$ENV{HOME}/.cache/midscope/cuda-13.0/nvidia/cu13")
endif()
find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDACXX PATHS ${_cuda_home}/bin /usr/local/cuda/bin)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "MIDSCOPE_CUDA needs nvcc. Run MIDSCOPE_CUDA=ON ./midscope setup, or pass -DCMAKE_CUDA_COMPILER=<nvcc>.")
endif()
# Ampere and Hopper; newer GPUs compile the last one's PTX when they load it.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
endif()
# The wheels have no lib64, where nvcc looks by itself.
get_filename_component(_cuda_bin ${CMAKE_CUDA_COMPILER} DIRECTORY)
set(CMAKE_CUDA_FLAGS_INIT "-L${_cuda_bin}/../lib")
set(CMAKE_CUDA_RUNTIME_LIBRARY None)
enable_language(CUDA)
# CMake 3.25 does not know these of nvcc 13.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA_STANDARD 20)
