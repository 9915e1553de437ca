# SPDX-License-Identifier: BSD-3-Clause
# libheptad_cuda: products on CUDA devices. Needs neither libheptad nor TBB at run time; libheptad finds it when a product
# is shared with devices.
set(HEPTAD_CUDA_SOURCES
  schedulers/cuda/fused_group.cpp schedulers/cuda/pinned_ring.cpp schedulers/cuda/side_streams.cpp schedulers/cuda/stream_executor.cpp schedulers/cuda/transfer_executor.cpp
  src/api/cuda/backend.cpp src/api/cuda/c_api.cpp src/api/cuda/calibrate.cpp src/api/cuda/device.cpp src/api/cuda/gemm.cpp src/api/cuda/host_gemm.cpp src/api/cuda/stream_tasks.cpp)
add_library(heptad_cuda_api OBJECT ${HEPTAD_CUDA_SOURCES})
target_link_libraries(heptad_cuda_api PUBLIC heptad_options CUDA::cudart CUDA::cublas fmt::fmt)
target_compile_definitions(heptad_cuda_api PRIVATE HEPTAD_VERSION="${PROJECT_VERSION}")

set(HEPTAD_CUDA_OBJECTS $<TARGET_OBJECTS:heptad_algorithm> $<TARGET_OBJECTS:heptad_plan> $<TARGET_OBJECTS:heptad_tasks>
  $<TARGET_OBJECTS:heptad_arguments> $<TARGET_OBJECTS:heptad_cuda_codelets> $<TARGET_OBJECTS:heptad_cuda_api>)
heptad_shared_library(heptad_cuda ${HEPTAD_CUDA_OBJECTS})
add_library(heptad::cuda ALIAS heptad_cuda)
set_target_properties(heptad_cuda PROPERTIES EXPORT_NAME cuda)
target_include_directories(heptad_cuda PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(heptad_cuda PUBLIC cxx_std_20)
target_link_libraries(heptad_cuda PRIVATE heptad_options CUDA::cudart CUDA::cublas fmt::fmt PkgConfig::HWLOC)

# The same objects with nothing hidden, for the tests and the bench.
add_library(heptad_cuda_internal STATIC EXCLUDE_FROM_ALL ${HEPTAD_CUDA_OBJECTS})
set_target_properties(heptad_cuda_internal PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(heptad_cuda_internal PUBLIC heptad_options CUDA::cudart CUDA::cublas fmt::fmt
  nlohmann_json::nlohmann_json PkgConfig::HWLOC)
