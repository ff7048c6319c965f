# The player of scripted agents. Plain POSIX sh; the steps of the script are function calls below.
scripted_dir=$MNGR_AGENT_STATE_DIR/plugin/scripted
scripted_message=
scripted_separator=$(printf '\036')
mkdir -p "$scripted_dir"
: >>"$scripted_dir/accepted"
# Messages are shown when they are taken, not when they arrive.
stty -echo 2>/dev/null

say() {
    printf '%s\n' "$1"
}

# Sets scripted_message to the next message. A line without a head was typed by a person and is a message of its own.
read_message() {
    printf '%s\n' "$1" >"$MNGR_AGENT_STATE_DIR/waiting"
    rm -f "$MNGR_AGENT_STATE_DIR/active"
    while :; do
        IFS= read -r scripted_line || exit 0
        case $scripted_line in
        "$scripted_separator"*)
            scripted_head=${scripted_line#"$scripted_separator"}
            scripted_key=${scripted_head% *}
            scripted_count=${scripted_head##* }
            IFS= read -r scripted_message || exit 0
            while [ "$scripted_count" -gt 1 ]; do
                IFS= read -r scripted_line || exit 0
                scripted_message="$scripted_message
$scripted_line"
                scripted_count=$((scripted_count - 1))
            done
            # A key seen before is a repeated submission of the same message, not a second message.
            grep -qxF -- "$scripted_key" "$scripted_dir/accepted" && continue
            printf '%s\n' "$scripted_message" >"$scripted_dir/message-$scripted_key"
            : >"$MNGR_AGENT_STATE_DIR/active"
            rm -f "$MNGR_AGENT_STATE_DIR/waiting"
            printf '%s\n' "$scripted_key" >>"$scripted_dir/accepted"
            ;;
        *)
            scripted_message=$scripted_line
            : >"$MNGR_AGENT_STATE_DIR/active"
            rm -f "$MNGR_AGENT_STATE_DIR/waiting"
            ;;
        esac
        printf '> %s\n' "$scripted_message"
        return 0
    done
}

ask() {
    say "$1"
    read_message QUESTION
}

write_file() {
    mkdir -p "$(dirname -- "$1")" && printf '%s\n' "$2" >"$1"
}

edit_file() {
    mkdir -p "$(dirname -- "$1")" && printf '%s\n' "$2" >>"$1"
}

commit() {
    git add --all && git commit --quiet --message "$1"
}

# What a model would have taken: tokens and US dollars.
spend() {
    printf '{"time":"%s","tokens":%s,"cost":%s}\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" "$2" \
        >>"$scripted_dir/usage.jsonl"
}

hang() {
    while :; do sleep 3600; done
}

crash() {
    kill -9 $$
}
