# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# tests/fuzz/<thing>_fuzz.cpp defines LLVMFuzzerTestOneInput; tests/fuzz/<thing>_corpus/, where present, holds its seeds.
# Built only with clang, and run for a bounded time: in CI this is a regression check, not a fuzzing campaign.
set(DEVPLACE_FUZZ_SECONDS 5 CACHE STRING "Seconds that each fuzz target runs as a test")
file(GLOB sources CONFIGURE_DEPENDS fuzz/*_fuzz.cpp)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR CMAKE_CXX_FLAGS MATCHES "fsanitize=thread")
  set(sources "")
endif()
add_custom_target(devplace_fuzz_tests)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE devplace_test_settings)
  if(TARGET devplace::zlib)
    target_link_libraries(${name} PRIVATE devplace::zlib)
  endif()
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  add_dependencies(devplace_fuzz_tests ${name})
  # libFuzzer writes new inputs to the first folder and only reads the seeds.
  set(found ${CMAKE_CURRENT_BINARY_DIR}/${name}_found)
  file(MAKE_DIRECTORY ${found})
  string(REGEX REPLACE "_fuzz\\.cpp$" "_corpus" corpus ${source})
  if(NOT IS_DIRECTORY ${corpus})
    set(corpus "")
  endif()
  add_test(NAME "fuzz: ${name}" COMMAND ${name} -max_total_time=${DEVPLACE_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=1024
                                        -print_final_stats=1 ${found} ${corpus})
  set_tests_properties("fuzz: ${name}" PROPERTIES LABELS fuzz TIMEOUT ${DEVPLACE_TEST_TIMEOUT})
endforeach()
