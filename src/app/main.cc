// SPDX-License-Identifier: Apache-2.0
// The program. Everything real (disk, terminal, clock, environment) is made here and handed down.
#include <string>
#include <vector>

#include "app/environment.h"

int main(int argc, char** argv) {
  sawbill::app::RealEnvironment real;
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  return sawbill::app::RunMain(args, &real.env);
}
