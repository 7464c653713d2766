// SPDX-License-Identifier: Apache-2.0
// Hand-made reports for the tests: a starving two-card run with three findings, a foreign log without price and with
// holes that cannot be judged, and a box of twelve cards.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "report/report.h"

namespace sawbill::report {

inline constexpr TimeMs kSampleStart = 1773450000000;  // 2026-03-14T01:00:00Z
inline constexpr TimeMs kHour = 3600000;

/// A sawtooth of `n` stretches around `mean`, every `period`th one deep; lows reach the floor each third stretch.
inline void SampleWave(GpuRow* g, int n, int period, float high, float deep) {
  for (int i = 0; i < n; ++i) {
    const bool dip = i % period == period - 1;
    g->wave.push_back(dip ? deep : high - static_cast<float>(i % 5));
    g->wave_low.push_back(dip || i % (period + 2) == 0 ? 3.0F : high - 12);
  }
}

inline GpuRow SampleCard(const std::string& gpu, double hours, Money cost, double mean, double low_share) {
  GpuRow g;
  g.node = "trainbox";
  g.gpu = gpu;
  g.uuid = "GPU-0000000" + gpu;
  g.name = "NVIDIA A100-SXM4-80GB";
  g.hours = g.measured_hours = hours;
  g.cost = cost;
  g.idle = {low_share, "periodic", 6.4, 95.0};
  g.stats = {
      {"sm_util", mean, 81, 98, low_share}, {"power_w", 231.25, 270, 388, {}}, {"sm_active", 0.412, 0.55, 0.71, {}}};
  return g;
}

inline void SampleLedger(Report* r, const std::vector<std::pair<model::Line, double>>& shares) {
  for (size_t i = 0; i < model::kLines; ++i) {
    LedgerRow row;
    row.line = static_cast<model::Line>(i);
    for (const auto& [line, share] : shares) {
      if (line == row.line) row.share = share;
    }
    row.gpu_seconds = row.share * r->gpu_hours * 3600;
    if (r->cost) row.cost = row.share * *r->cost;
    r->ledger.push_back(row);
  }
}

inline Saving SampleSaving(const Report& r, double low, double mid, double high, double alone) {
  Saving s{low, mid, high, alone, {}, {}, {}, {}, "cash"};
  if (r.cost) {
    s.low = low * *r.cost;
    s.expected = mid * *r.cost;
    s.high = high * *r.cost;
    s.alone = alone * *r.cost;
  }
  return s;
}

inline Report TwoCards(Lang lang) {
  const auto l = [lang](const char* en, const char* zh) { return std::string(lang == Lang::kZh ? zh : en); };
  Report r;
  r.generated = kSampleStart + 9 * kHour;
  r.currency = lang == Lang::kZh ? "CNY" : "USD";
  r.lang = lang;
  r.tz = "+08:00";
  r.source = "runs/resnet50";
  r.format = l("sawbill day files", "sawbill 日文件");
  r.period_from = kSampleStart;
  r.period_to = kSampleStart + 8 * kHour + kHour / 2;
  r.gpu_hours = 17;
  r.observed_s = 60404;
  r.missing_s = 796;
  r.cost = 1170.05;
  r.sm_util_mean = 0.574;
  r.waste_upper_bound = 498.44;
  r.gpus = {SampleCard("0", 8.5, 585.025, 58.2, 0.31), SampleCard("1", 8.5, 585.025, 56.6, 0.33)};
  r.gpus[1].label = "trainer";
  r.gpus[0].prices = r.gpus[1].prices = {{r.period_from, r.period_to, 68.826470588, "on-demand", "--price", ""}};
  SampleWave(&r.gpus[0], 120, 9, 92, 8);
  SampleWave(&r.gpus[1], 120, 9, 90, 6);
  for (size_t i = 50; i < 55; ++i) r.gpus[1].wave[i] = r.gpus[1].wave_low[i] = std::numeric_limits<float>::quiet_NaN();
  r.runs = {{"r-20260314-0900",
             "4711",
             "mei",
             "vision",
             "train.py",
             "trainbox",
             {"0", "1"},
             r.period_from,
             r.period_to,
             1170.05,
             "0"}};
  SampleLedger(&r, {{model::Line::kUseful, 0.5671},
                    {model::Line::kDataLoading, 0.2943},
                    {model::Line::kCheckpoint, 0.0612},
                    {model::Line::kUnsaturated, 0.0387},
                    {model::Line::kLogging, 0.0124},
                    {model::Line::kUnmeasured, 0.0130},
                    {model::Line::kUnexplained, 0.0133}});
  Finding data;
  data.id = model::FindingId::kDataLoading;
  data.cause = model::Cause::kFewWorkers;
  data.run = "r-20260314-0900";
  data.gpus = {"0", "1"};
  data.confidence = 0.93;
  data.severity = model::Severity::kHigh;
  data.evidence_tier = "host";
  data.wasted_gpu_seconds = 18011;
  data.wasted_cost = 344.35;
  data.saving = SampleSaving(r, 0.201, 0.262, 0.291, 0.262);
  data.period_s = 6.4;
  data.width_s = 2.1;
  data.evidence = {
      {"sm_util",
       l("2 loader workers at 98 % of a core each, 12 of 16 cores idle",
         "2 个加载进程各占满一个核，16 核中有 12 核闲置"),
       31.0, 25.0, r.period_from + kHour, r.period_from + 2 * kHour},
      {"cpu_util", l("the host's CPU is at 23 % while the cards wait", "显卡等待时主机 CPU 仅 23%"), 23.0, 60.0, 0, 0}};
  data.because = {l("two workers decode for two cards", "两个进程为两张卡解码"),
                  l("the queue runs dry every 6.4 s", "队列每 6.4 秒见底一次"),
                  l("the cards stand still for 2.1 s each time", "显卡每次停顿 2.1 秒")};
  data.recommendations = {{"more-workers", 1, l("Give the DataLoader more workers", "增加 DataLoader 的加载进程"),
                           "num_workers", "2", "8", ""},
                          {"other-decoder", 3, l("Decode on the card (DALI)", "改为在显卡上解码（DALI）"), "", "", "",
                           l("that the images are JPEG", "图像为 JPEG")}};
  Finding save;
  save.id = model::FindingId::kCheckpoint;
  save.cause = model::Cause::kSynchronousSave;
  save.gpus = {"0", "1"};
  save.confidence = 0.81;
  save.severity = model::Severity::kMedium;
  save.evidence_tier = "host";
  save.wasted_gpu_seconds = 3745;
  save.wasted_cost = 71.61;
  save.saving = SampleSaving(r, 0.041, 0.055, 0.060, 0.058);
  save.period_s = 600;
  save.width_s = 38;
  save.evidence = {{"disk_write_mb_s",
                    l("every 10 min the disk writes 900 MB/s and both cards stop for 38 s",
                      "每 10 分钟磁盘写入 900 MB/s，两张卡同时停顿 38 秒"),
                    900.0, 200.0, r.period_from + 3 * kHour, r.period_from + 3 * kHour + 38000}};
  save.because = {l("torch.save runs in the training process", "torch.save 在训练进程中执行"),
                  l("the next step waits for the disk", "下一步要等磁盘写完")};
  save.recommendations = {{"longer-interval", 2, l("Save half as often", "把保存间隔加倍"), "ckpt_every", "500", "1000",
                           l("how much work a crash may cost", "一次崩溃最多能承受丢失多少进度")}};
  Finding batch;
  batch.id = model::FindingId::kUnsaturated;
  batch.gpus = {"1"};
  batch.confidence = 0.55;
  batch.severity = model::Severity::kLow;
  batch.wasted_gpu_seconds = 2368;
  batch.wasted_cost = 45.28;
  batch.saving = SampleSaving(r, 0, 0.02, 0.038, 0.02);
  batch.evidence = {{"power_w",
                     l("GPU-Util 97 % at 58 % of the power limit", "GPU 利用率 97%，功率仅为上限的 58%"),
                     231.0,
                     {},
                     0,
                     0}};
  batch.because = {l("kernels are resident and leave most of the card empty", "内核虽在运行，但大部分算力空着")};
  batch.recommendations = {{"larger-batch", 2, l("Double the batch and measure again", "批次加倍后重新测量"),
                            "batch_size", "64", "128", l("memory and the learning rate", "显存余量与学习率")}};
  r.findings = {data, save, batch};
  r.total_saving = SampleSaving(r, 0.242, 0.337, 0.389, 0.337);
  r.below_minimum_count = 2;
  r.below_minimum_saving = 9.4;
  r.below_minimum_share = 0.008;
  r.limits = {
      l("No step timings: a slow decoder cannot be told from too few workers with certainty. Record with --probe.",
        "没有训练步计时：无法完全区分解码慢与加载进程太少。请用 --probe 采集。")};
  r.data_quality = {{"gap", model::Severity::kLow, 3, "gpu-2026-03-14.csv:18211",
                     l("hole in the samples, not measured", "采样空洞，按未测量处理")},
                    {"bad_row", model::Severity::kMedium, 1, "gpu-2026-03-14.csv:902",
                     l("row that cannot be read, left out", "无法读取的行，已略过")},
                    {"zone_assumed", model::Severity::kInfo, 1, "", l("times without a zone", "时间未带时区")}};
  return r;
}

/// An nvidia-smi log of one card, a sample each minute, with a third of it missing.
inline Report ForeignLog(Lang lang) {
  const auto l = [lang](const char* en, const char* zh) { return std::string(lang == Lang::kZh ? zh : en); };
  Report r;
  r.generated = kSampleStart + 9 * kHour;
  r.currency = "USD";
  r.lang = lang;
  r.source = "smi.log";
  r.format = "nvidia-smi csv";
  r.period_from = kSampleStart;
  r.period_to = kSampleStart + 3 * kHour;
  r.gpu_hours = 3;
  r.observed_s = 7200;
  r.missing_s = 3600;
  r.sm_util_mean = 0.62;
  GpuRow g;
  g.gpu = "0";
  g.name = "NVIDIA GeForce RTX 3090";
  g.hours = 3;
  g.measured_hours = 2;
  g.idle.share = 0.2;
  g.stats = {{"sm_util", 62, 77, 99, 0.2}};
  SampleWave(&g, 60, 7, 80, 10);
  for (size_t i = 20; i < 40; ++i) g.wave[i] = g.wave_low[i] = std::numeric_limits<float>::quiet_NaN();
  r.gpus = {g};
  SampleLedger(&r, {{model::Line::kUnexplained, 2.0 / 3}, {model::Line::kUnmeasured, 1.0 / 3}});
  r.cannot_judge = {
      l("The waveform cannot be judged, because the samples are 60 s apart: dips of a few seconds fall between them.",
        "无法判断波形：采样间隔为 60 秒，几秒的下跌会落在两次采样之间。")};
  r.limits = {l("No host telemetry: a wait for data has no cause here. Record with `sawbill record`.",
                "没有主机数据：即使在等数据也说不出原因。请用 sawbill record 采集。"),
              l("A third of the period was not measured.", "三分之一的时段没有测量。")};
  r.unpriced = {"NVIDIA GeForce RTX 3090"};
  r.unpriced_cards = {{"0", "", "0", "", r.unpriced[0], 3, false, r.unpriced[0]}};
  r.data_quality = {{"not_supported", model::Severity::kInfo, 120, "smi.log:2",
                     l("cell that says 'not available', left empty", "单元格标明“不可用”，按缺失处理")}};
  return r;
}

/// A month of twelve cards on two nodes, by user, as capacity (a reserved contract).
inline Report TwelveCards(Lang lang) {
  const auto l = [lang](const char* en, const char* zh) { return std::string(lang == Lang::kZh ? zh : en); };
  Report r;
  r.generated = kSampleStart + 800 * kHour;
  r.currency = "EUR";
  r.lang = lang;
  r.source = "/var/lib/sawbill";
  r.format = l("sawbill day files", "sawbill 日文件");
  r.simulated = true;
  r.period_from = kSampleStart;
  r.period_to = kSampleStart + 720 * kHour;
  r.gpu_hours = 12 * 720;
  r.observed_s = r.gpu_hours * 3600;
  r.cost = 21600;
  r.sm_util_mean = 0.7;
  r.waste_upper_bound = 6480;
  for (int i = 0; i < 12; ++i) {
    GpuRow g = SampleCard(std::to_string(i % 6), 720, 1800, 95 - 7.0 * (i % 12), 0.02 + 0.05 * i);
    g.node = i < 6 ? "node-a" : "node-b";
    g.name = i < 6 ? "NVIDIA A100-SXM4-80GB" : "NVIDIA H100 80GB HBM3";
    g.stats[0].median = std::min(100.0, g.stats[0].mean + 6);
    SampleWave(&g, 96, 12 - i / 2, static_cast<float>(99 - 6 * i), 5);
    r.gpus.push_back(g);
  }
  SampleLedger(&r, {{model::Line::kUseful, 0.71},
                    {model::Line::kUnused, 0.12},
                    {model::Line::kIdleHeld, 0.09},
                    {model::Line::kDataLoading, 0.03},
                    {model::Line::kUnsaturated, 0.02},
                    {model::Line::kImbalance, 0.01},
                    {model::Line::kCommunication, 0.01},
                    {model::Line::kStartup, 0.01}});
  for (int i = 0; i < 5; ++i) {
    Finding f;
    f.id = i == 0 ? model::FindingId::kUnused : i == 1 ? model::FindingId::kIdleHeld : model::FindingId::kDataLoading;
    if (i == 0) f.cause = model::Cause::kOverAllocated;
    if (i == 1) f.cause = model::Cause::kNotebook;
    f.run = "r-" + std::to_string(i);
    f.gpus = i == 0 ? std::vector<std::string>{"node-b/3", "node-b/4"} : std::vector<std::string>{"node-a/0"};
    if (i == 4) f.gpus = {"node-a/0", "node-a/1", "node-a/2", "node-a/3", "node-a/4", "node-a/5", "node-b/0"};
    f.confidence = 0.9 - 0.1 * i;
    f.wasted_gpu_seconds = 3.6e6 / (i + 1);
    f.wasted_cost = 2500.0 / (i + 1);
    if (i != 3) {
      f.saving = SampleSaving(r, 0.08 / (i + 1), 0.1 / (i + 1), 0.12 / (i + 1), 0.1 / (i + 1));
      f.saving->kind = "capacity";
    }
    f.evidence = {{"sm_util", l("no process on the card for 86 h", "86 小时内卡上没有任何进程"), 86.0, 1.0, 0, 0}};
    f.recommendations = {{"release", 1, l("Ask for fewer cards", "少申请几张卡"), "", "", "", ""}};
    r.findings.push_back(f);
  }
  r.total_saving = SampleSaving(r, 0.15, 0.2, 0.25, 0.2);
  r.total_saving->kind = "capacity";
  for (int i = 0; i < 3; ++i) r.runs.push_back({"r-" + std::to_string(i), "", "u", "", "", "", {}, 0, 0, {}, ""});
  r.by = "user";
  const char* users[] = {"mei", "jan", ""};
  for (int i = 0; i < 3; ++i) {
    GroupRow g;
    g.key = users[i];
    g.gpu_hours = 2880;
    g.cost = 7200;
    if (i < 2) g.saving = 1000.0 + i;
    for (size_t k = 0; k < model::kLines; ++k) g.lines[k] = r.ledger[k].gpu_seconds / 3;
    r.groups.push_back(g);
  }
  return r;
}

}  // namespace sawbill::report
