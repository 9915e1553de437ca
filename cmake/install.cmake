# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` gives, by component (`--component NAME`): runtime (libheptad), development (headers, the CMake
# package, pkg-config), tools (the program), and what needs more than that: blas, starpu and starpu-development, cuda and
# cuda-development, python. The files can be moved as a whole: nothing in them names the prefix.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heptad)
cmake_path(SET pc_dir NORMALIZE /${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH pc_dir BASE_DIRECTORY / OUTPUT_VARIABLE pc_dir)
string(REGEX REPLACE "[^/]+" ".." HEPTAD_PC_PREFIX ${pc_dir})

# A library for clients. Each has CMake targets of its own, so that a component may be absent.
function(heptad_install name target component development)
  install(TARGETS ${target} EXPORT ${target}_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} NAMELINK_COMPONENT ${development}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${target}_targets NAMESPACE heptad:: FILE ${name}-targets.cmake DESTINATION ${package_dir}
    COMPONENT ${development})
  if(EXISTS ${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
      COMPONENT ${development})
  endif()
  file(GLOB headers ${ARGN})
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heptad COMPONENT ${development})
endfunction()

set(headers ${PROJECT_SOURCE_DIR}/include/heptad)
heptad_install(heptad heptad runtime development ${headers}/export.h ${headers}/heptad.h*
  ${headers}/hybrid.h* ${headers}/tbb.hpp)
if(TARGET heptad_starpu)
  heptad_install(heptad-starpu heptad_starpu starpu starpu-development ${headers}/starpu.h*)
endif()
if(HEPTAD_WITH_CUDA)
  heptad_install(heptad-cuda heptad_cuda cuda cuda-development ${headers}/cuda.h*)
endif()
if(HEPTAD_BUILD_BLAS)
  # libheptad_blas.so is a name that users preload, hence no part of a development package. libblas.so.3 lies beside the
  # system's, not in its place: an alternative, or a folder for LD_LIBRARY_PATH.
  heptad_install(heptad-blas heptad_blas blas blas)
  if(TARGET heptad_blas_complete)
    install(TARGETS heptad_blas_complete LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heptad COMPONENT blas NAMELINK_SKIP)
  endif()
endif()

configure_package_config_file(cmake/heptad-config.cmake.in heptad-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 every minor version may change the interface.
write_basic_package_version_file(heptad-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heptad-config.cmake ${PROJECT_BINARY_DIR}/heptad-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)
