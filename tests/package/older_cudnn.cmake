# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# After a configuration that found too old a cuDNN, the next one finds the cuDNN in CUDNN_ROOT.
file(REMOVE_RECURSE ${WORK})
foreach(major IN ITEMS 8 9)
  set(ENV{CUDNN_ROOT} ${WORK}/cudnn${major})
  file(WRITE $ENV{CUDNN_ROOT}/include/cudnn_version.h
       "#define CUDNN_MAJOR ${major}\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n")
  file(WRITE $ENV{CUDNN_ROOT}/lib/libcudnn.so.9 "") # PyPI's package has no libcudnn.so
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G ${GENERATOR}
                          -DFROM=add_subdirectory -DDEVPLACE_DIR=${SOURCE} -DCOMPONENTS=cudnn
                          -DCMAKE_CXX_COMPILER=${COMPILER} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(STRINGS ${WORK}/build/CMakeCache.txt found
     REGEX "^DEVPLACE_CUDNN_(INCLUDE_DIR|LIBRARY):.*/cudnn9/(include$|lib/libcudnn.so.9$)")
list(LENGTH found number)
if(NOT number EQUAL 2)
  message(FATAL_ERROR "the cuDNN of $ENV{CUDNN_ROOT} was not found, but: ${found}")
endif()
