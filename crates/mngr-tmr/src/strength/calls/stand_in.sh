#!/bin/sh
# Stands in for a program that a test drives. Every call gets a number; in a recording the program runs and what it
# prints is kept; in a replay the call of one number prints what was recorded and nothing runs.
run=@RUN@
recorded=@RECORDED@
replaced=@REPLACED@

real=$(cat "$run/real") || exit 125
words=$#
# The program comes first: by itself, or behind the interpreter that was given the file.
if [ -n "${_TMR_PYTHON:-}" ]; then
    set -- "$_TMR_PYTHON" "$real" "$@"
    unset _TMR_PYTHON
elif [ -x "$real" ]; then
    set -- "$real" "$@"
else
    set -- sh "$real" "$@"
fi
# What the program itself calls is a part of its call.
if [ -n "${_TMR_CALL:-}" ]; then
    exec "$@"
fi

# Of several calls at once, one makes the folder of a number.
number=1
until mkdir "$run/$number" 2>/dev/null; do
    number=$((number + 1))
    if [ "$number" -gt @MOST@ ]; then
        exec "$@"
    fi
done
_TMR_CALL=$number
export _TMR_CALL

if [ "$number" = "$replaced" ]; then
    cat "$recorded/$number/stdout"
    cat "$recorded/$number/stderr" >&2
    exit "$(cat "$recorded/$number/status")"
fi
if [ -n "$replaced" ]; then
    exec "$@"
fi

call=$run/$number
at=0
for word; do
    at=$((at + 1))
    if [ "$at" -gt $(($# - words)) ]; then
        printf '%s\000' "$word"
    fi
done >"$call/words"
mkfifo "$call/out" "$call/err" || exit 125
exec 3<&0
tee "$call/stdout" <"$call/out" &
out=$!
# Where both go to one place, their order is kept.
if [ /dev/fd/1 -ef /dev/fd/2 ]; then
    : >"$call/stderr"
    err=
    "$@" <&3 3<&- >"$call/out" 2>&1 &
else
    tee "$call/stderr" <"$call/err" >&2 &
    err=$!
    "$@" <&3 3<&- >"$call/out" 2>"$call/err" &
fi
program=$!
trap 'kill -TERM "$program"' TERM
trap 'kill -HUP "$program"' HUP
wait "$program"
status=$?
while kill -0 "$program" 2>/dev/null; do
    wait "$program"
    status=$?
done
wait "$out" $err
rm -f "$call/out" "$call/err"
echo "$status" >"$call/status"
exit "$status"
