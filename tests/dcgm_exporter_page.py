#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A page like dcgm-exporter's, of our own writing, on a loopback port of the system's choice.

The first line of standard output is the port. What is served is told by the file MODE: "ok" (two cards; utilisation,
power and energy move with each collection, ten a second), "garbage", "empty", "500", "slow" (longer than a tick), or
"refuse" (the port is closed until it says something else)."""
import http.server
import sys
import threading
import time

MODE = sys.argv[1]
START = time.monotonic()


def mode():
    try:
        with open(MODE, encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        return "ok"


def page():
    n = int((time.monotonic() - START) * 10)
    lines = []
    for name, values in {
        "DCGM_FI_DEV_GPU_UTIL": (80 + n % 20, 7),
        "DCGM_FI_DEV_FB_USED": (30000, 500),
        "DCGM_FI_DEV_FB_FREE": (10000, 39500),
        "DCGM_FI_DEV_POWER_USAGE": (300 + n % 20, 61.5),
        "DCGM_FI_DEV_GPU_TEMP": (66, 40),
        "DCGM_FI_DEV_SM_CLOCK": (1410, 210),
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": (1_000_000 + 31_000 * n, 500_000 + 6_150 * n),
        "DCGM_FI_PROF_SM_ACTIVE": (0.8125, 0.0),
        # What DCGM writes for "blank" must not become a reading.
        "DCGM_FI_DEV_MEM_COPY_UTIL": (2147483632, 2147483632),
    }.items():
        lines.append(f"# HELP {name} of our own")
        lines.append(f"# TYPE {name} gauge")
        for gpu, value in enumerate(values):
            uuid = f"GPU-0000000{gpu}-1111-2222-3333-444444444444"
            lines.append(f'{name}{{gpu="{gpu}",UUID="{uuid}",device="nvidia{gpu}",'
                         f'modelName="NVIDIA A100-SXM4-40GB",Hostname="n1"}} {value}')
    return "\n".join(lines) + "\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        told = mode()
        status, body = 200, page().encode()
        if told == "garbage":
            body = b"\x00\xff<html>{{{ not 1 a page }\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-0000\nDCGM_FI 1e999\n"
        elif told == "empty":
            body = b""
        elif told == "500":
            status, body = 500, b"no\n"
        elif told == "slow":
            time.sleep(0.7)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if told == "refuse":
            self.close_connection = True

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


server = Server(("127.0.0.1", 0), Handler)
port = server.server_address[1]
print(port, flush=True)
while True:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    while mode() != "refuse":
        time.sleep(0.05)
    server.shutdown()
    thread.join()
    server.server_close()
    while mode() == "refuse":
        time.sleep(0.05)
    while True:
        try:
            Server.allow_reuse_address = True
            server = Server(("127.0.0.1", port), Handler)
            break
        except OSError:
            time.sleep(0.05)
