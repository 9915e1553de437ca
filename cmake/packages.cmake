# SPDX-License-Identifier: BSD-3-Clause
# Debian packages, one a component: `cpack` in a build folder that was configured with -DCMAKE_INSTALL_PREFIX=/usr (which
# alone gives Debian's folders for libraries); scripts/debian-packages.sh does both, and tries them in a fresh system.
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CONTACT "The Heptad authors <heptad@heptad.invalid>")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})  # our own libraries, which no package has yet
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL "")

# What must match exactly: the libraries may share more than their interface while the version is below 1.0.
set(same "(= ${PROJECT_VERSION})")

# heptad_package(<component> <package> SECTION ... SUMMARY ... TEXT ... [DEPENDS ...] [CONTROL ...])
function(heptad_package component package)
  cmake_parse_arguments(PACKAGE "" "SECTION;SUMMARY;TEXT;DEPENDS" "CONTROL" ${ARGN})
  string(TOUPPER ${component} COMPONENT)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION ${PACKAGE_SECTION} PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_DESCRIPTION "${PACKAGE_SUMMARY}\n${PACKAGE_TEXT}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_DEPENDS "${PACKAGE_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_CONTROL_EXTRA ${PACKAGE_CONTROL} PARENT_SCOPE)
  # For packages only: Debian wants it under the package's name.
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} RENAME copyright
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(library libheptad${HEPTAD_ABI})
set(about "Heptad multiplies matrices by Strassen's method and its relatives, as a graph of tasks on oneTBB, within an error bound that the caller chooses.")

file(WRITE ${PROJECT_BINARY_DIR}/debian/runtime/shlibs "libheptad ${HEPTAD_ABI} ${library} (>= ${PROJECT_VERSION})\n")
heptad_package(runtime ${library} SECTION libs CONTROL ${PROJECT_BINARY_DIR}/debian/runtime/shlibs
  SUMMARY "fast matrix multiplication as a task graph" TEXT "${about}\n.\nThis package has the shared library.")
heptad_package(development libheptad-dev SECTION libdevel
  DEPENDS "${library} ${same}, libtbb-dev"
  SUMMARY "fast matrix multiplication as a task graph: development files"
  TEXT "${about}\n.\nThis package has the headers for C and C++, the CMake package heptad and heptad.pc.")
if(HEPTAD_BUILD_TOOLS)
  heptad_package(tools heptad-tools SECTION math
    SUMMARY "fast matrix multiplication as a task graph: program"
    TEXT "${about}\n.\nThis package has the program heptad: products of NumPy files, plans explained, benchmarks beside other libraries, calibration, and search for algorithms.")
endif()
if(HEPTAD_BUILD_BLAS)
  configure_file(packaging/debian/blas.postinst.in debian/blas/postinst @ONLY)
  configure_file(packaging/debian/blas.prerm.in debian/blas/prerm @ONLY)
  heptad_package(blas libheptad-blas SECTION libs
    DEPENDS "${library} ${same}, libopenblas0 | libblis4 | libblas3"
    CONTROL ${PROJECT_BINARY_DIR}/debian/blas/postinst ${PROJECT_BINARY_DIR}/debian/blas/prerm
    SUMMARY "fast matrix multiplication as a task graph: drop-in BLAS"
    TEXT "${about}\n.\nThis package has libheptad_blas.so, to be preloaded, and an alternative for libblas.so.3 that is never chosen automatically. Both carry large products of matrices and leave the rest to another BLAS.")
endif()
if(TARGET heptad_starpu)
  set(starpu_shlibs ${PROJECT_BINARY_DIR}/debian/starpu/shlibs)
  file(WRITE ${starpu_shlibs} "libheptad_starpu ${HEPTAD_ABI} ${library}-starpu (>= ${PROJECT_VERSION})\n")
  heptad_package(starpu ${library}-starpu SECTION libs DEPENDS "${library} ${same}" CONTROL ${starpu_shlibs}
    SUMMARY "fast matrix multiplication as a task graph: on StarPU"
    TEXT "${about}\n.\nThis package has the library that submits products of StarPU's data handles.")
  heptad_package(starpu-development libheptad-starpu-dev SECTION libdevel
    DEPENDS "${library}-starpu ${same}, libheptad-dev ${same}, libstarpu-dev"
    SUMMARY "fast matrix multiplication as a task graph: development files for StarPU"
    TEXT "${about}\n.\nThis package has the headers <heptad/starpu.h> and <heptad/starpu.hpp>.")
endif()
if(HEPTAD_BUILD_PYTHON)
  heptad_package(python python3-heptad SECTION python DEPENDS "${library} ${same}, python3, python3-numpy"
    SUMMARY "fast matrix multiplication as a task graph: Python package"
    TEXT "${about}\n.\nThis package has the Python package heptad.")
endif()
include(CPack)
