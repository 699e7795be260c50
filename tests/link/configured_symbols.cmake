# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DOBJDUMP= -DOBJECTS= -P: fails if configured_symbols.awk finds a wrong function in the object files.
execute_process(COMMAND ${OBJDUMP} -r ${OBJECTS} COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/configured_symbols.awk
                COMMAND_ERROR_IS_FATAL ANY)
