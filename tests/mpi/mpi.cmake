# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Programs with several processes, for every MPI on this machine. Debian installs Open MPI and MPICH side by side, so
# the tests use the commands with a suffix; commands without a suffix may belong to either. Only the label mpi depends
# on an MPI.
add_custom_target(devplace_mpi_tests)

# devplace_add_mpi_test(<mpi> <program> <processes> [EXPECT <failure>] [SURVIVORS <number> [CODE <exit code>]]
#                       [ARGUMENTS <argument>...])
function(devplace_add_mpi_test mpi program processes)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "EXPECT;SURVIVORS;CODE" "ARGUMENTS")
  list(JOIN arg_ARGUMENTS " " name)
  if(NOT "${arg_SURVIVORS}" STREQUAL "")
    string(APPEND name " beside ${arg_SURVIVORS}")
  endif()
  string(REGEX REPLACE " +" " " name "mpi: ${mpi} ${program} ${name}, ${processes} processes")
  string(REPLACE " ," "," name "${name}")
  add_test(NAME "${name}" COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/mpi/run.sh ${DEVPLACE_MPIRUN_${mpi}} ${processes}
                                  $<TARGET_FILE:mpi_${program}_${mpi}> ${arg_ARGUMENTS})
  if(processes LESS 2 OR arg_EXPECT) # tests of failures mostly wait
    set(processes 1)
  endif()
  set_tests_properties("${name}" PROPERTIES LABELS mpi TIMEOUT 90 PROCESSORS ${processes}
                                            ENVIRONMENT "EXPECT=${arg_EXPECT};SURVIVORS=${arg_SURVIVORS};CODE=${arg_CODE}")
endfunction()

# devplace_add_hosts_test(<name> <label> <case> <launcher> <target> [argument]...): mpi/hosts.sh
function(devplace_add_hosts_test name label case launcher target)
  add_test(NAME "${name}" COMMAND sh ${PROJECT_SOURCE_DIR}/tests/mpi/hosts.sh ${case} ${launcher} $<TARGET_FILE:${target}> ${ARGN})
  set_tests_properties("${name}" PROPERTIES LABELS ${label} SKIP_RETURN_CODE 4 TIMEOUT 150 PROCESSORS 2)
endfunction()
if(TARGET distributed_simulated)
  devplace_add_hosts_test("example: distributed_simulated, two hosts" unit refused torchrun distributed_simulated)
endif()
add_executable(launched_hosts process/launched_hosts.cpp)
target_link_libraries(launched_hosts PRIVATE devplace_test_settings)
add_dependencies(devplace_unit_tests launched_hosts)
devplace_add_hosts_test("launched processes of two hosts" unit together torchrun launched_hosts)
devplace_add_hosts_test("launched processes of two hosts, slow link" unit slow torchrun launched_hosts)
devplace_add_hosts_test("launched processes of two hosts, cut off" unit cut torchrun launched_hosts cut_off)

