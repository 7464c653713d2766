// SPDX-License-Identifier: Apache-2.0
// Where the cells and lines of a block of text end, many bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sawbill::store {

/// Writers of ends may run over the last one by this many entries.
inline constexpr size_t kEndsSlack = 64;

/// Offsets of each ',' and '\n' in `text`, ascending, to `ends` (room for text.size() + kEndsSlack); those of each '\n'
/// to `line_ends` as well (the same room). Returns the number of lines. Uses what the processor offers.
size_t FindEnds(std::string_view text, uint32_t* ends, uint32_t* line_ends);

/// The plain way, for comparison.
size_t FindEndsPortable(std::string_view text, uint32_t* ends, uint32_t* line_ends);

}  // namespace sawbill::store
