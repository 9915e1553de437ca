# SPDX-License-Identifier: BSD-3-Clause
# Whether the Python package can be built: HEPTAD_BUILD_PYTHON is ON, OFF, or AUTO where Python and nanobind are found.
# A virtual environment that scripts/install-deps.sh made is looked at first.
if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/build/venv/bin/python3)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/build/venv/bin/python3)
endif()
find_package(Python 3.9 COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  set(HEPTAD_PYTHON_FOLDER "" CACHE STRING
    "Where the Python package is installed below the prefix; empty: where the interpreter looks")
  set(heptad_python_folder ${HEPTAD_PYTHON_FOLDER})
  if(NOT heptad_python_folder)
    # Debian's packages share a folder; below other prefixes, /usr/local say, every version of Python has its own.
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print('deb_system' in sysconfig.get_scheme_names())"
      OUTPUT_VARIABLE of_debian OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(heptad_python_folder lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages)
    if(of_debian AND CMAKE_INSTALL_PREFIX STREQUAL "/usr")
      set(heptad_python_folder lib/python3/dist-packages)
    elseif(of_debian)
      string(REPLACE site-packages dist-packages heptad_python_folder ${heptad_python_folder})
    endif()
  endif()
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