# Names of the libraries in their descriptions.
set(library_openmpi "Open MPI v")
set(library_mpich "MPICH ")
# The error of a message longer than expected; with Open MPI an exception that the test catches.
set(too_long_openmpi "")
set(too_long_mpich "Message truncated")
# The device of the network in the example hpc.
set(hpc_device_openmpi "dp::cuda<0>")
set(hpc_component_openmpi simulated_cuda)
set(hpc_picture_openmpi picture)
set(hpc_device_mpich dp::cpu)
set(hpc_component_mpich devplace)
foreach(mpi IN ITEMS openmpi mpich)
  find_program(DEVPLACE_MPICXX_${mpi} mpicxx.${mpi})
  find_program(DEVPLACE_MPIRUN_${mpi} mpirun.${mpi})
  mark_as_advanced(DEVPLACE_MPICXX_${mpi} DEVPLACE_MPIRUN_${mpi})
  if(NOT DEVPLACE_MPICXX_${mpi} OR NOT DEVPLACE_MPIRUN_${mpi})
    devplace_add_skipped_test(mpi_${mpi} "mpicxx.${mpi} and mpirun.${mpi} are not on this machine")
    set_tests_properties(mpi_${mpi} PROPERTIES LABELS mpi)
    continue()
  endif()
  execute_process(COMMAND ${DEVPLACE_MPICXX_${mpi}} -show OUTPUT_VARIABLE command COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(command UNIX_COMMAND "${command}")
  set(directories ${command})
  list(FILTER directories INCLUDE REGEX "^-I")
  list(TRANSFORM directories REPLACE "^-I" "")
  set(libraries ${command})
  list(FILTER libraries INCLUDE REGEX "^-[lL]")
  set(programs collectives engine fields life training shares beside_a_solver own_samples)
  if(mpi STREQUAL "openmpi")
    list(APPEND programs all_reduce_bench exchange_bench)
  endif()
  foreach(program IN LISTS programs)
    set(source mpi/${program}.cpp)
    if(program MATCHES "^(.*)_bench$") # run by hand, but must compile
      set(source ${PROJECT_SOURCE_DIR}/benchmarks/parallel/${CMAKE_MATCH_1}_mpi_bench.cpp)
    endif()
    add_executable(mpi_${program}_${mpi} EXCLUDE_FROM_ALL ${source})
    target_include_directories(mpi_${program}_${mpi} SYSTEM PRIVATE ${directories})
    target_link_libraries(mpi_${program}_${mpi} PRIVATE devplace_test_settings ${libraries})
    add_dependencies(devplace_mpi_tests mpi_${program}_${mpi})
  endforeach()
  # The example with a solver; with Open MPI the network lies on a simulated GPU.
  file(GLOB solver_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/hpc/*.cpp)
  add_executable(mpi_hpc_${mpi} EXCLUDE_FROM_ALL ${solver_sources})
  target_include_directories(mpi_hpc_${mpi} SYSTEM PRIVATE ${directories})
  target_compile_definitions(mpi_hpc_${mpi} PRIVATE HPC_DEVICE=${hpc_device_${mpi}})
  target_link_libraries(mpi_hpc_${mpi} PRIVATE devplace_test_settings devplace::${hpc_component_${mpi}} ${libraries})
  add_dependencies(devplace_mpi_tests mpi_hpc_${mpi})
  add_test(NAME "mpi: ${mpi} example hpc" COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/mpi/hpc.sh ${DEVPLACE_MPIRUN_${mpi}}
                                                  $<TARGET_FILE:mpi_hpc_${mpi}> ${hpc_picture_${mpi}})
  set_tests_properties("mpi: ${mpi} example hpc" PROPERTIES LABELS mpi TIMEOUT 300 PROCESSORS 2 COST 50)

  target_link_libraries(mpi_training_${mpi} PRIVATE devplace::simulated_cuda)
  target_link_libraries(mpi_engine_${mpi} PRIVATE devplace::simulated_cuda)
  target_link_libraries(mpi_shares_${mpi} PRIVATE devplace::simulated_cuda)
  target_link_libraries(mpi_fields_${mpi} PRIVATE devplace::simulated_cuda)
  # Kernels and headers are compiled once, as for the unit tests.
  foreach(program IN LISTS programs ITEMS hpc)
    get_target_property(components mpi_${program}_${mpi} LINK_LIBRARIES)
    set(component "")
    if("devplace::simulated_cuda" IN_LIST components)
      set(component simulated_cuda)
    endif()
    target_link_libraries(mpi_${program}_${mpi} PRIVATE devplace::compiled)
    target_precompile_headers(mpi_${program}_${mpi} REUSE_FROM devplace_test_precompiled_${component})
  endforeach()
  if(TARGET mpi_all_reduce_bench_${mpi})
    target_include_directories(mpi_all_reduce_bench_${mpi} PRIVATE ${PROJECT_SOURCE_DIR}/benchmarks)
    target_include_directories(mpi_exchange_bench_${mpi} PRIVATE ${PROJECT_SOURCE_DIR}/benchmarks)
  endif()

  devplace_add_mpi_test(${mpi} collectives 0 ARGUMENTS ${library_${mpi}} 100)
  devplace_add_mpi_test(${mpi} collectives 1 ARGUMENTS ${library_${mpi}} 2000)
  devplace_add_mpi_test(${mpi} collectives 2 ARGUMENTS ${library_${mpi}} 2000)
  devplace_add_mpi_test(${mpi} collectives 3 ARGUMENTS ${library_${mpi}} 300)
  devplace_add_mpi_test(${mpi} collectives 4 ARGUMENTS ${library_${mpi}} 300)
  foreach(case IN ITEMS session program one_thread any_thread watched freed_communicators oversubscribed many_groups
                         over_tcp none forked_child)
    devplace_add_mpi_test(${mpi} life 2 ARGUMENTS ${case})
  endforeach()
  foreach(processes IN ITEMS 1 2 3)
    devplace_add_mpi_test(${mpi} training ${processes})
    devplace_add_mpi_test(${mpi} own_samples ${processes})
    devplace_add_mpi_test(${mpi} engine ${processes})
    devplace_add_mpi_test(${mpi} fields ${processes})
  endforeach()
  foreach(processes IN ITEMS 1 2 3 4)
    devplace_add_mpi_test(${mpi} shares ${processes})
  endforeach()
  devplace_add_hosts_test("mpi: ${mpi} training, two hosts" mpi together ${DEVPLACE_MPIRUN_${mpi}} mpi_training_${mpi})
  devplace_add_hosts_test("mpi: ${mpi} training, two hosts and a slow link" mpi slow ${DEVPLACE_MPIRUN_${mpi}} mpi_training_${mpi})
  devplace_add_hosts_test("mpi: ${mpi} life, two hosts are cut off" mpi cut ${DEVPLACE_MPIRUN_${mpi}} mpi_life_${mpi} cut_off)
  foreach(processes IN ITEMS 1 2) # with 3 processes on 2 cores MPICH's MPI_Allreduce takes minutes
    devplace_add_mpi_test(${mpi} beside_a_solver ${processes})
  endforeach()
  devplace_add_mpi_test(${mpi} life 2 ARGUMENTS different_calls EXPECT "${too_long_${mpi}}")
  devplace_add_mpi_test(${mpi} engine 3 ARGUMENTS skips EXPECT ") makes barrier #2 where rank 0 (host ")
  # When a process fails, mpirun ends the others, which also end by themselves.
  devplace_add_mpi_test(${mpi} shares 4 ARGUMENTS killed SURVIVORS 3 EXPECT ") ended without leaving the group, last")
  devplace_add_mpi_test(${mpi} fields 3 ARGUMENTS killed SURVIVORS 2 EXPECT ") ended without leaving the group, last")
  devplace_add_mpi_test(${mpi} fields 3 ARGUMENTS other_first_call EXPECT ") makes barrier #1 where rank 0 (host ")
  devplace_add_mpi_test(${mpi} fields 3 ARGUMENTS other_call EXPECT ") makes barrier #7 where rank 0 (host ")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS exception EXPECT "this rank has failed")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS killed EXPECT "illed")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS exception SURVIVORS 2 EXPECT
                        ") left the group because of an exception, ")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS killed SURVIVORS 2 EXPECT ") ended without leaving the group, last")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS exit SURVIVORS 2 EXPECT ") ended without leaving the group, last")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS catch_killed SURVIVORS 2 CODE 3 EXPECT "rank 2 goes on")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS catch_stopped SURVIVORS 2 CODE 3 EXPECT "rank 2 goes on")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS stopped EXPECT ") has been silent for 2 s, last known ")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS skips EXPECT ") left the group after all_gather #9 (1 x 4 bytes), and ")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS one_more EXPECT ") left the group after all_gather #10 (1 x 4 bytes), ")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS other_call EXPECT ") makes barrier #6 where rank 0 (host ")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS other_size EXPECT ") makes all_gather #6 (1 x 8 bytes) where rank 0 (")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS skips_in_a_part EXPECT
                        "same order. These calls are in the part of the group that split() made of ranks 1, 2.")
  devplace_add_mpi_test(${mpi} life 3 ARGUMENTS late EXPECT ") waits 2 s in all_gather #6 (1 x 4 bytes). Missing: rank 1 ")
  if(mpi STREQUAL "openmpi")
    add_test(NAME "mpi: openmpi, runs at the same time have separate folders"
             COMMAND sh -c "folder=\$(mktemp -d) && touch \"\$folder/ompi.\$(hostname -s).\$(id -u)\" || exit 1
                            TMPDIR=\$folder sh \"\$0\" \"\$@\"; status=\$?
                            rm -r \"\$folder\"; exit \$status"
                     ${CMAKE_CURRENT_SOURCE_DIR}/mpi/run.sh ${DEVPLACE_MPIRUN_${mpi}} 1 true)
    set_tests_properties("mpi: openmpi, runs at the same time have separate folders" PROPERTIES LABELS mpi)
    # MPICH's mpirun also ends the others, but often exits with success.
    devplace_add_mpi_test(${mpi} life 3 ARGUMENTS exit EXPECT "exit") # a message of mpirun or of a process
    devplace_add_mpi_test(${mpi} life 2 ARGUMENTS abandoned) # MPICH cancels the receive, so the sender waits forever
  endif()
  devplace_add_package_test(mpi_${mpi} FROM find_package LABEL mpi
                            SETTINGS -DCOMPONENTS=mpi -DMPI_EXECUTABLE_SUFFIX=.${mpi})
endforeach()
devplace_add_package_test(mpi_absent FROM find_package LABEL mpi SETTINGS -DCOMPONENTS=mpi -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
                          EXPECT "devplace: component 'mpi' cannot be had: no MPI. Debian: apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich")
