// SPDX-License-Identifier: Apache-2.0
#include "gpu/source.h"

namespace sawbill::gpu {

const char* Name(Trouble t) {
  switch (t) {
    case Trouble::kNone:
      return "none";
    case Trouble::kNoLibrary:
      return "no_library";
    case Trouble::kNoDriver:
      return "no_driver";
    case Trouble::kMismatch:
      return "mismatch";
    case Trouble::kNoPermission:
      return "no_permission";
    case Trouble::kNoCards:
      return "no_cards";
    case Trouble::kLostSight:
      return "lost_sight";
    case Trouble::kUnreachable:
      return "unreachable";
    case Trouble::kOther:
      return "other";
  }
  return "other";
}

}  // namespace sawbill::gpu
