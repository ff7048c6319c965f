mngr_status=$?

# A status above 128 may also mean "stopped" (Ctrl-Z): while the process lives, it is brought back.
mngr_pid=0
while read -r mngr_kind mngr_rest; do
    case $mngr_kind in agent) mngr_pid=${mngr_rest#pid=} mngr_pid=${mngr_pid%%:*} ;; esac
done <"$mngr_state/process"
while [ "$mngr_status" -gt 128 ] && [ "$mngr_pid" -gt 1 ] && kill -0 "$mngr_pid" 2>/dev/null; do
    fg >/dev/null
    mngr_status=$?
    kill -0 "$mngr_pid" 2>/dev/null && sleep 0.1
done
# After a stop bash still reports the stop; how the process really ended it tells on request. 127: it does not know.
case $mngr_status in
14[5-9] | 150)
    wait "$mngr_pid" 2>/dev/null
    mngr_waited=$?
    [ "$mngr_waited" -eq 127 ] || mngr_status=$mngr_waited
    ;;
esac

# What lived for the agent ends with it.
if [ -n "${mngr_server-}" ]; then
    # Its own group: job control is on. It may want to end its work first, which nobody waits for any more. Without a look
    # at the jobs a dead one would still be there.
    kill -TERM "-$mngr_server" 2>/dev/null
    mngr_tries=0
    while jobs >/dev/null && kill -0 "-$mngr_server" 2>/dev/null && [ "$mngr_tries" -lt 10 ]; do
        sleep 0.1
        mngr_tries=$((mngr_tries + 1))
    done
    kill -KILL "-$mngr_server" 2>/dev/null
fi

mngr_last=
while read -r mngr_kind mngr_rest; do mngr_last=$mngr_kind; done <"$mngr_state/process"
# From the record on, another job in the foreground means another program: what this script runs must not look like one.
set +m
echo "exit status=$mngr_status at=$(date +%s)" >>"$mngr_state/process"
# Stopped on request: whoever asked is about to end this session, and a shell would only be in the way.
[ "$mngr_last" = stop ] && exit 0

# What was typed for the agent must not be run by the shell: from here on mngr's paste is refused, and what waits in the
# terminal is dropped.
[ -n "${TMUX_PANE-}" ] && tmux set-option -p -t "$TMUX_PANE" @mngr_ended 1
stty -icanon -echo min 0 time 1
cat >/dev/null
exec 2>&9 9>&-
stty sane
printf '\n[mngr] the agent ended with status %s; this is a plain shell in its work dir\n' "$mngr_status"
trap - INT QUIT
exec "${SHELL:-/bin/sh}"
