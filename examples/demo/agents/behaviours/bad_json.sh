# shellcheck shell=sh
# bad_json: publishes something that is no outcome, and does not learn from what it is told about it.
bad_json() {
    publish_outcome '{"result": "fixed", "summary_markdown": "Trust me'
}

# bad_json_once: the same, but goes on when it is told what is wrong.
bad_json_once() {
    [ "$TURN" -eq 1 ] || return 0
    bad_json
    exit 0
}
