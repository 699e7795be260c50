# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests of users' projects: each test configures, builds and runs tests/package/consumer in its own folder.

# devplace_add_package_test(<name> FROM <way> [EXPECT <regex>] [LABEL <label>] [SETTINGS <-Dvariable=value>...]): with
# EXPECT, the configuration must fail with a message that matches.
function(devplace_add_package_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM;EXPECT;LABEL" "SETTINGS")
  if(NOT arg_LABEL)
    set(arg_LABEL package)
  endif()
  set(work ${CMAKE_CURRENT_BINARY_DIR}/package/${name})
  list(APPEND arg_SETTINGS -DFROM=${arg_FROM} -DDEVPLACE_DIR=${PROJECT_SOURCE_DIR} -DCMAKE_PREFIX_PATH=${work}/prefix
       -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} "-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}")
  string(REPLACE ";" "$<SEMICOLON>" settings "${arg_SETTINGS}")
  add_test(
    NAME "package: ${name}"
    COMMAND ${CMAKE_COMMAND} -DGENERATOR=${CMAKE_GENERATOR} -DDEVPLACE_BUILD=${PROJECT_BINARY_DIR} -DWORK=${work}
            -DFROM=${arg_FROM} "-DEXPECT=${arg_EXPECT}" "-DSETTINGS=${settings}" -P
            ${CMAKE_CURRENT_SOURCE_DIR}/package/run_consumer.cmake)
  set_tests_properties("package: ${name}" PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${DEVPLACE_TEST_TIMEOUT})
endfunction()

devplace_add_package_test(installed FROM find_package SETTINGS -DCOMPONENTS=simulated_cuda)
devplace_add_package_test(subdirectory FROM add_subdirectory)
devplace_add_package_test(fetch_content FROM FetchContent SETTINGS -DCOMPONENTS=simulated_cuda)
devplace_add_package_test(compiled_library FROM find_package SETTINGS -DCOMPONENTS=compiled -DDEVPLACE_PRECOMPILE_HEADERS=ON
                          -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0) # the optimised library takes longer
devplace_add_package_test(unknown_component FROM find_package SETTINGS -DCOMPONENTS=nonsense
                          EXPECT "devplace: component 'nonsense' cannot be had: it has no component of that name")
devplace_add_package_test(unknown_optional_component FROM find_package SETTINGS -DOPTIONAL_COMPONENTS=nonsense)

if(DEVPLACE_BUILD_CUDA)
  set(as_cuda -DCOMPONENTS=cuda -DMORE_LANGUAGES=CUDA -DCOMPILE_AS_CUDA=ON)
  devplace_add_package_test(compile_as_cuda_find_package FROM find_package LABEL cuda
                            SETTINGS ${as_cuda} -DOPTIONAL_COMPONENTS=compiled -DCMAKE_BUILD_TYPE=Release
                                     -DCMAKE_CXX_FLAGS_RELEASE=-O0) # the optimised library takes longer
  devplace_add_package_test(compile_as_cuda_add_subdirectory FROM add_subdirectory LABEL cuda
                            SETTINGS ${as_cuda} -DCMAKE_CUDA_ARCHITECTURES=90)
  devplace_add_package_test(compile_as_cuda_without_the_language FROM find_package LABEL cuda
                            SETTINGS -DCOMPONENTS=cuda -DCOMPILE_AS_CUDA=ON
                            EXPECT "the CUDA language is not enabled in this directory")
endif()

if(TARGET devplace::cuda) # needed by NCCL and cuDNN
  foreach(test IN ITEMS older_nccl older_cudnn components_in_two_folders)
    add_test(
      NAME "package: ${test}"
      COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/package/${test}
              -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER} -P
              ${CMAKE_CURRENT_SOURCE_DIR}/package/${test}.cmake)
    set_tests_properties("package: ${test}" PROPERTIES LABELS package TIMEOUT ${DEVPLACE_TEST_TIMEOUT})
  endforeach()
endif()

# Tests the vcpkg port by running its portfile without vcpkg, and the Conan recipe with Conan.
add_test(
  NAME "package: vcpkg_port"
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/package/vcpkg_port
          -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER} "-DFLAGS=${CMAKE_CXX_FLAGS}" -P
          ${CMAKE_CURRENT_SOURCE_DIR}/package/vcpkg_port.cmake)
add_test(NAME "package: conan_recipe" COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/package/conan.sh ${PROJECT_SOURCE_DIR}
                                              ${CMAKE_CURRENT_BINARY_DIR}/package/conan)
set_tests_properties("package: vcpkg_port" "package: conan_recipe" PROPERTIES LABELS package TIMEOUT 600
                                                                             SKIP_RETURN_CODE 4 COST 50)
