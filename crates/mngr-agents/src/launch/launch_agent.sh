# Job control gives the agent its own process group in the foreground; the traps let this shell outlive Ctrl-C and
# Ctrl-\, so that the exit is always recorded. See signal(7), and "Job Control" in sh(1).
set -m
trap : INT QUIT
# This shell's own remarks about its job (Stopped, Killed) are not the agent's output. bash makes none in a script, and
# would lose the terminal: it hands it to its jobs through standard error.
exec 9>&2
[ -n "${BASH_VERSION-}" ] || exec 2>/dev/null

mngr_boot=unknown
[ -r /proc/sys/kernel/random/boot_id ] && read -r mngr_boot </proc/sys/kernel/random/boot_id
mngr_start=0
# The 22nd word of the line is the start time; the program is called "sh" here, so no word is split in two.
[ -r "/proc/$$/stat" ] && read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ mngr_start _ <"/proc/$$/stat"
[ -e "$mngr_state/waiting" ] && rm -f "$mngr_state/waiting"
[ -d "$mngr_state/subagents" ] && rm -rf "$mngr_state/subagents"
: >"$mngr_state/active"
echo "start boot=$mngr_boot supervisor=$$:$mngr_start pane=${TMUX_PANE:-}" >>"$mngr_state/process"

mngr_run() {
    if ! cd "$mngr_work"; then
        return 126
    fi
    if ! command -v "$1" >/dev/null; then
        printf '%s: command not found\n' "$1" >&9
        return 127
    fi
    # The inner shell records its own number and becomes the agent: no number is ever guessed.
    sh -c '
        start=0
        [ -r "/proc/$$/stat" ] && read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ start _ <"/proc/$$/stat"
        echo "agent pid=$$:$start" >>"$0/process"
        exec "$@"' "$mngr_state" "$@" 2>&9 9>&-
}
