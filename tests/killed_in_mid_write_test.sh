#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 fifty times at any moment: at most the tick under way is lost, every row in the files is whole, and times never
# go back.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
cat >"$work/cards.toml" <<'T'
[[card]]
model = "A100"
count = 8
sm_util = 90
T
use_cards "$work/cards.toml"
for k in $(seq 50); do
  "$SAWBILL" record --quiet --interval 100ms 2>>"$work/err" &
  pid=$!
  sleep "0.$((20 + k * 7 % 60))"
  kill -9 $pid
  wait $pid 2>/dev/null || true
done
"$SAWBILL" record --quiet --interval 100ms --for 1s 2>>"$work/err"
same "nothing was said" "" "$(cat "$work/err")"
for file in "$SAWBILL_DATA"/gpu-*.csv; do
  same "whole rows" "" "$(awk -F , 'NF != 22 { print FILENAME ":" FNR ": " $0 }' "$file" | head -n 3)"
  same "times" "" "$(awk -F , '/^timestamp/ { next } $1 + 0 < last { print FNR ": " $1 " after " last } { last = $1 + 0 }' "$file" | head -n 3)"
  # A tick has eight rows: a killed one may lack some, once a kill.
  torn=$(awk -F , '!/^timestamp/ { n[$1]++ } END { for (t in n) if (n[t] != 8) ++torn; print torn + 0 }' "$file")
  [ "$torn" -le 50 ] || same "ticks cut" "at most 50" "$torn"
  rows=$(grep -c -v ^timestamp "$file")
  [ "$rows" -ge 400 ] || same "rows" "at least 400" "$rows"
done
holds "the reader takes it" "$("$SAWBILL" report --price 10 --format json "$SAWBILL_DATA" 2>&1)" '"schema"'
finish
