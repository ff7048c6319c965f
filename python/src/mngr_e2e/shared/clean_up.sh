# Ends everything that was started in the environment of a test, and removes its folder.
#
# usage: sh clean_up.sh ROOT ARTIFACTS
#
# It works when its standard input ends, which is also the case when the test was killed; the line `keep` makes it leave
# everything as it is. Nothing outside ROOT and no process without a variable that names ROOT is touched.
root=$1
artifacts=$2
case $root in /*/e2e-*) ;; *) exit 2 ;; esac
read -r verdict || verdict=remove
[ "$verdict" = keep ] && exit 0

living() {
    grep -lsFzx -e "HOME=$root/home" -e "MNGR_HOST_DIR=$root/host" -e "TMUX_TMPDIR=$root/t" \
        /proc/[0-9]*/environ | cut -d/ -f3
}

# A stopped or wedged program must not hold us for ever. There is no timeout(1) on macOS.
limited() {
    if command -v timeout >/dev/null; then timeout "$@"; else shift; "$@"; fi
}

# Agents may have something outside this machine, which only mngr can remove.
if [ -n "$(ls -A "$root/host/agents" 2>/dev/null)" ] && [ -r "$root/env.sh" ]; then
    (
        . "$root/env.sh"
        cd "$root/project" && limited 30 sh -c 'mngr list --ids | mngr destroy --force -'
    ) </dev/null >/dev/null 2>&1
fi

for socket in "$root"/t/tmux-*/*; do
    [ -S "$socket" ] && limited 2 tmux -S "$socket" kill-server 2>/dev/null
done

# A recorder completes its file once the terminal it looks at is gone, or else when it is interrupted.
for file in "$artifacts"/*.pid; do
    pid=$(cat "$file" 2>/dev/null) || continue
    # The number in an old file may be somebody else's by now.
    living | grep -qx "$pid" || continue
    for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ "$attempt" = 10 ] && kill -INT "$pid" 2>/dev/null
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
done

# A process may start another while it is being ended, so look again until there is none.
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    pids=$(living)
    [ -z "$pids" ] && break
    kill -KILL $pids 2>/dev/null
    sleep 0.02
done

# The last write of a process that was just killed can land while the folder is being emptied.
for attempt in 1 2 3 4 5; do
    rm -rf "$root" 2>/dev/null && exit 0
    sleep 0.05
done
exit 1
