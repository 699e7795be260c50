# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Every public header can be used alone: target devplace_headers. If a header includes one of the headers below, directly
# or indirectly, that one is precompiled. This saves a third of the time and finds the same errors: the header includes
# the precompiled header anyway, and the precompiled header itself is compiled alone.
add_custom_target(devplace_headers)
set(include ${PROJECT_SOURCE_DIR}/include)
file(GLOB_RECURSE all RELATIVE ${include} CONFIGURE_DEPENDS ${include}/*.hpp)
foreach(header IN LISTS all)
  file(STRINGS ${include}/${header} lines REGEX "^ *# *include <devplace/")
  list(TRANSFORM lines REPLACE ".*<(.*)>.*" "\\1" OUTPUT_VARIABLE includes_${header})
endforeach()

# tests/headers/ has a use of each header: includes, the header first, and code. Each use is compiled alone, after the
# lines at the top of its file.
file(GLOB files CONFIGURE_DEPENDS headers/*.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
string(ASCII 12 separator)
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(REGEX REPLACE "([;}]\n)\n#include <devplace/" "\\1${separator}#include <devplace/" text "${text}")
  string(FIND "${text}" ${separator} next)
  string(SUBSTRING "${text}" 0 ${next} first_lines)
  while(NOT next EQUAL -1)
    math(EXPR next "${next} + 1")
    string(SUBSTRING "${text}" ${next} -1 text)
    string(FIND "${text}" ${separator} next)
    string(SUBSTRING "${text}" 0 ${next} use)
    string(REGEX MATCH "<([^>]*)>" header "${use}")
    set(header ${CMAKE_MATCH_1})
    if(NOT header IN_LIST all)
      message(SEND_ERROR "${file} uses <${header}>, which does not exist.")
    endif()
    set(source_of_${header} "${first_lines}${use}")
  endwhile()
endforeach()

# devplace_add_header_tests(<name> COMPONENT <component> PRECOMPILED <header>... HEADERS <path>...): each header uses
# the first precompiled header that it includes.
function(devplace_add_header_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPONENT" "PRECOMPILED;HEADERS")
  list(TRANSFORM arg_HEADERS REPLACE "^${include}/" "" OUTPUT_VARIABLE left)

  foreach(precompiled IN LISTS arg_PRECOMPILED ITEMS "")
    set(with_it ${left})
    if(precompiled)
      # Finds all direct and indirect includers, iteratively.
      set(reached ${precompiled})
      set(candidates ${all})
      set(changed TRUE)
      while(changed)
        set(changed FALSE)
        foreach(header IN LISTS candidates)
          foreach(included IN LISTS includes_${header})
            if(included IN_LIST reached)
              list(APPEND reached ${header})
              list(REMOVE_ITEM candidates ${header})
              set(changed TRUE)
              break()
            endif()
          endforeach()
        endforeach()
      endwhile()
      list(REMOVE_ITEM with_it ${candidates})
      list(REMOVE_ITEM left ${with_it})
    endif()
    if(NOT with_it)
      continue()
    endif()
    set(sources "")
    foreach(header IN LISTS with_it)
      set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}/${header}.cpp)
      if(DEFINED source_of_${header})
        set(content "${source_of_${header}}")
      elseif(header MATCHES "^devplace/(backend|base|config|runtime)/")
        set(content "#include <${header}>\n")
      else()
        set(content "#error \"write a use of <${header}> in a file of tests/headers\"\n")
      endif()
      file(CONFIGURE OUTPUT ${source} CONTENT "${content}" @ONLY)
      list(APPEND sources ${source})
    endforeach()
    string(MAKE_C_IDENTIFIER "${name}_${precompiled}" target)
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(${target} PRIVATE devplace::${arg_COMPONENT})
    if(precompiled)
      target_precompile_headers(${target} PRIVATE <${precompiled}>)
    endif()
    add_dependencies(devplace_headers ${target})
  endforeach()
endfunction()

get_target_property(headers devplace HEADER_SET)
devplace_add_header_tests(
  headers_alone
  COMPONENT devplace
  PRECOMPILED devplace/nn/model.hpp devplace/ops/elementwise.hpp devplace/tensor/tensor.hpp devplace/base/thread_team.hpp
              devplace/base/error.hpp
  HEADERS ${headers})

# Headers for C++ files with component cuda, which need the toolkit.
if(TARGET devplace::cuda)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/devplace/backend/cuda/*.hpp)
  list(FILTER headers EXCLUDE REGEX "/detail/")
  devplace_add_header_tests(
    cuda_headers_alone
    COMPONENT cuda
    PRECOMPILED devplace/backend/cuda/memory.hpp devplace/backend/cuda/check.hpp devplace/base/error.hpp
    HEADERS ${headers})
endif()
