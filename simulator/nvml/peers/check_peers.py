#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_peers.py ROOT WORK: runs the real nvidia-smi, nvtop and pynvml on the scripted library and compares what they print
with what was scripted. Called by scripts/nvml_peers, which sets LD_LIBRARY_PATH. One line a check: "ok" or "FAILED".
"""
import os
import pty
import re
import select
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT, WORK = sys.argv[1:3]
SMI = os.path.join(ROOT, "usr/lib/nvidia/current/nvidia-smi")
NVTOP = os.path.join(ROOT, "usr/bin/nvtop")
PROCESS = os.getpid()

DRIVER, CUDA = "550.90.07", 12040
CARDS = [
    dict(model="H100", sm_util=87, mem_util=41, mem_used_mib=61234, temp_c=63, mem_temp_c=71, power_w=612.34, power_limit_w=650.0,
         sm_clock_mhz=1755, video_clock_mhz=1512, throttle=0x4, pcie_tx_mb_s=111, pcie_rx_mb_s=2222, ecc_corrected=3,
         ecc_uncorrected=1, remapped_corrected=2, pcie_replay=5, uuid="GPU-11111111-2222-3333-4444-555555555555", pci_bus=0x3B,
         serial="1650922000111"),
    dict(model="4090", sm_util=12, mem_util=3, mem_used_mib=4321, temp_c=44, power_w=88.5, power_limit_w=400.0, fan_percent=37,
         sm_clock_mhz=2520, pstate=2, throttle=0, pcie_gen=3, pcie_width=8),
    dict(model="A100", sm_util=0, mem_used_mib=0, temp_c=29, power_w=61.5, throttle=0x1, persistence=False),
]
NAMES = ["NVIDIA H100 80GB HBM3", "NVIDIA GeForce RTX 4090", "NVIDIA A100-SXM4-80GB"]
TOTAL = [81559, 24564, 81920]
RESERVED = [479, 451, 540]
PROCESSES = [dict(pid=PROCESS, mem_mib=61000, sm_util=87, name="train.py"), dict(pid=PROCESS + 1, mem_mib=111, name="loader", type="G")]
INSTANCES = [dict(index=0, gi=2, profile="3g.40gb", mem_used_mib=12345), dict(index=3, gi=9, profile="1g.10gb", mem_used_mib=678)]


def toml(value):
    return {bool: str(value).lower(), str: f'"{value}"'}.get(type(value), str(value))


def table(name, fields):
    return f"[[{name}]]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in fields.items())


def write_script(name, text):
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'driver = "{DRIVER}"\ncuda = {CUDA}\n' + text)
    return path


def main_script():
    text = ""
    for i, card in enumerate(CARDS):
        text += table("card", card)
        if i == 0:
            text += "".join(table("card.process", p) for p in PROCESSES)
    return write_script("peers.toml", text)


def mig_script():
    return write_script("mig.toml", table("card", dict(model="H100", power_w=300)) + "".join(table("card.instance", i) for i in INSTANCES))


def fault_script(code):
    return write_script(f"fault{code}.toml", table("card", dict(model="H100")) + table("fault", dict(kind="driver", code=code)))


def smi(script, *arguments):
    run = subprocess.run([SMI, *arguments], env={**os.environ, "SAWBILL_SIM_SCRIPT": script, "LC_ALL": "C"}, text=True,
                         capture_output=True, timeout=60, check=False)
    return run.returncode, run.stdout + run.stderr


failures = 0


def check(what, problems):
    global failures
    print(f"{'FAILED' if problems else 'ok':<7} {what}")
    for p in problems:
        print(f"    {p}")
    failures += bool(problems)


def compare(pairs):
    return [f"{name}: shown '{shown}', scripted '{wanted}'" for name, shown, wanted in pairs if shown != wanted]


def contains(text, *wanted):
    return [f"not shown: '{w}'" for w in wanted if not re.search(w, text)] + ([text] if any(not re.search(w, text) for w in wanted) else [])


def check_list(script):
    rc, out = smi(script, "-L")
    check(f"nvidia-smi -L: {len(CARDS)} cards", compare([("status", rc, 0)]) + contains(
        out, *(rf"GPU {i}: {n} \(UUID: GPU-" for i, n in enumerate(NAMES)), re.escape(CARDS[0]["uuid"])))


def check_table(script):
    rc, out = smi(script)
    check("nvidia-smi: the table", compare([("status", rc, 0)]) + contains(
        out, rf"Driver Version: {DRIVER}", r"CUDA Version: 12\.4", r"00000000:3B:00\.0 Off \| +1 \|",
        r"N/A +63C +P0 +612W / 650W \| +61234MiB / 81559MiB \| +87% +Default",
        r"37% +44C +P2 +88W / 400W \| +4321MiB / 24564MiB \| +12% +Default", r"A100-SXM4-80GB +Off"))


# Field of --query-gpu -> value of each of the three cards.
QUERY = {
    "index": ["0", "1", "2"], "name": NAMES, "driver_version": [DRIVER] * 3, "count": ["3"] * 3,
    "serial": ["1650922000111", "[N/A]", None], "uuid": [CARDS[0]["uuid"], None, None], "pci.bus_id": ["00000000:3B:00.0", None, None],
    "pci.device_id": ["0x233010DE", "0x268410DE", "0x20B210DE"], "persistence_mode": ["Enabled", "Enabled", "Disabled"],
    "pstate": ["P0", "P2", "P0"], "fan.speed": ["[N/A]", "37 %", "[N/A]"], "temperature.gpu": ["63", "44", "29"],
    "temperature.memory": ["71", "N/A", None], "power.draw": ["612.34 W", "88.50 W", "61.50 W"],
    "power.draw.average": ["612.34 W", "88.50 W", "[N/A]"], "power.draw.instant": ["612.34 W", "88.50 W", "61.50 W"],
    "power.limit": ["650.00 W", "400.00 W", "400.00 W"], "enforced.power.limit": ["650.00 W", "400.00 W", "400.00 W"], "power.default_limit": ["700.00 W", "450.00 W", "400.00 W"],
    "power.min_limit": ["200.00 W", "150.00 W", "100.00 W"], "power.max_limit": ["700.00 W", "450.00 W", "400.00 W"],
    "clocks.current.sm": ["1755 MHz", "2520 MHz", "210 MHz"], "clocks.current.graphics": ["1755 MHz", "2520 MHz", "210 MHz"],
    "clocks.current.memory": ["2619 MHz", "10501 MHz", "1593 MHz"], "clocks.current.video": ["1512 MHz", None, None],
    "clocks.max.sm": ["1980 MHz", "3105 MHz", "1410 MHz"], "clocks.max.memory": ["2619 MHz", "10501 MHz", "1593 MHz"],
    "utilization.gpu": ["87 %", "12 %", "0 %"], "utilization.memory": ["41 %", "3 %", "0 %"],
    "utilization.encoder": ["0 %"] * 3, "memory.total": [f"{t} MiB" for t in TOTAL],
    "memory.reserved": [f"{r} MiB" for r in RESERVED], "memory.used": ["61234 MiB", "4321 MiB", "0 MiB"],
    "memory.free": [f"{TOTAL[i] - RESERVED[i] - CARDS[i]['mem_used_mib']} MiB" for i in range(3)],
    "clocks_event_reasons.active": ["0x0000000000000004", "0x0000000000000000", "0x0000000000000001"],
    "clocks_event_reasons.sw_power_cap": ["Active", "Not Active", "Not Active"],
    "clocks_event_reasons.gpu_idle": ["Not Active", "Not Active", "Active"], "pcie.link.gen.current": ["5", "3", "4"],
    "pcie.link.gen.max": ["5", "4", "4"], "pcie.link.width.current": ["16", "8", "16"],
    "ecc.mode.current": ["Enabled", "[N/A]", "Enabled"], "ecc.errors.corrected.volatile.total": ["3", "[N/A]", "0"],
    "ecc.errors.uncorrected.volatile.total": ["1", "[N/A]", "0"], "mig.mode.current": ["Disabled", "[N/A]", "Disabled"],
    "compute_cap": ["9.0", "8.9", "8.0"], "compute_mode": ["Default"] * 3,
}


def check_query(script):
    rc, out = smi(script, "--query-gpu=" + ",".join(QUERY), "--format=csv,noheader")
    rows = [[cell.strip() for cell in line.split(",")] for line in out.strip().split("\n")]
    pairs = [("status", rc, 0), ("cards", len(rows), 3)]
    for card, row in enumerate(rows[:3]):
        pairs += [(f"card {card} {field}", shown, wanted[card]) for (field, wanted), shown in zip(QUERY.items(), row)
                  if wanted[card] is not None]
    check(f"nvidia-smi --query-gpu: {len(QUERY)} fields of 3 cards", compare(pairs))


def check_every_field(script):
    """Each field that this nvidia-smi knows is answered: with a value or N/A, but not with a symbol that we lack."""
    _, text = smi(script, "--help-query-gpu")
    fields = re.findall(r'^"([a-z_][\w.]+)"', text, re.M)
    fields = [f for f in fields if not f.startswith("vgpu")]
    rc, out = smi(script, "--query-gpu=" + ",".join(fields), "--format=csv,noheader")
    bad = [f for row in out.strip().split("\n") for f, cell in zip(fields, row.split(",")) if "Function Not Found" in cell or "Unknown" in cell]
    check(f"nvidia-smi --query-gpu: all its {len(fields)} fields are answered", compare([("status", rc, 0)]) + [f"no answer for {f}" for f in sorted(set(bad))])


def check_processes(script):
    rc, out = smi(script)
    check("nvidia-smi: processes in the table", compare([("status", rc, 0)]) + contains(
        out, rf"\| +0 +N/A +N/A +{PROCESS} +C +train\.py +61000MiB \|", rf"\| +0 +N/A +N/A +{PROCESS + 1} +G +loader +111MiB \|"))
    rc, out = smi(script, "--query-compute-apps=pid,name,used_memory,gpu_uuid", "--format=csv,noheader")
    check("nvidia-smi --query-compute-apps", compare([
        ("status", rc, 0), ("rows", out.strip(), f"{PROCESS}, train.py, 61000 MiB, {CARDS[0]['uuid']}")]))


def check_xml(script):
    rc, out = smi(script, "-q", "-x")
    gpu = xml.fromstring(out).findall("gpu")[0] if rc == 0 else None
    text = lambda path: (gpu.findtext(path) or "").strip() if gpu is not None else ""
    pairs = [("status", rc, 0)] + [(path, text(path), wanted) for path, wanted in {
        "product_name": NAMES[0], "product_architecture": "Hopper", "uuid": CARDS[0]["uuid"], "serial": "1650922000111",
        "pci/pci_bus_id": "00000000:3B:00.0", "pci/replay_counter": "5", "pci/tx_util": "111000 KB/s", "pci/rx_util": "2222000 KB/s",
        "fb_memory_usage/used": "61234 MiB", "fb_memory_usage/reserved": "479 MiB", "utilization/gpu_util": "87 %",
        "utilization/memory_util": "41 %", "temperature/gpu_temp": "63 C", "temperature/memory_temp": "71 C",
        "gpu_power_readings/power_draw": "612.34 W", "gpu_power_readings/current_power_limit": "650.00 W", "clocks/sm_clock": "1755 MHz",
        "clocks/video_clock": "1512 MHz", "ecc_errors/volatile/dram_correctable": "3", "ecc_errors/volatile/dram_uncorrectable": "1",
        "remapped_rows/remapped_row_corr": "2", "performance_state": "P0", "ecc_mode/current_ecc": "Enabled",
        "clocks_event_reasons/clocks_event_reason_sw_power_cap": "Active"}.items()]
    check(f"nvidia-smi -q -x: {len(pairs) - 1} values", compare(pairs) + [t for t in ("Function Not Found",) if t in out])


def check_mig(script):
    rc, out = smi(script, "-L")
    check("nvidia-smi -L: MIG instances", compare([("status", rc, 0)]) + contains(
        out, r"MIG 3g\.40gb +Device +0: \(UUID: MIG-", r"MIG 1g\.10gb +Device +1: \(UUID: MIG-"))
    rc, out = smi(script)
    check("nvidia-smi: MIG block of the table", compare([("status", rc, 0)]) + contains(
        out, r"N/A +\d+C +P0 +300W / 700W .* N/A +Default", r"\|  0    2   0   0  \| +12345MiB / 40448MiB +\| 60 ",
        r"\|  0    9   0   3  \| +678MiB / 10112MiB +\| 16 "))


def check_errors():
    for code, said in {9: "couldn't communicate with the NVIDIA driver", 18: "Driver/library version mismatch"}.items():
        rc, out = smi(fault_script(code))
        check(f"nvidia-smi: code {code} of init", compare([("status", rc, code)]) + contains(out, said))
    lost = write_script("handle.toml", table("card", dict(model="H100")) + table("fault", dict(kind="handle", card=0, code=15)))
    rc, out = smi(lost)
    check("nvidia-smi: a lost card", compare([("status", rc, 15)]) + contains(out, "GPU is lost"))


def check_pynvml(script):
    os.environ["SAWBILL_SIM_SCRIPT"] = script
    import pynvml as n
    n.nvmlInit()
    pairs = [("count", n.nvmlDeviceGetCount(), 3), ("driver", n.nvmlSystemGetDriverVersion(), DRIVER),
             ("cuda", n.nvmlSystemGetCudaDriverVersion(), CUDA)]
    for i, card in enumerate(CARDS):
        h = n.nvmlDeviceGetHandleByIndex(i)
        util, memory, v2 = n.nvmlDeviceGetUtilizationRates(h), n.nvmlDeviceGetMemoryInfo(h), n.nvmlDeviceGetMemoryInfo(h, n.nvmlMemory_v2)
        pairs += [("name", n.nvmlDeviceGetName(h), NAMES[i]), ("util", util.gpu, card["sm_util"]),
                  ("temperature", n.nvmlDeviceGetTemperature(h, n.NVML_TEMPERATURE_GPU), card["temp_c"]),
                  ("power", n.nvmlDeviceGetPowerUsage(h), round(card["power_w"] * 1000)),
                  ("used, version 1", memory.used >> 20, card["mem_used_mib"] + RESERVED[i]),
                  ("used, version 2", v2.used >> 20, card["mem_used_mib"]),
                  ("reasons", n.nvmlDeviceGetCurrentClocksThrottleReasons(h), card["throttle"])]
    h = n.nvmlDeviceGetHandleByUUID(CARDS[0]["uuid"].encode())
    listed = n.nvmlDeviceGetComputeRunningProcesses(h) + n.nvmlDeviceGetGraphicsRunningProcesses(h)
    found = {p.pid: p.usedGpuMemory >> 20 for p in listed}
    pairs.append(("processes", found, {p["pid"]: p["mem_mib"] for p in PROCESSES}))
    pairs.append(("fields", [(f.nvmlReturn, f.value.uiVal) for f in n.nvmlDeviceGetFieldValues(h, [n.NVML_FI_DEV_MEMORY_TEMP])], [(0, 71)]))
    energy = [n.nvmlDeviceGetTotalEnergyConsumption(h)]
    start = time.monotonic()
    time.sleep(0.5)
    energy.append(n.nvmlDeviceGetTotalEnergyConsumption(h))
    watts = (energy[1] - energy[0]) / 1000 / (time.monotonic() - start)
    pairs.append(("energy grows by its power", abs(watts - 612.34) < 30, True))
    ring = n.nvmlDeviceGetSamples(h, n.NVML_GPU_UTILIZATION_SAMPLES, 0)
    pairs.append(("ring buffer", {s.sampleValue.uiVal for s in ring[1]}, {87}))
    try:
        n.nvmlDeviceGetEccMode(n.nvmlDeviceGetHandleByIndex(1))
        pairs.append(("ECC of a GeForce", "a value", "NotSupported"))
    except n.NVMLError_NotSupported:
        pass
    n.nvmlShutdown()
    try:
        n.nvmlDeviceGetName(h)
        pairs.append(("after shutdown", "a value", "Uninitialized"))
    except n.NVMLError_Uninitialized:
        pass
    check(f"pynvml: {len(pairs)} values", compare(pairs))


def nvtop_frame(script, seconds=6):
    """One screen of nvtop on a terminal of 200 x 60, as text."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(SAWBILL_SIM_SCRIPT=script, TERM="xterm", LC_ALL="C.UTF-8", HOME=WORK, LINES="60", COLUMNS="200")
        os.execv(NVTOP, [NVTOP, "-C", "-d", "10"])
    import fcntl
    import struct
    import termios
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    seen, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
        if seen.count(b"POW") >= 6:
            break
    os.write(terminal, b"q")
    time.sleep(0.3)
    try:
        seen += os.read(terminal, 65536)
    except OSError:
        pass
    os.close(terminal)
    os.waitpid(pid, 0)
    text = seen.decode("utf-8", "replace")
    text = re.sub(r"\x1b\[(\d+)C", lambda m: " " * int(m.group(1)), text)  # cursor right
    return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>])", " ", text)


def check_nvtop(script):
    text = nvtop_frame(script)
    check("nvtop: a frame", contains(
        text, *(re.escape(n) for n in NAMES), "1755MHz", r"TEMP +63\b", r"612 / +650 W", r"37% POW +88 / +400 W", r"\b87%",
        r"60\.267Gi */ *79\.647Gi", r"GEN 5@16x +RX: 2\.119 GiB/s TX: 108\.4 MiB/s", r"GEN 3@ 8x", rf"{PROCESS} .* Compute +87% +61000MiB"))


script = main_script()
check_list(script)
check_table(script)
check_query(script)
check_every_field(script)
check_processes(script)
check_xml(script)
check_mig(mig_script())
check_errors()
check_pynvml(script)
check_nvtop(script)
sys.exit(1 if failures else 0)
