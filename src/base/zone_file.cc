// SPDX-License-Identifier: Apache-2.0
// A file holds the changes of the past, and a rule for all years to come ("CET-1CEST,M3.5.0,M10.5.0/3"); slim files
// hold the past only up to where the rule takes over. The rule is written out here up to the year 2200.
#include "base/zone_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>

#include "base/time.h"

namespace sawbill {
namespace {

constexpr const char* kDatabase = "/usr/share/zoneinfo/";
constexpr int kLastYear = 2200;
constexpr int64_t kDay = 86'400;

std::string ReadAll(const std::string& path) {
  std::string out;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out;
  char buffer[8192];
  ssize_t n = 0;
  while ((n = ::read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) out.append(buffer, static_cast<size_t>(n));
    if (out.size() > (1U << 20)) break;
  }
  ::close(fd);
  return out;
}

int64_t BigEndian(std::string_view s, size_t bytes) {
  uint64_t v = bytes == 4 && (static_cast<unsigned char>(s[0]) & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < bytes; ++i) v = v << 8 | static_cast<unsigned char>(s[i]);
  return static_cast<int64_t>(v);
}

struct Header {
  char version = 0;
  int64_t utc = 0, standard = 0, leap = 0, times = 0, types = 0, chars = 0;
  int64_t Size(int64_t time_bytes) const {
    return times * (time_bytes + 1) + types * 6 + chars + leap * (time_bytes + 4) + standard + utc;
  }
};
constexpr size_t kHeaderBytes = 44;

std::optional<Header> ReadHeader(std::string_view s) {
  if (s.size() < kHeaderBytes || s.substr(0, 4) != "TZif") return std::nullopt;
  Header h;
  h.version = s[4];
  int64_t* const counts[] = {&h.utc, &h.standard, &h.leap, &h.times, &h.types, &h.chars};
  for (size_t i = 0; i < std::size(counts); ++i) {
    *counts[i] = BigEndian(s.substr(20 + 4 * i), 4);
    if (*counts[i] < 0 || *counts[i] > 100'000) return std::nullopt;
  }
  return h;
}

/// The parts of a POSIX TZ string, taken from the front.
struct Rule {
  std::string_view s;

  bool Name() {
    size_t n = 0;
    if (!s.empty() && s[0] == '<') {
      n = s.find('>');
      if (n == std::string_view::npos) return false;
      ++n;
    } else {
      while (n < s.size() && ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z'))) ++n;
    }
    if (n < 3) return false;
    s.remove_prefix(n);
    return true;
  }
  std::optional<int> Number() {
    size_t n = 0;
    int v = 0;
    for (; n < s.size() && n < 4 && s[n] >= '0' && s[n] <= '9'; ++n) v = 10 * v + (s[n] - '0');
    s.remove_prefix(n);
    return n == 0 ? std::nullopt : std::optional(v);
  }
  bool Take(char c) {
    if (s.empty() || s[0] != c) return false;
    s.remove_prefix(1);
    return true;
  }
  /// [+-]h[:mm[:ss]] in seconds.
  std::optional<int> Time() {
    const int sign = Take('-') ? -1 : 1;
    if (sign == 1) Take('+');
    const auto hours = Number();
    if (!hours) return std::nullopt;
    int seconds = *hours * 3600;
    for (const int unit : {60, 1}) {
      if (!Take(':')) break;
      const auto v = Number();
      if (!v) return std::nullopt;
      seconds += *v * unit;
    }
    return sign * seconds;
  }
};

/// "M3.5.0/2", "J60", "59": a day of each year, and the time of that day.
struct YearDay {
  char kind = 'M';
  int month = 1, week = 1, day = 0;
  int time_s = 7200;

  bool Read(Rule* r) {
    kind = r->Take('M') ? 'M' : r->Take('J') ? 'J' : '0';
    const auto first = r->Number();
    if (!first) return false;
    day = *first;
    if (kind == 'M') {
      if (!r->Take('.')) return false;
      const auto second = r->Number();
      if (!second || !r->Take('.')) return false;
      const auto third = r->Number();
      if (!third || *first < 1 || *first > 12 || *second < 1 || *second > 5 || *third > 6) return false;
      month = *first;
      week = *second;
      day = *third;
    }
    if (!r->Take('/')) return true;
    const auto time = r->Time();
    if (time) time_s = *time;
    return time.has_value();
  }
  /// Local seconds since the epoch.
  int64_t In(int year) const {
    int64_t days = DaysFromCivil(year, 1, 1);
    if (kind == 'M') {
      const int64_t first = DaysFromCivil(year, month, 1);
      const int64_t next = month == 12 ? DaysFromCivil(year + 1, 1, 1) : DaysFromCivil(year, month + 1, 1);
      const int64_t weekday = ((first + 4) % 7 + 7) % 7;  // 1970-01-01 was a Thursday
      days = first + (day - weekday + 7) % 7 + 7 * (week - 1);
      if (days >= next) days -= 7;  // week 5 is the last one
    } else if (kind == 'J') {       // 1 to 365, 29 February is never counted
      const bool leap = DaysFromCivil(year, 3, 1) - days == 60;
      days += day - 1 + (leap && day >= 60 ? 1 : 0);
    } else {
      days += day;
    }
    return days * kDay + time_s;
  }
};

}  // namespace

bool ZoneFile::AddRule(std::string_view footer) {
  Rule r{footer};
  if (!r.Name()) return false;
  const auto west = r.Time();
  if (!west) return false;
  const int standard_s = -*west;
  if (changes_.empty()) first_offset_s_ = standard_s;
  if (r.s.empty()) return true;
  if (!r.Name()) return false;
  int summer_s = standard_s + 3600;
  if (!r.s.empty() && r.s[0] != ',') {
    const auto summer_west = r.Time();
    if (!summer_west) return false;
    summer_s = -*summer_west;
  }
  YearDay begin, end;
  if (!r.Take(',') || !begin.Read(&r) || !r.Take(',') || !end.Read(&r)) return false;
  const int64_t last_s = changes_.empty() ? std::numeric_limits<int64_t>::min() : changes_.back().at_s;
  const int from_year = changes_.empty() ? 1970 : CivilFromUtc(last_s * 1000).year;
  std::vector<Change> ahead;
  for (int year = std::max(1900, from_year); year <= kLastYear; ++year) {
    ahead.push_back({begin.In(year) - standard_s, summer_s});
    ahead.push_back({end.In(year) - summer_s, standard_s});
  }
  std::sort(ahead.begin(), ahead.end(), [](const Change& a, const Change& b) { return a.at_s < b.at_s; });
  for (const Change& c : ahead) {
    if (c.at_s > last_s) changes_.push_back(c);
  }
  return true;
}

std::unique_ptr<ZoneFile> ZoneFile::Parse(std::string_view bytes) {
  auto header = ReadHeader(bytes);
  if (!header) return nullptr;
  int64_t time_bytes = 4;
  std::string_view body = bytes.substr(kHeaderBytes);
  if (header->version >= '2') {
    if (body.size() < static_cast<size_t>(header->Size(4))) return nullptr;
    const std::string_view second = body.substr(static_cast<size_t>(header->Size(4)));
    header = ReadHeader(second);
    if (!header) return nullptr;
    time_bytes = 8;
    body = second.substr(kHeaderBytes);
  }
  if (header->types == 0 || body.size() < static_cast<size_t>(header->Size(time_bytes))) return nullptr;
  const auto times = static_cast<size_t>(header->times), types = static_cast<size_t>(header->types);
  const auto width = static_cast<size_t>(time_bytes);
  const std::string_view kinds = body.substr(times * width), offsets = kinds.substr(times);
  const auto offset = [&](size_t type) { return static_cast<int>(BigEndian(offsets.substr(6 * type), 4)); };
  auto zone = std::make_unique<ZoneFile>();
  zone->first_offset_s_ = offset(0);
  for (size_t i = 0; i < times; ++i) {
    const auto type = static_cast<unsigned char>(kinds[i]);
    if (type >= types) return nullptr;
    zone->changes_.push_back({BigEndian(body.substr(i * width), width), offset(type)});
  }
  if (time_bytes == 8) {
    std::string_view footer = body.substr(static_cast<size_t>(header->Size(8)));
    if (footer.size() >= 2 && footer.front() == '\n') footer = footer.substr(1, footer.find('\n', 1) - 1);
    if (!footer.empty()) zone->AddRule(footer);  // a rule that cannot be read leaves the last offset standing
  }
  return zone;
}

ZoneStretch ZoneFile::At(int64_t utc_s) const {
  const auto next =
      std::upper_bound(changes_.begin(), changes_.end(), utc_s, [](int64_t t, const Change& c) { return t < c.at_s; });
  ZoneStretch out;
  out.offset_s = first_offset_s_;
  if (next != changes_.begin()) {
    out.begin_s = std::prev(next)->at_s;
    out.offset_s = std::prev(next)->offset_s;
  }
  if (next != changes_.end()) out.end_s = next->at_s;
  return out;
}

int64_t ZoneFile::FromLocal(int64_t local_s) const {
  ZoneStretch s = At(local_s - 2 * kDay);
  while (true) {
    const int64_t utc_s = local_s - s.offset_s;
    if (utc_s < s.begin_s) return s.begin_s;
    if (utc_s < s.end_s) return utc_s;
    s = At(s.end_s);
  }
}

const ZoneFile* ZoneFile::Locate(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos || name.size() > 200) return nullptr;
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<ZoneFile>> known;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto it = known.find(name);
  if (it != known.end()) return it->second.get();
  auto zone = Parse(ReadAll(kDatabase + name));
  if (zone == nullptr) return nullptr;  // not remembered: tzdata may come
  return known.emplace(name, std::move(zone)).first->second.get();
}

const ZoneFile* ZoneFile::Current(std::string* name) {
  char target[4096];
  const ssize_t n = ::readlink("/etc/localtime", target, sizeof(target));
  if (n > 0) {
    const std::string path(target, static_cast<size_t>(n));
    const size_t dir = path.find("zoneinfo/");
    if (dir != std::string::npos) {
      *name = path.substr(dir + 9);
      if (const ZoneFile* zone = Locate(*name)) return zone;
    }
  }
  *name = ReadAll("/etc/timezone");
  while (!name->empty() && static_cast<unsigned char>(name->back()) <= ' ') name->pop_back();
  if (const ZoneFile* zone = Locate(*name)) return zone;
  static const std::unique_ptr<ZoneFile> own = Parse(ReadAll("/etc/localtime"));
  *name = "local";
  return own.get();
}

}  // namespace sawbill
