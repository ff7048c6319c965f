# Runs on the other machine: takes requests from standard input, one after the other, and answers each.
#
# request:  NONCE LINES BYTES KEEP LEFTOVERS, then LINES lines of script, then BYTES of input for it
# receipt:  NONCE taken, before it is run: a machine that works is told from one that is silent
# answer:   NONCE STATUS OUT ERR OBSTACLE, then OUT bytes of output and ERR bytes of errors
#
# Set before: `id`, known to nobody else; `shell`; `newline`. Comments are not sent. Needs dash, bash or busybox.
for base in "${TMPDIR:-/tmp}" /tmp /dev/shm "$HOME"; do
    dir=$base/.mngr-$id
    mkdir -m 700 "$dir" 2>/dev/null && break
    dir=
done
[ -n "$dir" ] || { echo "$id nowhere"; exit 1; }
trap 'rm -rf "$dir"' EXIT
# A handler, not an ignored signal: what is ignored stays ignored in every program we start.
trap 'exit 1' HUP INT TERM PIPE
# A group of its own makes a request killable with all it started. `set -m` would need a terminal in dash.
group=; command -v setsid >/dev/null 2>&1 && group=setsid
echo "$id ready"
# The shell's own remarks ("Killed") are no part of any answer.
exec 2>/dev/null
while read -r nonce lines bytes keep leftovers; do
    script=
    while [ "$lines" -gt 0 ]; do
        # The link broke in the middle: half a script is never run.
        IFS= read -r line || exit 1
        script=$script$line$newline
        lines=$((lines - 1))
    done
    input=/dev/null; status=; out=0; err=0; obstacle=
    printf %s "$script" >"$dir/run" || obstacle=full
    if [ "$bytes" -gt 0 ]; then
        input=$dir/in
        head -c "$bytes" >"$input" || obstacle=full
        [ "$(wc -c <"$input")" -eq "$bytes" ] || obstacle=${obstacle:-short}
    fi
    if [ -n "$obstacle" ]; then
        # What is left of the input would be taken for the next request.
        echo "$nonce 126 0 0 $obstacle"; exit 1
    fi
    echo "$nonce taken"
    $group "$shell" "$dir/run" <"$input" >"$dir/out" 2>"$dir/err"
    status=$?
    if [ "$leftovers" = end ]; then
        read -r mark pid <"$dir/pid" && kill -KILL "-$pid" 2>/dev/null
    fi
    echo "$nonce over" >"$dir/pid"
    if [ -s "$dir/why" ]; then
        read -r obstacle <"$dir/why"
        : >"$dir/why"
    fi
    if [ -s "$dir/out" ]; then out=$(wc -c <"$dir/out"); out=$((out)); fi
    if [ -s "$dir/err" ]; then err=$(wc -c <"$dir/err"); err=$((err)); fi
    # A process left behind may still write: exactly as much is sent as was announced.
    out_sent=$out; [ "$keep" -ge 0 ] && [ "$out" -gt "$keep" ] && out_sent=$keep
    err_sent=$err; [ "$keep" -ge 0 ] && [ "$err" -gt "$keep" ] && err_sent=$keep
    echo "$nonce $status $out_sent $err_sent ${obstacle:-none}"
    if [ "$out_sent" -lt "$out" ]; then
        tail -c "$out_sent" "$dir/out" | head -c "$out_sent"
    elif [ "$out" -gt 0 ]; then
        head -c "$out" "$dir/out"
    fi
    if [ "$err_sent" -lt "$err" ]; then
        tail -c "$err_sent" "$dir/err" | head -c "$err_sent"
    elif [ "$err" -gt 0 ]; then
        head -c "$err" "$dir/err"
    fi
done
