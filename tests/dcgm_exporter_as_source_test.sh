#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sawbill record --dcgm URL` over real HTTP on loopback: the values of the page in the day files; an exporter that stops,
# talks garbage or fails leaves a hole, and it goes on when it is back.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || {
  echo "no python3 to serve the page"
  exit 77
}
python3 -c 'import ctypes; ctypes.CDLL("libcurl.so.4")' 2>/dev/null || {
  echo "libcurl.so.4 is not installed"
  exit 77
}
mode=$work/mode
echo ok >"$mode"
python3 "$(dirname "$0")/dcgm_exporter_page.py" "$mode" >"$work/port" 2>"$work/server.err" &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
until_there "$work/port"
url=http://127.0.0.1:$(cat "$work/port")/metrics

"$SAWBILL" record --interval 200ms --nvml "$work/none.so" --dcgm "$url" --data "$work/data" 2>"$work/err" &
recorder=$!
rows() { cat "$SAWBILL_DATA"/gpu-*.csv 2>/dev/null | grep -c -v ^timestamp || true; }
# until_grows: rows come in, within ten seconds
until_grows() {
  local before
  before=$(rows)
  for _ in $(seq 100); do
    [ "$(rows)" -lt $((before + 4)) ] || return 0
    sleep 0.1
  done
  same "$1" "more rows" "none in ten seconds"
}
# stays MODE: nothing comes in while the exporter is like that
stays() {
  echo "$1" >"$mode"
  sleep 1
  local before
  before=$(rows)
  sleep 2
  same "no row while $1" "$before" "$(rows)"
  echo ok >"$mode"
  until_grows "rows again after $1"
}
until_grows "rows"
sleep 1
for trouble in refuse garbage empty 500; do stays $trouble; done
echo slow >"$mode"
sleep 2
echo ok >"$mode"
until_grows "rows after slow answers"
kill -TERM $recorder
status=0
wait $recorder || status=$?
same "ends well" 0 $status
[ "$status" = 0 ] || cat "$work/err"

# The values: by column name, so that a new column changes nothing.
column() { awk -F , -v name="$1" -v gpu="$2" '/^timestamp/ { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  $2 == gpu { print $at[name] }' "$SAWBILL_DATA"/gpu-*.csv | sort -u -g; }
same "memory of 0" 30000 "$(column mem_used_mb 0)"
same "memory of 1" 500 "$(column mem_used_mb 1)"
same "power of 1" 61.5 "$(column power_w 1 | sed 's/0*$//; s/\.$//')"
same "utilisation of 1" 7 "$(column sm_util 1)"
between "utilisation of 0, least" 80 99 "$(column sm_util 0 | head -n 1)"
between "utilisation of 0, most" 80 99 "$(column sm_util 0 | tail -n 1)"
between "utilisation of 0 moves" 5 20 "$(column sm_util 0 | wc -l)"
same "activity of 0" 0.8125 "$(column sm_active 0 | sed 's/0*$//')"
same "a blank is empty" "" "$(column mem_util 0)"
between "energy in joules" 1000 1000000 "$(column energy_j 0 | head -n 1)"
holds "the model" "$(cat "$SAWBILL_DATA/inventory.csv")" "NVIDIA A100-SXM4-40GB,40000"
same "both cards are one each" 2 "$(grep -c GPU-0000 "$SAWBILL_DATA/inventory.csv")"
between "losses; the same one soon again is not said twice" 1 4 "$(grep -c driver_lost "$SAWBILL_DATA"/event-*.csv)"

said=$("$SAWBILL" report --price 3600 --format csv "$SAWBILL_DATA" 2>&1)
between "what was not measured" 16 80 "$(awk -F , '$1 == "all" && $2 == "unmeasured" { print $3 }' <<<"$said")"
for why in "dcgm-exporter does not answer ($url" "names a card" "HTTP 500"; do
  holds "what happened is said" "$(cat "$work/err")" "$why"
done
lacks "and nothing that is not so" "$(cat "$work/err")" "can be read."

# An address where nobody is: said, with the address, and the host is recorded all the same.
echo refuse >"$mode"
sleep 0.3
said=$("$SAWBILL" record --interval 200ms --for 1s --nvml "$work/none.so" --dcgm "$url" --data "$work/nobody" 2>&1)
holds "nobody there" "$said" "dcgm-exporter does not answer ($url"
same "the host" 1 "$(find "$work/nobody" -name 'host-*.csv' | wc -l)"
finish
