# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DNM= -DFEW=<object> -DMANY=<object> -DLARGE=<bytes> -P: fails unless both object files contain the same number
# of kernels (counted by their host stubs) and of large functions.
function(count object out_kernels out_large)
  execute_process(COMMAND ${NM} --demangle --print-size --defined-only --radix=d ${object}
                  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[][;]" " " symbols "${symbols}")
  string(REPLACE "\n" ";" symbols "${symbols}")
  set(kernels "")
  set(large "")
  foreach(symbol IN LISTS symbols)
    if(symbol MATCHES "^[0-9]+ ([0-9]+) [tTwWu] (.*)$")
      set(size ${CMAKE_MATCH_1})
      set(function ${CMAKE_MATCH_2})
      if(function MATCHES "__device_stub__")
        list(APPEND kernels "${function}")
      elseif(size GREATER_EQUAL ${LARGE} AND NOT function STREQUAL "main")
        list(APPEND large "${function}")
      endif()
    endif()
  endforeach()
  set(${out_kernels} ${kernels} PARENT_SCOPE)
  set(${out_large} ${large} PARENT_SCOPE)
endfunction()

count(${FEW} few_kernels few_large)
count(${MANY} many_kernels many_large)
foreach(kind IN ITEMS kernels large)
  list(LENGTH few_${kind} few)
  list(LENGTH many_${kind} many)
  message(STATUS "${kind}: ${few} and ${many}")
  if(NOT few EQUAL many)
    list(REMOVE_ITEM many_${kind} ${few_${kind}})
    string(REPLACE ";" "\n  " extra "${many_${kind}}")
    message(FATAL_ERROR "The number of ordinals changes the number of ${kind} (functions): ${few} and ${many}. Only in "
                        "the second:\n  ${extra}")
  endif()
endforeach()
list(LENGTH few_large few)
if(few EQUAL 0 AND NOT few_kernels)
  message(FATAL_ERROR "${FEW} has no kernel and no function of ${LARGE} bytes: the comparison would show nothing.")
endif()
