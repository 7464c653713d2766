#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recorder is killed, or stops, while the command runs: the command goes on with its own status, it is said at once,
# and the time from then on stands on the bill as not measured.
# shellcheck disable=SC2016 # what stands in single quotes is for the command's own shell
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
cat >"$work/cards.toml" <<'T'
[[card]]
model = "A100"
sm_util = 95
T
use_cards "$work/cards.toml"

# outcome NAME LINE: what each case must show; 2 s of 6 were recorded
outcome() {
  same "$1: the command's status" 5 "$status"
  holds "$1: the command's output" "$(cat "$work/out")" "done"
  holds "$1: it is said" "$(cat "$work/err")" "$2"
  between "$1: measured" 1.5 3.2 "$(seconds useful "$work/r.csv")"
  between "$1: not measured" 2.8 4.6 "$(seconds unmeasured "$work/r.csv")"
  same "$1: nothing idle" "0.000" "$(seconds idle-held "$work/r.csv")"
}
go() {
  rm -f "$work/out" "$work/err" "$work/r.csv"
  "$SAWBILL" run --interval 100ms --price 3600 --format csv -o "$work/r.csv" -- \
    sh -c 'sleep 6; echo done; exit 5' >"$work/out" 2>"$work/err" &
  run=$!
}
end() {
  status=0
  wait $run || status=$?
}

# Its own recorder.
go
sleep 2
kill -9 "$(pid_of "$(ls -d "$SAWBILL_DATA"/runs/*)")"
sleep 1.5
holds "own: said while the command runs" "$(cat "$work/err")" "ended by signal 9"
end
outcome "own recorder, kill -9" "ended by signal 9"

# A recorder of the data folder, by kill -9 and by its end.
for signal in KILL TERM; do
  export SAWBILL_DATA=$work/data-$signal
  "$SAWBILL" record --quiet --interval 100ms &
  recorder=$!
  until_there "$SAWBILL_DATA/collector.json"
  go
  sleep 2
  kill -$signal $recorder
  wait $recorder 2>/dev/null || true
  sleep 3.2
  holds "$signal: said while the command runs" "$(cat "$work/err")" "ended while the command ran"
  end
  outcome "recorder, $signal" "ended while the command ran"
  same "$signal: said once" 1 "$(grep -c "ended while" "$work/err")"
  same "$signal: the run waits for the next recorder" 1 "$(find "$SAWBILL_DATA/runs/.spool" -name '*.end.csv' | wc -l)"
  "$SAWBILL" record --quiet --interval 100ms --for 500ms
  holds "$signal: which takes it" "$(cat "$SAWBILL_DATA"/run-*.csv)" ",end,5,sh,"
done

# One that is started again: a hole, and it is said that it goes on.
export SAWBILL_DATA=$work/data-again
"$SAWBILL" record --quiet --interval 100ms &
recorder=$!
until_there "$SAWBILL_DATA/collector.json"
go
sleep 1
kill -9 $recorder
wait $recorder 2>/dev/null || true
sleep 1.5
"$SAWBILL" record --quiet --interval 100ms &
recorder=$!
end
kill -TERM $recorder
wait $recorder
holds "again: gone" "$(cat "$work/err")" "ended while the command ran"
holds "again: back" "$(cat "$work/err")" "is at work again"
between "again: the hole" 0.8 2.6 "$(seconds unmeasured "$work/r.csv")"
finish
