#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A data folder that cannot be made, a disk that is full, a user without HOME: `record` ends with 3 and says what, where and
# what to do; `run` runs the command all the same.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"
printf '[[card]]\nmodel = "A100"\nsm_util = 95\n' >"$work/cards.toml"
use_cards "$work/cards.toml"

# Root may write anywhere, but not below a file.
touch "$work/file"
status=0
said=$("$SAWBILL" record --for 1s --data "$work/file/data" 2>&1) || status=$?
same "record's status" 3 $status
holds "what and where" "$said" "cannot record into $work/file/data"
holds "what to do" "$said" "--data DIR"
said=$("$SAWBILL" record --for 1s --lang zh --data "$work/file/data" 2>&1) || true
holds "in Chinese" "$said" "无法记录到 $work/file/data"
status=0
said=$("$SAWBILL" run --data "$work/file/data" -- sh -c 'echo ran; exit 4' 2>&1) || status=$?
same "run's status" 4 $status
holds "the command ran" "$said" ran
holds "no bill, and why" "$said" "$work/file/data"
holds "what to do for run" "$said" "--data DIR"

# A full disk, as a limit on the size of files: what is over it is refused while the small status file goes through.
full() {
  (
    trap '' XFSZ
    ulimit -f 1
    exec "$@"
  )
}
status=0
said=$(full "$SAWBILL" record --interval 100ms --for 3s --quiet --data "$work/full" 2>&1) || status=$?
same "record on a full disk" 3 $status
holds "said" "$said" "nothing can be written into $work/full"
same "said once" 1 "$(grep -c "nothing can be written" <<<"$said")"
holds "what to do on a full disk" "$said" "free some space"
for file in "$work"/full/gpu-*.csv; do
  same "whole rows" "" "$(awk -F , 'NF != 22' "$file")"
done
status=0
said=$(full "$SAWBILL" run --interval 100ms --data "$work/full2" -- sh -c 'sleep 2; exit 6' 2>&1) || status=$?
same "run on a full disk" 6 $status

# Without HOME the home of the user database is taken; never a folder called ".local" under wherever we stand.
mkdir "$work/cwd"
home=$(getent passwd "$(id -u)" | cut -d : -f 6 || true)
said=$(cd "$work/cwd" && env -u HOME -u SAWBILL_DATA -u XDG_STATE_HOME "$SAWBILL" report 2>&1) || true
same "nothing where we stand" "" "$(ls -A "$work/cwd")"
[ -z "$home" ] || holds "the folder that is meant" "$said" "${home%/}/.local/state/sawbill"
finish
