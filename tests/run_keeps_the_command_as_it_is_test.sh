#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `sawbill run -- CMD`: input, output, signals and exit status are CMD's own, with and without cards.
# shellcheck disable=SC2016 # what stands in single quotes is for the command's own shell or awk
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/lib.sh"

same "exit status" 3 "$("$SAWBILL" run --quiet -- sh -c 'exit 3' 2>/dev/null || echo $?)"
same "not found" 127 "$("$SAWBILL" run --quiet -- no-such-program-here 2>/dev/null || echo $?)"
same "not executable" 126 "$("$SAWBILL" run --quiet -- /etc/passwd 2>/dev/null || echo $?)"
same "ended by a signal" 137 "$("$SAWBILL" run --quiet -- sh -c 'kill -9 $$' 2>/dev/null || echo $?)"
same "output is the command's alone" "a b" "$("$SAWBILL" run --quiet -- echo a b 2>/dev/null)"
same "input" "hello" "$(echo hello | "$SAWBILL" run --quiet -- cat 2>/dev/null)"
same "arguments are not touched" "--price|-- x|*" "$("$SAWBILL" run -q -- sh -c 'printf "%s|%s|%s" "$@"' sh --price '-- x' '*' 2>/dev/null)"
{ status=0; "$SAWBILL" run --quiet -- yes 2>/dev/null || status=$?; echo $status >"$work/pipe"; } | head -n 1 >/dev/null
same "a closed pipe ends the command" 141 "$(cat "$work/pipe")"
same "ignored signals stay as they were" "0000000000000000" "$("$SAWBILL" run --quiet -- awk '/^SigBlk/ { print $2 }' /proc/self/status 2>/dev/null)"
same "nothing is left open" "$(sh -c 'ls /proc/self/fd | wc -l')" "$("$SAWBILL" run --quiet -- sh -c 'ls /proc/self/fd | wc -l' 2>/dev/null)"
same "the job's name is handed on" "bert/nlp" "$("$SAWBILL" run -q --job bert --project nlp -- sh -c 'echo "$SAWBILL_JOB/$SAWBILL_PROJECT"' 2>/dev/null)"

# A signal sent to us reaches the command, which decides what it means.
"$SAWBILL" run --quiet -- sh -c 'trap "echo told; exit 5" TERM; echo up; while :; do sleep 0.05; done' >"$work/out" 2>/dev/null &
pid=$!
until_there "$work/out"
kill -TERM $pid
status=0
wait $pid || status=$?
same "a signal's status" 5 $status
holds "a signal" "$(cat "$work/out")" told

# Without a driver the command runs all the same, and what is missing is said, with what to do.
said=$(SAWBILL_DATA=$work/none "$SAWBILL" run --nvml "$work/no-such-library.so" -- true 2>&1)
holds "what is missing" "$said" "cannot be loaded"
holds "what to do" "$said" "Install"
finish
