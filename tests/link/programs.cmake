# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sizes of public types in one program whose files are compiled with different components.
set(with_components public_types.cpp=simulated_cuda public_types.cpp=compiled)
foreach(component IN ITEMS cblas zlib)
  if(TARGET devplace::${component})
    list(APPEND with_components public_types.cpp=${component})
  endif()
endforeach()
devplace_add_link_test(public_types_are_one public_types_main.cpp public_types.cpp ${with_components})

# Sanitizers find nothing in how these are linked.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  # Two configurations in one program: each file keeps its own function bodies. The symbol test checks every function in
  # code compiled without inlining.
  devplace_add_link_test(configurations configurations_main.cpp=simulated_cuda configurations_checked.cpp=simulated_cuda
                         configurations_unchecked.cpp=simulated_cuda)
  devplace_add_configuration_test(configured_functions simulated_cuda configured_data.cpp configured_fields.cpp
                                  configured_models.cpp configured_operations.cpp)

  # One source on simulated devices here, and with nvcc below if there is a device.
  devplace_add_link_test(training_simulated training_program.cpp=simulated_cuda)

  # A trainer in one source of a program whose other sources do not include devplace.
  devplace_add_link_test(trainer_in_one_source surrogate_main.cpp surrogate.cpp)

  # Component compiled: a program that links the library, one that lacks it, and one with a source without CUDA that lacks
  # CUDA's library.
  devplace_add_link_test(trainer_with_compiled surrogate_main.cpp surrogate.cpp=compiled)
  devplace_add_link_fail_test(without_compiled "devplace_compiled_library_${PROJECT_VERSION_MAJOR}_" surrogate_main.cpp
                              surrogate.cpp=compiled)
  devplace_add_link_fail_test(without_compiled_of_cuda "devplace_compiled_library_of_cuda_${PROJECT_VERSION_MAJOR}_"
                              public_types.cpp=compiled real.cpp=cuda+compiled)
endif()

# A linked component without a device.
devplace_add_link_test(no_simulated_device no_simulated_device.cpp=simulated_cuda)
devplace_add_link_test(mistaken_simulated_devices mistaken_simulated_devices.cpp=simulated_cuda)

# Process-wide settings: each program sets its own before the first use.
devplace_add_link_test(logical_devices logical_devices.cpp=simulated_cuda)
devplace_add_link_test(devices_without_peers devices_without_peers.cpp=simulated_cuda)
devplace_add_link_test(simulated_memory_limit simulated_memory_limit.cpp=simulated_cuda)
devplace_add_link_test(replica_out_of_memory replica_out_of_memory.cpp=simulated_cuda)
devplace_add_link_test(fully_sharded_memory_limit fully_sharded_memory_limit.cpp=simulated_cuda)
# Fails each allocation in turn, which takes long: only where AddressSanitizer also finds what such a failure leaks.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  devplace_add_link_test(allocation_failures allocation_failures.cpp=simulated_cuda)
  set_tests_properties("link: allocation_failures" PROPERTIES COST 50) # starts this long test first
endif()
devplace_add_link_test(call_sequence_without_memory call_sequence_without_memory.cpp=cuda)
devplace_add_link_test(random_failures random_failures.cpp=simulated_cuda)
devplace_add_link_test(failures_at_exit failures_at_exit.cpp=simulated_cuda)
devplace_add_link_test(device_memory_guard device_memory_guard.cpp=simulated_cuda)

# Ordinals cause no additional instantiations. The control shows that the count detects them.
devplace_add_symbol_count_test(ordinals_simulated ordinals.cpp=simulated_cuda)
devplace_add_symbol_count_test(ordinals_simulated_control ordinal_in_functor.cpp=simulated_cuda DIFFERENT large)

devplace_add_link_fail_test(real_and_simulated devplace_cuda_backend_must_be_the_same_in_every_file real.cpp=cuda
                            simulated.cpp=simulated_cuda)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # clang would need a linker plugin
  devplace_add_link_fail_test(real_and_simulated_lto devplace_cuda_backend_must_be_the_same_in_every_file LTO
                              real.cpp=cuda simulated.cpp=simulated_cuda)
endif()
devplace_add_link_test(public_types_are_one_cuda public_types_main.cpp public_types.cpp
                       public_types.cpp=cuda public_types.cu)
if(NOT DEVPLACE_TEST_WITHOUT_CUDA_DEVICE)
  devplace_add_link_test(training_cuda training_program.cu)
endif()
devplace_add_link_test(two_languages two_languages.cpp=cuda two_languages.cu)
devplace_add_symbol_count_test(ordinals_cuda ordinals.cu)
devplace_add_symbol_count_test(ordinals_cuda_control ordinal_in_functor.cu DIFFERENT kernels)

if(DEVPLACE_BUILD_CUDA)
  # Without a device (all are hidden here), programs end with a clear error.
  foreach(program IN ITEMS training_cuda two_languages)
    if(TARGET ${program})
      add_test(
        NAME "link: ${program} without a device"
        COMMAND
          ${CMAKE_COMMAND}
          "-DEXPECT=devplace: cuda:0 (needs an NVIDIA driver, and this machine has none|does not exist: CUDA finds no device)"
          -P ${CMAKE_CURRENT_SOURCE_DIR}/support/expect_failure.cmake -- $<TARGET_FILE:${program}>)
      set_tests_properties("link: ${program} without a device" PROPERTIES LABELS cuda ENVIRONMENT CUDA_VISIBLE_DEVICES=-1
                                                                          TIMEOUT ${DEVPLACE_TEST_TIMEOUT})
    endif()
  endforeach()
endif()
