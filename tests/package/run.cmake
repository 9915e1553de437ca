# SPDX-License-Identifier: BSD-3-Clause
# One package test, by the name in CASE. Called by CTest with the variables that CMakeLists.txt sets.
cmake_minimum_required(VERSION 3.25)
set(client ${SOURCE}/examples/find_package)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(configure source)
  run(${CMAKE_COMMAND} -S ${source} -B ${WORK}/${CASE} -G ${GENERATOR} --fresh -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} ${ARGN})
endfunction()

if(CASE STREQUAL install)
  file(REMOVE_RECURSE ${PREFIX})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX})
  foreach(file IN ITEMS include/heptad/heptad.h include/heptad/heptad.hpp include/heptad/tbb.hpp
      ${LIBDIR}/libheptad.so ${LIBDIR}/pkgconfig/heptad.pc ${LIBDIR}/cmake/heptad/heptad-config.cmake)
    if(NOT EXISTS ${PREFIX}/${file})
      message(FATAL_ERROR "${file} was not installed")
    endif()
  endforeach()
elseif(CASE STREQUAL find_package)
  configure(${client} -DCMAKE_PREFIX_PATH=${PREFIX})
  run(${CMAKE_COMMAND} --build ${WORK}/${CASE})
  run(${WORK}/${CASE}/client)
elseif(CASE STREQUAL unknown_component)
  file(WRITE ${WORK}/${CASE}-source/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(client LANGUAGES CXX)
find_package(heptad REQUIRED COMPONENTS abacus)
")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/${CASE}-source -B ${WORK}/${CASE} -G ${GENERATOR} --fresh
      -DCMAKE_PREFIX_PATH=${PREFIX} -DCMAKE_CXX_COMPILER=${COMPILER}
    RESULT_VARIABLE failed ERROR_VARIABLE message)
  if(NOT failed OR NOT message MATCHES "no component 'abacus'")
    message(FATAL_ERROR "an unknown component must be refused by name, not: ${message}")
  endif()
elseif(CASE STREQUAL pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
  # heptad.pc names the prefix that the build was configured with; the test installs elsewhere.
  execute_process(COMMAND ${PKG_CONFIG} --define-variable=prefix=${PREFIX} --cflags --libs heptad
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags)
  file(MAKE_DIRECTORY ${WORK}/${CASE})
  run(${COMPILER} -std=c++20 ${client}/client.cpp -o ${WORK}/${CASE}/client ${flags})
  set(ENV{LD_LIBRARY_PATH} ${PREFIX}/${LIBDIR})
  run(${WORK}/${CASE}/client)
elseif(CASE STREQUAL subdirectory)
  # The flags of this build, so that a compiler cache has all but the client.
  configure(${SOURCE}/tests/package/subdirectory -DHEPTAD_SOURCE=${SOURCE} -DCLIENT=${client}
    -DHEPTAD_WARNINGS_AS_ERRORS=${STRICT})
  run(${CMAKE_COMMAND} --build ${WORK}/${CASE} --parallel 2)
  run(${WORK}/${CASE}/client)
else()
  message(FATAL_ERROR "no package test '${CASE}'")
endif()
