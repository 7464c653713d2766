// SPDX-License-Identifier: Apache-2.0
// The environment of a process may hold passwords and tokens. It is read as the kernel shows it, the variables on the
// list below are copied, and the text is dropped: nothing else of it is kept or shown, also not in errors. It is the
// environment at the start of the program; what a script sets later in os.environ is not visible.
//
// The order: the owner's own word, the scheduler's, the cluster's, the experiment tracker's, the container. Slurm from
// 26.05 on names its groups by a token instead of the job, so its variable comes before its cgroup.
#include "host/job_identity.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

#include "base/text.h"
#include "host/scan.h"

namespace sawbill::host {
namespace {

constexpr size_t kMostValueBytes = 128;
constexpr size_t kMostDevicesBytes = 4096;  // the list of the MIG instances of a large node is long, and is parsed

constexpr std::array<std::string_view, 37> kAllowed = {"SAWBILL_JOB",
                                                       "SAWBILL_PROJECT",
                                                       "SLURM_JOB_ID",
                                                       "SLURM_JOBID",
                                                       "SLURM_ARRAY_JOB_ID",
                                                       "SLURM_ARRAY_TASK_ID",
                                                       "SLURM_JOB_USER",
                                                       "SLURM_JOB_ACCOUNT",
                                                       "SLURM_PROCID",
                                                       "SLURM_NTASKS",
                                                       "PBS_JOBID",
                                                       "PBS_O_LOGNAME",
                                                       "LSB_JOBID",
                                                       "LSB_JOBINDEX",
                                                       "LSB_PROJECT_NAME",
                                                       "LSFUSER",
                                                       "JOB_ID",
                                                       "SGE_ROOT",
                                                       "SGE_TASK_ID",
                                                       "SGE_O_LOGNAME",
                                                       "FLUX_JOB_ID",
                                                       "COBALT_JOBID",
                                                       "HOSTNAME",
                                                       "KUBERNETES_SERVICE_HOST",
                                                       "POD_NAME",
                                                       "POD_NAMESPACE",
                                                       "WANDB_RUN_ID",
                                                       "WANDB_PROJECT",
                                                       "MLFLOW_RUN_ID",
                                                       "TORCHELASTIC_RUN_ID",
                                                       "RANK",
                                                       "WORLD_SIZE",
                                                       "OMPI_COMM_WORLD_RANK",
                                                       "OMPI_COMM_WORLD_SIZE",
                                                       "PMI_RANK",
                                                       "MASTER_ADDR",
                                                       "CUDA_VISIBLE_DEVICES"};

class Variables {
 public:
  explicit Variables(std::string_view text) {
    while (!text.empty()) {
      const std::string_view pair = text.substr(0, text.find('\0'));
      text.remove_prefix(std::min(text.size(), pair.size() + 1));
      const size_t equals = pair.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view key = pair.substr(0, equals);
      if (std::find(kAllowed.begin(), kAllowed.end(), key) == kAllowed.end()) continue;
      const size_t most = key == "CUDA_VISIBLE_DEVICES" ? kMostDevicesBytes : kMostValueBytes;
      values_.try_emplace(std::string(key), Sanitize(Trim(pair.substr(equals + 1).substr(0, most))));
    }
  }
  bool Has(const std::string& key) const { return values_.contains(key); }
  /// The first that is set to something; "" when none is.
  std::string Get(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const auto it = values_.find(key);
      if (it != values_.end() && !it->second.empty()) return it->second;
    }
    return "";
  }

