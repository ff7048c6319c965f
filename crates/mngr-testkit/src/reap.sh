# Ends everything a test environment started, once the test lets go of our standard input.
#
# usage: sh reap.sh ROOT HOST_DIR
#
# The test writes `keep` to leave its folder for a look, and closes the pipe otherwise. A test that is killed
# closes it too, which is the reason for this being a process of its own.
root=$1
host_dir=$2
read -r verdict || verdict=remove

living() {
    grep -lsFzx -e "MNGR_HOST_DIR=$host_dir" /proc/[0-9]*/environ | cut -d/ -f3
}

for socket in "$root"/t/tmux-*/* "$root"/terminal-*; do
    # A stopped server would never answer; the loop below ends it by its id.
    [ -S "$socket" ] && timeout 2 tmux -S "$socket" kill-server 2>/dev/null
done

# A process may start another while it is being ended, so look again until there is none.
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    pids=$(living)
    [ -z "$pids" ] && break
    kill -KILL $pids 2>/dev/null
    sleep 0.02
done

[ "$verdict" = keep ] && exit 0
# The last write of a process that was just killed can land while the folder is being emptied.
for attempt in 1 2 3 4 5; do
    rm -rf "$root" 2>/dev/null && exit 0
    sleep 0.05
done
exit 1
