# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` gives a client: the library, its headers, the CMake package heptad::heptad and heptad.pc.
include(CMakePackageConfigHelpers)

install(TARGETS heptad EXPORT heptad_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/heptad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp"
  PATTERN "starpu.h*" EXCLUDE)
set(HEPTAD_COMPONENTS tbb)
if(HEPTAD_WITH_CUDA)
  list(APPEND HEPTAD_COMPONENTS cuda)
  install(TARGETS heptad_cuda EXPORT heptad_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET heptad_starpu)
  list(APPEND HEPTAD_COMPONENTS starpu)
  install(TARGETS heptad_starpu EXPORT heptad_starpu_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES include/heptad/starpu.h include/heptad/starpu.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heptad)
endif()

if(HEPTAD_BUILD_BLAS)
  list(APPEND HEPTAD_COMPONENTS blas)
  # Beside the system's libblas.so.3, not in its place: an alternative, or a folder for LD_LIBRARY_PATH.
  install(TARGETS heptad_blas EXPORT heptad_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT blas)
  if(TARGET heptad_blas_complete)
    install(TARGETS heptad_blas_complete LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heptad COMPONENT blas NAMELINK_SKIP)
  endif()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heptad)
install(EXPORT heptad_targets NAMESPACE heptad:: FILE heptad-targets.cmake DESTINATION ${package_dir})
if(TARGET heptad_starpu)
  install(EXPORT heptad_starpu_targets NAMESPACE heptad:: FILE heptad-starpu-targets.cmake DESTINATION ${package_dir})
endif()
configure_package_config_file(cmake/heptad-config.cmake.in heptad-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 every minor version may change the interface.
write_basic_package_version_file(heptad-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heptad-config.cmake ${PROJECT_BINARY_DIR}/heptad-config-version.cmake
  DESTINATION ${package_dir})

configure_file(cmake/heptad.pc.in heptad.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heptad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(HEPTAD_WITH_CUDA)
  configure_file(cmake/heptad-cuda.pc.in heptad-cuda.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/heptad-cuda.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET heptad_starpu)
  configure_file(cmake/heptad-starpu.pc.in heptad-starpu.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/heptad-starpu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
