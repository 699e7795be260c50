# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DSOURCE=<checkout> -DWORK=<folder> -DGENERATOR=<generator> -DCOMPILER=<compiler> -DFLAGS=<flags> -P
# vcpkg_port.cmake: runs the portfile of the overlay port in docs/install.md with the functions below instead of
# vcpkg's, checks the package's contents, and builds and runs a consumer against it.
file(REMOVE_RECURSE ${WORK})
file(READ ${SOURCE}/docs/install.md page)
if(NOT page MATCHES "\n\\| vcpkg \\| `vcpkg install devplace --overlay-ports=<checkout>/([^`]+)`, then `find_package`")
  message(FATAL_ERROR "docs/install.md has no row '| vcpkg | `vcpkg install devplace --overlay-ports=<checkout>/...`, then `find_package`'.")
endif()
set(port ${SOURCE}/${CMAKE_MATCH_1}/devplace)

# --- the functions of vcpkg that the port of a header-only library uses ----------------------------------------------
function(run_step)
  execute_process(COMMAND ${ARGV} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  run_step(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${WORK}/build -G ${GENERATOR} ${arg_OPTIONS}
           -DCMAKE_BUILD_TYPE=${VCPKG_BUILD_TYPE} -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}
           -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_CXX_COMPILER=${COMPILER})
endfunction()
function(vcpkg_cmake_install)
  run_step(${CMAKE_COMMAND} --build ${WORK}/build --target install)
endfunction()
# Moves the package's CMake files to share/<port> and corrects their relative path to the prefix, one folder shorter.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
  file(GLOB files ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*)
  if(NOT files)
    message(FATAL_ERROR "The portfile says CONFIG_PATH ${arg_CONFIG_PATH}, and nothing was installed there.")
  endif()
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(REPLACE "${up}${up}${up}" "${up}${up}" text "${text}")
    string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
    file(WRITE ${CURRENT_PACKAGES_DIR}/share/${PORT}/${name} "${text}")
  endforeach()
  file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH})
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  configure_file(${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright COPYONLY)
endfunction()

# --- the portfile ----------------------------------------------------------------------------------------------------
file(READ ${port}/vcpkg.json manifest)
string(JSON PORT GET "${manifest}" name)
string(JSON version GET "${manifest}" version)
set(CURRENT_PACKAGES_DIR ${WORK}/packages/${PORT})
include(${port}/portfile.cmake)

# --- vcpkg's own checks after a build, and the consumer --------------------------------------------------------------
foreach(file IN ITEMS include/devplace/all.hpp share/devplace/copyright share/devplace/usage
                      share/devplace/devplace-config.cmake share/devplace/devplace-config-version.cmake
                      share/devplace/devplace-targets.cmake share/devplace/devplace_components.cmake
                      share/devplace/devplace_compile_as_cuda.cmake)
  if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${file})
    message(FATAL_ERROR "The port does not install ${file}.")
  endif()
endforeach()
file(GLOB folders RELATIVE ${CURRENT_PACKAGES_DIR} ${CURRENT_PACKAGES_DIR}/*)
if(NOT folders STREQUAL "include;share")
  message(FATAL_ERROR "The port of a header-only library installs include and share, not: ${folders}")
endif()
file(GLOB_RECURSE there RELATIVE ${SOURCE}/include ${SOURCE}/include/*)
file(GLOB_RECURSE installed RELATIVE ${CURRENT_PACKAGES_DIR}/include ${CURRENT_PACKAGES_DIR}/include/*)
if(NOT there STREQUAL installed)
  message(FATAL_ERROR "The port installs other headers than include/ has.")
endif()
file(STRINGS ${CURRENT_PACKAGES_DIR}/share/devplace/devplace-config-version.cmake packaged REGEX "^set\\(PACKAGE_VERSION ")
if(NOT packaged STREQUAL "set(PACKAGE_VERSION \"${version}\")")
  message(FATAL_ERROR "The port's manifest says version ${version}, the package: ${packaged}")
endif()

run_step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/consumer -G ${GENERATOR} -DFROM=find_package
         -DCOMPONENTS=simulated_cuda -DCMAKE_PREFIX_PATH=${CURRENT_PACKAGES_DIR} -DCMAKE_CXX_COMPILER=${COMPILER}
         -DCMAKE_CXX_FLAGS=${FLAGS})
run_step(${CMAKE_COMMAND} --build ${WORK}/consumer)
run_step(${WORK}/consumer/simulated)
