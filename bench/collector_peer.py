# SPDX-License-Identifier: Apache-2.0
"""What engineers write in an afternoon: pynvml and psutil, once a second, into CSV. The same fields as `sawbill record`."""
import csv
import os
import sys
import time

import psutil
import pynvml as nv


def maybe(call, *args):
    try:
        return call(*args)
    except nv.NVMLError:
        return None


def cards(handles, out):
    now = time.time()
    for index, h in enumerate(handles):
        util = maybe(nv.nvmlDeviceGetUtilizationRates, h)
        memory = maybe(nv.nvmlDeviceGetMemoryInfo, h)
        out.writerow([f"{now:.3f}", index, util and util.gpu, util and util.memory, memory and memory.used >> 20,
                      maybe(nv.nvmlDeviceGetTemperature, h, nv.NVML_TEMPERATURE_GPU), maybe(nv.nvmlDeviceGetPowerUsage, h),
                      maybe(nv.nvmlDeviceGetClockInfo, h, nv.NVML_CLOCK_SM), maybe(nv.nvmlDeviceGetClockInfo, h, nv.NVML_CLOCK_MEM),
                      maybe(nv.nvmlDeviceGetCurrentClocksThrottleReasons, h),
                      maybe(nv.nvmlDeviceGetTotalEnergyConsumption, h)])


def host(out):
    cpu = psutil.cpu_times_percent()
    memory = psutil.virtual_memory()
    disk, net = psutil.disk_io_counters(), psutil.net_io_counters()
    out.writerow([f"{time.time():.3f}", os.cpu_count(), cpu.user + cpu.system, cpu.iowait, os.getloadavg()[0], memory.used >> 20,
                  memory.total >> 20, disk.read_bytes if disk else None, disk.write_bytes if disk else None, net.bytes_recv,
                  net.bytes_sent])


def processes(handles, known, out):
    now = time.time()
    for index, h in enumerate(handles):
        utils = {s.pid: s.smUtil for s in maybe(nv.nvmlDeviceGetProcessUtilization, h, 0) or []}
        for p in nv.nvmlDeviceGetComputeRunningProcesses(h):
            try:
                process = known.setdefault(p.pid, psutil.Process(p.pid))
                children = process.children(recursive=True)
                cpu = sum(sum(c.cpu_times()[:2]) for c in [process, *children])
                io = [c.io_counters() for c in [process, *children]]
                out.writerow([f"{now:.3f}", index, p.pid, process.username(), process.name(), p.usedGpuMemory,
                              utils.get(p.pid), cpu, sum(i.read_bytes for i in io), sum(i.write_bytes for i in io),
                              process.create_time(), len(children)])
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                known.pop(p.pid, None)


def main():
    os.makedirs(sys.argv[1])
    files = [open(os.path.join(sys.argv[1], name), "w", newline="") for name in ("gpu.csv", "host.csv", "process.csv")]
    gpu_out, host_out, process_out = (csv.writer(f) for f in files)
    nv.nvmlInit()
    handles = [nv.nvmlDeviceGetHandleByIndex(i) for i in range(nv.nvmlDeviceGetCount())]
    known, tick = {}, 0
    while True:
        time.sleep(1 - time.time() % 1)
        cards(handles, gpu_out)
        host(host_out)
        if tick % 10 == 0:
            processes(handles, known, process_out)
        for f in files:
            f.flush()
        tick += 1


main()
