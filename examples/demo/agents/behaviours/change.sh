# shellcheck shell=sh
# change NAME: makes a prepared change, and says truthfully what the test does before and after.
change() {
    make_change "$1"
    say_changed "$after"
}

# make_change NAME: its first line is the subject of the commit, its second the summary, then comes the patch.
make_change() {
    patch=$DEMO_AGENTS/changes/$1.patch
    before=true after=true
    try try_1 || before=false
    git apply --index "$patch"
    git commit --quiet --message "$(sed -n 1p "$patch")"
    try try_2 || after=false
}

# say_changed PASSING_AFTER
say_changed() {
    kind=$(sed -n '1s/^\[\(.*\)\].*/\1/p' "$patch")
    summary=$(sed -n 2p "$patch")
    case $before in
    true) result=improved ;;
    *) result=fixed ;;
    esac
    publish_outcome '{
        "result": "'$result'", "summary_markdown": "'"$summary"'",
        "tests_passing_before": '"$before"', "tests_passing_after": '"$1"',
        "changes": [{"kind": "'"$kind"'", "summary_markdown": "'"$summary"'"}],
        "test_runs": [
            {"run_name": "try_1", "description_markdown": "Unchanged."},
            {"run_name": "try_2", "description_markdown": "With the change."}
        ]
    }'
}
