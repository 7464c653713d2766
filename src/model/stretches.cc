// SPDX-License-Identifier: Apache-2.0
//
// Interval or hole
// ----------------
// A stretch is a run of samples about equally far apart (within a factor of 2.5 of the first of them). Where one is
// unlike the median of the whole, its samples speak for its own interval: a minute each behind hours of seconds is a
// slower log, not a row of holes; and 100 s without a sample among seconds are a hole, even if most of the log was
// sampled once a minute. A slower stretch needs 5 distances, or single holes would make one; a faster one 20, because a
// late sampler catches up in a few. What lies between two stretches (a hole, a restart) is measured by the shorter
// interval of the two: unmeasured time is rather too long than too short.
#include "model/stretches.h"

#include <algorithm>

namespace sawbill::model {
namespace {

constexpr size_t kLeastSlower = 5, kLeastFaster = 20;
constexpr double kUnlike = 1.5;

struct Stretch {
  size_t from = 0, to = 0;  // samples [from, to), each speaking for the time before it
  double interval_s = 0, seconds = 0;
};

class Stretches {
 public:
  Stretches(const std::vector<TimeMs>& t_ms, double median_s) : t_ms_(t_ms), median_s_(median_s) { Find(); }
  bool all_alike() const { return all_alike_; }
  const std::vector<Stretch>& list() const { return list_; }
  /// The interval that half of the time was sampled at, or a shorter one.
  double UsualInterval() const;

 private:
  double Gap(size_t i) const { return Seconds(t_ms_[i] - t_ms_[i - 1]); }
  void Find();
  void Take(size_t from, size_t to);

  const std::vector<TimeMs>& t_ms_;
  const double median_s_;
  bool all_alike_ = true;
  std::vector<Stretch> list_;
};

void Stretches::Take(size_t from, size_t to) {
  if (to - from < kLeastSlower) return;
  std::vector<double> gaps;
  for (size_t i = from; i < to; ++i) gaps.push_back(Gap(i));
  const auto mid = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), mid, gaps.end());
  Stretch s{from, to, *mid, Seconds(t_ms_[to - 1] - t_ms_[from - 1])};
  const bool faster = s.interval_s * kUnlike < median_s_;
  if (faster && to - from < kLeastFaster) return;
  if (faster || s.interval_s > kUnlike * median_s_) {
    all_alike_ = false;
  } else {
    s.interval_s = median_s_;
  }
  list_.push_back(s);
}

void Stretches::Find() {
  for (size_t from = 1; from < t_ms_.size();) {
    const double first = Gap(from);
    size_t to = from + 1;
    while (to < t_ms_.size() && Gap(to) <= kMaxIntervalFactor * first && Gap(to) * kMaxIntervalFactor >= first) ++to;
    Take(from, to);
    from = to;
  }
}

double Stretches::UsualInterval() const {
  std::vector<Stretch> by_interval = list_;
  std::sort(by_interval.begin(), by_interval.end(),
            [](const Stretch& a, const Stretch& b) { return a.interval_s < b.interval_s; });
  double all = 0, below = 0;
  for (const Stretch& s : by_interval) all += s.seconds;
  for (const Stretch& s : by_interval) {
    below += s.seconds;
    if (2 * below > all) return s.interval_s;
  }
  return median_s_;
}

/// The interval that lasted longest of those unlike `usual`.
double OtherInterval(const std::vector<Stretch>& list, double usual) {
  double most = 0, other = 0;
  for (const Stretch& a : list) {
    if (a.interval_s <= kUnlike * usual && a.interval_s * kUnlike >= usual) continue;
    double seconds = 0;
    for (const Stretch& b : list) seconds += b.interval_s == a.interval_s ? b.seconds : 0;
    if (seconds <= most) continue;
    most = seconds;
    other = a.interval_s;
  }
  return other;
}

/// May more than one interval be in it? Nearly every recording says no at the price of one look at its distances.
bool MayChange(const std::vector<TimeMs>& t_ms, const Coverage& c) {
  if (c.holes >= static_cast<int64_t>(kLeastSlower)) return true;
  const auto short_ms = static_cast<TimeMs>(1000 * c.median_interval_s / kUnlike);
  size_t faster = 0;
  for (size_t i = 1; i < t_ms.size(); ++i) faster += t_ms[i] - t_ms[i - 1] < short_ms ? 1 : 0;
  return faster >= kLeastFaster;
}

}  // namespace

void FitToStretches(const std::vector<TimeMs>& t_ms, Coverage* c) {
  if (t_ms.size() <= kLeastSlower || c->median_interval_s <= 0 || !MayChange(t_ms, *c)) return;
  const Stretches stretches(t_ms, c->median_interval_s);
  if (stretches.all_alike()) return;
  const std::vector<Stretch>& list = stretches.list();
  c->covered_s = c->hole_s = 0;
  c->holes = 0;
  size_t next = 0;  // the first stretch that ends behind sample i
  for (size_t i = 1; i < t_ms.size(); ++i) {
    while (next < list.size() && list[next].to <= i) ++next;
    const bool inside = next < list.size() && list[next].from <= i;
    double interval = next < list.size() ? list[next].interval_s : list.back().interval_s;
    if (!inside && next > 0) interval = std::min(interval, list[next - 1].interval_s);
    const double gap = Seconds(t_ms[i] - t_ms[i - 1]), dt = std::min(gap, kMaxIntervalFactor * interval);
    c->dt_s[i] = static_cast<float>(dt);
    c->covered_s += dt;
    if (gap <= dt) continue;
    c->hole_s += gap - dt;
    ++c->holes;
  }
  c->median_interval_s = stretches.UsualInterval();
  c->other_interval_s = OtherInterval(list, c->median_interval_s);
}

}  // namespace sawbill::model
