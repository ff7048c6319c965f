# What a container runs: nothing, until it is told to stop. How it ends is how the engine remembers why.
#
# $1: the host dir, $2: the host's id. What is there is mngr's: the agents to start at boot, and the script that stops a
# host nobody uses, which is started again should it end. A copy of another host has that one's agents, which are none
# of its own before mngr has made them so.
host_dir=$1
host_id=$2
trap 'exit 0' TERM INT
trap 'exit 75' USR1
read -r uptime rest </proc/uptime || uptime=0
mkdir -p "$host_dir/activity" 2>/dev/null
touch "$host_dir/activity/boot" 2>/dev/null
# In the background, all of it: only a shell that waits hears a signal at once.
whose=
[ -f "$host_dir/host_id" ] && read -r whose <"$host_dir/host_id"
if [ "$whose" = "$host_id" ] && [ -f "$host_dir/commands/start_on_boot.sh" ]; then
    sh "$host_dir/commands/start_on_boot.sh" always &
    wait $!
fi
while :; do
    if [ -f "$host_dir/commands/activity_watcher.sh" ]; then
        sh "$host_dir/commands/activity_watcher.sh" "$host_dir" "$host_id" "${uptime%%.*}" &
        wait $!
    fi
    sleep 2 &
    wait $!
done
