# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# After a configuration that found too old an NCCL, the next one finds the NCCL in NCCL_HOME.
file(REMOVE_RECURSE ${WORK})
foreach(minor IN ITEMS 20 28)
  set(ENV{NCCL_HOME} ${WORK}/nccl${minor})
  file(WRITE $ENV{NCCL_HOME}/include/nccl.h "#define NCCL_MAJOR 2\n#define NCCL_MINOR ${minor}\n#define NCCL_PATCH 1\n")
  file(WRITE $ENV{NCCL_HOME}/lib/libnccl.so.2 "") # PyPI's package has no libnccl.so
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G ${GENERATOR}
                          -DFROM=add_subdirectory -DDEVPLACE_DIR=${SOURCE} -DCOMPONENTS=nccl
                          -DCMAKE_CXX_COMPILER=${COMPILER} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(STRINGS ${WORK}/build/CMakeCache.txt found REGEX "^DEVPLACE_NCCL_(INCLUDE_DIR|LIBRARY):.*/nccl28/(include$|lib/libnccl.so.2$)")
list(LENGTH found number)
if(NOT number EQUAL 2)
  message(FATAL_ERROR "the NCCL of $ENV{NCCL_HOME} was not found, but: ${found}")
endif()
