// SPDX-License-Identifier: Apache-2.0
// sawbill-make-logs FORMAT MEGABYTES [CARDS] > FILE: a log of that format as its tool would write it, one sample a
// second, for bench/read_speed. The values are a plain wave; nothing is judged here.
#include <cstdio>
#include <string>
#include <string_view>

#include "base/messages.h"
#include "base/numbers.h"
#include "base/time.h"

namespace {
using sawbill::TimeMs;

struct Sample {
  TimeMs t_ms;
  int cards;
  int Util(int card) const { return (t_ms / 1000 + card) % 10 < 3 ? 0 : 90 + static_cast<int>(t_ms / 1000 % 8); }
  int Watts(int card) const { return Util(card) == 0 ? 80 : 400 + static_cast<int>(t_ms / 1000 % 50); }
};

std::string Stamp(TimeMs t, char date, char between) {
  const sawbill::CivilTime c = sawbill::TimeZone::Utc().ToLocal(t);
  return fmt::format("{:04}{}{:02}{}{:02}{}{:02}:{:02}:{:02}", c.year, date, c.month, date, c.day, between, c.hour,
                     c.minute, c.second);
}
std::string Uuid(int card) { return fmt::format("GPU-0000000{}-1111-2222-3333-444444444444", card); }

void SmiCsv(const Sample& s, bool first, std::string* out) {
  if (first)
    *out +=
        "timestamp, index, uuid, utilization.gpu [%], utilization.memory [%], memory.used [MiB], temperature.gpu, "
        "power.draw [W], clocks.current.sm [MHz], clocks_event_reasons.active\n";
  const std::string at = Stamp(s.t_ms, '/', ' ');
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format("{}.{:03}, {}, {}, {} %, {} %, 61234 MiB, 55, {}.25 W, 1410 MHz, 0x0000000000000000\n", at,
                        20 + k, k, Uuid(k), s.Util(k), s.Util(k) / 2, s.Watts(k));
}

void ScriptCsv(const Sample& s, bool first, std::string* out) {
  if (first) *out += "timestamp,gpu,sm_util,mem_util,mem_used_mb\n";
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format("{}.{:03},{},{},{},61234\n", s.t_ms / 1000, s.t_ms % 1000, k, s.Util(k), s.Util(k) / 2);
}

void SmiTable(const Sample& s, bool, std::string* out) {
  const sawbill::CivilTime c = sawbill::TimeZone::Utc().ToLocal(s.t_ms);
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr const char* kDays[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
  *out += fmt::format("{} {} {:2} {:02}:{:02}:{:02} {}       \n", kDays[s.t_ms / 86'400'000 % 7], kMonths[c.month - 1],
                      c.day, c.hour, c.minute, c.second, c.year);
  *out +=
      "+-----------------------------------------------------------------------------------------+\n"
      "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n"
      "|-----------------------------------------+------------------------+----------------------+\n"
      "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
      "|                                         |                        |               MIG M. |\n"
      "|=========================================+========================+======================|\n";
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format(
        "| {:3}  NVIDIA A100-SXM4-80GB          On  | 00000000:{:02X}:00.0 Off |                    0 |\n"
        "| N/A   55C    P0             {:3}W /  400W |   61234MiB /  81920MiB |    {:3}%      Default |\n"
        "|                                         |                        |             Disabled |\n"
        "+-----------------------------------------+------------------------+----------------------+\n",
        k, 16 + k, s.Watts(k) % 400, s.Util(k));
  *out += "                                                                                         \n";
}

void Dmon(const Sample& s, bool, std::string* out) {
  if (s.t_ms / 1000 % 20 == 0)
    *out +=
        "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk     fb   bar1 \n"
        "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %      %      %    MHz    MHz     MB     MB \n";
  std::string at = Stamp(s.t_ms, '-', ' ');
  std::erase(at, '-');
  for (int k = 0; k < s.cards; ++k)
    *out +=
        fmt::format(" {}   {}   {:4}   {:4}     55      -   {:4}   {:4}      0      0   1593   1410  61234      2 \n",
                    at.substr(0, 8), at.substr(9), k, s.Watts(k), s.Util(k), s.Util(k) / 2);
}

void DcgmText(const Sample& s, bool, std::string* out) {
  *out += fmt::format("# scraped {}Z\n", Stamp(s.t_ms, '-', 'T'));
  const auto family = [&](const char* name, const char* help, auto value) {
    *out += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
    for (int k = 0; k < s.cards; ++k)
      *out += fmt::format(
          "{}{{gpu=\"{}\",UUID=\"{}\",pci_bus_id=\"00000000:{:02X}:00.0\",device=\"nvidia{}\",modelName=\"NVIDIA "
          "A100-SXM4-80GB\",Hostname=\"node1\",DCGM_FI_DRIVER_VERSION=\"550.54.15\"}} {}\n",
          name, k, Uuid(k), 16 + k, k, value(k));
  };
  family("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", [&](int k) { return fmt::format("{}", s.Util(k)); });
  family("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", [&](int k) { return fmt::format("{}.250000", s.Watts(k)); });
  family("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", [&](int) { return std::string("61234"); });
  family("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", [&](int) { return std::string("55"); });
  family("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active (in %).",
         [&](int k) { return fmt::format("0.{:02}0000", s.Util(k)); });
}

void DcgmCsv(const Sample& s, bool first, std::string* out) {
  if (first) *out += "EntityId,GRACT,FBUSD,TimeStamp\n";
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format("{},0.{:02}1,61234,{}.{:03}\n", k, s.Util(k), s.t_ms / 1000, 5 * k);
}

void VmExport(const Sample& s, bool, std::string* out) {  // a line holds ten minutes of one series
  if (s.t_ms / 1000 % 600 != 0) return;
  for (int k = 0; k < s.cards; ++k) {
    for (const char* name : {"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE"}) {
      std::string values, times;
      for (TimeMs t = s.t_ms; t < s.t_ms + 600'000; t += 1000) {
        const Sample at{t, s.cards};
        values += fmt::format("{}{}", values.empty() ? "" : ",", name[12] == 'G' ? at.Util(k) : at.Watts(k));
        times += fmt::format("{}{}", times.empty() ? "" : ",", t);
      }
      *out += fmt::format(
          "{{\"metric\":{{\"__name__\":\"{}\",\"gpu\":\"{}\",\"UUID\":\"{}\",\"Hostname\":\"node1\"}},\"values\":[{}],"
          "\"timestamps\":[{}]}}\n",
          name, k, Uuid(k), values, times);
    }
  }
}

void QueryRange(const Sample& s, bool first, std::string* out) {  // a series holds an hour
  if (first) *out += "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[";
  if (s.t_ms / 1000 % 3600 != 0) return;
  for (int k = 0; k < s.cards; ++k) {
    std::string values;
    for (TimeMs t = s.t_ms; t < s.t_ms + 3'600'000; t += 1000)
      values += fmt::format("{}[{},\"{}\"]", values.empty() ? "" : ",", t / 1000, Sample{t, s.cards}.Util(k));
    *out += fmt::format(
        "{}{{\"metric\":{{\"__name__\":\"DCGM_FI_DEV_GPU_UTIL\",\"gpu\":\"{}\",\"UUID\":\"{}\",\"Hostname\":\"node1\"}}"
        ","
        "\"values\":[{}]}}",
        out->back() == '[' ? "" : ",", k, Uuid(k), values);
  }
}

void Wandb(const Sample& s, bool, std::string* out) {
  *out += fmt::format("{{\"_timestamp\":{}.5,\"_runtime\":{},\"system.cpu\":23.5,\"system.memory\":41.2", s.t_ms / 1000,
                      s.t_ms / 1000 % 1'000'000);
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format(
        ",\"system.gpu.{0}.gpu\":{1},\"system.gpu.{0}.memory\":{2},\"system.gpu.{0}.memoryAllocatedBytes\":64209551360,"
        "\"system.gpu.{0}.temp\":55,\"system.gpu.{0}.powerWatts\":{3}.25",
        k, s.Util(k), s.Util(k) / 2, s.Watts(k));
  *out += "}\n";
}

void Gpustat(const Sample& s, bool, std::string* out) {
  *out += fmt::format("{{\"hostname\": \"node1\", \"query_time\": \"{}.500000\", \"gpus\": [", Stamp(s.t_ms, '-', 'T'));
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format(
        "{}{{\"index\": {}, \"uuid\": \"{}\", \"name\": \"NVIDIA A100-SXM4-80GB\", \"temperature.gpu\": 55, "
        "\"fan.speed\": "
        "null, \"utilization.gpu\": {}, \"power.draw\": {}, \"enforced.power.limit\": 400, \"memory.used\": 61234, "
        "\"memory.total\": 81920, \"processes\": []}}",
        k == 0 ? "" : ", ", k, Uuid(k), s.Util(k), s.Watts(k));
  *out += "]}\n";
}

void Pmon(const Sample& s, bool, std::string* out) {
  if (s.t_ms / 1000 % 20 == 0)
    *out +=
        "#Date       Time        gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    "
        "command \n"
        "#YYYYMMDD   HH:MM:SS    Idx           #    C/G      %      %      %      %      %      %     MB     MB    "
        "name \n";
  std::string at = Stamp(s.t_ms, '-', ' ');
  std::erase(at, '-');
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format(
        " {}   {}   {:4}     {:7}     C   {:4}   {:4}      -      -      -      -  61234      0    python         \n",
        at.substr(0, 8), at.substr(9), k, 31'000 + k, s.Util(k), s.Util(k) / 2);
}

void Dcgmi(const Sample& s, bool, std::string* out) {  // each line stamped on its way
  const std::string at = Stamp(s.t_ms, '-', 'T') + "+0000 ";
  if (s.t_ms / 1000 % 20 == 0)
    *out += at + "#Entity   GPUTL       MCUTL       FBUSD       TMPTR       POWER       GRACT       \n" + at +
            "ID                                                                                 \n";
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format("{}GPU {}     {:<12}{:<12}61234       55          {:<12}0.{:02}1\n", at, k, s.Util(k),
                        s.Util(k) / 2, fmt::format("{}.250", s.Watts(k)), s.Util(k));
}

void GpustatText(const Sample& s, bool, std::string* out) {
  *out += fmt::format("node1                        {}  580.95.05\n", Stamp(s.t_ms, '-', ' '));
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format("[{}] NVIDIA A100-SXM4-80GB | 55°C, {:3} %, {:4} / 400 W | 61234 / 81920 MB | ann(61000M)\n", k,
                        s.Util(k), s.Watts(k));
}

void WandbCsv(const Sample& s, bool first, std::string* out) {
  constexpr const char* kNames[] = {"gpu", "memory", "memoryAllocatedBytes", "temp", "powerWatts"};
  if (first) {
    *out += "_timestamp,_runtime,system.cpu";
    for (int k = 0; k < s.cards; ++k) {
      for (const char* name : kNames) *out += fmt::format(",system.gpu.{}.{}", k, name);
    }
    *out += "\n";
  }
  *out += fmt::format("{}.5,{},23.5", s.t_ms / 1000, s.t_ms / 1000 % 1'000'000);
  for (int k = 0; k < s.cards; ++k)
    *out += fmt::format(",{},{},64209551360,55,{}.25", s.Util(k), s.Util(k) / 2, s.Watts(k));
  *out += "\n";
}

struct Row {
  std::string_view name;
  void (*write)(const Sample&, bool first, std::string* out);
  const char* end;
};
constexpr Row kFormats[] = {
    {"smi-csv", SmiCsv, ""},     {"script-csv", ScriptCsv, ""},
    {"smi-table", SmiTable, ""}, {"dmon", Dmon, ""},
    {"dcgm-text", DcgmText, ""}, {"dcgm-csv", DcgmCsv, ""},
    {"vm-export", VmExport, ""}, {"query-range", QueryRange, "]}}\n"},
    {"wandb-jsonl", Wandb, ""},  {"gpustat-jsonl", Gpustat, ""},
    {"pmon", Pmon, ""},          {"dcgmi", Dcgmi, ""},
    {"wandb-csv", WandbCsv, ""}, {"gpustat-text", GpustatText, ""},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const double megabytes = sawbill::ParseDouble(argc > 2 ? argv[2] : "").value_or(0);
  const int cards = static_cast<int>(sawbill::ParseInt(argc > 3 ? argv[3] : "8").value_or(0));
  for (const Row& row : kFormats) {
    if (row.name != name || megabytes <= 0 || cards <= 0) continue;
    std::string out;
    double written = 0;
    bool first = true;
    for (TimeMs t = 1'767'225'600'000; written < megabytes * 1e6; t += 1000) {
      row.write({t, cards}, first, &out);
      first = false;
      if (out.size() < 1 << 20) continue;
      written += static_cast<double>(out.size());
      if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size()) return 1;
      out.assign(1, out.back());  // the next piece may ask what stands before it
      out.clear();
    }
    return std::fputs(row.end, stdout) < 0 ? 1 : 0;
  }
  std::fputs("usage: sawbill-make-logs FORMAT MEGABYTES [CARDS] > FILE\nformats:", stderr);
  for (const Row& row : kFormats) std::fprintf(stderr, " %s", row.name.data());
  std::fputs("\n", stderr);
  return 2;
}
