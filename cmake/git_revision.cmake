# SPDX-License-Identifier: BSD-3-Clause
# Writes OUTPUT, a header with the commit of SOURCE_DIR and whether tracked files differ from it, when that changed.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse HEAD OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE failed ERROR_QUIET)
set(dirty false)
if(failed)
  set(hash unknown)
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    set(dirty true)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#pragma once
namespace heptad::bench {
inline constexpr char const* git_hash = "@hash@";
inline constexpr bool git_dirty = @dirty@;
}  // namespace heptad::bench
]])
