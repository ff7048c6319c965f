# shellcheck shell=sh
# crash_once: the first agent is killed in the middle of its work. The one that is tried after it goes on.
crash_once() {
    [ "$MNGR_TMR_ATTEMPT" = 1 ] || return 0
    echo "half a change" >>todo
    kill -9 "$AGENT"
    exit 1
}
