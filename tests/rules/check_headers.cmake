# SPDX-License-Identifier: MIT
# midscope_check_headers(TARGET): each header beside TARGET's CMakeLists.txt must compile alone. Called in the room's own
# folder, where what it links is known.
function(midscope_check_headers target)
  if(NOT MIDSCOPE_TESTS)
    return()
  endif()
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(units)
  foreach(header ${headers})
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
  add_library(${target}_headers OBJECT ${units})
  set_target_properties(${target}_headers PROPERTIES AUTOMOC OFF)
  # Nothing is generated from them, so that the check stays cheap.
  target_compile_options(${target}_headers PRIVATE -O0)
  target_link_libraries(${target}_headers PRIVATE midscope_options $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
endfunction()
