# SPDX-License-Identifier: BSD-3-Clause
cmake_minimum_required(VERSION 3.25)
project(solver LANGUAGES C CXX)
add_executable(solver client.cpp)
@snippet@
