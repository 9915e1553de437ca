# SPDX-License-Identifier: BSD-3-Clause
cmake_minimum_required(VERSION 3.25)
project(client LANGUAGES CXX)
add_executable(client client.cpp)
@snippet@
