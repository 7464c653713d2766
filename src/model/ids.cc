// SPDX-License-Identifier: Apache-2.0
#include "model/ids.h"

#include <iterator>

namespace sawbill::model {
namespace {
struct Named {
  const char* name;
  const char* en;
  const char* zh;
};
constexpr Named kLineRows[] = {
    {"useful", "Useful work", "有效计算"},        {"unsaturated", "Unsaturated", "未饱和"},
    {"data-loading", "Data loading", "数据加载"}, {"checkpoint", "Checkpoints", "检查点保存"},
    {"evaluation", "Evaluation", "评估"},         {"logging", "Logging", "日志"},
    {"imbalance", "Imbalance", "负载不均"},       {"communication", "Communication", "通信"},
    {"throttling", "Throttling", "降频"},         {"startup", "Start-up", "启动"},
    {"idle-held", "Held but idle", "占用闲置"},   {"unused", "Unused", "无人使用"},
    {"unmeasured", "Not measured", "未测量"},     {"unexplained", "Unexplained", "原因不明"},
};
static_assert(std::size(kLineRows) == kLines);

constexpr FindingInfo kFindingRows[] = {
    {"data-loading", Line::kDataLoading, true, "The GPU waits for data", "GPU 在等数据"},
    {"unsaturated", Line::kUnsaturated, true, "The card is not filled", "算力未喂满"},
    {"checkpoint", Line::kCheckpoint, true, "Checkpoints stop the GPU", "保存检查点时 GPU 停顿"},
    {"evaluation", Line::kEvaluation, true, "Evaluation takes a large share", "评估占用过多时间"},
    {"logging", Line::kLogging, true, "Logging stops the GPU", "写日志时 GPU 停顿"},
    {"imbalance", Line::kImbalance, true, "The cards of one job differ", "同一任务的各卡负载不均"},
    {"communication", Line::kCommunication, true, "Exposed communication", "通信未被计算掩盖"},
    {"kernel-inefficiency", Line::kUnsaturated, false, "Kernels leave the card mostly empty", "内核效率低"},
    {"throttling", Line::kThrottling, true, "The clock is held down", "GPU 降频"},
    {"degradation", Line::kDataLoading, false, "The run got slower", "运行中变慢"},
    {"startup", Line::kStartup, true, "A long time before the first work", "启动时间过长"},
    {"restart-loop", Line::kStartup, false, "The job starts again and again", "任务反复重启"},
    {"hang", Line::kIdleHeld, false, "The job hangs", "任务卡死"},
    {"idle-held", Line::kIdleHeld, true, "Memory is held, nothing runs", "占着显存却不计算"},
    {"unused", Line::kUnused, true, "Nobody uses the card", "显卡无人使用"},
    {"shared-gpu", Line::kUnsaturated, false, "Another job shares the card", "另一任务共用此卡"},
};
static_assert(std::size(kFindingRows) == kFindingIds);

constexpr Named kCauseRows[] = {
    {"few-workers", "too few loader workers", "加载进程太少"},
    {"cpu-saturated", "all CPU cores are busy", "CPU 已占满"},
    {"slow-decode", "decoding one sample is slow", "单个样本解码慢"},
    {"slow-storage", "storage is too slow", "存储太慢"},
    {"host-contention", "somebody else uses the CPU", "CPU 被其他程序占用"},
    {"host-to-device", "slow copies to the card", "主机到显卡拷贝慢"},
    {"small-batch", "the batch is too small", "批次太小"},
    {"full-precision", "tensor cores stay idle (full precision)", "张量核心闲置（全精度）"},
    {"host-bound", "launches and syncs leave gaps", "启动与同步留下空隙"},
    {"ddp-unscaled", "global batch not scaled with the cards", "全局批次未随卡数放大"},
    {"synchronous-save", "the save is synchronous", "同步保存"},
    {"too-often", "too often", "过于频繁"},
    {"too-large", "too large", "规模过大"},
    {"starved-evaluation", "the evaluation itself is starved", "评估本身缺数据"},
    {"synchronous-logging", "logging is synchronous or per step", "同步或逐步写日志"},
    {"data-parallel", "DataParallel: card 0 does more", "DataParallel：0 号卡负担更重"},
    {"straggler", "one card is slow", "有一张卡慢"},
    {"all-reduce-exposed", "all-reduce is not overlapped", "all-reduce 未与计算重叠"},
    {"small-kernels", "small or badly shaped kernels", "内核太小或形状不佳"},
    {"thermal", "heat", "过热"},
    {"power", "a power limit", "功率限制"},
    {"data-phase", "another phase of the data", "数据进入另一阶段"},
    {"fragmentation", "memory fragmentation", "显存碎片"},
    {"neighbour", "a neighbour on the card or host", "邻居任务"},
    {"heat", "heat", "过热"},
    {"crash", "it crashes", "崩溃"},
    {"out-of-memory", "out of memory", "显存不足"},
    {"collective-deadlock", "a collective that never returns", "集合通信死锁"},
    {"dead-rank", "a rank is dead", "有进程已死"},
    {"notebook", "a notebook", "notebook 占用"},
    {"forgotten-job", "a forgotten job", "被遗忘的任务"},
    {"gap", "a gap between runs", "任务之间的空档"},
    {"over-allocated", "more cards than the job uses", "申请的卡多于所用"},
};
static_assert(std::size(kCauseRows) == static_cast<size_t>(Cause::kCount));

template <typename Id, typename Row, size_t N>
std::optional<Id> FindByName(const Row (&rows)[N], std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (name == rows[i].name) return static_cast<Id>(i);
  }
  return std::nullopt;
}
}  // namespace

std::string_view Name(Line line) { return kLineRows[Index(line)].name; }
std::string_view Title(Line line, Lang lang) {
  return lang == Lang::kZh ? kLineRows[Index(line)].zh : kLineRows[Index(line)].en;
}
std::optional<Line> FindLine(std::string_view name) { return FindByName<Line>(kLineRows, name); }

const FindingInfo& Info(FindingId id) { return kFindingRows[static_cast<size_t>(id)]; }
std::string_view Name(FindingId id) { return Info(id).name; }
std::string_view Title(FindingId id, Lang lang) { return lang == Lang::kZh ? Info(id).title_zh : Info(id).title_en; }
std::optional<FindingId> FindFinding(std::string_view name) { return FindByName<FindingId>(kFindingRows, name); }

std::string_view Name(Cause c) { return kCauseRows[static_cast<size_t>(c)].name; }
std::string_view Title(Cause c, Lang lang) {
  return lang == Lang::kZh ? kCauseRows[static_cast<size_t>(c)].zh : kCauseRows[static_cast<size_t>(c)].en;
}
std::optional<Cause> FindCause(std::string_view name) { return FindByName<Cause>(kCauseRows, name); }

}  // namespace sawbill::model
