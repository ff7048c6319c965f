# shellcheck shell=sh
# Saying what came of the work.

# publish_outcome JSON: hands it over, with all commits and artifacts.
publish_outcome() {
    printf '%s\n' "$1" >"$DESK/outcome.json"
    mkdir -p "$DESK/artifacts"
    "$PUBLISH" "$DESK/outcome.json" "$DESK/artifacts"
}

# note NAME: a prepared text, which needs no escapes in JSON.
note() {
    tr '\n' ' ' <"$DEMO_AGENTS/notes/$1.txt" | sed 's/ *$//'
}