 private:
  std::map<std::string, std::string> values_;
};

bool IsHex(std::string_view s) {
  return !s.empty() && s.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

struct GroupFacts {
  std::string slurm_job, pod_uid, container;
  bool podman = false;
};

/// docker-<64 hex>.scope, cri-containerd-<64 hex>.scope, libpod-<64 hex>.scope, or the 64 digits alone.
std::string ContainerOf(std::string_view part) {
  if (EndsWith(part, ".scope")) part.remove_suffix(6);
  const std::string_view id = part.substr(part.rfind('-') + 1);
  const std::string_view runtime = part.substr(0, part.size() - id.size());
  const bool known = runtime.empty() || runtime == "docker-" || runtime == "libpod-" || runtime == "cri-containerd-" ||
                     runtime == "crio-";
  return known && id.size() == 64 && IsHex(id) ? std::string(id.substr(0, 12)) : "";
}

/// pod<uid>, or kubepods-burstable-pod<uid with _ for ->.slice.
std::string PodOf(std::string_view part) {
  if (EndsWith(part, ".slice")) part.remove_suffix(6);
  const size_t at = StartsWith(part, "pod") ? 0 : part.find("-pod");
  if (at == std::string_view::npos) return "";
  std::string uid(part.substr(at == 0 ? 3 : at + 4));
  std::replace(uid.begin(), uid.end(), '_', '-');
  std::string digits = uid;
  std::erase(digits, '-');
  // A static pod's uid is the hash of its file: 32 digits without dashes.
  return digits.size() == 32 && IsHex(digits) ? uid : "";
}

GroupFacts FromCgroup(std::string_view text) {
  GroupFacts facts;
  while (const auto line = TakeLine(&text)) {
    const size_t second = line->find(':', line->find(':') + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view path = line->substr(second + 1);
    const bool slurm = path.find("slurm") != std::string_view::npos;
    const bool pods = path.find("kubepods") != std::string_view::npos;
    for (const std::string_view part : Split(path, '/')) {
      if (slurm && StartsWith(part, "job_") && ToU64(part.substr(4))) facts.slurm_job = part.substr(4);
      if (std::string uid = pods ? PodOf(part) : ""; !uid.empty()) facts.pod_uid = uid;
      if (std::string id = ContainerOf(part); !id.empty()) {
        facts.container = id;
        facts.podman = StartsWith(part, "libpod-");
      }
    }
  }
  return facts;
}

std::string WithIndex(const std::string& job, const std::string& index, const char* open, const char* close) {
  return job.empty() || index.empty() || index == "undefined" || index == "0" ? job : job + open + index + close;
}

std::string SlurmJob(const Variables& v) {
  const std::string array = v.Get({"SLURM_ARRAY_JOB_ID"}), task = v.Get({"SLURM_ARRAY_TASK_ID"});
  // Named as squeue and sacct do; SLURM_JOB_ID is then a number that no user has seen.
  return array.empty() || task.empty() ? v.Get({"SLURM_JOB_ID", "SLURM_JOBID"}) : array + "_" + task;
}

/// In a pod the host's name is the pod's, unless it shares the node's network: then it is the node's.
std::string PodName(const Variables& v, const GroupFacts& group, bool host_network) {
  std::string pod = v.Get({"POD_NAME"});
  if (pod.empty() && v.Has("KUBERNETES_SERVICE_HOST") && !host_network) pod = v.Get({"HOSTNAME"});
  if (pod.empty()) return group.pod_uid;
  const std::string space = v.Get({"POD_NAMESPACE"});
  return space.empty() ? pod : space + "/" + pod;
}

JobIdentity Judge(const Variables& v, const GroupFacts& group, bool host_network) {
  const bool pod = v.Has("KUBERNETES_SERVICE_HOST") || !group.pod_uid.empty();
  const std::string elastic = v.Get({"TORCHELASTIC_RUN_ID"});
  // JOB_ID is a common name: it counts only where Grid Engine says that it is there.
  const std::string sge = v.Has("SGE_ROOT") || v.Has("SGE_TASK_ID") ? v.Get({"JOB_ID"}) : "";
  const std::pair<const char*, std::string> candidates[] = {
      {"environment", v.Get({"SAWBILL_JOB"})},
      {"slurm", SlurmJob(v)},
      {"pbs", v.Get({"PBS_JOBID"})},
      {"lsf", WithIndex(v.Get({"LSB_JOBID"}), v.Get({"LSB_JOBINDEX"}), "[", "]")},
      {"sge", WithIndex(sge, v.Get({"SGE_TASK_ID"}), ".", "")},
      {"flux", v.Get({"FLUX_JOB_ID"})},
      {"cobalt", v.Get({"COBALT_JOBID"})},
      {"slurm", group.slurm_job},
      {"kubernetes", pod ? PodName(v, group, host_network) : ""},
      {"wandb", v.Get({"WANDB_RUN_ID"})},
      {"mlflow", v.Get({"MLFLOW_RUN_ID"})},
      {"torchelastic", elastic == "none" ? "" : elastic},  // "none" is torchrun's default, the same for every job
      {group.podman ? "podman" : "docker", group.container},
  };
  JobIdentity identity;
  for (const auto& [source, job] : candidates) {
    if (job.empty()) continue;
    identity.job = job;
    identity.source = source;
    break;
  }
  identity.project =
      v.Get({"SAWBILL_PROJECT", "SLURM_JOB_ACCOUNT", "LSB_PROJECT_NAME", "WANDB_PROJECT", "POD_NAMESPACE"});
  identity.user = v.Get({"SLURM_JOB_USER", "PBS_O_LOGNAME", "LSFUSER", "SGE_O_LOGNAME"});
  identity.container = group.container;
  identity.rank = v.Get({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
  identity.world_size = v.Get({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"});
  identity.master = v.Get({"MASTER_ADDR"});
  identity.visible_devices = v.Get({"CUDA_VISIBLE_DEVICES"});
  identity.has_visible_devices = v.Has("CUDA_VISIBLE_DEVICES");
  return identity;
}

}  // namespace

JobIdentity IdentifyFrom(const std::string& environ_text, const std::string& cgroup_text) {
  return Judge(Variables(environ_text), FromCgroup(cgroup_text), false);
}

JobIdentity Identify(sys::ProcFiles* files, int64_t pid) {
  const std::string dir = "/proc/" + std::to_string(pid);
  std::string environ_text, cgroup_text;
  files->Read(dir + "/environ", &environ_text);
  files->Read(dir + "/cgroup", &cgroup_text);
  const GroupFacts group = FromCgroup(cgroup_text);
  bool host_network = false;
  if (!group.pod_uid.empty()) {  // seen from outside of the pod: process 1 is the node's
    const auto net = files->ReadLink(dir + "/ns/net"), node = files->ReadLink("/proc/1/ns/net");
    host_network = net && node && *net == *node;
  }
  return Judge(Variables(environ_text), group, host_network);
}

}  // namespace sawbill::host
