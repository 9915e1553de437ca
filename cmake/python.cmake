# SPDX-License-Identifier: BSD-3-Clause
# Whether the Python package can be built: HEPTAD_BUILD_PYTHON is ON, OFF, or AUTO where Python and nanobind are found.
# A virtual environment that scripts/install-deps.sh made is looked at first.
set(HEPTAD_PYTHON_FOLDER lib/python3/dist-packages CACHE STRING "Where the Python package is installed below the prefix")
if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/build/venv/bin/python3)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/build/venv/bin/python3)
endif()
find_package(Python 3.9 COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_nanobind)
endif()
if(Python_FOUND AND no_nanobind EQUAL 0)
  find_package(nanobind CONFIG REQUIRED PATHS ${nanobind_dir} NO_DEFAULT_PATH)
  set(HEPTAD_BUILD_PYTHON ON)
  add_subdirectory(python)
elseif(HEPTAD_BUILD_PYTHON STREQUAL "AUTO")
  message(STATUS "Heptad: no Python with headers and nanobind, so no Python package")
  set(HEPTAD_BUILD_PYTHON OFF)
else()
  message(FATAL_ERROR "HEPTAD_BUILD_PYTHON is ON, but there is no Python with headers and nanobind")
endif()
