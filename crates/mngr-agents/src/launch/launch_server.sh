# A server that lives with the agent: it is there before the agent's program, and ends with it. It gets no terminal, so
# that nothing typed for the agent can reach it.
mngr_serve() {
    rm -f "$mngr_socket"
    cd "$mngr_work" || return
    sh -c '
        start=0
        [ -r "/proc/$$/stat" ] && read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ start _ <"/proc/$$/stat"
        echo "server pid=$$:$start" >>"$0/process"
        exec "$@"' "$mngr_state" "$@" </dev/null >"$mngr_server_log" 2>&1 9>&- &
    mngr_server=$!
    mngr_tries=0
    while [ ! -S "$mngr_socket" ] && [ "$mngr_tries" -lt 200 ] && kill -0 "$mngr_server" 2>/dev/null; do
        sleep 0.05
        mngr_tries=$((mngr_tries + 1))
    done
    if [ ! -S "$mngr_socket" ]; then
        printf '[mngr] the server of this agent did not start; its output:\n' >&9
        cat "$mngr_server_log" >&9
    fi
}
