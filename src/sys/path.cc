// SPDX-License-Identifier: Apache-2.0
#include "sys/file.h"

namespace sawbill::sys {
namespace {

std::string_view WithoutTrailingSlashes(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

}  // namespace

std::string JoinPath(std::string_view dir, std::string_view name) {
  if (dir.empty() || (!name.empty() && name.front() == '/')) return std::string(name);
  std::string out(dir);
  if (name.empty()) return out;
  if (out.back() != '/') out += '/';
  return out.append(name);
}

std::string BaseName(std::string_view path) {
  path = WithoutTrailingSlashes(path);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || path.size() == 1) return std::string(path);
  return std::string(path.substr(slash + 1));
}

std::string DirName(std::string_view path) {
  path = WithoutTrailingSlashes(path);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(WithoutTrailingSlashes(path.substr(0, slash == 0 ? 1 : slash)));
}

}  // namespace sawbill::sys
