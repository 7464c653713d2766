// SPDX-License-Identifier: Apache-2.0
// Properties: what is written is read; how a folder is cut into pieces, compressed or read by several threads changes
// nothing; the fast parser agrees with the careful one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "store/cell_ends.h"
#include "store/metric_table.h"
#include "store/test_util.h"

namespace sawbill::store {
namespace {
using model::GpuMetric;

struct Written {
  // By card and time: values rounded as the file has them.
  std::map<std::string, std::map<TimeMs, GpuValues>> gpus;
  std::set<TimeMs> hosts;
};

double Rounded(double v, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::nearbyint(v * scale) / scale;
}

GpuValues RandomValues(std::mt19937* rng) {
  GpuValues v = NoGpuValues();
  for (size_t m = 0; m < model::kGpuMetrics; ++m) {
    if ((*rng)() % 3 == 0) continue;
    const model::MetricInfo& info = model::Info(static_cast<GpuMetric>(m));
    const double top = std::min(info.max, 1e9);
    const double x = info.min + (top - info.min) * static_cast<double>((*rng)() % 1000) / 1000.0;
    v[m] = info.kind == model::Kind::kState ? static_cast<double>((*rng)() % 512) : Rounded(x, info.decimals);
  }
  return v;
}

/// A recorder that starts, stops, sleeps, crosses midnights.
Written WriteRandom(sys::FileSystem* fs, std::mt19937* rng) {
  Written out;
  TimeMs t = kMidnight - 40'000'000 + (*rng)() % 1000;
  const int gpus = 1 + static_cast<int>((*rng)() % 4);
  for (int life = 0; life < 4; ++life) {
    auto w = MustOpenWriter(fs, "d");
    const TimeMs interval = 500 + static_cast<TimeMs>((*rng)() % 20'000);
    const int ticks = 1 + static_cast<int>((*rng)() % 400);
    for (int i = 0; i < ticks; ++i) {
      w->BeginTick({t, t});
      for (int g = 0; g < gpus; ++g) {
        if ((*rng)() % 20 == 0) continue;
        GpuValues v = RandomValues(rng);
        v[0] = static_cast<double>((*rng)() % 101);
        EXPECT_TRUE(w->Gpu(t, std::to_string(g), v).ok());
        out.gpus["/gpu" + std::to_string(g)][t] = v;
      }
      HostValues h;
      h.fill(12.25);
      EXPECT_TRUE(w->Host(t, h).ok());
      out.hosts.insert(t);
      EXPECT_TRUE(w->EndTick().ok());
      t += interval + static_cast<TimeMs>((*rng)() % 7);
    }
    EXPECT_TRUE(w->Close(t).ok());
    t += 1000 + static_cast<TimeMs>((*rng)() % 30'000'000);
  }
  return out;
}

void ExpectSame(const GpuValues& want, const model::GpuTrack& got, size_t i) {
  for (size_t m = 0; m < model::kGpuMetrics; ++m) {
    const auto metric = static_cast<GpuMetric>(m);
    if (metric == GpuMetric::kEnergyJ) {
      const double e = got.energy_j.empty() ? kMissing : got.energy_j[i];
      EXPECT_TRUE(IsMissing(want[m]) ? IsMissing(e) : e == want[m]) << e << " " << want[m];
      continue;
    }
    const float v = got.At(metric, i);
    EXPECT_TRUE(IsMissing(want[m]) ? std::isnan(v) : v == static_cast<float>(want[m]))
        << model::Info(metric).name << " " << v << " " << want[m];
  }
}

/// Reads all pieces and checks each sample against what was written, each exactly once.
void ExpectAllRead(const model::TelemetrySource& source, const Written& written) {
  std::map<std::string, std::map<TimeMs, int>> seen;
  std::map<std::string, TimeMs> last;
  std::set<TimeMs> hosts;
  for (size_t p = 0; p < source.pieces().size(); ++p) {
    const model::Recording r = MustRead(source, p);
    const model::TimeRange range = source.pieces()[p];
    for (const model::GpuTrack& g : r.gpus) {
      const std::string key = g.card.key();
      const auto& want = written.gpus.at(key);
      for (size_t i = 0; i < g.size(); ++i) {
        const auto it = want.find(g.t_ms[i]);
        ASSERT_NE(it, want.end());
        if (i == 0 && p > 0 && last.count(key) != 0) {
          // The sample that the last piece with this card ended with, so that no interval is lost.
          if (g.t_ms[0] <= range.from) {
            EXPECT_EQ(g.t_ms[0], last[key]);
            continue;
          }
          EXPECT_GT(g.t_ms[0] - last[key], 26LL * 3600 * 1000) << "the sample before was not found";
        }
        ExpectSame(it->second, g, i);  // (columns without a reading in the piece are not made for the sample before it)
        EXPECT_LE(g.t_ms[i], range.to);
        ++seen[key][g.t_ms[i]];
      }
      last[key] = g.t_ms.back();
    }
    for (const model::HostTrack& h : r.hosts) hosts.insert(h.t_ms.begin(), h.t_ms.end());
    for (size_t o = 0; o < model::kOdds; ++o) {
      const auto odd = static_cast<model::Odd>(o);
      if (odd == model::Odd::kUnknownCard) continue;
      EXPECT_EQ(r.quality.count(odd), 0) << model::Info(odd).name;
    }
  }
  for (const auto& [key, samples] : written.gpus) {
    EXPECT_EQ(seen[key].size(), samples.size()) << key;
    for (const auto& [t, n] : seen[key]) EXPECT_EQ(n, 1) << key << " " << t;
  }
  EXPECT_EQ(hosts, written.hosts);
}

void CompressAll(sys::MemFileSystem* fs, std::mt19937* rng) {
  for (const std::string& path : fs->Paths()) {
    if (path.substr(path.size() - 4) != ".csv" || (*rng)() % 2 == 0) continue;
    const bool gz = (*rng)() % 2 == 0;
    fs->Put(path + (gz ? ".gz" : ".zst"), gz ? *sys::CompressGzip(fs->Get(path)) : *sys::CompressZstd(fs->Get(path)));
    ASSERT_TRUE(fs->Remove(path).ok());
  }
}

TEST(RoundTrip, WhatIsWrittenIsReadHoweverItIsCut) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 rng(seed);
    sys::MemFileSystem fs;
    const Written written = WriteRandom(&fs, &rng);
    for (const bool compressed : {false, true}) {
      if (compressed) CompressAll(&fs, &rng);
      for (const int64_t limit : {kDefaultPieceBytes, int64_t{200'000}, int64_t{20'000}}) {
        DataFolderOptions o;
        o.max_piece_bytes = limit;
        const auto source = MustOpen(&fs, "d", o);
        ExpectAllRead(*source, written);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(RoundTrip, PiecesCoverTheSameTimeTogetherAsOne) {
  for (unsigned seed = 100; seed < 110; ++seed) {
    sys::MemFileSystem fs;
    // One interval throughout: pieces then have one median, and holes the same limit.
    std::mt19937 rng(seed);
    TimeMs t = kNoon;
    auto w = MustOpenWriter(&fs, "d");
    for (int i = 0; i < 3000; ++i) {
      w->BeginTick({t, t});
      for (const char* g : {"0", "1", "2"}) {
        if (rng() % 50 == 0) continue;
        EXPECT_TRUE(w->Gpu(t, g, Util(50)).ok());
      }
      EXPECT_TRUE(w->EndTick().ok());
      t += 15'000 + (rng() % 100 == 0 ? static_cast<TimeMs>(rng() % 20'000'000) : 0);
    }
    const auto whole = CoveredSeconds(*MustOpen(&fs, "d"));
    ASSERT_EQ(whole.size(), 3U);
    DataFolderOptions o;
    o.max_piece_bytes = 30'000;
    const auto source = MustOpen(&fs, "d", o);
    EXPECT_GT(source->pieces().size(), 10U);
    const auto cut = CoveredSeconds(*source);
    for (const auto& [key, seconds] : whole) EXPECT_NEAR(cut.at(key), seconds, 0.01) << key << " seed " << seed;
  }
}

/// A large plain file, so that several threads and bisection take part.
std::string LargeFile(int seconds, int gpus) {
  std::string text = HeaderLine(DayKind::kGpu) + "\n";
  text.reserve(static_cast<size_t>(seconds) * static_cast<size_t>(gpus) * 100);
  RowText row;
  std::mt19937 rng(5);
  for (int s = 0; s < seconds; ++s) {
    if (s == seconds / 3) text += HeaderLine(DayKind::kGpu) + ",new_column\n";
    for (int g = 0; g < gpus; ++g) {
      GpuValues v = RandomValues(&rng);
      v[0] = s % 101;
      MakeGpuRow(std::to_string(g), v, &row);
      AppendTimestamp(kNoon + s * 1000LL, &text);
      text += "," + row.text() + (s >= seconds / 3 ? ",9\n" : "\n");
    }
  }
  return text;
}

void ExpectSameTracks(const model::Recording& a, const model::Recording& b) {
  ASSERT_EQ(a.gpus.size(), b.gpus.size());
  for (size_t g = 0; g < a.gpus.size(); ++g) {
    EXPECT_EQ(a.gpus[g].t_ms, b.gpus[g].t_ms);
    for (size_t m = 0; m < model::kGpuMetrics; ++m) {
      const auto metric = static_cast<GpuMetric>(m);
      for (size_t i = 0; i < a.gpus[g].size(); ++i) {
        const float x = a.gpus[g].At(metric, i), y = b.gpus[g].At(metric, i);
        ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << model::Info(metric).name << " " << i;
      }
    }
    EXPECT_EQ(a.gpus[g].energy_j.size(), b.gpus[g].energy_j.size());
  }
}

const std::string& LargeDay() {
  static const std::string text = LargeFile(60'000, 4);
  return text;
}

TEST(RoundTrip, SeveralThreadsReadTheSameAsOne) {
  sys::MemFileSystem fs;
  fs.Put("d/gpu-2026-01-01.csv", LargeDay());
  ASSERT_GT(fs.Get("d/gpu-2026-01-01.csv").size(), size_t{17} << 20);
  DataFolderOptions o;
  const model::Recording one = ReadOnePiece(&fs, "d", o);
  ASSERT_EQ(one.gpus.size(), 4U);
  EXPECT_EQ(one.gpus[0].size(), 60'000U);
  EXPECT_EQ(one.quality.count(model::Odd::kUnknownColumn), 1);
  o.piece_threads = 3;
  const model::Recording three = ReadOnePiece(&fs, "d", o);
  ExpectSameTracks(one, three);
  EXPECT_EQ(three.quality.count(model::Odd::kRepeatedHeader), 1);
}

TEST(RoundTrip, ALargeDayCutInsideGivesEachSampleOnce) {
  sys::MemFileSystem fs;
  fs.Put("d/gpu-2026-01-01.csv", LargeFile(20'000, 2));
  DataFolderOptions o;
  o.max_piece_bytes = 700'000;
  const auto source = MustOpen(&fs, "d", o);
  EXPECT_GT(source->pieces().size(), 4U);
  const model::Recording whole = ReadOnePiece(&fs, "d");
  std::vector<TimeMs> times;
  std::vector<float> util;
  for (size_t p = 0; p < source->pieces().size(); ++p) {
    const model::Recording r = MustRead(*source, p);
    ASSERT_EQ(r.gpus.size(), 2U);
    const size_t skip = p > 0 ? 1 : 0;
    times.insert(times.end(), r.gpus[0].t_ms.begin() + static_cast<std::ptrdiff_t>(skip), r.gpus[0].t_ms.end());
    const auto& u = r.gpus[0].columns[0];
    util.insert(util.end(), u.begin() + static_cast<std::ptrdiff_t>(skip), u.end());
  }
  EXPECT_EQ(times, whole.gpus[0].t_ms);
  EXPECT_EQ(util, whole.gpus[0].columns[0]);
}

TEST(RoundTrip, ALargeCompressedDayIsNotReadToItsEndToPlan) {
  sys::MemFileSystem fs;
  // Behind the last row of its day, one that belongs to no such file.
  const std::string first = LargeDay() + Seconds3(kNoon + 40LL * 3'600'000) + ",0,5" + std::string(20, ',') + "9\n";
  const std::string packed = *sys::CompressZstd(first, 1);
  ASSERT_GT(packed.size(), 4'000'000U);
  fs.Put("d/gpu-2026-01-01.csv.zst", packed);
  fs.Put("d/gpu-2026-01-04.csv", ShortGpuFile(kNoon + 3 * 86'400'000LL, 100, 4));
  for (const bool cut : {false, true}) {
    DataFolderOptions o;
    o.max_piece_bytes = static_cast<int64_t>(packed.size()) * (cut ? 8 : 10);
    const auto source = MustOpen(&fs, "d", o);
    EXPECT_EQ(source->period().to, kNoon + 3 * 86'400'000LL + 99'000);
    ASSERT_EQ(source->pieces().size(), cut ? 2U : 1U);
    size_t samples = 0;
    model::DataQuality q;
    for (size_t p = 0; p < source->pieces().size(); ++p) {
      const model::Recording r = MustRead(*source, p);
      for (const model::GpuTrack& g : r.gpus) samples += g.size();
      q.Merge(r.quality);
    }
    EXPECT_EQ(samples, 4 * 60'000U + 4 * 100U + 1U);  // 40 hours are before the cut
    EXPECT_EQ(q.count(model::Odd::kBeyondDay), 0);
  }
  DataFolderOptions o;
  o.to = kNoon + 30LL * 3'600'000;
  EXPECT_EQ(ReadOnePiece(&fs, "d", o).quality.count(model::Odd::kBeyondDay), 0);  // not wanted is not lost
  // A cut before the stray row: nobody reads it, and that is said.
  fs.Put("d/gpu-2026-01-02.csv", ShortGpuFile(kNoon + 27LL * 3'600'000, 100, 4));
  o.to = std::nullopt;
  o.max_piece_bytes = static_cast<int64_t>(packed.size()) * 8;
  EXPECT_EQ(MustRead(*MustOpen(&fs, "d", o)).quality.count(model::Odd::kBeyondDay), 1);
}

// The careful reader is the one that sees carriage returns: the same rows with and without them must read the same.
TEST(MetricTable, TheFastParserAgreesWithTheCarefulOne) {
  const char* const cells[] = {"0",  "7",  "98",       "100",    "100.0",   "101",      "-1",        "0.5",   ".5",
                               "5.", ".",  "1e1",      "00012",  "1.234",   "12345678", "123456789", "1.2.3", "x",
                               " 5", "5 ", "N/A",      "\"7\"",  "+3",      "-0",       "0x5",       "nan",   "inf",
                               "9:", "4/", "99.99999", "0.0001", "0.12345", "3000.0",   "2999.9999"};
  std::mt19937 rng(3);
  for (int round = 0; round < 40; ++round) {
    std::string plain = HeaderLine(DayKind::kGpu) + "\n", careful = HeaderLine(DayKind::kGpu) + "\r\n";
    for (int i = 0; i < 200; ++i) {
      std::string row = Seconds3(kNoon + i * 1000) + "," + std::to_string(rng() % 3);
      for (size_t m = 0; m < model::kGpuMetrics; ++m) {
        row += ",";
        if (rng() % 2 == 0) row += cells[rng() % std::size(cells)];
      }
      plain += row + "\n";
      careful += row + "\r\n";
    }
    sys::MemFileSystem a, b;
    a.Put("d/gpu-2026-01-01.csv", plain);
    b.Put("d/gpu-2026-01-01.csv", careful);
    const model::Recording x = ReadOnePiece(&a, "d"), y = ReadOnePiece(&b, "d");
    ExpectSameTracks(x, y);
    for (size_t o = 0; o < model::kOdds; ++o) {
      const auto odd = static_cast<model::Odd>(o);
      EXPECT_EQ(x.quality.count(odd), y.quality.count(odd)) << model::Info(odd).name;
      EXPECT_EQ(x.quality.detail(odd), y.quality.detail(odd));
    }
    if (HasFailure()) return;
  }
}

TEST(CellEnds, TheQuickWayFindsWhatThePlainWayFinds) {
  std::mt19937 rng(9);
  for (int round = 0; round < 2000; ++round) {
    std::string text(rng() % 400, ' ');
    for (char& c : text) c = "0,\n1a."[rng() % 6];
    std::vector<uint32_t> a(text.size() + kEndsSlack), b(a.size()), la(a.size()), lb(a.size());
    const size_t n = FindEnds(text, a.data(), la.data());
    ASSERT_EQ(n, FindEndsPortable(text, b.data(), lb.data()));
    const auto count = static_cast<std::ptrdiff_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return c == ',' || c == '\n'; }));
    ASSERT_TRUE(std::equal(a.begin(), a.begin() + count, b.begin()));
    ASSERT_TRUE(std::equal(la.begin(), la.begin() + static_cast<std::ptrdiff_t>(n), lb.begin()));
  }
}

TEST(NumberScan, EightCharactersReadAsTheCarefulParserReadsThem) {
  std::mt19937 rng(11);
  for (int round = 0; round < 200'000; ++round) {
    char buffer[17] = "################";
    const size_t length = 1 + rng() % 8;
    for (size_t i = 16 - length; i < 16; ++i) buffer[i] = "0123456789.-"[rng() % (round % 3 == 0 ? 12 : 11)];
    const std::string_view text(buffer + 16 - length, length);
    uint32_t mantissa = 0;
    unsigned decimals = 0;
    if (!ScanFixed(buffer + 16, length, &mantissa, &decimals)) continue;
    const std::optional<double> want = ParseDouble(text);
    ASSERT_TRUE(want) << text;
    ASSERT_EQ(static_cast<float>(mantissa * kTenth[decimals]), static_cast<float>(*want)) << text;
  }
}

}  // namespace
}  // namespace sawbill::store
