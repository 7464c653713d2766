// SPDX-License-Identifier: Apache-2.0
// Every format is recognised as itself, and each reader bears the text of all others, whole and in pieces.
#include <gtest/gtest.h>

#include <algorithm>

#include "ingest/format.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {

struct Fixture {
  const char* format;
  const char* text;
};
constexpr Fixture kFixtures[] = {
    {"nvidia-smi csv",
     "timestamp, index, utilization.gpu [%], memory.used [MiB]\n2026/01/02 03:04:05.000, 0, 40 %, 1835 MiB\n"},
    {"script log csv", "timestamp,gpu,sm_util,mem_util,mem_used_mb\n1772413200,0,40,20,1000\n"},
    {"sawbill gpu day file", "timestamp,gpu,sm_util,mem_util,mem_used_mb,temp_c\n1772413200.000,0,40,20,1000,50\n"},
    {"sawbill host day file", "timestamp,cpu_count,cpu_util\n1772413200.000,16,50.5\n"},
    {"nvidia-smi table",
     "Fri Jan  2 03:04:05 2026\n"
     "+-----------------------------------------+------------------------+----------------------+\n"
     "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |\n"
     "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
     "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
     "|=========================================+========================+======================|\n"
     "|   0  NVIDIA A40                     On  |   00000000:31:00.0 Off |                    0 |\n"
     "|  0%   38C    P0             97W /  300W |    1835MiB /  46068MiB |     29%      Default |\n"},
    {"nvidia-smi -q",
     "==============NVSMI LOG==============\n\nTimestamp                     : Fri Jan  2 03:04:05 2026\n"
     "Attached GPUs                 : 1\nGPU 00000000:31:00.0\n    Utilization\n        GPU                   : 29 "
     "%\n"},
    {"nvidia-smi dmon",
     "#Date       Time        gpu    pwr     sm\n#YYYYMMDD   HH:MM:SS    Idx      W      %\n"
     " 20260102   03:04:05      0     97     29\n"},
    {"nvidia-smi pmon",
     "#Date       Time        gpu    pid   type   sm    command\n#YYYYMMDD   HH:MM:SS    Idx      #    C/G    %    "
     "name\n 20260102   03:04:05      0     77      C   29     python\n"},
    {"dcgmi dmon",
     "2026-01-02T03:04:05Z #Entity   GPUTL   GRACT\n2026-01-02T03:04:05Z ID\n2026-01-02T03:04:05Z GPU 0   29   "
     "0.156\n"},
    {"gpustat json",
     "{\"hostname\": \"n1\", \"query_time\": \"2026-01-02T03:04:05\", \"gpus\": [{\"index\": 0, \"utilization.gpu\": "
     "29}]}\n"},
    {"gpustat text", "n1    Fri Jan  2 03:04:05 2026  580.95.05\n[0] NVIDIA A40 | 38'C,  29 % |  1835 / 46068 MB |\n"},
    {"nvitop csv", "a/gpu:0/gpu_utilization (%)/last,a/gpu:0/power_usage (W)/last,a/timestamp\n29,97,1772413200\n"},
    {"wandb csv", "_timestamp,system.gpu.0.gpu,system.gpu.0.powerWatts,system.cpu\n1772413200,29,97,12\n"},
    {"wandb json", "{\"_timestamp\": 1772413200, \"system.gpu.0.gpu\": 29, \"system.cpu\": 12}\n"},
    {"sagemaker metrics",
     "{\"Type\":\"gpu\",\"Name\":\"gpu0\",\"Dimension\":\"GPUUtilization\",\"Value\":29,\"NodeId\":\"a\",\"Timestamp\":"
     "1772413200}\n"},
    {"event timeline", "[\n{\"name\": \"step\", \"ph\": \"X\", \"ts\": 1, \"dur\": 5, \"pid\": 1}\n]\n"},
};

TEST(Recognise, EveryFormatAsItself) {
  for (const Fixture& f : kFixtures) {
    double best = 0, second = 0;
    std::string_view name;
    for (const Format* format : AllFormats()) {
      const double c = format->Certainty(f.text);
      EXPECT_GE(c, 0) << format->name();
      EXPECT_LE(c, 1) << format->name();
      if (c > best) {
        second = best, best = c;
        name = format->name();
      } else {
        second = std::max(second, c);
      }
    }
    EXPECT_EQ(name, f.format);
    EXPECT_GT(best, second) << f.format << ": two readers are equally sure";
    EXPECT_GE(best, kLeastCertainty) << f.format;
  }
}

TEST(Recognise, WhatIsNoTelemetryByNobody) {
  for (const char* text :
       {"", "\n", "{}", "[]", "{\"a\": 1}\n", "# a comment\n# gpu notes\n", "|a|b|\n|-|-|\n|1|2|\n",
        "[0] first\n[1] second\n", "epoch 1 loss 0.5\n", "# HELP node_load1 1m load average.\n", "time,loss\n1,2\n"}) {
    for (const Format* format : AllFormats()) {
      // The exporters' own page is for their reader to judge.
      if (format->name().find("rometheus") != std::string_view::npos) continue;
      EXPECT_LT(format->Certainty(text), kLeastCertainty) << format->name() << ": " << text;
    }
  }
}

void ReadByAll(std::string_view text) {
  const TimeZone tz = TimeZone::Utc();
  for (const Format* format : AllFormats()) {
    ReadContext context;
    context.tz = &tz;
    context.file = "log";
    model::Recording out;
    Explanation explanation;
    sys::LineReader lines(sys::OpenBytes(text));
    const Status s = format->Read(&lines, context, &out, &explanation);
    EXPECT_TRUE(s.ok() || s.message().size() > 20) << format->name();
    for (const auto& g : out.gpus) {
      EXPECT_TRUE(std::is_sorted(g.t_ms.begin(), g.t_ms.end())) << format->name();
    }
  }
}

TEST(Recognise, EveryReaderBearsEveryText) {
  for (const Fixture& f : kFixtures) ReadByAll(f.text);
}

TEST(Recognise, EveryReaderBearsTextThatIsCutAnywhere) {
  for (const Fixture& f : kFixtures) {
    const std::string_view text = f.text;
    for (size_t at = 1; at < text.size(); at += 7) {
      ReadByAll(text.substr(0, at));
      ReadByAll(text.substr(at));
    }
  }
}

TEST(Recognise, EveryReaderBearsTextWithAByteChanged) {
  for (const Fixture& f : kFixtures) {
    std::string text = f.text;
    uint32_t state = 1;
    for (int i = 0; i < 60; ++i) {
      state = state * 1664525U + 1013904223U;
      const size_t at = state % text.size();
      const char kept = text[at];
      text[at] = "\0|\"{}[]#,:9\xFF\x1b "[(state >> 16) % 14];
      ReadByAll(text);
      text[at] = kept;
    }
  }
}

}  // namespace
}  // namespace sawbill::ingest
