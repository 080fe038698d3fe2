# SPDX-License-Identifier: MIT
# midscope_check_headers(TARGET...): each header beside TARGET's CMakeLists.txt, and in folders there that have none of their own,
# must compile alone, with what the TARGETs link. Called in the room's own folder, where that is known. Built by the target
# `headers`, in CI.
add_custom_target(headers)
function(midscope_check_headers target)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(units)
  foreach(header ${headers})
    cmake_path(GET header PARENT_PATH folder)
    if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR AND EXISTS ${folder}/CMakeLists.txt)
      continue()
    endif()
    # Highway includes these once for each instruction set, in a context that only it gives.
    if(header MATCHES "-inl\\.h$")
      continue()
    endif()
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${header})
    string(REPLACE "/" "_" unit ${name})
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/alone/${unit}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${name}\"  // alone\n")
    list(APPEND units ${unit})
  endforeach()
  add_library(${target}_headers OBJECT EXCLUDE_FROM_ALL ${units})
  add_dependencies(headers ${target}_headers)
  set_target_properties(${target}_headers PROPERTIES AUTOMOC OFF)
  # Nothing is generated from them, so that the check stays cheap.
  target_compile_options(${target}_headers PRIVATE -O0)
  target_link_libraries(${target}_headers PRIVATE midscope_options $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
  foreach(other ${ARGN})
    target_link_libraries(${target}_headers PRIVATE $<TARGET_PROPERTY:${other},LINK_LIBRARIES>)
  endforeach()
endfunction()
